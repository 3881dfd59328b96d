//! Who asks, and what. The peer travels with the request rather than with the client: over HTTP each request has a
//! stream of its own, and what a server says during a call belongs on that stream.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use tokio_util::sync::CancellationToken;
use toolfold_core::{Surface, ToolId};
use toolfold_wire::{Era, Object, Peer, Raw};

use crate::subscriptions::Watch;

/// Tools that one client may have loaded: more than any model has use for.
pub(crate) const MOST_LOADED: usize = 128;

/// One client: a session of the old era, or one request of the stateless one.
#[derive(Debug)]
pub struct Client {
    /// Unique in this process. Servers that ask back are answered by the client whose call is under way.
    pub id: u64,
    pub era: Era,
    pub surface: Surface,
    pub capabilities: Option<Raw>,
    log_level: AtomicU8,
    /// What this session has loaded, in that order.
    loaded: Mutex<Vec<ToolId>>,
    watches: Mutex<HashMap<String, Watch>>,
}

impl Client {
    pub fn new(era: Era, surface: Surface, capabilities: Option<Raw>) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let id = NEXT.fetch_add(1, Ordering::Relaxed);
        Client {
            id,
            era,
            surface,
            capabilities,
            log_level: AtomicU8::new(LogLevel::Info as u8),
            loaded: Mutex::default(),
            watches: Mutex::default(),
        }
    }

    /// Whether the client said that it can do this (`elicitation`, `sampling`, `roots`).
    pub fn can(&self, capability: &str) -> bool {
        self.capabilities.as_deref().and_then(Object::parse).is_some_and(|object| object.contains(capability))
    }

    pub fn set_log_level(&self, level: LogLevel) {
        self.log_level.store(level as u8, Ordering::Relaxed);
    }

    pub fn wants(&self, level: LogLevel) -> bool {
        level as u8 >= self.log_level.load(Ordering::Relaxed)
    }

    pub fn loaded(&self) -> Vec<ToolId> {
        self.loaded.lock().unwrap_or_else(PoisonError::into_inner).clone()
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

    /// Keeps a subscription for as long as the client lives or until it lets go of it.
    pub(crate) fn keep(&self, uri: String, watch: Watch) {
        self.watches.lock().unwrap_or_else(PoisonError::into_inner).insert(uri, watch);
    }

    pub(crate) fn release(&self, uri: &str) {
        self.watches.lock().unwrap_or_else(PoisonError::into_inner).remove(uri);
    }

    pub fn watches(&self, uri: &str) -> bool {
        self.watches.lock().unwrap_or_else(PoisonError::into_inner).contains_key(uri)
    }
}

pub struct Request {
    pub client: Arc<Client>,
    pub peer: Arc<dyn Peer>,
    pub method: String,
    pub params: Option<Raw>,
    pub cancel: CancellationToken,
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

    pub fn parse(name: &str) -> Option<Self> {
        use LogLevel::*;
        let place = Self::NAMES.iter().position(|known| *known == name)?;
        Some([Debug, Info, Notice, Warning, Error, Critical, Alert, Emergency][place])
    }

    pub fn as_str(self) -> &'static str {
        Self::NAMES[self as usize]
    }
}
