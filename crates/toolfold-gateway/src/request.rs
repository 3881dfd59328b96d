//! Who asks, and what. The peer travels with the request rather than with the client: over HTTP each request has a
//! stream of its own, and what a server says during a call belongs on that stream.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use toolfold_core::{Principal, ServerName, Surface, ToolId, beginning};
use toolfold_telemetry::{Carriage, Context};
use toolfold_wire::{Id, Object, Peer, Raw, RpcError};

use crate::advertised::Advertised;
use crate::gate::Watch;
use crate::rpc::SHORT;
use crate::visitors::Presence;

/// Resources that one client may watch, and how long their addresses may be.
pub const MOST_WATCHED: usize = 256;
pub const LONGEST_WATCHED: usize = 2048;
/// The longest description of itself that a client is remembered by.
const LONGEST_INFO: usize = 16 * 1024;
/// Tools that one client may have loaded: more than any model has use for.
pub(crate) const MOST_LOADED: usize = 128;

/// How long a client lives, and with it what is kept for it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ClientKind {
    /// A conversation: it can be asked something in the middle of a call, and has a list of tools of its own.
    Session,
    /// One request of the stateless era. It is asked by ending the request, and nothing of it is left afterwards.
    Request,
    /// A caller inside the program (the command line, REST, an embedding): it lives as long as it likes and answers nothing.
    Inside,
}

/// One client: whoever a request is answered for.
#[derive(Debug)]
pub struct Client {
    /// Unique in this process. Servers that ask back are answered by the client whose call is under way.
    pub id: u64,
    pub kind: ClientKind,
    principal: Mutex<Principal>,
    pub surface: Surface,
    pub capabilities: Option<Raw>,
    /// The program, as it calls itself.
    pub about: Option<Arc<str>>,
    /// What its messages come by.
    pub by: Carriage,
    /// Where it is, where that is known.
    pub address: Option<IpAddr>,
    /// How often it called a tool, and what it did last.
    pub(crate) presence: Presence,
    /// What it was told, when it came, that it can ask for.
    pub told: Advertised,
    log_level: AtomicU8,
    /// What this session has loaded, in that order.
    loaded: Mutex<Vec<ToolId>>,
    watches: Mutex<HashMap<String, Watch>>,
}

impl Client {
    pub fn session(principal: Principal, surface: Surface, capabilities: Option<Raw>, told: Advertised) -> Self {
        // Kept for as long as the session: not with the message that it came in.
        let client = Client::new(ClientKind::Session, principal, surface, capabilities.as_ref().map(Raw::detached));
        Client { told, ..client }
    }

    pub fn request(principal: Principal, surface: Surface, capabilities: Option<Raw>) -> Self {
        // Its call may be parked, and what it came with need not be kept for that.
        Client::new(ClientKind::Request, principal, surface, capabilities.as_ref().map(Raw::detached))
    }

    pub fn inside(principal: Principal, surface: Surface) -> Self {
        Client::new(ClientKind::Inside, principal, surface, None)
    }

    fn new(kind: ClientKind, principal: Principal, surface: Surface, capabilities: Option<Raw>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Client {
            id,
            kind,
            principal: Mutex::new(principal),
            surface,
            capabilities,
            about: None,
            by: Carriage::default(),
            address: None,
            presence: Presence::default(),
            told: Advertised::ALL,
            log_level: AtomicU8::new(LogLevel::Info as u8),
            loaded: Mutex::default(),
            watches: Mutex::default(),
        }
    }

    /// Who stands behind it, as their last request has shown.
    pub fn principal(&self) -> Principal {
        self.principal.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// A request of the same principal has come, perhaps with other groups or scopes than the one before.
    pub fn seen_as(&self, principal: &Principal) {
        let mut now = self.principal.lock().unwrap_or_else(PoisonError::into_inner);
        let is_other = |now: &Principal| !now.says_the_same(principal) || now.credential() != principal.credential();
        if *now == *principal && is_other(&now) {
            *now = principal.clone();
        }
    }

    /// The same client, seen from who calls on its behalf on another surface. It can be asked in the middle of such a call
    /// whatever its era: who calls for it waits for the answer.
    pub(crate) fn on_behalf(&self, surface: Surface) -> Client {
        let kind = if self.kind == ClientKind::Request { ClientKind::Inside } else { self.kind };
        let client = Client::new(kind, self.principal(), surface, self.capabilities.clone());
        Client { id: self.id, about: self.about.clone(), told: self.told, by: self.by, address: self.address, ..client }
    }

    /// What its messages come by, and from where.
    pub fn over(self, by: Carriage, address: Option<IpAddr>) -> Self {
        Client { by, address, ..self }
    }

    /// What it calls itself: `clientInfo`, of which name and version are kept.
    pub fn called(mut self, info: Option<&Raw>) -> Self {
        let info = info.filter(|info| info.get().len() <= LONGEST_INFO).and_then(Object::parse);
        let part = |key: &str| info.as_ref().and_then(|info| info.string(key)).unwrap_or_default();
        let whole = format!("{} {}", part("name"), part("version"));
        self.about = Some(whole.trim()).filter(|whole| !whole.is_empty()).map(Arc::from);
        self
    }

    /// Whether it has loaded this tool.
    pub(crate) fn has_loaded(&self, tool: &ToolId) -> bool {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner).contains(tool)
    }

    /// Whether it keeps what it has loaded, and its tool list shows it.
    pub fn has_session(&self) -> bool {
        self.kind != ClientKind::Request
    }

    /// Whether the client said that it can do this (`elicitation`, `sampling`, `roots`).
    pub fn can(&self, capability: &str) -> bool {
        self.capabilities.as_ref().and_then(Object::parse).is_some_and(|object| object.contains(capability))
    }

