//! Who a server talks to while a script's call of it is under way: the script's own caller. Several calls at once would
//! each count their progress from the beginning, so what is passed on is counted anew.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};

use toolfold_wire::{BoxFuture, Object, Peer, Raw, RpcError};

const PROGRESS: &str = "notifications/progress";

pub(super) struct ScriptPeer {
    caller: Arc<dyn Peer>,
    /// What the caller wants to hear of progress by.
    token: Option<Raw>,
    steps: AtomicU64,
    /// Questions that a person has been asked and has not answered.
    open: AtomicUsize,
}

impl ScriptPeer {
    pub(super) fn new(caller: Arc<dyn Peer>, params: &Object) -> Self {
        let token = params.object("_meta").and_then(|about| about.get("progressToken").cloned());
        ScriptPeer { caller, token, steps: AtomicU64::new(0), open: AtomicUsize::new(0) }
    }

    pub(super) fn is_asking(&self) -> bool {
        self.open.load(Ordering::Acquire) > 0
    }

    /// One more thing has been done.
    pub(super) fn step(&self, message: &str) {
        if let Some(token) = &self.token {
            let mut params = Object::new();
            params.set_raw("progressToken", token.clone()).set("message", message);
            self.progress(params);
        }
    }

    fn progress(&self, mut params: Object) {
        // The specification wants it to grow with each.
        params.set("progress", &(self.steps.fetch_add(1, Ordering::AcqRel) + 1));
        params.remove("total");
        self.caller.notify(PROGRESS, Some(params.to_raw()));
    }
}

impl Peer for ScriptPeer {
    fn notify(&self, method: &str, params: Option<Raw>) {
        match (method, params.as_ref().and_then(Object::parse)) {
            (PROGRESS, Some(params)) => self.progress(params),
            _ => self.caller.notify(method, params),
        }
    }

    fn ask<'a>(&'a self, method: &'a str, params: Option<Raw>) -> BoxFuture<'a, Result<Raw, RpcError>> {
        Box::pin(async move {
            let _open = Open::one(&self.open);
            self.caller.ask(method, params).await
        })
    }

    fn is_there(&self) -> bool {
        self.caller.is_there()
    }
}

/// A question, for as long as it is open.
struct Open<'a>(&'a AtomicUsize);

impl<'a> Open<'a> {
    fn one(open: &'a AtomicUsize) -> Self {
        open.fetch_add(1, Ordering::AcqRel);
        Open(open)
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::AcqRel);
    }
}
