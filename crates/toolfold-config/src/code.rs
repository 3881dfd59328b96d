//! `[code]`: what scripts may do and take.

use std::time::Duration;

use toolfold_core::Pattern;

use crate::node::Node;
use crate::report::{Place, Report};
use crate::resolve::Resolver;
use crate::table::{Amount, Field, Table, Texts};
use crate::units;

/// What one script may do beside calling tools that only read, and what it may take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CodeSettings {
    /// Ids of tools that scripts may call although they change something.
    pub allow: Vec<Pattern>,
    /// Computing time.
    pub cpu: Duration,
    /// Bytes of its heap.
    pub memory: usize,
    /// Things it may ask for.
    pub calls: usize,
    /// From its start to its end.
    pub time: Duration,
    /// Tokens of its answer.
    pub answer: usize,
    /// Scripts that run at once.
    pub at_once: usize,
}

impl Default for CodeSettings {
    fn default() -> Self {
        CodeSettings {
            allow: Vec::new(),
            cpu: Duration::from_secs(2),
            memory: 64 * 1024 * 1024,
            calls: 50,
            time: Duration::from_secs(120),
            answer: 6_000,
            at_once: 8,
        }
    }
}

#[derive(Debug, Default)]
pub(crate) struct RawCode {
    allow: Field<Texts>,
    cpu: Field<Amount>,
    memory: Field<Amount>,
    calls: Field<i64>,
    time: Field<Amount>,
    answer: Field<i64>,
    at_once: Field<i64>,
}

impl RawCode {
    pub(crate) fn read(node: &Node, place: Place, report: &mut Report) -> RawCode {
        let Some(mut table) = Table::open(node, place, report) else { return RawCode::default() };
        let raw = RawCode {
            allow: table.texts("allow", report),
            cpu: table.amount("cpu", report),
            memory: table.amount("memory", report),
            calls: table.integer("calls", report),
            time: table.amount("time", report),
            answer: table.integer("answer", report),
            at_once: table.integer("at_once", report),
        };
        table.refuse_rest(report);
        raw
    }
}

/// More than this is no script any more.
const LONGEST: Duration = Duration::from_secs(3600);

impl Resolver<'_> {
    pub(crate) fn code(&mut self, raw: &RawCode) -> CodeSettings {
        let usual = CodeSettings::default();
        CodeSettings {
            allow: self.texts(&raw.allow).iter().map(|text| Pattern::new(text)).collect(),
            cpu: self.at_most_an_hour(&raw.cpu).unwrap_or(usual.cpu),
            memory: self.amount(&raw.memory, "size", units::heap).unwrap_or(usual.memory),
            calls: self.number(&raw.calls, 1, 10_000).map_or(usual.calls, |most| most as usize),
            time: self.at_most_an_hour(&raw.time).unwrap_or(usual.time),
            answer: self.number(&raw.answer, 50, 1_000_000).map_or(usual.answer, |most| most as usize),
            at_once: self.number(&raw.at_once, 1, 1_000).map_or(usual.at_once, |most| most as usize),
        }
    }

    fn at_most_an_hour(&mut self, field: &Field<Amount>) -> Option<Duration> {
        self.amount(field, "duration", units::duration).map(|time: Duration| time.min(LONGEST))
    }
}
