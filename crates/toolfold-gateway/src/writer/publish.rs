//! What the writer publishes: the next snapshot, built aside out of what is known of the servers.

use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::sync::mpsc;
use tokio::task::spawn_blocking;
use tokio::time::Instant;
use toolfold_core::{Absent, ServerName};

use super::{AT_ONCE, Dirty, LONGEST_REST, News, QUICK, START, Writer};
use crate::build::{Finished, Part, Plan};
use crate::known::{Known, Listed};
use crate::precise::{HandOver, Vectors};
use crate::remembered::remember;
use crate::snapshot::Failing;

impl Writer {
    /// Puts the vectors of an encoder to an index, where it is still the newest.
    pub(super) fn attach(&mut self, Vectors { catalog, precise }: Vectors) -> Dirty {
        let Some(inner) = self.inner.upgrade() else { return Dirty::Nothing };
        let before = inner.snapshot.load_full();
        if before.catalog.number() == catalog
            && let Some(index) = before.index.with_vectors(precise)
        {
            inner.snapshot.store(Arc::new(before.searched_by(index)));
        }
        inner.precise.finish(catalog);
        Dirty::Nothing
    }

    pub(super) async fn publish(&mut self) {
        let Some(before) = self.newest() else { return };
        let begun = Instant::now();
        self.judge().await;
        self.number += 1;
        let plan = Plan {
            number: self.number,
            config: self.config.clone(),
            servers: self.servers.iter().map(part).collect(),
            used: self.used.clone(),
            absent: self.absent(),
            failing: self.failing(),
            before,
            wave: self.wave(),
            claims: std::mem::take(&mut self.claims),
        };
        let Ok(Finished { next, changes, claims, late }) = spawn_blocking(move || plan.build()).await else {
            tracing::error!("the catalog could not be built: what is served is the one before");
            return;
        };
        self.claims = claims;
        self.stand_back(late);
        let took = begun.elapsed();
        self.rest_until = Instant::now() + if took > QUICK { took.min(LONGEST_REST) } else { Duration::ZERO };
        let Some(inner) = self.inner.upgrade() else { return };
        inner.gate.instruments.held.store(next.quarantine.held.len() as u64, Ordering::Relaxed);
        inner.snapshot.store(next);
        for change in changes {
            let _ = inner.changes.send(change);
        }
        let newest = inner.snapshot.load_full();
        inner.precise.look(&newest.catalog, &newest.config, &inner.store, || self.hand_over());
    }

    pub(super) fn publish_missing(&self) {
        let Some(inner) = self.inner.upgrade() else { return };
        let before = inner.snapshot.load_full();
        let mut absent = self.absent();
        // Who has listed what it has since then is found with the next catalog, and not before.
        for Absent { server, .. } in before.absent.iter() {
            if self.servers.contains_key(server) && !absent.iter().any(|known| known.server == *server) {
                absent.push(Absent::starting(server.clone()));
            }
        }
        inner.snapshot.store(before.missing(absent, self.failing()));
    }

    /// Who is configured and has nothing in the catalog.
    fn absent(&self) -> Vec<Absent> {
        let known = self.servers.iter().filter_map(|(name, known)| known.absent(name));
        let unusable = self.config.unusable.iter().map(|(name, why)| Absent::failing(name.clone(), why.clone()));
        known.chain(unusable).collect()
    }

    /// Who failed the last time, and why.
    fn failing(&self) -> Failing {
        let failed = self.servers.iter().filter_map(|(name, known)| Some((name.clone(), known.failed()?.to_owned())));
        Arc::new(failed.collect())
    }

    /// Who comes at once with whoever else is heard of now.
    fn wave(&mut self) -> u64 {
        // A race of processes that were started together must not decide who speaks for whom.
        let starting = self.starting && self.started.elapsed() < START;
        if !starting || self.wave.1.elapsed() >= AT_ONCE {
            self.wave = (self.number, Instant::now());
        }
        self.wave.0
    }

    /// What somebody could not have is remembered with its list.
    fn stand_back(&mut self, late: Vec<(ServerName, String)>) {
        for (server, address) in late {
            let Some(Known { listed: Some(Listed { manifest: Some(manifest), .. }), config, .. }) =
                self.servers.get_mut(&server)
            else {
                continue;
            };
            Arc::make_mut(manifest).second.insert(address);
            if let (Some(store), Some(config)) = (&self.store, config) {
                remember(store, config, manifest.clone());
            }
        }
    }

    fn hand_over(&self) -> HandOver {
        let events = self.events.clone();
        Box::new(move |vectors| {
            let events = events.as_ref().and_then(mpsc::WeakUnboundedSender::upgrade);
            events.is_some_and(|events| events.send(News::Encoded(vectors)).is_ok())
        })
    }
}

fn part((name, known): (&ServerName, &Known)) -> Part {
    Part {
        name: name.clone(),
        source: known.source.clone(),
        prefix: known.prefix(),
        tools: known.judged.as_ref().map(|judged| judged.served.tools.clone()),
        manifest: known.served_manifest().cloned(),
        listed: known.manifest().cloned(),
        held: known.judged.as_ref().map(|judged| judged.held.clone()).unwrap_or_default(),
        review: known.judged.as_ref().map(|judged| judged.review.clone()).unwrap_or_default(),
    }
}
