//! Requests to APIs and agents, and what comes back.
//!
//! What a reader would get wrong: where a request may go depends on whose word its address is. What a configuration names is
//! asked wherever it is; what only a document or a card names is looked up and dialled only where anybody could be.

use std::collections::BTreeMap;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};

use bytes::Bytes;
use hyper::http::header::{ACCEPT, CONTENT_TYPE, HOST, HeaderMap, HeaderName, HeaderValue, LOCATION, USER_AGENT};
use hyper::http::{Method, StatusCode};
use serde_json::{Map, Value};
use toolfold_core::Secret;
use toolfold_http::{FixedHeaders, HttpClient, NoClient, Outgoing, Reach, SendError, Target};
use toolfold_oauth::{Reached, reached};
use toolfold_openapi::{Answered, BaseFrom, RequestPlan, result};
use toolfold_wire::{Raw, raw};

use super::refused;
use crate::apart::apart;
use crate::call::CallError;
use crate::closing::Failure;
use crate::connection::Connection;
use crate::http::read_body;
use crate::oauth::{Account, Signer};
use crate::unopened::Unopened;

const AGENT: HeaderValue = HeaderValue::from_static(concat!("toolfold/", env!("CARGO_PKG_VERSION")));
const ANYTHING: HeaderValue = HeaderValue::from_static("application/json, text/*;q=0.9, */*;q=0.8");

pub(super) struct Asking {
    /// Who asks, as the configuration has it.
    signer: Signer,
    /// The same without a login, for what nobody has to be known for.
    public: Signer,
    nobody: Signer,
    distant: OnceLock<Result<HttpClient, NoClient>>,
}

/// Whether an address is told who asks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Known {
    Yes,
    /// By the headers of the configuration, and no login.
    Headers,
    No,
}

pub(super) struct Reply {
    pub(super) status: u16,
    reason: &'static str,
    media: Option<String>,
    location: Option<String>,
    pub(super) body: Bytes,
}

/// A request that is ready to be sent.
pub(super) struct Sending<'a> {
    pub(super) method: Method,
    pub(super) url: &'a str,
    pub(super) headers: HeaderMap,
    pub(super) body: Bytes,
    pub(super) known: Known,
    /// Whether its address is somebody else's word.
    pub(super) distant: bool,
    pub(super) limit: usize,
}

impl Asking {
    pub(super) fn new(headers: &BTreeMap<String, Secret>, account: Option<Arc<Account>>) -> Result<Asking, Unopened> {
        let fixed = FixedHeaders::new(headers)?;
        let public = Signer { fixed: fixed.clone(), account: None };
        let nobody = Signer { fixed: FixedHeaders::default(), account: None };
        Ok(Asking { signer: Signer { fixed, account }, public, nobody, distant: OnceLock::new() })
    }

    pub(super) fn has_headers(&self) -> bool {
        self.signer.fixed.names().next().is_some()
    }

    /// Calls an operation. What the API answers is a result, whatever it is; that it cannot be asked is an error.
    pub(super) async fn call(
        &self,
        connection: &Arc<Connection>,
        plan: &RequestPlan,
        arguments: &Map<String, Value>,
    ) -> Result<Raw, CallError> {
        let prepared = match plan.prepare(arguments) {
            Ok(prepared) => prepared,
            Err(wrong) => return Ok(refused(&format!("The request was not made: {wrong}."))),
        };
        let mut headers = HeaderMap::new();
        for (name, value) in &prepared.headers {
            let header = HeaderName::try_from(name.as_str()).ok().zip(HeaderValue::try_from(value.as_str()).ok());
            let Some((name, value)) = header else {
                return Ok(refused(&format!("The request was not made: {name:?} or its value cannot be a header.")));
            };
            headers.insert(name, value);
        }
        let method =
            Method::try_from(prepared.method.as_str()).map_err(|_| CallError::unavailable("its method is none"))?;
        let known = match (plan.base.from, plan.public) {
            (BaseFrom::Document, _) => Known::No,
            (_, true) => Known::Headers,
            (_, false) => Known::Yes,
        };
        let asked = Sending {
            method,
            url: &prepared.url,
            headers,
            body: prepared.body.into(),
            known,
            distant: plan.base.from == BaseFrom::Document,
            limit: connection.shared.config.max_message,
        };
        let answer = self.ask(connection, asked).await?;
        let (plan, address) = (plan.clone(), prepared.url.split('?').next().unwrap_or_default().to_owned());
        let made = apart(answer.body.len(), move || {
            let answered = Answered {
                status: answer.status,
                reason: answer.reason,
                media: answer.media.as_deref(),
                location: answer.location.as_deref(),
                body: &answer.body,
                address: &address,
            };
            raw(&result(&plan, answered))
        });
        Ok(made.await)
    }

