//! How much one principal may ask, how much one server is asked at once, and when a server is left alone.
//!
//! What a reader would get wrong: without a limit in the configuration nothing is counted and no lock is taken, but for
//! failures in a row.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::time::Instant;
use toolfold_config::{Limits, Rate};
use toolfold_core::{Code, Principal, Refusal, ServerName};

use crate::slices::{Sharing, Slices, Wish};

/// Principals, and servers of each, that are counted. Whoever has not used any of theirs is forgotten first.
const MOST_COUNTED: usize = 10_000;
/// How long a server that fails is left alone at first, and at most.
const SHORTEST_REST: Duration = Duration::from_secs(1);
const LONGEST_REST: Duration = Duration::from_secs(60);

#[derive(Default)]
pub(crate) struct Turnstile {
    requests: Buckets<Option<Principal>>,
    calls: Buckets<Principal>,
    calls_per_server: Buckets<(Principal, ServerName)>,
    /// Where replicas share the limits.
    pub(crate) slices: Slices,
    at_once: Mutex<HashMap<ServerName, (usize, Arc<Semaphore>)>>,
    breakers: Mutex<HashMap<ServerName, Breaker>>,
}

/// A server's place that is given back when the call is over.
pub(crate) struct Turn {
    _place: Option<OwnedSemaphorePermit>,
}

/// A server that is left alone after failures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Rest {
    pub(crate) failures: u32,
    pub(crate) left: Duration,
}

#[derive(Debug, Default)]
struct Breaker {
    /// In a row.
    failures: u32,
    /// Rests in a row: each is twice as long as the one before.
    rests: u32,
    until: Option<Instant>,
    /// Somebody has been let through to see whether it works again.
    trying: bool,
}

impl Turnstile {
    /// A request of somebody, or of nobody in particular; how long to wait where it is one too many.
    pub(crate) fn knock(&self, limits: &Limits, principal: Option<&Principal>) -> Result<(), Duration> {
        let rate = if principal.is_some() { limits.requests } else { limits.unauthenticated };
        let Some(rate) = rate else { return Ok(()) };
        match self.slices.sharing() {
            None => self.requests.take(rate, principal.cloned()),
            Some(sharing) => {
                let name = format!("requests/{}", principal.map_or_else(String::new, Principal::key));
                self.requests.take_shared(rate, principal.cloned(), sharing, &name)
            }
        }
    }

    /// As [`Turnstile::knock`] of nobody in particular, and nothing is counted: whether it would be one too many.
    pub(crate) fn peek(&self, limits: &Limits) -> Result<(), Duration> {
        limits.unauthenticated.map_or(Ok(()), |rate| self.requests.peek(rate, &None))
    }

    /// Whether a server may be asked something now.
    pub(crate) fn enter(&self, limits: &Limits, who: &Principal, server: &ServerName) -> Result<Turn, Refusal> {
        if let Some(rate) = limits.calls {
            let wait = match self.slices.sharing() {
                None => self.calls.take(rate, who.clone()),
                Some(sharing) => self.calls.take_shared(rate, who.clone(), sharing, &format!("calls/{}", who.key())),
            };
            wait.map_err(|wait| too_many("You have made too many calls.", wait))?;
        }
        if let Some(rate) = limits.calls_per_server {
            let key = (who.clone(), server.clone());
            let wait = match self.slices.sharing() {
                None => self.calls_per_server.take(rate, key),
                Some(sharing) => {
                    let name = format!("calls/{server}/{}", who.key());
                    self.calls_per_server.take_shared(rate, key, sharing, &name)
                }
            };
            wait.map_err(|wait| too_many(&format!("You have made too many calls to the server {server}."), wait))?;
        }
        let place = match limits.per_server {
            None => None,
            Some(most) => Some(self.place(server, most).ok_or_else(|| {
                too_many(&format!("The server {server} works on {most} calls already."), Duration::from_secs(1))
            })?),
        };
        if limits.failures > 0 {
            self.try_breaker(server).map_err(|rest| resting(server, rest))?;
        }
        Ok(Turn { _place: place })
    }

    /// Takes in how it went. `failed`: nobody answered.
    pub(crate) fn learn(&self, limits: &Limits, server: &ServerName, failed: bool) {
        if limits.failures == 0 {
            return;
        }
        let mut breakers = lock(&self.breakers);
        if !failed {
            // Most servers never fail: nothing is kept of those.
            if breakers.is_empty() {
                return;
            }
            breakers.remove(server);
            return;
        }
        let breaker = breakers.entry(server.clone()).or_default();
        breaker.failures = breaker.failures.saturating_add(1);
        if breaker.failures >= limits.failures {
            let rest = SHORTEST_REST.saturating_mul(1 << breaker.rests.min(6)).min(LONGEST_REST);
            breaker.until = Some(Instant::now() + rest);
            breaker.rests += u32::from(breaker.trying || breaker.rests == 0);
            breaker.trying = false;
        }
    }

