//! The writer's part in trust: before a snapshot is built, whatever servers have said since the last one is judged.
//!
//! What a reader would get wrong: the order. A pin is on the disk before anybody is served what it stands for, so a crash in
//! between costs nothing: the next start finds the pin and serves the same.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use toolfold_audit::EventKind;
use toolfold_core::{Fingerprint, ServerName, Trust};
use toolfold_store::{NewPin, PinSource};
use toolfold_trust::{Record, Ruling};
use tracing::{error, warn};

use super::records::{Dossier, Party, stored};
use super::{Dirty, News, Writer};
use crate::known::Known;
use crate::recording::Occurrence;
use crate::trust::{Case, Docket, Heard, Held, Judged, Other, Raise, program_of, serve};

/// How long the record is waited for. A disk that hangs must not stop everything else.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);
/// Another process may pin the same while this one looks at it; then it is looked at again.
const ROUNDS: usize = 3;
/// Entries that are told of one by one.
const MOST_NOTED: usize = 50;

impl Writer {
    /// Judges what was said since the last snapshot.
    pub(super) async fn judge(&mut self) {
        for _ in 0..ROUNDS {
            let mut cases = Vec::new();
            let open = self.servers.iter().filter(|(_, known)| known.unjudged).map(|(name, _)| name.clone());
            for name in open.collect::<Vec<_>>() {
                match self.case(&name).await {
                    Some(case) => cases.push(case),
                    None => self.serve_whole(&name),
                }
            }
            if cases.is_empty() {
                return;
            }
            let (much, cases): (Vec<Case>, Vec<Case>) = cases.into_iter().partition(Case::has_much_new);
            self.hear_aside(much);
            let others = self.judged_others();
            let names: Vec<ServerName> = cases.iter().map(|case| case.source.server.clone()).collect();
            let Ok(heard) = spawn_blocking(move || Docket { cases, others }.hear()).await else {
                error!("what servers say could not be judged: what is served is what was before");
                // Nothing more comes of it that somebody could wait for.
                for name in &names {
                    if let Some(known) = self.servers.get_mut(name) {
                        known.take_judgement(None);
                    }
                }
                return;
            };
            for heard in heard {
                self.execute(heard).await;
            }
        }
        // Others were quicker each time: they are not waited for here, and what they wrote is looked at with the next snapshot.
        if self.servers.values().any(|known| known.unjudged)
            && let Some(events) = self.events.as_ref().and_then(mpsc::WeakUnboundedSender::upgrade)
        {
            let _ = events.send(News::Heard(Vec::new(), Vec::new()));
        }
    }

    /// Thousands of new entries, or megabytes, take a while to look through: meanwhile what others say goes on being served.
    fn hear_aside(&mut self, cases: Vec<Case>) {
        let names: Vec<ServerName> = cases.iter().map(|case| case.source.server.clone()).collect();
        for name in &names {
            if let Some(known) = self.servers.get_mut(name) {
                (known.unjudged, known.judging) = (false, true);
            }
        }
        let (others, events) = (self.judged_others(), self.events.clone());
        for (case, name) in cases.into_iter().zip(names) {
            let (others, events) = (others.clone(), events.clone());
            tokio::spawn(async move {
                let heard = spawn_blocking(move || Docket { cases: vec![case], others }.hear()).await;
                let events = events.as_ref().and_then(mpsc::WeakUnboundedSender::upgrade);
                // Without a writer there is nobody to tell.
                let _ = events.map(|events| events.send(News::Heard(vec![name], heard.unwrap_or_default())));
            });
        }
    }

    /// Takes in what was looked through aside, unless its server has said something else since.
    pub(super) async fn heard(&mut self, servers: &[ServerName], heard: Vec<Heard>) -> Dirty {
        for name in servers {
            if let Some(known) = self.servers.get_mut(name) {
                known.judging = false;
            }
        }
        for heard in heard {
            let known = self.servers.get(&heard.case.source.server);
            let current = known.filter(|known| !known.unjudged).and_then(|known| known.listed.as_ref());
            if current.is_some_and(|listed| Arc::ptr_eq(&listed.tools, &heard.case.listed.tools)) {
                self.execute(heard).await;
            }
        }
        Dirty::Catalog
    }

    /// A source that has to be judged; `None` for one that is vouched for.
    async fn case(&mut self, name: &ServerName) -> Option<Case> {
        let known = self.servers.get(name)?;
        let party = Party::of(name, known, &self.config).filter(|party| party.trust != Trust::Always)?;
        let (listed, program, trust) = (known.listed.clone()?, program(known), party.trust);
        let Dossier { source, number, record } = self.records.take(&party).await;
        Some(Case { source, program, trust, number, record, listed })
    }

    fn serve_whole(&mut self, name: &ServerName) {
        if let Some(known) = self.servers.get_mut(name) {
            known.take_judgement(known.listed.clone().map(Judged::whole));
        }
    }

