//! The requests of one client that are being worked on, so that it can cancel them.

use std::collections::HashMap;
use std::collections::hash_map::Entry;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;
use toolfold_wire::{Id, Object, Raw};

#[derive(Default)]
pub(crate) struct Running {
    count: AtomicUsize,
    /// Those that can be cancelled.
    tokens: Mutex<HashMap<Id, CancellationToken>>,
}

/// One request that is being worked on, until this is dropped.
pub(crate) struct InFlight {
    running: Arc<Running>,
    /// `None` where another request has the same id: the later one cannot be cancelled.
    id: Option<Id>,
    pub(crate) cancel: CancellationToken,
}

/// The one place where a cancellation is raced: whatever works is dropped, and ends with it. `None` where it was cancelled first.
pub(crate) async fn until_cancelled<T>(work: impl Future<Output = T>, cancel: &CancellationToken) -> Option<T> {
    tokio::select! {
        biased;
        done = work => Some(done),
        () = cancel.cancelled() => None,
    }
}

impl Running {
    /// Notes a request down; `None` where `most` are being worked on already.
    pub(crate) fn begin(self: &Arc<Self>, id: &Id, most: usize) -> Option<InFlight> {
        let another = |count: usize| (count < most).then_some(count + 1);
        self.count.fetch_update(Ordering::Relaxed, Ordering::Relaxed, another).ok()?;
        let cancel = CancellationToken::new();
        let noted = match self.table().entry(id.clone()) {
            Entry::Vacant(free) => {
                free.insert(cancel.clone());
                Some(id.clone())
            }
            Entry::Occupied(_) => None,
        };
        Some(InFlight { running: self.clone(), id: noted, cancel })
    }

    /// Acts on `notifications/cancelled`. An id that is unknown was answered already.
    pub(crate) fn cancel(&self, params: Option<&Raw>) {
        let id = params.and_then(Object::parse).and_then(|object| Id::from_raw(object.get("requestId")?));
        if let Some(token) = id.and_then(|id| self.table().remove(&id)) {
            token.cancel();
        }
    }

    pub(crate) fn cancel_all(&self) {
        self.table().drain().for_each(|(_, token)| token.cancel());
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.count.load(Ordering::Relaxed) == 0
    }

    fn table(&self) -> MutexGuard<'_, HashMap<Id, CancellationToken>> {
        self.tokens.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.running.count.fetch_sub(1, Ordering::Relaxed);
        if let Some(id) = &self.id {
            self.running.table().remove(id);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_worked_on_is_counted_and_ends_with_its_request() {
        let running = Arc::new(Running::default());
        let first = running.begin(&Id::number(1), 2).unwrap();
        let _second = running.begin(&Id::number(2), 2).unwrap();
        assert!(running.begin(&Id::number(3), 2).is_none());
        drop(first);
        assert!(running.begin(&Id::number(3), 2).is_some());
    }

    #[test]
    fn a_second_request_of_the_same_id_counts_and_does_not_take_the_first_ones_place() {
        let running = Arc::new(Running::default());
        let first = running.begin(&Id::number(1), 9).unwrap();
        assert!(running.begin(&Id::number(1), 1).is_none());
        drop(running.begin(&Id::number(1), 9));
        running.cancel(Some(&toolfold_wire::raw_of(r#"{"requestId":1}"#).unwrap()));
        assert!(first.cancel.is_cancelled());
    }
}
