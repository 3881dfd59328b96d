//! Resources that somebody watches. A server is asked once for each, however many clients watch it, and told when
//! the last of them is gone.
//!
//! What a reader would get wrong: counting is not enough. Who comes second watches nothing before the server has said yes to the
//! first, and who comes back at once must not have it undone by the goodbye of who left: what is asked of a server about one
//! address is asked one after the other.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use toolfold_core::{Principal, ServerName};
use toolfold_upstream::{CallError, Upstream};

/// By server, whose way to it is used, and address.
type Key = (ServerName, Principal, String);
type Watched = Arc<Mutex<HashMap<Key, Interest>>>;

#[derive(Default)]
pub(crate) struct Subscriptions(Watched);

/// What there is of one resource.
#[derive(Default)]
struct Interest {
    watchers: usize,
    /// Held by who asks the server.
    answer: Arc<tokio::sync::Mutex<Answer>>,
}

/// What the server said to being asked.
#[derive(Default, PartialEq, Eq)]
enum Answer {
    #[default]
    NotAsked,
    /// Whoever asked may have gone away before it answered.
    Asked,
    Yes,
}

/// One client's interest in one resource; it ends when this is dropped.
pub struct Watch {
    watched: Watched,
    upstream: Upstream,
    /// As its server knows it.
    uri: String,
}

impl Subscriptions {
    /// One more watcher; the first one asks the server, the others wait for what it says.
    pub(crate) async fn watch(&self, upstream: Upstream, uri: String) -> Result<Watch, CallError> {
        // Counted from here on: whoever fails or goes away meanwhile is not counted any more.
        let watch = Watch { watched: self.0.clone(), upstream, uri };
        let answer = {
            let mut watched = lock(&self.0);
            let interest = watched.entry(watch.key()).or_default();
            interest.watchers += 1;
            interest.answer.clone()
        };
        let mut answer = answer.lock().await;
        if *answer != Answer::Yes {
            *answer = Answer::Asked;
            watch.upstream.subscribe(&watch.uri).await?;
            *answer = Answer::Yes;
        }
        drop(answer);
        Ok(watch)
    }
}

impl Watch {
    /// Whether this is about a resource of that server, seen on the way of the same principal: what another says of the same
    /// address is nobody's business.
    pub fn is_of(&self, server: &ServerName, whose: &Principal, uri: &str) -> bool {
        self.upstream.name() == server && self.upstream.whose() == whose && self.uri == uri
    }

    fn key(&self) -> Key {
        (self.upstream.name().clone(), self.upstream.whose().clone(), self.uri.clone())
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        let key = self.key();
        let mut watched = lock(&self.watched);
        let Some(interest) = watched.get_mut(&key) else { return };
        interest.watchers -= 1;
        if interest.watchers > 0 {
            return;
        }
        let answer = interest.answer.clone();
        let Ok(runtime) = tokio::runtime::Handle::try_current() else {
            watched.remove(&key);
            return;
        };
        let (watched, upstream) = (self.watched.clone(), self.upstream.clone());
        runtime.spawn(async move {
            let mut answer = answer.lock().await;
            let is_over = || lock(&watched).get(&key).is_none_or(|interest| interest.watchers == 0);
            if *answer != Answer::NotAsked && is_over() {
                drop(upstream.unsubscribe(&key.2).await);
                *answer = Answer::NotAsked;
            }
            let mut watched = lock(&watched);
            if watched.get(&key).is_some_and(|interest| interest.watchers == 0) {
                watched.remove(&key);
            }
        });
    }
}

impl std::fmt::Debug for Watch {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Watch({})", self.uri)
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
