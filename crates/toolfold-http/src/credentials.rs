//! Who a request says it is from. Asked for every request, because a token may have to be renewed between two of them,
//! and told when the server would not have it.
//!
//! What a reader would get wrong: credentials write into the headers of one request and keep nothing in the client, so
//! two servers at one address can be asked as two different users over the same connections.

use hyper::http::header::{HeaderMap, HeaderName, HeaderValue, WWW_AUTHENTICATE};
use hyper::http::{Method, StatusCode, Uri};
use toolfold_core::Secret;
use toolfold_wire::BoxFuture;

/// What a server wants in a proof.
const NONCE: &str = "dpop-nonce";

pub trait Credentials: Send + Sync {
    /// Adds what this request has to say about who asks.
    fn sign<'a>(&'a self, asked: Asked<'a>, headers: &'a mut HeaderMap) -> BoxFuture<'a, Result<(), NoCredentials>>;

    /// The server answered 401, or 403 with a challenge, to what was signed last.
    fn rejected<'a>(&'a self, challenge: &'a Challenge) -> BoxFuture<'a, Reaction>;
}

/// The request that is to be signed.
#[derive(Debug, Clone, Copy)]
pub struct Asked<'a> {
    pub method: &'a Method,
    pub uri: &'a Uri,
}

/// What a server said with its 401 or 403.
#[derive(Debug, Clone, Default)]
pub struct Challenge {
    pub status: u16,
    /// Every `WWW-Authenticate`, as it came.
    pub schemes: Vec<String>,
    /// What it wants in the next proof (`DPoP-Nonce`).
    pub nonce: Option<String>,
    /// The `Authorization` that it would not have: others may be in use by now.
    pub sent: Option<HeaderValue>,
}

impl Challenge {
    /// A 403 without a challenge is an answer: nothing that could be said better was said wrong.
    pub(crate) fn of(status: StatusCode, headers: &HeaderMap, sent: Option<HeaderValue>) -> Option<Self> {
        let text = |value: &HeaderValue| value.to_str().ok().map(str::to_owned);
        let schemes: Vec<String> = headers.get_all(WWW_AUTHENTICATE).iter().filter_map(text).collect();
        let asks = status == StatusCode::UNAUTHORIZED || (status == StatusCode::FORBIDDEN && !schemes.is_empty());
        let nonce = headers.get(NONCE).and_then(text);
        asks.then(|| Challenge { status: status.as_u16(), schemes, nonce, sent })
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reaction {
    /// There are other credentials now: sign and send once more.
    Again,
    /// They are the same, and their proof has what it lacked: sign and send once more.
    Proven,
    /// There is nothing better; the 401 is the answer.
    GiveUp,
}

/// Why a request cannot be signed: a login that nobody has made, a token that could not be renewed.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{0}")]
pub struct NoCredentials(pub String);

/// A header of the configuration that cannot be sent.
#[derive(Debug, Clone, thiserror::Error)]
pub enum BadHeader {
    #[error("{0:?} is not the name of a header")]
    Name(String),
    #[error("the value of the header {0:?} has characters that a header cannot hold")]
    Value(String),
}

/// The headers that a configuration names, the same with every request.
#[derive(Clone, Default)]
pub struct FixedHeaders(Vec<(HeaderName, HeaderValue)>);

impl FixedHeaders {
    pub fn new<'a>(headers: impl IntoIterator<Item = (&'a String, &'a Secret)>) -> Result<Self, BadHeader> {
        let read = |(name, value): (&String, &Secret)| {
            let key = HeaderName::try_from(name.as_str()).map_err(|_| BadHeader::Name(name.clone()))?;
            let mut value = HeaderValue::try_from(value.expose()).map_err(|_| BadHeader::Value(name.clone()))?;
            value.set_sensitive(true);
            Ok((key, value))
        };
        headers.into_iter().map(read).collect::<Result<_, _>>().map(FixedHeaders)
    }

    pub fn names(&self) -> impl Iterator<Item = &HeaderName> {
        self.0.iter().map(|(name, _)| name)
    }
}

impl Credentials for FixedHeaders {
    /// What the message says of itself stands: a configuration cannot make JSON something else.
    fn sign<'a>(&'a self, _asked: Asked<'a>, headers: &'a mut HeaderMap) -> BoxFuture<'a, Result<(), NoCredentials>> {
        for (name, value) in &self.0 {
            headers.entry(name).or_insert_with(|| value.clone());
        }
        Box::pin(std::future::ready(Ok(())))
    }

    fn rejected<'a>(&'a self, _challenge: &'a Challenge) -> BoxFuture<'a, Reaction> {
        Box::pin(std::future::ready(Reaction::GiveUp))
    }
}
