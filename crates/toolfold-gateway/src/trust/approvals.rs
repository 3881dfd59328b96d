//! What is held, and deciding about it, through the handle that everybody has.

use tokio::sync::oneshot;
use tokio::task::spawn_blocking;
use toolfold_core::{Principal, Refusal};

use super::held::{Decided, Decision, HeldList, Undecided, described};
use crate::aside::aside;
use crate::gateway::Gateway;
use crate::writer::News;

/// Bytes of all the differences of one page, about.
const LONGEST_PAGE: usize = 4 * 1024 * 1024;

impl Gateway {
    /// What is held, of one server or of all: a part of it, each with what is different from what was accepted.
    pub async fn approvals(&self, server: Option<String>, offset: usize, limit: usize) -> HeldList {
        self.0.waiting.published().await;
        let snapshot = self.0.snapshot.load_full();
        let read = spawn_blocking(move || {
            let wanted = |held: &super::Held| server.as_ref().is_none_or(|server| server == held.server.as_str());
            described(&snapshot.quarantine, &snapshot.catalog, wanted, (offset, limit), usize::MAX)
        });
        read.await.unwrap_or_else(|_| HeldList { total: 0, held: Vec::new(), review: Vec::new() })
    }

    /// As [`Gateway::approvals`], of what exists for somebody: fewer where there is much to say of them, and refused where too
    /// many ask at once.
    pub async fn approvals_page(
        &self,
        principal: &Principal,
        server: Option<String>,
        offset: usize,
        limit: usize,
    ) -> Result<HeldList, Refusal> {
        self.0.waiting.published().await;
        let snapshot = self.0.seen(principal);
        aside(move || {
            let wanted = |held: &super::Held| server.as_ref().is_none_or(|server| server == held.server.as_str());
            described(&snapshot.quarantine, &snapshot.catalog, wanted, (offset, limit), LONGEST_PAGE)
        })
        .await
    }

    /// Approves or refuses what is held. It is written down, and takes effect, before this answers.
    pub async fn decide(&self, decision: Decision) -> Result<Decided, Undecided> {
        self.ask_writer(|done| News::Decide(decision, done)).await
    }

    /// Looks at the record again, where something is held: another process may have written to it.
    pub async fn recheck(&self) {
        // Nothing to be told of: whatever came of it is in the next snapshot.
        let _ = self.ask_writer(News::Recheck).await;
    }

    async fn ask_writer(
        &self,
        news: impl FnOnce(oneshot::Sender<Result<Decided, Undecided>>) -> News,
    ) -> Result<Decided, Undecided> {
        self.0.waiting.published().await;
        let (done, decided) = oneshot::channel();
        self.send(news(done));
        decided.await.unwrap_or(Err(Undecided::Stopped))
    }
}
