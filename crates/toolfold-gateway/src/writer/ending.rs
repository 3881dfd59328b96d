//! How it ends: with each server, and as a whole.

use std::collections::BTreeSet;
use std::time::Duration;

use toolfold_core::ServerName;
use toolfold_upstream::{Event, Report, State};

use super::{Dirty, Writer};
use crate::gate::Source;
use crate::remembered::{remember_failure, remember_silent, why_silent};

impl Writer {
    pub(super) async fn stop(&mut self) {
        if let Some(inner) = self.inner.upgrade() {
            inner.precise.stop();
        }
        if let Some(store) = &self.store {
            let silent =
                self.servers.values().filter(|known| known.is_silent()).filter_map(|known| known.config.as_ref());
            remember_silent(store, silent, self.started.elapsed());
        }
        let stop = |source: Source| tokio::spawn(async move { source.stop().await });
        let stopping: Vec<_> = self.servers.values().map(|known| stop(known.source.clone())).collect();
        for stopped in stopping {
            // A supervisor that panicked has dropped its process.
            let _ = stopped.await;
        }
        while let Ok(Report { server, event, .. }) = self.reported.try_recv() {
            self.count_parted(&event);
            let config = self.servers.get(&server).and_then(|known| known.config.as_ref());
            if let (Event::State(State::Failing { why, .. }), Some(store), Some(config)) = (&event, &self.store, config)
            {
                remember_failure(store, config, why);
            }
        }
        self.servers.clear();
        if let Some(tenancy) = self.inner.upgrade().and_then(|inner| inner.tenancy.clone()) {
            tenancy.given_back().await;
        }
        if let Some(store) = &self.store {
            store.close().await;
        }
    }

    /// Who has said nothing while somebody waited is failing, until it says something after all.
    pub(super) fn give_up(&mut self, servers: &BTreeSet<ServerName>, waited: Duration) -> Dirty {
        let silent = self.servers.iter_mut().filter(|(name, known)| servers.contains(*name) && known.is_silent());
        let mut dirty = Dirty::Nothing;
        for (_, known) in silent {
            let why = why_silent(waited);
            if let (Some(store), Some(config)) = (&self.store, &known.config) {
                remember_failure(store, config, &why);
            }
            (known.failing, dirty) = (Some(why), Dirty::Missing);
        }
        dirty
    }

    /// A session with a server is over: how long it was is counted, whoever has its place now.
    pub(super) fn count_parted(&self, event: &Event) {
        if let (Event::Parted(parted), Some(inner)) = (event, self.inner.upgrade()) {
            inner.gate.instruments.parted(parted);
        }
    }
}