    pub fn set_log_level(&self, level: LogLevel) {
        self.log_level.store(level as u8, Ordering::Relaxed);
    }

    pub fn wants(&self, level: LogLevel) -> bool {
        level >= self.log_level()
    }

    pub(crate) fn log_level(&self) -> LogLevel {
        LogLevel::ALL[usize::from(self.log_level.load(Ordering::Relaxed)) % LogLevel::ALL.len()]
    }

    pub fn loaded(&self) -> Vec<ToolId> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// How many it has loaded. There are only ever more of them.
    pub fn count_loaded(&self) -> usize {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    /// Adds tools to those that are loaded, all or none; how many are new, or `None` where that would be too many.
    pub(crate) fn load(&self, tools: &[ToolId]) -> Option<usize> {
        let mut loaded = self.loaded.lock().unwrap_or_else(PoisonError::into_inner);
        let new: Vec<ToolId> = tools.iter().filter(|tool| !loaded.contains(tool)).cloned().collect();
        if loaded.len() + new.len() > MOST_LOADED {
            return None;
        }
        loaded.extend(new.iter().cloned());
        Some(new.len())
    }

    /// What it had loaded on another replica.
    pub fn restore(&self, tools: &[ToolId]) {
        // What was within the bounds there is so here.
        let _ = self.load(tools);
    }

    /// Whether there is room for one more subscription.
    pub(crate) fn may_watch(&self, uri: &str) -> Result<(), RpcError> {
        let watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
        if uri.len() > LONGEST_WATCHED || (watches.len() >= MOST_WATCHED && !watches.contains_key(uri)) {
            return Err(RpcError::invalid_params(format!(
                "A client can subscribe to {MOST_WATCHED} resources, with addresses of at most {LONGEST_WATCHED} bytes."
            )));
        }
        Ok(())
    }

    /// Keeps a subscription for as long as the client lives or until it lets go of it.
    pub(crate) fn keep(&self, uri: String, watch: Watch) {
        self.watches.lock().unwrap_or_else(PoisonError::into_inner).insert(uri, watch);
    }

    pub(crate) fn release(&self, uri: &str) {
        self.watches.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
    }

    /// The addresses by which this client watches a resource of a server.
    pub(crate) fn watched(&self, server: &ServerName, whose: &Principal, uri: &str) -> Vec<String> {
        let watches = self.watches.lock().unwrap_or_else(PoisonError::into_inner);
        let of_it = watches.iter().filter(|(_, watch)| watch.is_of(server, whose, uri));
        of_it.map(|(known, _)| known.clone()).collect()
    }
}

pub struct Request {
    /// As JSON; `None` for who has none.
    pub id: Option<String>,
    pub client: Arc<Client>,
    pub peer: Arc<dyn Peer>,
    pub method: String,
    pub params: Object,
    /// Another replica has let it through, and it goes no further than here.
    pub(crate) relayed: bool,
    /// Its place in a trace, where traces are sent.
    pub(crate) context: Option<Context>,
    /// The trace of what carried it.
    pub(crate) carrier: Option<Context>,
}

impl Request {
    /// A request of its own, for callers inside the program.
    pub fn new(client: Arc<Client>, peer: Arc<dyn Peer>, method: impl Into<String>, params: Object) -> Self {
        Request { id: None, client, peer, method: method.into(), params, relayed: false, context: None, carrier: None }
    }

    /// One that came with an id.
    pub fn with_id(self, id: &Id) -> Self {
        Request { id: Some(id.as_json().to_owned()), ..self }
    }

    /// One whose carrier is part of a trace: what it says of that in `traceparent`.
    pub fn carried_in(self, trace: Option<&str>) -> Self {
        Request { carrier: trace.and_then(Context::parse), ..self }
    }

    /// The parameters of a message as an object, once, where it comes in.
    pub fn params_of(method: &str, params: Option<&Raw>) -> Result<Object, RpcError> {
        Object::parse_optional(params).ok_or_else(|| {
            RpcError::invalid_params(format!("The params of {} must be an object.", beginning(method, SHORT)))
        })
    }

    pub(crate) fn text(&self, key: &str) -> Result<String, RpcError> {
        let missing = || RpcError::invalid_params(format!("{} needs `{key}`, a string.", self.method));
        self.params.string(key).ok_or_else(missing)
    }
}

/// The eight levels of syslog that MCP's log messages use, least urgent first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum LogLevel {
    Debug,
    Info,
    Notice,
    Warning,
    Error,
    Critical,
    Alert,
    Emergency,
}

impl LogLevel {
    pub const NAMES: [&str; 8] = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"];

    const ALL: [LogLevel; 8] = {
        use LogLevel::*;
        [Debug, Info, Notice, Warning, Error, Critical, Alert, Emergency]
    };

    pub fn parse(name: &str) -> Option<Self> {
        let place = Self::NAMES.iter().position(|known| *known == name)?;
        Some(Self::ALL[place])
    }

    pub fn as_str(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_loads_so_many_tools_and_all_of_a_wish_or_none() {
        let client = Client::session(Principal::local(), Surface::Lifecycle, None, Advertised::ALL);
        let tools: Vec<ToolId> = (0..129).filter_map(|n| ToolId::parse(&format!("hub.tool_{n}"))).collect();
        assert_eq!(client.load(&tools), None);
        assert_eq!(client.loaded().len(), 0);
        assert_eq!(client.load(&tools[..128]), Some(128));
        assert_eq!((client.load(&tools[..128]), client.load(&tools[128..])), (Some(0), None));
    }
}
