//! The last calls, as a list and as a stream.
//!
//! What a reader would get wrong: there is no queue for a reader. What is kept is kept once, for all, and a stream is a
//! place in it; whoever reads too slowly finds that some are gone, and is told how many.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, UNIX_EPOCH};

use bytes::Bytes;
use futures_util::Stream;
use hyper::header::{self, HeaderValue};
use hyper::{HeaderMap, StatusCode};
use serde::Serialize;
use serde_json::{Value, json};
use tokio::sync::broadcast::error::{RecvError, TryRecvError};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, broadcast, watch};
use tokio_util::sync::CancellationToken;
use toolfold_core::{Code, Principal, Refusal, shown_line};
use toolfold_gateway::CallRecord;
use toolfold_wire::BoxFuture;

use crate::http::App;
use crate::http::event::{STILL_HERE, event};
use crate::http::failure::refused;
use crate::http::reply::{KEEP_ALIVE, Reply, event_stream, json_response};
use crate::text::shown;

/// Calls that are kept.
const KEPT: usize = 500;
/// Pages that may follow calls at once.
const FOLLOWERS: usize = 64;
/// Calls that come within this are told together.
const GATHER: Duration = Duration::from_millis(100);
/// How long nobody listens after a call was written down: whoever calls meanwhile has nobody to wake, which costs more
/// than the writing.
const REST: Duration = Duration::from_millis(20);

#[derive(Debug)]
pub(crate) struct Recent {
    heard: Mutex<broadcast::Receiver<CallRecord>>,
    kept: Mutex<Kept>,
    /// How many calls there were.
    newest: watch::Sender<u64>,
    places: Arc<Semaphore>,
}

#[derive(Debug, Default)]
struct Kept {
    /// The oldest first; the last one has the number `total`.
    calls: VecDeque<Told>,
    total: u64,
    failed: u64,
}

/// Whose calls are told.
enum Whose {
    All,
    Own(Principal),
}

impl Whose {
    fn includes(&self, call: &Told) -> bool {
        match self {
            Whose::All => true,
            Whose::Own(principal) => call.by == *principal,
        }
    }
}

fn is_failure(outcome: &str) -> bool {
    !matches!(outcome, "done" | "parked")
}

/// A call as it is told. No arguments and no results.
#[derive(Debug, Clone, Serialize)]
struct Told {
    number: u64,
    /// Milliseconds since 1970.
    at: u64,
    principal: String,
    #[serde(skip)]
    by: Principal,
    server: String,
    method: String,
    tool: Option<String>,
    outcome: &'static str,
    milliseconds: f64,
}

impl Recent {
    pub(crate) fn new(calls: broadcast::Receiver<CallRecord>) -> Self {
        let places = Arc::new(Semaphore::new(FOLLOWERS));
        Recent { heard: Mutex::new(calls), kept: Mutex::default(), newest: watch::Sender::new(0), places }
    }

