//! Resources that somebody watches. A server is asked once for each, however many clients watch it, and told when
//! the last of them is gone.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use toolfold_core::{Principal, ServerName};
use toolfold_upstream::Upstream;

/// By server, whose way to it is used, and address.
type Counts = Arc<Mutex<HashMap<(ServerName, Principal, String), usize>>>;

#[derive(Default)]
pub(crate) struct Subscriptions(Counts);

/// One client's interest in one resource; it ends when this is dropped.
pub struct Watch {
    counts: Counts,
    upstream: Upstream,
    /// As its server knows it.
    uri: String,
}

impl Subscriptions {
    /// Counts one more watcher; whether it is the first.
    pub(crate) fn watch(&self, upstream: Upstream, uri: String) -> (Watch, bool) {
        let key = (upstream.name().clone(), upstream.whose().clone(), uri.clone());
        let mut counts = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let count = counts.entry(key).or_default();
        *count += 1;
        (Watch { counts: self.0.clone(), upstream, uri }, *count == 1)
    }
}

impl Watch {
    /// Whether this is about a resource of that server: what another says of the same address is nobody's business.
    pub fn is_of(&self, server: &ServerName, uri: &str) -> bool {
        self.upstream.name() == server && self.uri == uri
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let key = (self.upstream.name().clone(), self.upstream.whose().clone(), self.uri.clone());
        let mut counts = self.counts.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(count) = counts.get_mut(&key) else { return };
        *count -= 1;
        if *count > 0 {
            return;
        }
        counts.remove(&key);
        let (upstream, uri) = (self.upstream.clone(), std::mem::take(&mut self.uri));
        if let Ok(runtime) = tokio::runtime::Handle::try_current() {
            runtime.spawn(async move { drop(upstream.unsubscribe(&uri).await) });
        }
    }
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Watch({})", self.uri)
    }
}
