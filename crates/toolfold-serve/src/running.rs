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
    /// Those that their client can cancel.
    tokens: Mutex<HashMap<Id, CancellationToken>>,
    /// What every one of them ends with, whatever its id, and so does one that comes too late.
    all: CancellationToken,
}

/// One request that is being worked on, until this is dropped.
pub(crate) struct InFlight {
    running: Arc<Running>,
    /// `None` where another request has the same id: the later one cannot be cancelled.
    id: Option<Id>,
    pub(crate) cancel: CancellationToken,
}

/// The one place where the cancellation of a request is raced: whatever works is dropped, and ends with it. `None` where it was cancelled first.
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
        let cancel = self.all.child_token();
        let noted = match self.table().entry(id.clone()) {
            Entry::Vacant(free) => {
                free.insert(cancel.clone());
                Some(id.clone())
            }
            Entry::Occupied(_) => None,
        };
        Some(InFlight { running: self.clone(), id: noted, cancel })
    }

    /// Acts on `notifications/cancelled`. An id that is unknown was answered already; one that is cancelled is taken until its
    /// request has ended.
    pub(crate) fn cancel(&self, params: Option<&Raw>) {
        let id = params.and_then(Object::parse).and_then(|object| Id::from_raw(object.get("requestId")?));
        if let Some(token) = id.and_then(|id| self.table().get(&id).cloned()) {
            token.cancel();
        }
    }

    /// Cancels whatever is worked on, and whatever still begins: nobody wants it any more.
    pub(crate) fn cancel_all(&self) {
        self.all.cancel();
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

    #[test]
    fn a_request_that_is_cancelled_keeps_its_place_and_nobody_elses_until_it_has_ended() {
        let running = Arc::new(Running::default());
        let cancel = || running.cancel(Some(&toolfold_wire::raw_of(r#"{"requestId":1}"#).unwrap()));
        let first = running.begin(&Id::number(1), 9).unwrap();
        cancel();
        let second = running.begin(&Id::number(1), 9).unwrap();
        drop(first);
        let third = running.begin(&Id::number(1), 9).unwrap();
        drop(second);
        cancel();
        assert!(third.cancel.is_cancelled());
    }

    #[test]
    fn all_of_them_end_together_whatever_their_ids_and_whenever_they_came() {
        let running = Arc::new(Running::default());
        let [one, same] = [(); 2].map(|()| running.begin(&Id::number(1), 9).unwrap());
        running.cancel_all();
        let late = running.begin(&Id::number(2), 9).unwrap();
        assert!([one, same, late].iter().all(|request| request.cancel.is_cancelled()));
    }
}