    /// Writes down every call from now on.
    pub(crate) async fn follow(self: Arc<Self>, stop: CancellationToken) {
        loop {
            // Before what has come is taken in: what comes from here on rings.
            let mut bell = self.heard().resubscribe();
            self.catch_up();
            let rang = tokio::select! {
                () = stop.cancelled() => return,
                rang = bell.recv() => rang,
            };
            if matches!(rang, Err(RecvError::Closed)) {
                return;
            }
            self.catch_up();
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(REST) => {}
            }
        }
    }

    /// Writes down what has come.
    fn catch_up(&self) {
        let mut heard = self.heard();
        loop {
            match heard.try_recv() {
                Ok(record) => self.keep(&record),
                Err(TryRecvError::Lagged(missed)) => self.lock().total += missed,
                Err(TryRecvError::Empty | TryRecvError::Closed) => return,
            }
        }
    }

    fn heard(&self) -> MutexGuard<'_, broadcast::Receiver<CallRecord>> {
        self.heard.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn keep(&self, record: &CallRecord) {
        let mut kept = self.lock();
        kept.total += 1;
        kept.failed += u64::from(is_failure(record.outcome));
        let number = kept.total;
        kept.calls.push_back(Told::of(record, number));
        if kept.calls.len() > KEPT {
            kept.calls.pop_front();
        }
        drop(kept);
        self.newest.send_replace(number);
    }

    /// What came after the call of this number, and the number to go on after.
    fn since(&self, after: u64, whose: &Whose) -> (Value, u64) {
        self.catch_up();
        let kept = self.lock();
        let calls: Vec<&Told> = kept.calls.iter().filter(|call| call.number > after && whose.includes(call)).collect();
        let told = match whose {
            Whose::All => {
                let missed = (kept.total - after).saturating_sub(calls.len() as u64);
                json!({"total": kept.total, "failed": kept.failed, "missed": missed, "calls": calls})
            }
            // How many there were of others is nobody else's business: each counts their own, as far as they are kept.
            Whose::Own(_) => {
                let own: Vec<&Told> = kept.calls.iter().filter(|call| whose.includes(call)).collect();
                let failed = own.iter().filter(|call| is_failure(call.outcome)).count();
                let numbered: Vec<Told> =
                    own.iter().zip(1..).map(|(call, number)| Told { number, ..(*call).clone() }).collect();
                let new = &numbered[numbered.len() - calls.len()..];
                json!({"total": own.len(), "failed": failed, "missed": 0, "calls": new})
            }
        };
        (told, kept.total)
    }

    fn lock(&self) -> MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Told {
    fn of(record: &CallRecord, number: u64) -> Told {
        // A name may be as long as its server likes; of these there are hundreds.
        let line = |text: &str| shown(&shown_line(text)).into_owned();
        Told {
            number,
            at: record.at.duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as u64),
            principal: line(record.principal.name()),
            by: record.principal.clone(),
            server: record.server.to_string(),
            method: line(&record.method),
            tool: record.tool.as_deref().map(line),
            outcome: record.outcome,
            milliseconds: (record.took.as_secs_f64() * 1e5).round() / 1e2,
        }
    }
}

/// The last calls; as they come, where a stream is asked for.
pub(crate) fn calls(app: &App, principal: Principal, headers: &HeaderMap) -> Reply {
    let recent = &app.page.recent;
    let over = app.sessions.over(&app.gateway, &principal);
    let whose = if app.gateway.access().sees_everything(&principal) { Whose::All } else { Whose::Own(principal) };
    let wanted = headers.get(header::ACCEPT).and_then(|value| value.to_str().ok()).unwrap_or_default();
    if !wanted.contains("text/event-stream") {
        return json_response(StatusCode::OK, recent.since(0, &whose).0.to_string());
    }
    let Ok(place) = recent.places.clone().try_acquire_owned() else {
        let message = format!("{FOLLOWERS} others follow the calls already. Close some, or ask without a stream.");
        return refused(&Refusal::new(Code::RateLimited, message));
    };
    let follower = Follower {
        newest: recent.newest.subscribe(),
        recent: recent.clone(),
        whose,
        after: None,
        stop: app.stop.clone(),
        over,
        _place: place,
    };
    let mut reply = event_stream(follower.events());
    // Or a proxy in front would gather them into pages.
    reply.headers_mut().insert("x-accel-buffering", HeaderValue::from_static("no"));
    reply
}

struct Follower {
    recent: Arc<Recent>,
    whose: Whose,
    newest: watch::Receiver<u64>,
    /// The number of the last call that was told; nothing was, at first.
    after: Option<u64>,
    stop: CancellationToken,
    /// Whoever looks has no right to any more.
    over: BoxFuture<'static, ()>,
    _place: OwnedSemaphorePermit,
}

