//! Sending a request on to the replica that has what it is about, and its answer back, streams included.
//!
//! What a reader would get wrong: who it is from is not found out anew. The first replica has done that, and gives its word;
//! `Authorization` stays there.

use std::net::IpAddr;

use bytes::Bytes;
use futures_util::StreamExt;
use futures_util::stream::unfold;
use hyper::header::{self, HeaderMap, HeaderName};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};
use tokio_util::sync::CancellationToken;
use toolfold_access::{BodyHash, Passed, ReplicaId, Standing, VOUCHED_BODY, VOUCHER};
use toolfold_core::Principal;
use toolfold_gateway::seconds_now;
use toolfold_http::{Response, SendError, Target, chunk, header_lines};
use toolfold_wire::BoxFuture;
use tracing::{debug, warn};

use super::super::reply::{Reply, stream_response};
use super::{Arrived, Replicas};

/// What belongs to one connection or to the place a request first came to.
const STAYS: [HeaderName; 12] = [
    HeaderName::from_static(VOUCHER),
    HeaderName::from_static(VOUCHED_BODY),
    header::AUTHORIZATION,
    header::CONNECTION,
    header::CONTENT_LENGTH,
    header::HOST,
    header::PROXY_AUTHENTICATE,
    header::PROXY_AUTHORIZATION,
    header::TE,
    header::TRAILER,
    header::TRANSFER_ENCODING,
    header::UPGRADE,
];

/// What came of sending a request on.
pub(super) enum Sent<A = Reply> {
    Answered(A),
    /// The other one does not have it.
    NotThere,
}

impl<A> Sent<A> {
    fn map<B>(self, then: impl FnOnce(A) -> B) -> Sent<B> {
        match self {
            Sent::Answered(answer) => Sent::Answered(then(answer)),
            Sent::NotThere => Sent::NotThere,
        }
    }
}

#[derive(Debug)]
pub(super) enum NotPassed {
    /// Nobody can have seen it.
    Unreached(SendError),
    /// Whoever is there now does not believe that it is for them: as a rule one that was started where another one ended. Nobody has
    /// worked on it.
    Another,
    /// It may have been worked on.
    Unknown,
}

/// How a replica says that a word is missing, or not one that it believes.
pub(crate) const WORD: &str = "Replica";

/// The word of another replica about a request.
pub(crate) struct Word {
    pub(crate) principal: Principal,
    pub(crate) peer: IpAddr,
    /// What the body has to be.
    pub(crate) body: BodyHash,
}

/// What another replica says of who this is from: `None` where nothing is said, an error where it is not believed.
pub(crate) fn word_of(standing: &Standing, parts: &Parts) -> Option<Result<Word, ()>> {
    let voucher = parts.headers.get(VOUCHER)?;
    let word = || {
        let body = BodyHash::parse(parts.headers.get(VOUCHED_BODY)?.to_str().ok()?)?;
        let request = Passed { to: standing.id, method: parts.method.as_str(), path: target(parts), body: &body };
        let (principal, peer) = standing.vouched(request, voucher.to_str().ok()?, seconds_now())?;
        Some(Word { principal, peer: peer.parse().ok()?, body })
    };
    Some(word().ok_or(()))
}

impl Replicas {
    /// Sends a request to the replica at this address.
    pub(super) fn pass<'a>(
        &'a self,
        to: ReplicaId,
        address: &'a str,
        request: &'a Arrived<'a>,
    ) -> BoxFuture<'a, Result<Sent, NotPassed>> {
        Box::pin(self.pass_on(to, address, request))
    }

    async fn pass_on(&self, to: ReplicaId, address: &str, request: &Arrived<'_>) -> Result<Sent, NotPassed> {
        let Ok(place) = Target::parse(&format!("{address}{}", target(request.parts))) else {
            warn!(replica = %to, "the address of a replica is none");
            return Ok(Sent::NotThere);
        };
        let there = self.client.reach(&place).await.map_err(|error| {
            debug!(replica = %to, %error, "a replica cannot be reached");
            NotPassed::Unreached(error)
        })?;
        let body = if request.parts.method == Method::POST { request.body.clone() } else { Bytes::new() };
        let asked = there.send(request.parts.method.clone(), self.headers(to, &place, request), body);
        // A call may take as long as it likes, and its replica may not be dead for long.
        let response = tokio::select! {
            response = asked => response,
            () = self.members.lost(to) => return Err(NotPassed::Unknown),
        };
        let sent = outcome(to, response)?;
        // A stream that only listens ends with this replica, and its client listens elsewhere.
        let listens = request.parts.method == Method::GET;
        Ok(sent.map(|response| answer(response, listens.then(|| self.stop.clone()))))
    }

    fn headers(&self, to: ReplicaId, place: &Target, request: &Arrived<'_>) -> HeaderMap {
        let mut headers = request.parts.headers.clone();
        for name in &STAYS {
            headers.remove(name);
        }
        let body = request.hash();
        let passed = Passed { to, method: request.parts.method.as_str(), path: target(request.parts), body };
        let (principal, peer) = (&request.caller.principal, request.caller.peer.to_string());
        headers.extend(header_lines(self.standing.headers(passed, principal, &peer, seconds_now())));
        if let Ok(host) = place.host() {
            headers.insert(header::HOST, host);
        }
        headers
    }
}

/// What an answer says about where the request was.
fn outcome(to: ReplicaId, response: Result<Response, SendError>) -> Result<Sent<Response>, NotPassed> {
    match response {
        Ok(response) if response.status() == StatusCode::MISDIRECTED_REQUEST => Ok(Sent::NotThere),
        Ok(response) if is_not_believed(&response) => Err(NotPassed::Another),
        Ok(response) => Ok(Sent::Answered(response)),
        Err(error) => {
            warn!(replica = %to, %error, "a replica broke off");
            Err(NotPassed::Unknown)
        }
    }
}

fn is_not_believed(response: &Response) -> bool {
    let asked = response.headers().get(header::WWW_AUTHENTICATE);
    response.status() == StatusCode::FORBIDDEN && asked.is_some_and(|asked| asked.as_bytes() == WORD.as_bytes())
}

/// The answer as it comes, until told to stop. One that breaks off ends here too: its length, or the end of its stream, tells.
fn answer(response: Response, stop: Option<CancellationToken>) -> Reply {
    let (mut head, body) = response.into_parts();
    for name in &STAYS {
        if name != header::CONTENT_LENGTH {
            head.headers.remove(name);
        }
    }
    let rest = unfold(Response::from_parts(hyper::Response::new(()).into_parts().0, body), async |mut response| {
        let next = chunk(&mut response).await.ok().flatten()?;
        Some((next, response))
    });
    match stop {
        Some(stop) => stream_response(head.status, head.headers, rest.take_until(stop.cancelled_owned())),
        None => stream_response(head.status, head.headers, rest),
    }
}

/// Path and query.
fn target(parts: &Parts) -> &str {
    parts.uri.path_and_query().map_or("/", |target| target.as_str())
}