    /// A document, at an address that the configuration names.
    pub(super) async fn fetch(
        &self,
        connection: &Arc<Connection>,
        (method, url): (Method, &str),
        known: Known,
        limit: usize,
    ) -> Result<Reply, CallError> {
        let (headers, body) = (HeaderMap::new(), Bytes::new());
        self.ask(connection, Sending { method, url, headers, body, known, distant: false, limit }).await
    }

    pub(super) async fn ask(&self, connection: &Arc<Connection>, asked: Sending<'_>) -> Result<Reply, CallError> {
        let Sending { method, url, mut headers, body, known, distant, limit } = asked;
        let target =
            Target::parse(url).map_err(|error| CallError::unavailable(format!("its address is none: {error}")))?;
        let signer = match known {
            Known::Yes => &self.signer,
            Known::Headers => &self.public,
            Known::No => &self.nobody,
        };
        let own = [(HOST, target.host().ok()), (USER_AGENT, Some(AGENT)), (ACCEPT, Some(ANYTHING))];
        for (name, value) in own {
            if !signer.fixed.names().any(|given| *given == name) && !headers.contains_key(&name) {
                headers.extend(value.map(|value| (name, value)));
            }
        }
        let client = if distant { self.distant()? } else { client(HttpClient::shared())? };
        let sent = client.send(&target, Outgoing { method, headers, body, credentials: signer }).await;
        let response = sent.map_err(|error| unsent(connection, &error))?;
        let status = response.status();
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
            && known == Known::Yes
            && let Some(need) = connection.shared.account.as_ref().and_then(|account| account.need())
        {
            return Err(CallError::Login(need));
        }
        let text = |name: &HeaderName| Some(response.headers().get(name)?.to_str().ok()?.to_owned());
        let (media, location) = (text(&CONTENT_TYPE), text(&LOCATION));
        let reason = status.canonical_reason().unwrap_or_default();
        let body = read_body(response, limit, Some(connection.shared.memory.clone())).await;
        let body = body.map_err(Failure::into_call_error)?;
        Ok(Reply { status: status.as_u16(), reason, media, location, body })
    }

    /// For addresses that are somebody else's word.
    fn distant(&self) -> Result<HttpClient, CallError> {
        client(self.distant.get_or_init(|| HttpClient::within(Arc::new(World))).clone())
    }
}

fn client(client: Result<HttpClient, NoClient>) -> Result<HttpClient, CallError> {
    client.map_err(|error| CallError::unavailable(error.to_string()))
}

/// Where anybody could be: neither this machine nor its neighbours.
struct World;

impl Reach for World {
    fn allows(&self, _: &str, address: IpAddr) -> bool {
        reached(address) == Reached::World
    }

    fn why(&self, host: &str) -> String {
        format!(
            "{host} is on this machine or a private network, and only a document names it: set `base_url` if it is meant"
        )
    }
}

/// Where no connection came about, nobody can have seen the request.
fn unsent(connection: &Connection, error: &SendError) -> CallError {
    match error {
        SendError::Unreachable(_) => {
            CallError::unavailable(format!("it cannot be reached ({error}); nothing was sent"))
        }
        SendError::Credentials(_) => match connection.shared.account.as_ref().and_then(|account| account.need()) {
            Some(need) => CallError::Login(need),
            None => CallError::unavailable(format!("it was not asked: {error}")),
        },
        SendError::Broken(_) | SendError::Cut(_) | SendError::TooLarge(_) => CallError::unavailable(format!(
            "the connection broke ({error}); whether the request took effect is unknown"
        )),
    }
}
