//! Event streams from an HTTP server: the answer to one request, or what a legacy server says unasked.
//!
//! What a reader would get wrong: a stream that breaks off before its answer is resumed with GET and the id of the
//! last event, where the server numbers its events. It is never resumed by sending the request again.

use std::sync::Arc;
use std::time::Duration;

use hyper::http::StatusCode;
use toolfold_http::{Response, chunk};
use toolfold_wire::{Era, EventReader};

use crate::apart::apart;
use crate::backoff::Backoff;
use crate::buffer::Payment;
use crate::call::CallError;
use crate::closing::{Closing, Failure};
use crate::connection::{Connection, Link};
use crate::http::{Endpoint, broken, is_stream};
use crate::stdio::lost;

const RETRY: Duration = Duration::from_secs(1);
/// A server may ask us to wait, but not for ever, and to hurry, but not in circles.
const SHORTEST_RETRY: Duration = Duration::from_millis(20);
const LONGEST_RETRY: Duration = Duration::from_secs(60);
/// How long to read on after the answer: an ended stream gives its connection back, a dropped one closes it.
const EPILOGUE: Duration = Duration::from_secs(1);

/// Where a stream can be taken up again.
#[derive(Default)]
struct Place {
    last_event: Option<String>,
    retry: Option<Duration>,
}

impl Place {
    fn retry(&self) -> Duration {
        self.retry.unwrap_or(RETRY).clamp(SHORTEST_RETRY, LONGEST_RETRY)
    }
}

/// Reads until request `id` has its answer.
pub(crate) async fn until_answered(
    endpoint: &Endpoint,
    connection: &Arc<Connection>,
    id: u64,
    mut response: Response,
) -> Result<(), Failure> {
    let mut place = Place::default();
    loop {
        let end = read(connection, &mut response, Some(id), &mut place).await;
        if !connection.is_open(id) {
            finish(response);
            return Ok(());
        }
        if place.last_event.is_none() || connection.era == Era::Modern {
            let why = "the server ended its stream before the answer; whether the call took effect is unknown";
            return Err(end.err().unwrap_or_else(|| CallError::unavailable(why).into()));
        }
        if let Err(Failure::Call(CallError::TooLarge { limit })) = end {
            return Err(CallError::TooLarge { limit }.into());
        }
        response = resume(endpoint, connection, &place).await?;
    }
}

/// The deadline of the call is the end of these tries.
async fn resume(endpoint: &Endpoint, connection: &Arc<Connection>, place: &Place) -> Result<Response, Failure> {
    let mut wait = place.retry();
    loop {
        tokio::time::sleep(wait).await;
        match endpoint.get(place.last_event.as_deref()).await {
            Ok(response) if response.status().is_success() && is_stream(&response) => return Ok(response),
            Ok(response) if response.status().is_server_error() => {}
            Ok(response) => {
                endpoint.accept(connection, response).await?;
                let why = "the server ended its stream before the answer and does not resume it";
                return Err(CallError::unavailable(why).into());
            }
            Err(_) => {}
        }
        wait = (wait * 2).clamp(RETRY, LONGEST_RETRY);
    }
}

/// Feeds events to the connection until the stream ends or request `id` has its answer.
async fn read(
    connection: &Arc<Connection>,
    response: &mut Response,
    id: Option<u64>,
    place: &mut Place,
) -> Result<(), Failure> {
    let limit = connection.shared.config.max_message;
    let mut events = EventReader::new(limit);
    let mut payment = Payment::from(connection.shared.memory.clone());
    while let Some(chunk) = chunk(response).await.map_err(|error| broken(&error))? {
        let mut whole = Vec::new();
        let fed = events.feed(&chunk, |event| whole.push(event));
        for event in whole {
            place.last_event = event.id.or(place.last_event.take());
            place.retry = event.retry.map(Duration::from_millis).or(place.retry);
            if let Some(id) = id {
                connection.last_words(id).await;
            }
            let (to, size, data) = (connection.clone(), event.data.len(), payment.settle(event.data));
            let receive = move || data.is_empty() || to.receive_bytes(data, id).is_ok();
            if !apart(size, receive).await {
                tracing::debug!(server = %connection.shared.config.name, "an event of the server is not a message");
            }
        }
        fed.map_err(|limit| CallError::TooLarge { limit })?;
        payment.hold(events.pending()).map_err(|why| lost(why, limit))?;
        if id.is_some_and(|id| !connection.is_open(id)) {
            return Ok(());
        }
    }
    Ok(())
}

fn finish(mut response: Response) {
    let rest = async move { while let Ok(Some(_)) = chunk(&mut response).await {} };
    tokio::spawn(tokio::time::timeout(EPILOGUE, rest));
}

/// Follows what a legacy server says outside of any request, for as long as the connection lasts.
pub(crate) async fn follow(connection: Arc<Connection>) {
    tokio::select! {
        () = follow_on(&connection) => {}
        () = connection.closed() => {}
    }
}

async fn follow_on(connection: &Arc<Connection>) {
    let Link::Http(endpoint) = &connection.link else { return };
    let mut place = Place::default();
    let mut backoff = Backoff::default();
    loop {
        let began = tokio::time::Instant::now();
        let mut wait = None;
        match endpoint.get(place.last_event.as_deref()).await {
            Ok(mut response) if response.status().is_success() && is_stream(&response) => {
                let _ = read(connection, &mut response, None, &mut place).await;
                backoff.lived(began.elapsed());
                wait = place.retry.map(|_| place.retry());
            }
            Ok(response) if response.status() == StatusCode::NOT_FOUND && endpoint.has_session() => {
                return connection.retire(Closing::harmless("no longer knows our session"));
            }
            // Most servers have nothing to say unasked and answer 405.
            Ok(response) if !response.status().is_server_error() => return,
            Ok(_) | Err(_) => {}
        }
        let penalty = backoff.fail();
        tokio::time::sleep(wait.unwrap_or(penalty)).await;
    }
}
