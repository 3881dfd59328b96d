//! Which of the two eras a server speaks, and the greeting of each.
//!
//! What a reader would get wrong: asking is not harmless. There are legacy servers that end, or fall silent, when
//! anything comes before `initialize`. A child that was asked for the stateless era and did not answer properly is
//! therefore thrown away, and `initialize` goes to a fresh one.

use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolfold_config::{EraChoice, Run, Transport};
use toolfold_core::beginning;
use toolfold_wire::{Era, LATEST_LEGACY, LEGACY, MODERN, Object, Raw, RpcError, code, meta};
use tracing::Instrument;

use crate::call::CallError;
use crate::closing::{Closing, Failure};
use crate::connection::{Connection, Link};
use crate::outgoing::client_info;
use crate::sent::Request;
use crate::shared::Shared;
use crate::unopened::Unopened;
use crate::{http, http_stream, made, only, stdio};

/// How long a server of unknown era may think about the stateless greeting.
const PROBE: Duration = Duration::from_secs(5);

/// What a server says of itself is kept, so it has a size.
const LARGEST_SELF_PORTRAIT: usize = 256 * 1024;
const LONGEST_INSTRUCTIONS: usize = 64 * 1024;
/// Characters of a version that nobody knows, where it is said.
const LONGEST_VERSION: usize = 100;

pub(crate) struct Established {
    pub(crate) connection: Arc<Connection>,
    pub(crate) greeting: Greeting,
}

/// What a server says of itself at the beginning.
#[derive(Debug, Clone)]
pub(crate) struct Greeting {
    pub(crate) version: String,
    pub(crate) server_info: Option<Raw>,
    pub(crate) instructions: Option<String>,
    pub(crate) capabilities: Option<Raw>,
}

/// Why a greeting failed, in words for a person.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Refused {
    /// The other era would fare no better: there is no connection.
    #[error("{0}")]
    Unopened(#[from] Unopened),
    /// Nor here: nobody could be reached, or we were not let in.
    #[error("{0}")]
    Unreachable(String),
    /// Nor here: somebody has to log in first.
    #[error("{0}")]
    Login(String),
    /// An answer that says "I do not know this".
    #[error("{0}")]
    Unknown(String),
    /// An answer that refuses the version and names the very same among those it would take.
    #[error("{0}")]
    Again(String),
    #[error("{0}")]
    Other(String),
}

pub(crate) async fn connect(shared: &Arc<Shared>) -> Result<Established, Refused> {
    match &shared.house.arbiter {
        Some(arbiter) if shared.config.run == Run::One => only::connect(shared, &**arbiter).await,
        _ => connect_here(shared).await,
    }
}

pub(crate) async fn connect_here(shared: &Arc<Shared>) -> Result<Established, Refused> {
    let patience = shared.config.timeouts.connect;
    // What is made here is greeted in one way, and has no other.
    if matches!(shared.config.transport, Transport::Api(_) | Transport::Agent { .. }) {
        return greet(shared, Era::Legacy, patience).await;
    }
    let remembered = shared.manifest().map(|manifest| manifest.era);
    match (shared.config.era, remembered) {
        (EraChoice::Legacy, _) => greet(shared, Era::Legacy, patience).await,
        (EraChoice::Modern, _) => greet(shared, Era::Modern, patience).await,
        (EraChoice::Auto, Some(Era::Legacy)) => legacy_first(shared, patience).await,
        (EraChoice::Auto, Some(Era::Modern)) => modern_first(shared, patience, patience).await,
        (EraChoice::Auto, None) => modern_first(shared, PROBE.min(patience), patience).await,
    }
}

async fn modern_first(shared: &Arc<Shared>, probe: Duration, patience: Duration) -> Result<Established, Refused> {
    match greet(shared, Era::Modern, probe).await {
        Err(Refused::Unknown(_) | Refused::Again(_) | Refused::Other(_)) => legacy_first(shared, patience).await,
        settled => settled,
    }
}

