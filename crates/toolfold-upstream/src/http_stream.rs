//! Event streams from an HTTP server: the answer to one request, or what a legacy server says unasked.
//!
//! What a reader would get wrong: a stream that breaks off before its answer is resumed with GET and the id of the
//! last event, where the server numbers its events. It is never resumed by sending the request again.

use std::sync::Arc;
use std::time::Duration;

use hyper::body::Bytes;
use hyper::http::StatusCode;
use toolfold_http::{Response, chunk};
use toolfold_wire::{Era, EventReader, Taken};

use crate::apart::apart;
use crate::backoff::Backoff;
use crate::buffer::{Overflow, Payment};
use crate::call::CallError;
use crate::closing::{Closing, Failure};
use crate::connection::{Connection, Link};
use crate::http::{Endpoint, broken, is_stream};
use crate::intake::{SPOOLED_OVER, Spooling};
use crate::stdio::lost;

const RETRY: Duration = Duration::from_secs(1);
/// A server may ask us to wait, but not for ever, and to hurry, but not in circles.
const SHORTEST_RETRY: Duration = Duration::from_millis(20);
const LONGEST_RETRY: Duration = Duration::from_secs(60);
/// How often it is hurried for, where each of its streams ends at once.
const HURRIED: u32 = 10;
/// So many bytes of a stream that are no part of a message count as one.
const COMMENT: usize = 4096;
/// How long to read on after the answer: an ended stream gives its connection back, a dropped one closes it.
const EPILOGUE: Duration = Duration::from_secs(1);

/// Where a stream can be taken up again.
#[derive(Default)]
struct Place {
    last_event: Option<String>,
    retry: Option<Duration>,
    /// Streams that ended as soon as they began, one after the other.
    hurried: u32,
}

impl Place {
    fn retry(&self) -> Duration {
        let shortest = if self.hurried > HURRIED { RETRY } else { SHORTEST_RETRY };
        self.retry.unwrap_or(RETRY).clamp(shortest, LONGEST_RETRY)
    }

    fn ended_after(&mut self, time: Duration) {
        self.hurried = if time < RETRY { self.hurried + 1 } else { 0 };
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
        let began = tokio::time::Instant::now();
        let end = read(connection, &mut response, Some(id), &mut place).await;
        place.ended_after(began.elapsed());
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
    let mut aside = Aside::default();
    while let Some(chunk) = chunk(response).await.map_err(|error| broken(&error))? {
        let mut whole = Vec::new();
        let pending = events.pending();
        let fed = events.feed(&chunk, |event| whole.push(event));
        if whole.is_empty() && events.pending() <= pending {
            // Comments and the like, which are neither a message nor a part of one.
            (0..chunk.len().div_ceil(COMMENT)).for_each(|_| connection.shared.heard_unasked());
            connection.shared.breathe().await;
        }
        for event in whole {
            place.last_event = event.id.or(place.last_event.take());
            place.retry = event.retry.map(Duration::from_millis).or(place.retry);
            if let Some(id) = id {
                connection.last_words(id).await;
            }
            let data = aside.finish(event.data, &mut payment).await.map_err(|why| lost(why, limit))?;
            let (to, size) = (connection.clone(), data.len());
            if data.is_empty() {
                connection.shared.heard_unasked();
            }
            let receive = move || data.is_empty() || to.receive_bytes(data, id).is_ok();
            if !apart(size, receive).await {
                tracing::debug!(server = %connection.shared.config.name, "an event of the server is not a message");
            }
            connection.shared.breathe().await;
        }
        fed.map_err(|limit| CallError::TooLarge { limit })?;
        if let Some(id) = id.filter(|_| events.pending() > SPOOLED_OVER) {
            aside.put(connection, id, &mut events).await.map_err(|why| lost(why, limit))?;
        }
        payment.hold(events.pending()).map_err(|why| lost(why, limit))?;
        if id.is_some_and(|id| !connection.is_open(id)) {
            return Ok(());
        }
    }
    Ok(())
}

/// The event that is being read, where it is long and whoever asked has offered a place for it.
#[derive(Default)]
struct Aside {
    is_offered: bool,
    spooling: Option<Spooling>,
}

impl Aside {
    /// Puts away what there is of the event.
    async fn put(&mut self, connection: &Arc<Connection>, id: u64, events: &mut EventReader) -> Result<(), Overflow> {
        if !std::mem::replace(&mut self.is_offered, true) {
            self.spooling = connection.owner_of(id).and_then(|owner| owner.spooling(id));
        }
        let Some(spooling) = &mut self.spooling else { return Ok(()) };
        if let Err(given) = spooling.take(events.take_data()).await {
            self.spooling = None;
            events.give_back(given.ok_or(Overflow::NoRoom)?);
        }
        Ok(())
    }

    /// The data of an event that is whole now, of which this is all or the rest.
    async fn finish(&mut self, rest: String, payment: &mut Payment) -> Result<Bytes, Overflow> {
        self.is_offered = false;
        let Some(spooling) = self.spooling.take() else { return Ok(payment.settle(rest)) };
        match spooling.finish(rest.into_bytes()).await.ok_or(Overflow::NoRoom)? {
            Taken::Short(message) => Ok(message),
            Taken::Whole(whole) => {
                payment.hold(whole.len())?;
                let text = String::from_utf8(whole);
                Ok(payment.settle(text.unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into_owned())))
            }
        }
    }
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
                place.ended_after(began.elapsed());
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_whose_streams_end_at_once_is_hurried_for_ten_times() {
        let mut place = Place { retry: Some(Duration::ZERO), ..Place::default() };
        for _ in 0..HURRIED {
            place.ended_after(Duration::from_millis(5));
            assert_eq!(place.retry(), SHORTEST_RETRY);
        }
        place.ended_after(Duration::from_millis(5));
        assert_eq!(place.retry(), RETRY);
        place.ended_after(RETRY);
        assert_eq!(place.retry(), SHORTEST_RETRY, "one that lasted counts");
        place.retry = Some(Duration::from_secs(5));
        assert_eq!(place.retry(), Duration::from_secs(5));
    }
}
