//! Which tools are called most, for `pin = "auto"`.
//!
//! What a reader would get wrong: what is counted now shows at the next start. A list that changed while a conversation
//! goes on would cost its client everything that it keeps by it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use toolfold_core::ToolId;
use toolfold_store::Store;
use tracing::debug;

use crate::kept::Kept;

/// Called once or twice is no habit.
pub(crate) const AT_LEAST: i64 = 3;
/// More are asked for than fit: some may be gone, or too long.
pub(crate) const ASKED: i64 = 24;
/// Tools that are pinned by use, and the tokens that they may cost together.
pub(crate) const MOST_PINNED: usize = 6;
pub(crate) const MOST_TOKENS: usize = 1200;

pub(crate) struct Usage {
    store: Kept,
    wanted: AtomicBool,
}

impl Usage {
    pub(crate) fn new(store: Kept, wanted: bool) -> Self {
        Usage { store, wanted: AtomicBool::new(wanted) }
    }

    /// Whether anybody will ask what was called most.
    pub(crate) fn want(&self, wanted: bool) {
        self.wanted.store(wanted, Ordering::Relaxed);
    }

    /// Counts a call, beside whatever else goes on: nobody waits for it.
    pub(crate) fn count(&self, tool: &str) {
        let Some(store) = self.store.get().filter(|_| self.wanted.load(Ordering::Relaxed)) else { return };
        let (tool, counted) = (tool.to_owned(), store.count_use(tool));
        tokio::spawn(async move {
            if let Err(error) = counted.await {
                debug!(tool, "its use is not counted: {error}");
            }
        });
    }
}

/// The ids of the most used tools, most used first.
pub(crate) async fn most_used(store: Option<Arc<Store>>) -> Vec<ToolId> {
    let Some(store) = store else { return Vec::new() };
    if let Some(cluster) = store.cluster() {
        // The same for all replicas, whenever each was started; `following.rs` sees to the next day.
        let (_, tools) = cluster.used_of_the_day(AT_LEAST, ASKED).await.unwrap_or_default();
        return tools.iter().filter_map(|id| ToolId::parse(id)).collect();
    }
    let read = store.most_used(AT_LEAST, ASKED).await.unwrap_or_default();
    read.iter().filter_map(|id| ToolId::parse(id)).collect()
}