impl Follower {
    fn events(self) -> impl Stream<Item = Bytes> + Send + 'static {
        futures_util::stream::unfold(self, |mut follower| async move {
            let event = follower.next().await?;
            Some((event, follower))
        })
    }

    /// Asked for when what was told before is on its way: a reader that does not read costs nothing more.
    async fn next(&mut self) -> Option<Bytes> {
        if let Some(after) = self.after {
            let changed = tokio::select! {
                () = self.stop.cancelled() => return None,
                () = &mut self.over => return None,
                changed = self.newest.wait_for(|newest| *newest > after) => changed.is_ok(),
                () = tokio::time::sleep(KEEP_ALIVE) => return Some(Bytes::from_static(STILL_HERE)),
            };
            if !changed {
                return None;
            }
            tokio::time::sleep(GATHER).await;
        }
        let (told, newest) = self.recent.since(self.after.unwrap_or(0), &self.whose);
        self.after = Some(newest);
        let pieces: Vec<Bytes> = event(Some(&newest.to_string()), told.to_string().into()).collect();
        Some(pieces.concat().into())
    }
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use toolfold_core::ServerName;

    use super::*;

    fn record(tool: &str, outcome: &'static str) -> CallRecord {
        CallRecord {
            at: SystemTime::now(),
            principal: Principal::local(),
            server: ServerName::new("files").unwrap(),
            method: "tools/call".to_owned(),
            tool: Some(tool.to_owned()),
            outcome,
            took: Duration::from_micros(1_234),
        }
    }

    fn recent() -> Arc<Recent> {
        Arc::new(Recent::new(broadcast::Sender::new(1).subscribe()))
    }

    fn follower(recent: &Arc<Recent>) -> Follower {
        Follower {
            newest: recent.newest.subscribe(),
            recent: recent.clone(),
            whose: Whose::All,
            after: None,
            stop: CancellationToken::new(),
            over: Box::pin(std::future::pending()),
            _place: recent.places.clone().try_acquire_owned().unwrap(),
        }
    }

    fn told(event: &Bytes) -> Value {
        let text = std::str::from_utf8(event).unwrap();
        serde_json::from_str(text.split_once("data: ").unwrap().1.trim()).unwrap()
    }

    #[tokio::test(start_paused = true)]
    async fn who_reads_slowly_misses_some_and_is_told_how_many() {
        let recent = recent();
        recent.keep(&record("files.read", "done"));
        let mut follower = follower(&recent);
        let first = told(&follower.next().await.unwrap());
        assert_eq!((&first["missed"], first["calls"].as_array().unwrap().len()), (&json!(0), 1));
        for _ in 0..10_000 {
            recent.keep(&record("files.write", "SERVER_TIMEOUT"));
        }
        let next = told(&follower.next().await.unwrap());
        assert_eq!((&next["total"], &next["failed"], &next["missed"]), (&json!(10_001), &json!(10_000), &json!(9_500)));
        assert_eq!(next["calls"].as_array().unwrap().len(), KEPT);
        assert_eq!(follower.next().await.unwrap(), STILL_HERE, "and nothing a second time");
    }

    #[test]
    fn what_is_kept_of_a_name_is_short_and_does_nothing() {
        let recent = recent();
        recent.keep(&record(&format!("files.\u{202e}{}", "x".repeat(100_000)), "done"));
        let call = recent.since(0, &Whose::All).0["calls"][0].clone();
        let tool = call["tool"].as_str().unwrap();
        assert!(tool.starts_with(r"files.\u{202e}xxx") && tool.len() < 600, "{tool}");
        assert_eq!(call["milliseconds"], 1.23);
    }

    #[tokio::test]
    async fn who_looks_sees_the_last_call_though_nobody_was_woken_for_it() {
        let calls = broadcast::Sender::new(8);
        let recent = Recent::new(calls.subscribe());
        for _ in 0..10 {
            calls.send(record("files.read", "done")).unwrap();
        }
        let seen = recent.since(0, &Whose::All).0;
        assert_eq!((&seen["total"], &seen["missed"]), (&json!(10), &json!(2)));
    }

    #[tokio::test]
    async fn a_stream_ends_with_the_server() {
        let recent = recent();
        let mut follower = follower(&recent);
        follower.next().await.unwrap();
        follower.stop.cancel();
        assert_eq!(follower.next().await, None);
    }
}