/// A server that knows only the stateless era and was too slow for the probe says here that it knows no `initialize`.
async fn legacy_first(shared: &Arc<Shared>, patience: Duration) -> Result<Established, Refused> {
    match greet(shared, Era::Legacy, patience).await {
        Err(Refused::Unknown(why)) => greet(shared, Era::Modern, patience).await.map_err(|refused| match refused {
            Refused::Login(why) => Refused::Login(why),
            _ => Refused::Other(why),
        }),
        settled => settled,
    }
}

async fn greet(shared: &Arc<Shared>, era: Era, patience: Duration) -> Result<Established, Refused> {
    let opened = match &shared.config.transport {
        Transport::Stdio { .. } => stdio::open(shared, era),
        Transport::Http { .. } => http::open(shared, era),
        Transport::Api(_) | Transport::Agent { .. } => made::open(shared),
    };
    let connection = opened?;
    let attempt = Attempt::begin(&connection);
    let greeting = async {
        match era {
            Era::Modern => discover(&connection).await,
            Era::Legacy => initialize(&connection).await,
        }
    };
    match tokio::time::timeout(patience, greeting).await {
        Ok(Ok(greeting)) => {
            attempt.keep();
            Ok(Established { connection, greeting })
        }
        Ok(Err(refused)) => {
            let why_ended = ended(&connection).await;
            discard(&connection).await;
            Err(why_ended.map_or(refused, Refused::Other))
        }
        Err(_) => {
            let words = last_words(&connection);
            discard(&connection).await;
            let why = format!("the server did not answer the greeting within {patience:?}{words}");
            Err(Refused::Other(why))
        }
    }
}

/// A connection that is closed unless it is kept, so that an attempt given up half-way leaves no process behind.
/// Given up half-way, it can still be found in `Shared` by who wants to wait for its end.
pub(crate) struct Attempt {
    connection: Arc<Connection>,
    kept: bool,
}

impl Attempt {
    pub(crate) fn begin(connection: &Arc<Connection>) -> Self {
        connection.shared.swap_attempt(Some(connection.clone()));
        Attempt { connection: connection.clone(), kept: false }
    }

    pub(crate) fn keep(mut self) {
        self.kept = true;
        self.connection.shared.swap_attempt(None);
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if !self.kept {
            self.connection.close(Closing::harmless("was not wanted any more"));
        }
    }
}

/// The reason a child gives by ending tells more than the broken pipe it leaves.
async fn ended(connection: &Connection) -> Option<String> {
    match &connection.link {
        Link::Stdio { .. } if connection.is_closed() => connection.closing().map(|closing| closing.why()),
        _ => None,
    }
}

fn last_words(connection: &Connection) -> String {
    match &connection.link {
        Link::Stdio { process, .. } => {
            process.last_words().map(|words| format!("; it said: {words}")).unwrap_or_default()
        }
        Link::Http(_) | Link::Made(_) => String::new(),
    }
}

async fn discard(connection: &Connection) {
    connection.close(Closing::harmless("was not wanted any more"));
    match &connection.link {
        Link::Stdio { process, .. } => process.stop_briskly().await,
        Link::Http(endpoint) => endpoint.end_session().await,
        Link::Made(_) => {}
    }
    connection.shared.swap_attempt(None);
}

async fn discover(connection: &Arc<Connection>) -> Result<Greeting, Refused> {
    let result = match ask(connection, "server/discover", None).await {
        Err(Refused::Again(_)) => ask(connection, "server/discover", None).await?,
        settled => settled?,
    };
    let versions: Vec<String> = result.read("supportedVersions").unwrap_or_default();
    if !versions.iter().any(|version| version == MODERN) {
        return Err(Refused::Unknown("the server's answer to server/discover names no version we speak".into()));
    }
    let own = result.object("_meta").unwrap_or_default();
    let server_info = own.get(meta::SERVER_INFO).or(result.get("serverInfo")).and_then(kept);
    Ok(Greeting { version: MODERN.into(), server_info, ..common(&result) })
}

