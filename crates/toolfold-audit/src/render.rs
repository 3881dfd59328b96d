//! From a note to an event: what it says of who and which tool, what led to it, and without any secret.

use std::collections::HashMap;

use serde_json::Value;
use toolfold_config::Recorded;
use toolfold_core::Entry;
use toolfold_wire::Raw;

use crate::blank::Blanking;
use crate::event::{AuditEvent, EventKind, Sizes};
use crate::note::{AnswerGiven, Denied, Ended, Listing, Matter, Note, Who};
use crate::recorder::Settings;
use crate::trail::{MOST_SHOWN, Trail};

/// Calls under way whose numbers are remembered.
const MOST_OPEN: usize = 65_536;
/// Bytes of secrets that are remembered with them.
const MOST_GIVEN: usize = 8 * 1024 * 1024;
/// Bytes of what was said that are written down.
const LONGEST: usize = 64 * 1024;
const LONGEST_NAME: usize = 256;
const NOT_AUTHORIZED: &str = "NOT_AUTHORIZED";
/// Names of one answer that are written down.
const NAMED: usize = 32;

/// What is remembered from one event to a later one.
#[derive(Default)]
pub(crate) struct Recall {
    trail: Trail,
    open: HashMap<u64, Open>,
    /// Bytes of what they were given.
    given: usize,
}

/// A call that has not ended.
#[derive(Clone)]
struct Open {
    number: u64,
    tool: Option<String>,
    server: String,
    via: Option<String>,
    target: Option<String>,
    input: usize,
    /// What was blanked in its arguments, for its result to be without it too.
    given: Vec<String>,
}

impl Open {
    fn given(&self) -> usize {
        self.given.iter().map(String::len).sum()
    }
}

/// One note on its way to an event.
pub(crate) struct Rendering<'a> {
    pub(crate) recall: &'a mut Recall,
    pub(crate) settings: &'a Settings,
    pub(crate) number: u64,
    pub(crate) note: &'a Note,
}