    /// What serves and what is held of all those that nothing new is known of.
    fn judged_others(&self) -> Vec<Other> {
        let others = self.servers.values().filter(|known| !known.unjudged);
        let other = |known: &Known| {
            let Judged { served, held, .. } = known.judged.as_ref()?;
            Some(Other { tools: served.tools.clone(), held: held.clone(), program: program(known) })
        };
        others.filter_map(other).collect()
    }

    /// Writes down what was accepted, and has what is left served.
    async fn execute(&mut self, heard: Heard) {
        let Heard { case: Case { source, mut number, mut record, listed, .. }, sentences } = heard;
        let accepted = sentences.iter().filter(|sentence| sentence.verdict == Ruling::Accept);
        let new: Vec<NewPin> =
            accepted.map(|one| stored(&one.offer, record.accept(&one.offer, one.findings), None)).collect();
        if (!new.is_empty() || number.is_none()) && record.lost.is_none() {
            match self.pin(&source, new).await {
                // Another process was quicker. What it has accepted counts, and all is judged by that.
                Some((_, true)) => {
                    self.servers.get_mut(&source.server).into_iter().for_each(|known| known.unjudged = true);
                    return;
                }
                Some((came, false)) => number = Some(came),
                None => {}
            }
        }
        let wanted = sentences.iter().filter(|one| one.is_held()).filter_map(|one| one.accepted).collect();
        let old = self.definitions(wanted).await;
        let review = record.pins.iter().filter(|(.., pin)| pin.findings > 0);
        let review = review.map(|(what, name, _)| what.id(&source.server, name)).collect();
        let config = self.servers.get(&source.server).and_then(|known| known.config.clone());
        let judged = spawn_blocking(move || serve(&listed, config.as_deref(), sentences, &old)).await.ok();
        let (judged, raised) = judged.unzip();
        self.raise(&source, &mut record, raised.unwrap_or_default()).await;
        if let Some(known) = self.servers.get_mut(&source.server) {
            let held = known.take_judgement(judged.map(|judged| Judged { review, ..judged }));
            self.note_held(&source.server, &held);
        }
        record.seen = true;
        self.records.put(Dossier { source, number, record });
    }

    /// Tells the record what is held now and was not before. Of a server that floods us, how many.
    fn note_held(&self, server: &ServerName, held: &[Arc<Held>]) {
        let Some(inner) = self.inner.upgrade() else { return };
        let one = |held: Option<&Held>, about: String| {
            let (tool, fingerprint) = (held.map(|held| held.id.as_str()), held.map(|held| held.offer.fingerprint));
            let (server, about) = (Some(server), Some(about));
            let noted = Occurrence::new(EventKind::Hold, "held");
            inner.gate.recording.happened(Occurrence { server, tool, fingerprint, about, ..noted });
        };
        held.iter().take(MOST_NOTED).for_each(|held| one(Some(held), held.why.to_string()));
        if held.len() > MOST_NOTED {
            one(None, format!("and {} more", held.len() - MOST_NOTED));
        }
    }

    /// Writes new pins down: the number of the source, and whether another process had some of them first. A record that
    /// cannot be written to costs the memory of the next start.
    async fn pin(&self, source: &PinSource, new: Vec<NewPin>) -> Option<(i64, bool)> {
        let store = self.records.store()?;
        let why = match timeout(PATIENCE, store.pin_new(source, new)).await {
            Ok(Ok(pinned)) => return Some(pinned),
            Ok(Err(error)) => format!("{error}. {}", error.hint()),
            Err(_) => "the record did not answer in time".to_owned(),
        };
        warn!(server = %source.server, "what was accepted of it is not remembered for the next start: {why}");
        None
    }

    /// Writes down what risk was declared since it was accepted, before it serves.
    async fn raise(&self, source: &PinSource, record: &mut Record, raised: Vec<Raise>) {
        for Raise { what, name, raised } in &raised {
            record.raise(*what, name, *raised);
        }
        let Some(store) = self.records.store().filter(|_| !raised.is_empty()) else { return };
        let row = |Raise { what, name, raised }: Raise| (what.as_str().to_owned(), name, raised.bits());
        let why = match timeout(PATIENCE, store.raise(source, raised.into_iter().map(row).collect())).await {
            Ok(Ok(())) => return,
            Ok(Err(error)) => format!("{error}. {}", error.hint()),
            Err(_) => "the record did not answer in time".to_owned(),
        };
        warn!(server = %source.server, "the risk that it has declared is not remembered for the next start: {why}");
    }

    /// The definitions that were accepted under these fingerprints, as far as they can be had.
    async fn definitions(&self, wanted: Vec<Fingerprint>) -> HashMap<Fingerprint, String> {
        let Some(store) = self.records.store().filter(|_| !wanted.is_empty()) else { return HashMap::new() };
        match timeout(PATIENCE, store.accepted_definitions(wanted)).await {
            Ok(Ok(found)) => found,
            _ => HashMap::new(),
        }
    }
}

fn program(known: &Known) -> String {
    known.config.as_deref().map(program_of).unwrap_or_default()
}
