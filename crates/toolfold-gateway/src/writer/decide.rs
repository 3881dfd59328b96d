//! What a person decides about what is held: written down first, and served with the next snapshot.

use std::collections::BTreeMap;
use std::sync::Arc;

use tokio::sync::oneshot;
use tokio::time::timeout;
use toolfold_audit::EventKind;
use toolfold_core::{Fingerprint, ServerName};
use toolfold_store::{NewPin, PinSource, Store};
use toolfold_trust::{MOST_PINS, Offer, Record, What, Why};
use tracing::info;

use super::judge::PATIENCE;
use super::records::{Dossier, Party, stored};
use super::{Dirty, Writer};
use crate::recording::Occurrence;
use crate::trust::{Decided, Decision, Held, Undecided, offers_of};

/// Who waits for what was decided to be served.
pub(super) type Awaiting = (oneshot::Sender<Result<Decided, Undecided>>, Result<Decided, Undecided>);

impl Writer {
    /// Takes in a decision. All that it names or nothing; what it names and is not held is in the answer.
    pub(super) async fn decide(&mut self, decision: &Decision) -> Result<Decided, Undecided> {
        let held = self.servers.values().filter_map(|known| known.judged.as_ref()).flat_map(|judged| &judged.held);
        let mut meant: BTreeMap<ServerName, Vec<Arc<Held>>> = BTreeMap::new();
        for held in held.filter(|held| held.is_meant(decision)) {
            meant.entry(held.server.clone()).or_default().push(held.clone());
        }
        let mut unknown: Vec<String> = decision.ids.clone();
        unknown.retain(|id| !meant.values().flatten().any(|held| held.is_called(id)));
        let looked_at = self.worth_a_look(&unknown, decision.deny);
        unknown.retain(|id| !looked_at.values().flatten().any(|known| known == id));
        if !unknown.is_empty() {
            return Ok(Decided { ids: Vec::new(), unknown });
        }
        let mut decided = Decided::default();
        for (server, held) in meant {
            self.decide_of(&server, &held, decision).await?;
            for held in held {
                self.note_decided(&server, &held.id, Some(held.offer.fingerprint), decision);
                decided.ids.push(held.id.clone());
            }
        }
        for (server, ids) in looked_at {
            self.look_past(&server, &ids, decision).await?;
            ids.iter().for_each(|id| self.note_decided(&server, id, None, decision));
            decided.ids.extend(ids);
        }
        Ok(decided)
    }

    /// Who has decided what about which definition.
    fn note_decided(&self, server: &ServerName, id: &str, fingerprint: Option<Fingerprint>, decision: &Decision) {
        let Some(inner) = self.inner.upgrade() else { return };
        let decided = Occurrence::new(EventKind::Approve, if decision.deny { "denied" } else { "approved" });
        let (server, tool, by) = (Some(server), Some(id), Some(&decision.by));
        inner.gate.recording.happened(Occurrence { server, tool, fingerprint, by, ..decided });
    }

    /// Reads the record of every source anew of which something is held: another process may have written to it, or
    /// somebody may have brought it back.
    pub(super) fn recheck(&mut self) -> Dirty {
        let mut change = Dirty::Nothing;
        for (name, known) in &mut self.servers {
            if known.judged.as_ref().is_some_and(|judged| !judged.held.is_empty()) {
                self.records.forget(name);
                known.unjudged = true;
                change = Dirty::Catalog;
            }
        }
        change
    }

