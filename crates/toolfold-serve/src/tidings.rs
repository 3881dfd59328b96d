//! What has changed, for whoever tells clients of it.
//!
//! What a reader would get wrong: who takes changes in too slowly misses the oldest of them, whoever the newest are of. What it
//! missed nobody knows any more, so all of it has to be looked at again.

use tokio::sync::broadcast::{Receiver, error::RecvError};
use toolfold_gateway::{Change, Gateway};

/// Every list there is.
const EVERYTHING: [Change; 3] = [Change::Tools { pinned: true }, Change::Prompts, Change::Resources];

pub(crate) struct Tidings(Receiver<Change>);

impl Tidings {
    /// Those from now on.
    pub(crate) fn of(gateway: &Gateway) -> Self {
        Tidings(gateway.changes())
    }

    /// What has changed next, or everything that may have; `None` when nothing will any more.
    pub(crate) async fn next(&mut self) -> Option<Vec<Change>> {
        match self.0.recv().await {
            Ok(change) => Some(vec![change]),
            Err(RecvError::Lagged(_)) => Some(EVERYTHING.to_vec()),
            Err(RecvError::Closed) => None,
        }
    }
}