    /// How long a server is left alone, where it is.
    pub(crate) fn resting(&self, server: &ServerName) -> Option<Rest> {
        let breakers = lock(&self.breakers);
        let breaker = breakers.get(server)?;
        let left = breaker.until?.checked_duration_since(Instant::now()).unwrap_or_default();
        Some(Rest { failures: breaker.failures, left })
    }

    fn place(&self, server: &ServerName, most: usize) -> Option<OwnedSemaphorePermit> {
        let mut all = lock(&self.at_once);
        let (known, places) = all.entry(server.clone()).or_insert_with(|| (most, Arc::new(Semaphore::new(most))));
        if *known != most {
            // Another bound holds from now on; calls under way keep their places in the old one.
            (*known, *places) = (most, Arc::new(Semaphore::new(most)));
        }
        places.clone().try_acquire_owned().ok()
    }

    fn try_breaker(&self, server: &ServerName) -> Result<(), Rest> {
        let mut breakers = lock(&self.breakers);
        if breakers.is_empty() {
            return Ok(());
        }
        let Some(breaker) = breakers.get_mut(server) else { return Ok(()) };
        let Some(until) = breaker.until else { return Ok(()) };
        let now = Instant::now();
        match until.checked_duration_since(now) {
            Some(left) if !left.is_zero() => Err(Rest { failures: breaker.failures, left }),
            // One goes first; should nothing be heard of it, the next one may try after as long again.
            _ => {
                breaker.trying = true;
                breaker.until = Some(now + SHORTEST_REST);
                Ok(())
            }
        }
    }
}

fn too_many(message: &str, wait: Duration) -> Refusal {
    let seconds = wait.as_secs_f64().ceil().max(1.0) as u64;
    Refusal::new(Code::RateLimited, format!("{message} Come back in {seconds} s."))
        .hint(format!("The same call can be made again in {seconds} s."))
        .details(serde_json::json!({ "retry_after_seconds": seconds }))
}

fn resting(server: &ServerName, rest: Rest) -> Refusal {
    let seconds = rest.left.as_secs_f64().ceil().max(1.0) as u64;
    let message = format!(
        "The server {server} failed {} times in a row and is left alone for a while. The call was not made.",
        rest.failures
    );
    Refusal::new(Code::ServerUnavailable, message)
        .hint(format!("It is tried again in {seconds} s; the same call may work then."))
        .details(serde_json::json!({ "retry_after_seconds": seconds }))
}

/// One bucket for each of whoever is counted.
struct Buckets<K>(Arc<Mutex<HashMap<K, Bucket>>>);

impl<K> Default for Buckets<K> {
    fn default() -> Self {
        Buckets(Arc::default())
    }
}

/// As many as it holds can be taken at once, and it fills up again with time.
struct Bucket {
    held: f64,
    at: Instant,
    /// A slice is being fetched.
    fetching: bool,
}

impl Bucket {
    /// What it holds by now.
    fn filled(&self, rate: Rate, now: Instant) -> f64 {
        (self.held + (now - self.at).as_secs_f64() * per_second(rate)).min(f64::from(rate.count))
    }
}

fn per_second(rate: Rate) -> f64 {
    f64::from(rate.count) / rate.per.as_secs_f64()
}

impl<K: Hash + Eq> Buckets<K> {
    /// Whether there is one to take, or when there is one again.
    fn peek(&self, rate: Rate, key: &K) -> Result<(), Duration> {
        let held = lock(&self.0).get(key).map_or(f64::from(rate.count), |bucket| bucket.filled(rate, Instant::now()));
        if held >= 1.0 { Ok(()) } else { Err(Duration::from_secs_f64((1.0 - held) / per_second(rate))) }
    }

    /// Takes one, or says when there is one again.
    fn take(&self, rate: Rate, key: K) -> Result<(), Duration> {
        let (now, most) = (Instant::now(), f64::from(rate.count));
        let filled = |bucket: &Bucket| bucket.filled(rate, now);
        let mut all = lock(&self.0);
        if all.len() >= MOST_COUNTED {
            all.retain(|_, bucket| filled(bucket) < most);
            if all.len() >= MOST_COUNTED {
                all.clear();
            }
        }
        let bucket = all.entry(key).or_insert(Bucket { held: most, at: now, fetching: false });
        (bucket.held, bucket.at) = (filled(bucket), now);
        if bucket.held >= 1.0 {
            bucket.held -= 1.0;
            return Ok(());
        }
        Err(Duration::from_secs_f64((1.0 - bucket.held) / per_second(rate)))
    }
}

