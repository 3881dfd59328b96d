//! The counters. Names of tools are information and grow without bound where somebody lets them: only those of tools that
//! exist are used, and only so many.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use prometheus_client::encoding::EncodeLabelSet;
use prometheus_client::encoding::text::encode;
use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::gauge::Gauge;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::{Registry, Unit};

use crate::labels::{Carriage, OTHER, known_error, known_method};

/// Names that a label may have before all others are one.
const MOST_NAMES: usize = 500;
/// In seconds, as the conventions have them.
const BUCKETS: [f64; 14] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];
/// A search takes microseconds.
const SEARCH_BUCKETS: [f64; 9] = [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.5];

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Call {
    server: String,
    outcome: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Server {
    server: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Code {
    code: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Via {
    via: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Tool {
    tool: String,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Operation {
    mcp_method_name: &'static str,
    error_type: &'static str,
    network_transport: &'static str,
    mcp_protocol_version: &'static str,
}

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Session {
    error_type: &'static str,
    network_transport: &'static str,
    mcp_protocol_version: &'static str,
}

/// What is known elsewhere and looked up when somebody reads.
#[derive(Debug, Clone, Copy, Default)]
pub struct Readings {
    /// Calls of tools that an answer had shown before, and of others.
    pub discovered: u64,
    pub direct: u64,
    /// Events that wait to be written, and those for which there was no room.
    pub audit_lag: u64,
    pub held: u64,
}

/// One request and how it went.
#[derive(Debug, Clone, Copy)]
pub struct Measured<'a> {
    pub method: &'a str,
    /// The code of JSON-RPC or of a refusal, or `tool_error`.
    pub error: Option<&'a str>,
    pub by: Carriage,
    pub took: Duration,
}

impl Measured<'_> {
    fn labels(self) -> Operation {
        Operation {
            mcp_method_name: known_method(self.method),
            error_type: self.error.map_or("", known_error),
            network_transport: self.by.transport,
            mcp_protocol_version: self.by.version,
        }
    }
}

fn session(by: Carriage, error: Option<&str>) -> Session {
    Session {
        error_type: error.map_or("", known_error),
        network_transport: by.transport,
        mcp_protocol_version: by.version,
    }
}

pub struct Meter {
    registry: Registry,
    calls: Family<Call, Counter>,
    tools: Family<Tool, Counter>,
    marked: Family<Server, Counter>,
    refusals: Family<Code, Counter>,
    disclosures: Family<Via, Counter>,
    searches: Histogram,
    served: Family<Operation, Histogram>,
    asked: Family<Operation, Histogram>,
    clients: Family<Session, Histogram>,
    servers: Family<Session, Histogram>,
    discovered: Counter,
    direct: Counter,
    audit_lag: Gauge,
    held: Gauge,
    names: Mutex<HashSet<String>>,
}

impl Default for Meter {
    fn default() -> Self {
        Meter::new()
    }
}

fn duration() -> Histogram {
    Histogram::new(BUCKETS)
}

impl Meter {
    pub fn new() -> Self {
        let mut registry = Registry::default();
        let operations = || Family::<Operation, Histogram>::new_with_constructor(duration as fn() -> Histogram);
        let sessions = || Family::<Session, Histogram>::new_with_constructor(duration as fn() -> Histogram);
        let meter = Meter {
            calls: Family::default(),
            tools: Family::default(),
            marked: Family::default(),
            refusals: Family::default(),
            disclosures: Family::default(),
            searches: Histogram::new(SEARCH_BUCKETS),
            served: operations(),
            asked: operations(),
            clients: sessions(),
            servers: sessions(),
            discovered: Counter::default(),
            direct: Counter::default(),
            audit_lag: Gauge::default(),
            held: Gauge::default(),
            names: Mutex::default(),
            registry: Registry::default(),
        };
        registry.register("toolfold_calls", "What was asked of servers", meter.calls.clone());
        registry.register("toolfold_tool_calls", "Calls of tools", meter.tools.clone());
        registry.register("toolfold_marked_results", "Results that were marked", meter.marked.clone());
        registry.register("toolfold_refusals", "What was refused", meter.refusals.clone());
        registry.register("toolfold_disclosures", "Answers of meta-tools", meter.disclosures.clone());
        registry.register(
            "toolfold_discovered_calls",
            "Calls of tools that an answer had shown",
            meter.discovered.clone(),
        );
        registry.register("toolfold_direct_calls", "Calls of tools that no answer had shown", meter.direct.clone());
        registry.register("toolfold_audit_lag", "Events that wait to be written", meter.audit_lag.clone());
        registry.register("toolfold_held_entries", "Entries that wait to be approved", meter.held.clone());
        let (seconds, searches) = (Unit::Seconds, meter.searches.clone());
        registry.register_with_unit("toolfold_search", "How long a search takes", seconds, searches);
        let (served, asked) = (meter.served.clone(), meter.asked.clone());
        registry.register_with_unit("mcp_server_operation_duration", "Requests of clients", Unit::Seconds, served);
        registry.register_with_unit("mcp_client_operation_duration", "Requests to servers", Unit::Seconds, asked);
        let (clients, servers) = (meter.clients.clone(), meter.servers.clone());
        registry.register_with_unit("mcp_server_session_duration", "Sessions of clients", Unit::Seconds, clients);
        registry.register_with_unit("mcp_client_session_duration", "Sessions with servers", Unit::Seconds, servers);
        Meter { registry, ..meter }
    }

    /// Something was asked of a server.
    pub fn called(&self, server: &str, tool: Option<&str>, outcome: &'static str, asked: Measured<'_>) {
        self.calls.get_or_create(&Call { server: server.to_owned(), outcome }).inc();
        if let Some(tool) = tool {
            self.tools.get_or_create(&Tool { tool: self.name(tool) }).inc();
        }
        self.asked.get_or_create(&asked.labels()).observe(asked.took.as_secs_f64());
    }

    /// A result of a server was marked.
    pub fn marked(&self, server: &str) {
        self.marked.get_or_create(&Server { server: server.to_owned() }).inc();
    }

    /// A request of a client was answered.
    pub fn served(&self, asked: Measured<'_>) {
        self.served.get_or_create(&asked.labels()).observe(asked.took.as_secs_f64());
    }

    /// A session of a client is over.
    pub fn left(&self, by: Carriage, lasted: Duration) {
        self.clients.get_or_create(&session(by, None)).observe(lasted.as_secs_f64());
    }

    /// A session with a server is over; `error` where it was not ended by us.
    pub fn parted(&self, by: Carriage, error: Option<&str>, lasted: Duration) {
        self.servers.get_or_create(&session(by, error)).observe(lasted.as_secs_f64());
    }

    pub fn refused(&self, code: &'static str) {
        self.refusals.get_or_create(&Code { code }).inc();
    }

    pub fn disclosed(&self, via: &'static str, took: Duration) {
        self.disclosures.get_or_create(&Via { via }).inc();
        if via == "search" {
            self.searches.observe(took.as_secs_f64());
        }
    }

    /// Everything, in the text format of Prometheus.
    pub fn text(&self, readings: Readings) -> String {
        let raise = |counter: &Counter, to: u64| {
            counter.inc_by(to.saturating_sub(counter.get()));
        };
        raise(&self.discovered, readings.discovered);
        raise(&self.direct, readings.direct);
        self.audit_lag.set(readings.audit_lag as i64);
        self.held.set(readings.held as i64);
        let mut text = String::new();
        // Writing to a string cannot fail.
        let _ = encode(&mut text, &self.registry);
        text
    }

    fn name(&self, tool: &str) -> String {
        let mut names = self.names.lock().unwrap_or_else(PoisonError::into_inner);
        if names.contains(tool) {
            return tool.to_owned();
        }
        if names.len() >= MOST_NAMES {
            return OTHER.to_owned();
        }
        names.insert(tool.to_owned());
        tool.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tools_are_bounded_and_methods_are_known() {
        let meter = Meter::new();
        for number in 0..2 * MOST_NAMES {
            let tool = format!("a.tool{number}");
            let by = Carriage::new(Carriage::PIPE, "evil");
            let asked = Measured { method: "evil\"method", error: Some("evil"), by, took: Duration::from_millis(3) };
            meter.called("a", Some(&tool), "done", asked);
        }
        let text = meter.text(Readings { discovered: 3, ..Readings::default() });
        assert_eq!(text.matches("toolfold_tool_calls_total{").count(), MOST_NAMES + 1);
        assert!(text.contains("toolfold_tool_calls_total{tool=\"other\"} 500\n"), "{text}");
        assert!(text.contains("toolfold_discovered_calls_total 3\n"));
        assert!(!text.contains("evil") && text.ends_with("# EOF\n"));
    }
}
