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

/// Names that a label may have before all others are one.
const MOST_NAMES: usize = 500;
const OTHER: &str = "other";
/// In seconds, as the conventions have them.
const BUCKETS: [f64; 14] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];
/// A search takes microseconds.
const SEARCH_BUCKETS: [f64; 9] = [0.0001, 0.0002, 0.0005, 0.001, 0.002, 0.005, 0.01, 0.05, 0.5];
/// Methods that are counted under their own name.
const METHODS: [&str; 18] = [
    "tools/list",
    "tools/call",
    "prompts/list",
    "prompts/get",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "resources/subscribe",
    "resources/unsubscribe",
    "completion/complete",
    "logging/setLevel",
    "ping",
    "initialize",
    "server/discover",
    "subscriptions/listen",
    "tasks/get",
    "tasks/cancel",
    "tasks/update",
];

/// Errors that are counted under their own name; what else a server makes up is one.
const ERRORS: [&str; 19] = [
    "tool_error",
    "-32700",
    "-32600",
    "-32601",
    "-32602",
    "-32603",
    "-32000",
    "-32001",
    "-32002",
    "-32042",
    "SERVER_UNAVAILABLE",
    "SERVER_TIMEOUT",
    "SERVER_ERROR",
    "RATE_LIMITED",
    "NOT_AUTHORIZED",
    "QUARANTINED",
    "INVALID_ARGUMENTS",
    "INVALID_REQUEST",
    "TOOL_NOT_FOUND",
];
const OTHER_ERROR: &str = "_OTHER";

#[derive(Clone, Debug, Hash, PartialEq, Eq, EncodeLabelSet)]
struct Call {
    server: String,
    outcome: &'static str,
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

pub struct Meter {
    registry: Registry,
    calls: Family<Call, Counter>,
    tools: Family<Tool, Counter>,
    refusals: Family<Code, Counter>,
    disclosures: Family<Via, Counter>,
    searches: Histogram,
    served: Family<Operation, Histogram>,
    asked: Family<Operation, Histogram>,
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

fn operation() -> Histogram {
    Histogram::new(BUCKETS)
}

impl Meter {
    pub fn new() -> Self {
        let mut registry = Registry::default();
        let operations = || Family::<Operation, Histogram>::new_with_constructor(operation as fn() -> Histogram);
        let meter = Meter {
            calls: Family::default(),
            tools: Family::default(),
            refusals: Family::default(),
            disclosures: Family::default(),
            searches: Histogram::new(SEARCH_BUCKETS),
            served: operations(),
            asked: operations(),
            discovered: Counter::default(),
            direct: Counter::default(),
            audit_lag: Gauge::default(),
            held: Gauge::default(),
            names: Mutex::default(),
            registry: Registry::default(),
        };
        registry.register("toolfold_calls", "What was asked of servers", meter.calls.clone());
        registry.register("toolfold_tool_calls", "Calls of tools", meter.tools.clone());
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
        Meter { registry, ..meter }
    }

    /// Something was asked of a server.
    /// `error` as [`Meter::served`] has it.
    pub fn called(
        &self,
        (server, method): (&str, &str),
        tool: Option<&str>,
        outcome: &'static str,
        error: Option<&str>,
        took: Duration,
    ) {
        self.calls.get_or_create(&Call { server: server.to_owned(), outcome }).inc();
        if let Some(tool) = tool {
            self.tools.get_or_create(&Tool { tool: self.name(tool) }).inc();
        }
        let operation = Operation { mcp_method_name: known(method), error_type: error.map_or("", known_error) };
        self.asked.get_or_create(&operation).observe(took.as_secs_f64());
    }

    /// A request of a client was answered. `error`: the code of JSON-RPC or of a refusal, or `tool_error`.
    pub fn served(&self, method: &str, error: Option<&str>, took: Duration) {
        let operation = Operation { mcp_method_name: known(method), error_type: error.map_or("", known_error) };
        self.served.get_or_create(&operation).observe(took.as_secs_f64());
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

fn known_error(error: &str) -> &'static str {
    ERRORS.iter().find(|known| **known == error).copied().unwrap_or(OTHER_ERROR)
}

/// A caller's string is never a label.
fn known(method: &str) -> &'static str {
    METHODS.iter().find(|known| **known == method).copied().unwrap_or(OTHER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_tools_are_bounded_and_methods_are_known() {
        let meter = Meter::new();
        for number in 0..2 * MOST_NAMES {
            let tool = format!("a.tool{number}");
            meter.called(("a", "evil\"method"), Some(&tool), "done", Some("evil"), Duration::from_millis(3));
        }
        let text = meter.text(Readings { discovered: 3, ..Readings::default() });
        assert_eq!(text.matches("toolfold_tool_calls_total{").count(), MOST_NAMES + 1);
        assert!(text.contains("toolfold_tool_calls_total{tool=\"other\"} 500\n"), "{text}");
        assert!(text.contains("toolfold_discovered_calls_total 3\n"));
        assert!(!text.contains("evil") && text.ends_with("# EOF\n"));
    }
}
