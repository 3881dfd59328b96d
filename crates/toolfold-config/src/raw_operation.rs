//! `[limits]`, `[audit]` and `[telemetry]` as they were typed.

use crate::node::{Node, Value};
use crate::report::{Place, Report};
use crate::table::{Amount, Field, Pairs, Table, Typed};

#[derive(Debug, Default)]
pub(crate) struct RawLimits {
    pub(crate) memory: Field<Amount>,
    pub(crate) requests: Field<Amount>,
    pub(crate) calls: Field<Amount>,
    pub(crate) calls_per_server: Field<Amount>,
    pub(crate) unauthenticated: Field<Amount>,
    pub(crate) per_server: Field<i64>,
    pub(crate) failures: Field<i64>,
}

#[derive(Debug, Default)]
pub(crate) struct RawAudit {
    pub(crate) mode: Field<String>,
    pub(crate) record: Field<String>,
    pub(crate) keep_days: Field<i64>,
    pub(crate) keep_events: Field<i64>,
    pub(crate) keep_bytes: Field<Amount>,
    pub(crate) path: Field<String>,
}

#[derive(Debug, Default)]
pub(crate) struct RawTelemetry {
    pub(crate) otlp: Field<String>,
    pub(crate) headers: Field<Pairs>,
}

impl RawLimits {
    pub(crate) fn read(node: &Node, place: Place, report: &mut Report) -> RawLimits {
        let Some(mut table) = Table::open(node, place, report) else { return RawLimits::default() };
        let raw = RawLimits {
            memory: table.amount("memory", report),
            requests: table.amount("requests", report),
            calls: table.amount("calls", report),
            calls_per_server: table.amount("calls_per_server", report),
            unauthenticated: table.amount("unauthenticated", report),
            per_server: table.integer("per_server", report),
            failures: table.integer("failures", report),
        };
        table.refuse_rest(report);
        raw
    }
}

impl RawAudit {
    /// A table, or its mode alone: `audit = "strict"`.
    pub(crate) fn read(node: &Node, place: Place, report: &mut Report) -> RawAudit {
        if let Value::Text(mode) = &node.value {
            let mode = Field::Given(Typed { value: mode.clone(), place });
            return RawAudit { mode, ..RawAudit::default() };
        }
        let Some(mut table) = Table::open(node, place, report) else { return RawAudit::default() };
        let raw = RawAudit {
            mode: table.text("mode", report),
            record: table.text("record", report),
            keep_days: table.integer("keep_days", report),
            keep_events: table.integer("keep_events", report),
            keep_bytes: table.amount("keep_bytes", report),
            path: table.text("path", report),
        };
        table.refuse_rest(report);
        raw
    }
}

impl RawTelemetry {
    pub(crate) fn read(node: &Node, place: Place, report: &mut Report) -> RawTelemetry {
        let Some(mut table) = Table::open(node, place, report) else { return RawTelemetry::default() };
        let raw = RawTelemetry { otlp: table.text("otlp", report), headers: table.pairs("headers", report) };
        table.refuse_rest(report);
        raw
    }
}
