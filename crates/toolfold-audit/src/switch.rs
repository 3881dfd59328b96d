//! The audit is switched off and on while the program runs. What happens meanwhile is in no event; that it is not, is in two.

use std::time::SystemTime;

use toolfold_config::AuditMode;

use crate::event::EventKind;
use crate::moment::shown_time;
use crate::note::{Matter, Note};

/// Since when nothing is written down, where that is so and known.
#[derive(Default)]
pub(crate) struct Switch(Option<SystemTime>);

impl Switch {
    /// What there is to say about another mode.
    pub(crate) fn turned(&mut self, before: AuditMode, now: AuditMode) -> Option<Note> {
        match (before, now) {
            (AuditMode::Off, AuditMode::On | AuditMode::Strict) => {
                let since = self.0.take().map_or("since the program began".to_owned(), |since| {
                    format!("from {} to now", shown_time(since.into()))
                });
                let about = format!("the audit was switched on by the configuration; nothing was written down {since}");
                Some(note(EventKind::Start, "on", about))
            }
            (AuditMode::On | AuditMode::Strict, AuditMode::Off) => {
                let about = "the audit was switched off by the configuration; what follows is not written down";
                let note = note(EventKind::Stop, "off", about.to_owned());
                self.0 = Some(note.at);
                Some(note)
            }
            _ => None,
        }
    }
}

fn note(kind: EventKind, outcome: &str, about: String) -> Note {
    let (outcome, about) = (Some(outcome.to_owned()), Some(about));
    let (server, tool, fingerprint, by, times) = (None, None, None, None, None);
    Note::now(None, Matter::Happened { kind, server, tool, fingerprint, by, outcome, about, times })
}