/// The process is shared by all clients, so we declare what any of them might serve; a question that the client at
/// hand cannot answer is refused when it comes.
async fn initialize(connection: &Arc<Connection>) -> Result<Greeting, Refused> {
    let params = Object::of(&json!({
        "protocolVersion": LATEST_LEGACY,
        "capabilities": {"roots": {"listChanged": true}, "sampling": {}, "elicitation": {"form": {}, "url": {}}},
        "clientInfo": client_info(),
    }));
    let result = ask(connection, "initialize", Some(params)).await?;
    let Some(version) = result.string("protocolVersion") else {
        return Err(Refused::Other("the server's answer to initialize names no protocol version".into()));
    };
    if !LEGACY.contains(&version.as_str()) {
        let version = beginning(&version, LONGEST_VERSION);
        let why = format!("the server speaks protocol {version:?}; Toolfold speaks {MODERN}, {}", LEGACY.join(", "));
        return Err(Refused::Unknown(why));
    }
    if let Link::Http(endpoint) = &connection.link {
        endpoint.agree(&version);
    }
    connection.tell("notifications/initialized", None).await.map_err(|failure| refused(failure.into_call_error()))?;
    if let Link::Http(_) = &connection.link {
        tokio::spawn(http_stream::follow(connection.clone()).in_current_span());
    }
    Ok(Greeting { version, server_info: result.get("serverInfo").and_then(kept), ..common(&result) })
}

fn common(result: &Object) -> Greeting {
    Greeting {
        version: String::new(),
        server_info: None,
        instructions: result.string("instructions").map(|text| text.chars().take(LONGEST_INSTRUCTIONS).collect()),
        capabilities: result.get("capabilities").and_then(kept),
    }
}

/// What is kept for as long as the server is: apart from the message it came in, and not of any size.
fn kept(said: &Raw) -> Option<Raw> {
    (said.get().len() <= LARGEST_SELF_PORTRAIT).then(|| said.detached())
}

pub(crate) async fn ask(connection: &Arc<Connection>, method: &str, params: Option<Object>) -> Result<Object, Refused> {
    let request = Request { method, params: params.as_ref().into(), ..Request::default() };
    match connection.request(request).await {
        Ok(result) => Object::parse(&result)
            .ok_or_else(|| Refused::Other(format!("the server's answer to {method} is not a JSON object"))),
        Err(Failure::NotSent(why)) if matches!(connection.link, Link::Http(_)) => Err(Refused::Unreachable(why)),
        Err(failure) => Err(refused(failure.into_call_error())),
    }
}

fn refused(error: CallError) -> Refused {
    match error {
        CallError::Answered(error) if offers_modern(&error) => Refused::Again(says(&error)),
        CallError::Answered(error) if says_unknown(&error) => Refused::Unknown(says(&error)),
        CallError::Answered(error) => Refused::Other(says(&error)),
        CallError::Login(need) => Refused::Login(need.why().to_owned()),
        other => Refused::Other(other.to_string()),
    }
}

fn says(error: &RpcError) -> String {
    let message: String = error.message.chars().take(300).collect();
    format!("the server refused the greeting: {message} ({})", error.code)
}

fn offers_modern(error: &RpcError) -> bool {
    let data = error.data.as_ref().filter(|_| error.code == code::UNSUPPORTED_VERSION).and_then(Object::parse);
    let supported: Option<Vec<String>> = data.and_then(|data| data.read("supported"));
    supported.is_some_and(|versions| versions.iter().any(|version| version == MODERN))
}

fn says_unknown(error: &RpcError) -> bool {
    let codes = [code::METHOD_NOT_FOUND, code::UNSUPPORTED_VERSION, code::INVALID_PARAMS, code::INVALID_REQUEST];
    codes.contains(&error.code)
}