impl<K: Hash + Eq + Clone + Send + 'static> Buckets<K> {
    /// The same of a limit that replicas share: out of the slices that were fetched. Never waits.
    fn take_shared(&self, rate: Rate, key: K, sharing: &Sharing, name: &str) -> Result<(), Duration> {
        let (now, most) = (Instant::now(), f64::from(rate.count));
        let per_second = most / rate.per.as_secs_f64();
        let part = (most / sharing.replicas()).floor().max(1.0);
        let slice = (per_second / sharing.replicas()).ceil().clamp(1.0, part);
        let mut all = lock(&self.0);
        if all.len() >= MOST_COUNTED {
            all.clear();
        }
        let is_new = !all.contains_key(&key);
        let bucket = all.entry(key.clone()).or_insert(Bucket { held: part, at: now, fetching: false });
        if sharing.is_away() {
            let filled = (now - bucket.at).as_secs_f64() * per_second / sharing.replicas();
            bucket.held = (bucket.held + filled).min(part);
        }
        bucket.at = now;
        let ahead = if is_new { part } else { 0.0 };
        if !bucket.fetching && !sharing.is_away() && (is_new || bucket.held < slice.max(2.0) / 2.0) {
            let amount = if is_new { part } else { slice };
            let buckets = self.0.clone();
            let give = Box::new(move |granted: Option<u32>| {
                if let Some(bucket) = lock(&buckets).get_mut(&key) {
                    bucket.fetching = false;
                    // What was handed out ahead is paid back; where nobody could say, it is the part of who knows no better.
                    bucket.held += granted.map_or(0.0, |granted| f64::from(granted) - ahead);
                }
            });
            bucket.fetching = sharing.wish(Wish { bucket: name.to_owned(), rate, amount: amount as u32, give });
        }
        if bucket.held >= 1.0 {
            bucket.held -= 1.0;
            return Ok(());
        }
        Err(Duration::from_secs_f64(((1.0 - bucket.held) / per_second).min(rate.per.as_secs_f64())))
    }
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn server() -> ServerName {
        ServerName::new("a").unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn as_many_as_fit_and_then_as_time_goes() {
        let rate = Rate { count: 2, per: Duration::from_secs(10) };
        let limits = Limits { requests: Some(rate), ..Limits::default() };
        let all = Turnstile::default();
        let (me, other) = (Principal::local(), Principal::token());
        assert!(all.knock(&limits, Some(&me)).is_ok() && all.knock(&limits, Some(&me)).is_ok());
        assert_eq!(all.knock(&limits, Some(&me)), Err(Duration::from_secs(5)));
        assert!(all.knock(&limits, Some(&other)).is_ok(), "each has their own");
        assert!(all.knock(&limits, None).is_ok(), "nobody in particular has no limit here");
        tokio::time::advance(Duration::from_secs(5)).await;
        assert!(all.knock(&limits, Some(&me)).is_ok());
        assert!(all.knock(&limits, Some(&me)).is_err());
        let strangers = Limits { unauthenticated: Some(rate), ..Limits::default() };
        assert!((0..9).all(|_| all.peek(&strangers).is_ok()), "a look takes nothing");
        assert!(all.knock(&strangers, None).is_ok() && all.knock(&strangers, None).is_ok());
        assert_eq!(all.peek(&strangers), Err(Duration::from_secs(5)));
    }

    #[tokio::test(start_paused = true)]
    async fn a_server_that_fails_is_left_alone_and_tried_by_one() {
        let limits = Limits { failures: 3, ..Limits::default() };
        let (all, me) = (Turnstile::default(), Principal::local());
        for _ in 0..3 {
            assert!(all.enter(&limits, &me, &server()).is_ok());
            all.learn(&limits, &server(), true);
        }
        let refusal = all.enter(&limits, &me, &server()).err().unwrap();
        assert_eq!((refusal.code, all.resting(&server()).unwrap().failures), (Code::ServerUnavailable, 3));
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(all.enter(&limits, &me, &server()).is_ok(), "one goes first");
        assert!(all.enter(&limits, &me, &server()).is_err());
        all.learn(&limits, &server(), true);
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(all.enter(&limits, &me, &server()).is_err(), "left alone for longer");
        tokio::time::advance(Duration::from_secs(1)).await;
        assert!(all.enter(&limits, &me, &server()).is_ok());
        all.learn(&limits, &server(), false);
        assert!(all.resting(&server()).is_none() && all.enter(&limits, &me, &server()).is_ok());
    }

    #[tokio::test]
    async fn places_are_given_back() {
        let limits = Limits { per_server: Some(1), ..Limits::default() };
        let (all, me) = (Turnstile::default(), Principal::local());
        let turn = all.enter(&limits, &me, &server()).ok().unwrap();
        let refusal = all.enter(&limits, &me, &server()).err().unwrap();
        assert_eq!(
            (refusal.code, refusal.details.unwrap()["retry_after_seconds"].as_u64()),
            (Code::RateLimited, Some(1))
        );
        drop(turn);
        assert!(all.enter(&limits, &me, &server()).is_ok());
    }
}
