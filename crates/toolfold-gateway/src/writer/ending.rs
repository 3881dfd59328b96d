//! How it ends: with each server, and as a whole.

use toolfold_upstream::Event;

use super::Writer;
use crate::remembered::remember_silent;

impl Writer {
    pub(super) async fn stop(&mut self) {
        if let Some(inner) = self.inner.upgrade() {
            inner.precise.stop();
        }
        // What servers did until now is remembered, whichever came first: whoever was told of a failure may stop us at once.
        while let Ok(report) = self.reported.try_recv() {
            self.report(report).await;
        }
        if let Some(store) = &self.store {
            let silent =
                self.servers.values().filter(|known| known.is_silent()).filter_map(|known| known.config.as_ref());
            remember_silent(store, silent, self.started.elapsed());
        }
        let stopping: Vec<_> = std::mem::take(&mut self.servers)
            .into_values()
            .map(|known| tokio::spawn(async move { known.source.stop().await }))
            .collect();
        for stopped in stopping {
            // A supervisor that panicked has dropped its process.
            let _ = stopped.await;
        }
        while let Ok(report) = self.reported.try_recv() {
            self.count_parted(&report.event);
        }
        if let Some(tenancy) = self.inner.upgrade().and_then(|inner| inner.tenancy.clone()) {
            tenancy.given_back().await;
        }
        if let Some(store) = &self.store {
            store.close().await;
        }
    }

    /// A session with a server is over: how long it was is counted, whoever has its place now.
    pub(super) fn count_parted(&self, event: &Event) {
        if let (Event::Parted(parted), Some(inner)) = (event, self.inner.upgrade()) {
            inner.gate.instruments.parted(parted);
        }
    }
}
