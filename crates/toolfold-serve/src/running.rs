//! The requests of one client that are being worked on, so that it can cancel them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use tokio_util::sync::CancellationToken;
use toolfold_wire::{Id, Object, Raw};

#[derive(Default)]
pub(crate) struct Running(Mutex<HashMap<Id, CancellationToken>>);

impl Running {
    pub(crate) fn begin(&self, id: &Id) -> CancellationToken {
        let token = CancellationToken::new();
        self.table().insert(id.clone(), token.clone());
        token
    }

    pub(crate) fn end(&self, id: &Id) {
        self.table().remove(id);
    }

    /// Acts on `notifications/cancelled`. An id that is unknown was answered already.
    pub(crate) fn cancel(&self, params: Option<&Raw>) {
        let id = params.and_then(|raw| Object::parse(raw)).and_then(|object| Id::from_raw(object.get("requestId")?));
        if let Some(token) = id.and_then(|id| self.table().remove(&id)) {
            token.cancel();
        }
    }

    pub(crate) fn cancel_all(&self) {
        self.table().drain().for_each(|(_, token)| token.cancel());
    }

    fn table(&self) -> std::sync::MutexGuard<'_, HashMap<Id, CancellationToken>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
