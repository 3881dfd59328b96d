//! What is held, and deciding about it. Who decides is the writer: this asks it.

use tokio::sync::{mpsc, oneshot};
use tokio::task::spawn_blocking;
use toolfold_core::{Principal, Refusal};

use super::held::{Decided, Decision, HeldList, Undecided};
use super::quarantine::described;
use crate::aside::aside;
use crate::current::Current;
use crate::progress::Waiting;
use crate::writer::News;

/// Bytes of all the differences of one page, about.
const LONGEST_PAGE: usize = 4 * 1024 * 1024;

/// What waits for somebody's decision.
pub struct Approvals<'a> {
    pub(crate) waiting: &'a Waiting,
    pub(crate) snapshot: &'a Current,
    pub(crate) events: &'a mpsc::UnboundedSender<News>,
}

impl Approvals<'_> {
    /// What is held, of one server or of all: a part of it, each with what is different from what was accepted.
    pub async fn list(&self, server: Option<String>, offset: usize, limit: usize) -> HeldList {
        self.waiting.published().await;
        let snapshot = self.snapshot.load_full();
        let read = spawn_blocking(move || {
            let wanted = |held: &super::Held| server.as_ref().is_none_or(|server| server == held.server.as_str());
            described(&snapshot.quarantine, &snapshot.catalog, wanted, (offset, limit), usize::MAX)
        });
        read.await.unwrap_or_else(|_| HeldList { total: 0, held: Vec::new(), review: Vec::new() })
    }

    /// As [`Approvals::list`], of what exists for somebody: fewer where there is much to say of them, and refused where too
    /// many ask at once.
    pub async fn page(
        &self,
        principal: &Principal,
        server: Option<String>,
        offset: usize,
        limit: usize,
    ) -> Result<HeldList, Refusal> {
        self.waiting.published().await;
        let snapshot = self.snapshot.seen(principal);
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
        self.waiting.published().await;
        let (done, decided) = oneshot::channel();
        // A writer that is gone drops the question with it.
        let _ = self.events.send(news(done));
        decided.await.unwrap_or(Err(Undecided::Stopped))
    }
}