impl Rendering<'_> {
    pub(crate) fn event(mut self) -> AuditEvent {
        let note = self.note;
        let kind = match &note.what {
            Matter::Disclosed { kind, .. } | Matter::Happened { kind, .. } => *kind,
            Matter::Called { .. } => EventKind::Call,
            Matter::Ended { .. } => EventKind::Result,
            Matter::Refused { .. } | Matter::Missed { .. } => EventKind::Refuse,
        };
        let mut event = AuditEvent::new(self.number, note.at.into(), kind);
        if let Some(who) = &note.who {
            self.name(&mut event, who);
        }
        match &note.what {
            Matter::Disclosed { query, shown, answer, took, .. } => {
                event.outcome = Some("done".to_owned());
                event.duration = Some(took.as_micros() as u64);
                event.tokens = Some(self.tokens(answer));
                event.query = query.as_ref().filter(|_| self.records(Recorded::Queries)).map(|text| self.text(text));
                event.shown = shown.iter().take(NAMED).map(|shown| shown.tool.clone()).collect();
                if let [only] = &shown[..] {
                    event.tool = Some(only.tool.clone());
                }
                if let Some(who) = &note.who {
                    if let [only] = &shown[..] {
                        self.follow(&mut event, who, &only.tool);
                    }
                    let shown = shown.iter().take(MOST_SHOWN).cloned().collect();
                    self.recall.trail.disclosed(who, self.number, kind, shown);
                }
            }
            Matter::Called { call, resumes, server, method, tool, target, listing, input, arguments } => {
                (event.server, event.method) = (Some(server.to_string()), Some(self.short(method)));
                event.sizes = Some(Sizes { input: *input, output: 0 });
                self.tool(&mut event, tool.as_deref());
                event.target = target.as_deref().map(|target| self.short(without_query(target)));
                let began = resumes.and_then(|call| self.recall.open.get(&call).cloned());
                match (&began, &note.who, &event.tool) {
                    (Some(began), _, _) => {
                        (event.of, event.tool, event.via) = (Some(began.number), began.tool.clone(), began.via.clone());
                        event.target = began.target.clone();
                    }
                    (None, Some(who), Some(tool)) => {
                        let tool = tool.clone();
                        event.via = Some(unshown(*listing).to_owned());
                        self.follow(&mut event, who, &tool);
                    }
                    _ => {}
                }
                let (shown, mut given) = arguments
                    .as_ref()
                    .and_then(|raw| self.content(raw, Recorded::Arguments, &[]))
                    .map_or((None, Vec::new()), |(shown, given)| (Some(shown), given));
                event.arguments = shown;
                given.extend(began.map(|began| began.given).unwrap_or_default());
                given.sort_by(|one, other| other.len().cmp(&one.len()).then_with(|| one.cmp(other)));
                given.dedup();
                self.recall.remember((*call, *resumes), &event, *input, given);
            }
            Matter::Ended { call, ended } => self.ended(&mut event, *call, ended),
            Matter::Refused { tool, held, rule, code, asked } => {
                event.tool = held.clone();
                self.refused(&mut event, tool.as_deref(), rule.clone(), code, asked.as_deref());
            }
            Matter::Missed { asked, code, look } => match look.up() {
                Some(Denied { tool, rule }) => self.refused(&mut event, Some(&tool), rule, NOT_AUTHORIZED, None),
                None => self.refused(&mut event, None, None, code, Some(asked)),
            },
            Matter::Happened { server, tool, fingerprint, by, outcome, about, times, .. } => {
                event.server = server.as_ref().map(ToString::to_string);
                (event.tool, event.outcome) = (tool.clone(), outcome.clone());
                (event.fingerprint, event.events) = (fingerprint.clone(), *times);
                event.principal = by.as_ref().map(|by| by.name().to_owned());
                event.auth = by.as_ref().map(|by| by.proof().to_owned());
                event.about = about.as_ref().map(|text| self.text(text));
            }
        }
        event
    }

    fn refused(
        &self,
        event: &mut AuditEvent,
        tool: Option<&Entry>,
        rule: Option<String>,
        code: &str,
        asked: Option<&str>,
    ) {
        self.tool(event, tool);
        event.rule = rule;
        // Whatever whoever asked was told: what was denied is denied here.
        let outcome = if code == NOT_AUTHORIZED { "denied" } else { "refused" };
        (event.outcome, event.code) = (Some(outcome.to_owned()), Some(code.to_owned()));
        event.query = asked.filter(|_| self.records(Recorded::Queries)).map(|text| self.text(text));
    }

    fn ended(&mut self, event: &mut AuditEvent, call: u64, ended: &Ended) {
        // One that is parked goes on: what is known of it is needed then.
        let open = match ended.outcome {
            "parked" => self.recall.open.get(&call).cloned(),
            _ => self.recall.forget(call),
        };
        (event.outcome, event.code) = (Some(ended.outcome.to_owned()), ended.code.clone());
        event.duration = Some(ended.took.as_micros() as u64);
        let Some(open) = open else {
            // What its arguments held is not known, so nothing tells what its result must not say.
            event.sizes = Some(Sizes { input: 0, output: ended.output });
            return;
        };
        let result = ended.result.as_ref().and_then(|raw| self.content(raw, Recorded::Results, &open.given));
        event.result = result.map(|(shown, _)| shown);
        (event.of, event.tool, event.via) = (Some(open.number), open.tool, open.via);
        (event.server, event.target) = (Some(open.server), open.target);
        event.sizes = Some(Sizes { input: open.input, output: ended.output });
    }

    fn name(&self, event: &mut AuditEvent, who: &Who) {
        event.principal = Some(who.principal.name().to_owned());
        event.auth = Some(who.principal.proof().to_owned());
        event.client = who.client.as_deref().map(|text| self.short(text));
        event.trace = who.trace.as_deref().map(|text| self.short(text));
        event.session = who.session;
        event.request = who.request.as_deref().map(|text| self.short(text));
        event.surface = Some(who.surface.as_str().to_owned());
        event.catalog = Some(who.catalog);
        event.door = who.door.as_deref().map(|text| self.short(text));
    }

    fn tool(&self, event: &mut AuditEvent, tool: Option<&Entry>) {
        if let Some(entry) = tool {
            event.tool = Some(entry.id.to_string());
            event.fingerprint = Some(entry.fingerprint.to_string());
        }
    }

    /// Where whoever asks has this tool from.
    fn follow(&mut self, event: &mut AuditEvent, who: &Who, tool: &str) {
        if let Some(found) = self.recall.trail.before(who, tool) {
            event.via = Some(found.via.as_str().to_owned());
            event.follows = Some(found.follows);
            if found.via == EventKind::Search {
                (event.rank, event.confidence) = (Some(found.rank), found.confidence);
            }
        }
    }

    fn records(&self, what: Recorded) -> bool {
        self.settings.record >= what
    }

    fn tokens(&self, answer: &AnswerGiven) -> usize {
        match answer {
            AnswerGiven::Text(text) => (self.settings.count_tokens)(text.get()),
            AnswerGiven::Large(bytes) => bytes / 4,
        }
    }

    /// What was said, as far as it is recorded, and what was blanked in it for its name.
    fn content(&self, raw: &Raw, wanted: Recorded, given: &[String]) -> Option<(Value, Vec<String>)> {
        if !self.records(wanted) {
            return None;
        }
        if raw.get().len() > LONGEST {
            return Some((Value::from(format!("{} bytes, not written down", raw.get().len())), Vec::new()));
        }
        let mut blanking = Blanking::new(&*self.settings.hides, given);
        let shown = blanking.blank(serde_json::from_str(raw.get()).ok()?);
        Some((shown, blanking.found()))
    }

    fn text(&self, text: &str) -> String {
        cut(&self.settings.hides.hide(text), LONGEST)
    }

    /// What somebody else chose, and is written down whatever is recorded.
    fn short(&self, text: &str) -> String {
        cut(&self.settings.hides.hide(text), LONGEST_NAME)
    }
}

impl Recall {
    fn remember(&mut self, (call, resumes): (u64, Option<u64>), event: &AuditEvent, input: usize, given: Vec<String>) {
        if let Some(before) = resumes {
            self.forget(before);
        }
        if self.open.len() >= MOST_OPEN || self.given > MOST_GIVEN {
            // Their ends will not say whose they are.
            (self.open, self.given) = (HashMap::new(), 0);
        }
        let (tool, via, target) = (event.tool.clone(), event.via.clone(), event.target.clone());
        let server = event.server.clone().unwrap_or_default();
        let open = Open { number: event.number, tool, server, via, target, input, given };
        self.given += open.given();
        self.open.insert(call, open);
    }

    fn forget(&mut self, call: u64) -> Option<Open> {
        self.open.remove(&call).inspect(|open| self.given -= open.given())
    }
}

/// What stands behind a question mark is what somebody asks and not what it is asked of.
fn without_query(address: &str) -> &str {
    address.split(['?', '#']).next().unwrap_or_default()
}

fn unshown(listing: Listing) -> &'static str {
    match listing {
        Listing::Pinned => "pinned",
        Listing::Listed => "listed",
        Listing::Unlisted => "direct",
    }
}

fn cut(text: &str, longest: usize) -> String {
    let end = (0..=longest.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    text[..end].to_owned()
}
