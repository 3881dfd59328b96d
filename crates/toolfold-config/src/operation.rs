//! What concerns whoever runs Toolfold rather than whoever uses it: limits, the audit, and where figures go.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use toolfold_core::{DatabaseUrl, Secret};

/// What clients and servers may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// Bytes that may be queued or kept for clients and servers, beside the catalog.
    pub memory: usize,
    /// Requests of one principal, whatever they are.
    pub requests: Option<Rate>,
    /// Calls of one principal to all servers together, and to one of them.
    pub calls: Option<Rate>,
    pub calls_per_server: Option<Rate>,
    /// Requests that nobody is known to have sent, all together.
    pub unauthenticated: Option<Rate>,
    /// Calls that one server works on at once; `None`: as many as come.
    pub per_server: Option<usize>,
    /// Failures in a row after which a server is left alone for a while; 0: never.
    pub failures: u32,
}

/// So many in a time, and as many at once after a rest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rate {
    pub count: u32,
    pub per: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Limits {
            memory: 256 * 1024 * 1024,
            requests: None,
            calls: None,
            calls_per_server: None,
            unauthenticated: None,
            per_server: None,
            failures: 10,
        }
    }
}

/// What is written down of what happens here.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditSettings {
    pub mode: AuditMode,
    pub record: Recorded,
    pub keep: Keep,
    /// `None`: nowhere.
    pub path: Option<PathBuf>,
    /// Where it is brought from there, so that all replicas have one.
    pub database: Option<DatabaseUrl>,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AuditMode {
    #[default]
    Off,
    /// Written soon. What cannot be written is counted as missing, and calls go on.
    On,
    /// On the disk before a server gets a call and before a client gets its answer; otherwise the call is refused.
    Strict,
}

/// How much of what was said is written down, each with all before it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Recorded {
    #[default]
    Names,
    Queries,
    Arguments,
    Results,
}

/// How long events are kept: until the first of these is over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Keep {
    pub days: u64,
    pub events: u64,
    pub bytes: u64,
}

impl Default for Keep {
    fn default() -> Self {
        Keep { days: 90, events: 10_000_000, bytes: 1 << 30 }
    }
}

/// Where figures are sent.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TelemetrySettings {
    /// The address of a collector that speaks OTLP over HTTP, without `/v1/…`.
    pub otlp: Option<String>,
    pub headers: BTreeMap<String, Secret>,
}
