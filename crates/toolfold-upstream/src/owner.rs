//! Who a request to a server belongs to: where its questions, its progress and what is said of it go.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use toolfold_wire::{Peer, Spool};

use crate::call::Call;
use crate::intake::Spooling;

/// Who a request belongs to. Toolfold's own requests belong to nobody.
#[derive(Clone)]
pub(crate) struct Owner {
    pub(crate) client: u64,
    pub(crate) peer: Arc<dyn Peer>,
    /// How many questions of the server the client is thinking about.
    pub(crate) thinking: Arc<AtomicUsize>,
    /// The time of its call is over: it goes on for as long as the client is there to think.
    pub(crate) overdue: Arc<AtomicBool>,
    /// The server has said something about it beside its own stream.
    beside: Arc<AtomicBool>,
    /// Where a long answer may go.
    spool: Option<Arc<dyn Spool>>,
}

impl Owner {
    pub(crate) fn new(client: u64, peer: Arc<dyn Peer>) -> Self {
        let (thinking, overdue, beside) = (Arc::default(), Arc::default(), Arc::default());
        Owner { client, peer, thinking, overdue, beside, spool: None }
    }

    pub(crate) fn of(call: &Call) -> Self {
        Owner { spool: call.spool.clone(), ..Owner::new(call.client, call.peer.clone()) }
    }

    /// Begins to put the answer to its request where it has offered to keep it.
    pub(crate) fn spooling(self, id: u64) -> Option<Spooling> {
        Some(Spooling::new(id, self.spool?.begin(id)?))
    }

    /// Something about it came on the stream that belongs to no call.
    pub(crate) fn hear_beside(&self) {
        self.beside.store(true, Ordering::Relaxed);
    }

    pub(crate) fn was_heard_beside(&self) -> bool {
        self.beside.load(Ordering::Relaxed)
    }

    /// Whether its call is over and only not ended yet: nobody is there, and its time is up.
    pub(crate) fn is_gone(&self) -> bool {
        self.overdue.load(Ordering::Relaxed) && !self.peer.is_there()
    }
}