    async fn decide_of(
        &mut self,
        server: &ServerName,
        held: &[Arc<Held>],
        decision: &Decision,
    ) -> Result<(), Undecided> {
        let by = decision.by.name().to_owned();
        let Some((party, store)) = self.party_and_store(server)? else { return Ok(()) };
        let Dossier { source, number, mut record } = self.records.take(&party).await;
        let anew = record.lost.is_some();
        let mut pins: Vec<NewPin> = Vec::new();
        for Held { offer, .. } in held.iter().map(AsRef::as_ref) {
            let pin = if decision.deny { record.deny(offer) } else { record.approve(offer) };
            pins.push(stored(offer, pin, Some(&by)));
        }
        let Some(known) = self.servers.get_mut(server) else { return Ok(()) };
        let open =
            |other: &Arc<Held>| matches!(other.why, Why::Lost(_)) && !held.iter().any(|held| Arc::ptr_eq(held, other));
        if !known.judged.as_ref().is_some_and(|judged| judged.held.iter().any(open)) {
            record.settle();
        }
        let gone = gone(&mut record, &known.listed.as_ref().map(offers_of).unwrap_or_default());
        known.unjudged = true;
        write(&store, &source, (record.pins.strict, anew), pins).await?;
        if !gone.is_empty() {
            // What is left over is looked for again the next time.
            drop(store.forget_pins(&source, gone));
        }
        let verb = if decision.deny { "refused" } else { "approved" };
        info!(%server, entries = held.len(), by, "{verb}");
        self.records.put(Dossier { source, number, record });
        Ok(())
    }

    /// Of these ids those that serve and have something in them that is worth a look, by server.
    fn worth_a_look(&self, ids: &[String], deny: bool) -> BTreeMap<ServerName, Vec<String>> {
        let mut found: BTreeMap<ServerName, Vec<String>> = BTreeMap::new();
        for (name, known) in self.servers.iter().filter(|_| !deny) {
            let review = known.judged.iter().flat_map(|judged| &judged.review);
            for id in review.filter(|id| ids.contains(id)) {
                found.entry(name.clone()).or_default().push(id.clone());
            }
        }
        found
    }

    /// Somebody has looked at these, and they go on serving.
    async fn look_past(&mut self, server: &ServerName, ids: &[String], decision: &Decision) -> Result<(), Undecided> {
        let Some((party, store)) = self.party_and_store(server)? else { return Ok(()) };
        let Dossier { source, number, mut record } = self.records.take(&party).await;
        let anew = record.lost.is_some();
        let offers =
            self.servers.get(server).and_then(|known| known.listed.as_ref()).map(offers_of).unwrap_or_default();
        let meant = offers.iter().filter(|offer| ids.contains(&offer.what.id(server, &offer.name)));
        let by = decision.by.name();
        let pins = meant.map(|offer| stored(offer, record.approve(offer), Some(by))).collect();
        write(&store, &source, (record.pins.strict, anew), pins).await?;
        self.records.put(Dossier { source, number, record });
        if let Some(known) = self.servers.get_mut(server) {
            known.unjudged = true;
        }
        Ok(())
    }

    fn party_and_store(&self, server: &ServerName) -> Result<Option<(Party, Arc<Store>)>, Undecided> {
        let known = self.servers.get(server);
        let party = known.and_then(|known| Party::of(server, known, &self.config));
        let Some(party) = party else { return Ok(None) };
        let store = self.records.store().ok_or(Undecided::NoRecord)?;
        Ok(Some((party, store)))
    }
}

/// Whether what is new must be approved, and whether the record of it is begun anew.
type Beginning = (bool, bool);

async fn write(store: &Store, source: &PinSource, how: Beginning, pins: Vec<NewPin>) -> Result<(), Undecided> {
    timeout(PATIENCE, store.decide(source, how, pins)).await.map_err(|_| Undecided::Late)??;
    Ok(())
}

/// Takes out what a source does not have any more, where there is no more room for what it has.
fn gone(record: &mut Record, offers: &[Offer]) -> Vec<(String, String)> {
    if record.pins.len() <= MOST_PINS {
        return Vec::new();
    }
    let listed: std::collections::HashSet<(What, &str)> =
        offers.iter().map(|offer| (offer.what, offer.name.as_str())).collect();
    let gone: Vec<(What, String)> = record
        .pins
        .iter()
        .filter(|(what, name, _)| !listed.contains(&(*what, *name)))
        .map(|(what, name, _)| (what, name.to_owned()))
        .collect();
    gone.iter().for_each(|(what, name)| record.pins.remove(*what, name));
    gone.into_iter().map(|(what, name)| (what.as_str().to_owned(), name)).collect()
}
