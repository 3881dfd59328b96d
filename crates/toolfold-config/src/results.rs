//! `[results]`: which results are kept rather than passed on, and for how long.

use std::time::Duration;

use toolfold_core::Pattern;

use crate::node::Node;
use crate::report::{Place, Report};
use crate::resolve::Resolver;
use crate::table::{Amount, Field, Table, Typed};
use crate::units;

/// Results that are longer than a model should read at once.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultSettings {
    /// Characters above which a result is kept; `None`: never.
    pub keep_over: Option<usize>,
    /// The same for some tools: the first pattern of an id that fits counts.
    pub tools: Vec<(Pattern, Option<usize>)>,
    /// Bytes of all that are kept.
    pub keep_bytes: u64,
    pub keep_for: Duration,
}

impl Default for ResultSettings {
    fn default() -> Self {
        ResultSettings {
            keep_over: Some(100_000),
            tools: Vec::new(),
            keep_bytes: 256 << 20,
            keep_for: Duration::from_secs(3600),
        }
    }
}

impl ResultSettings {
    /// Whether there is anything that would be kept.
    pub fn keeps_any(&self) -> bool {
        self.keep_over.is_some() || self.tools.iter().any(|(_, over)| over.is_some())
    }

    /// For one tool, by its id.
    pub fn keep_over(&self, tool: &str) -> Option<usize> {
        self.tools.iter().find(|(pattern, _)| pattern.matches(tool)).map_or(self.keep_over, |(_, over)| *over)
    }
}

#[derive(Debug, Default)]
pub(crate) struct RawResults {
    keep_over: Field<Amount>,
    keep_bytes: Field<Amount>,
    keep_for: Field<Amount>,
    tools: Vec<(String, Typed<Amount>)>,
}

impl RawResults {
    pub(crate) fn read(node: &Node, place: Place, report: &mut Report) -> RawResults {
        let Some(mut table) = Table::open(node, place, report) else { return RawResults::default() };
        let mut raw = RawResults {
            keep_over: table.amount("keep_over", report),
            keep_bytes: table.amount("keep_bytes", report),
            keep_for: table.amount("keep_for", report),
            tools: Vec::new(),
        };
        if let Some((node, place)) = table.take("tools") {
            raw.tools = Table::open(node, place, report).map_or_else(Vec::new, |tools| tools.amounts(report));
        }
        table.refuse_rest(report);
        raw
    }
}

impl Resolver<'_> {
    pub(crate) fn results(&mut self, raw: &RawResults) -> ResultSettings {
        let usual = ResultSettings::default();
        let tools = raw.tools.iter().filter_map(|(pattern, typed)| match over(&typed.value) {
            Ok(over) => Some((Pattern::new(pattern), over)),
            Err(hint) => {
                self.report.error(&typed.place, "is no number of characters", hint.to_owned());
                None
            }
        });
        let tools = tools.collect();
        ResultSettings {
            keep_over: self.amount(&raw.keep_over, "number of characters", over).unwrap_or(usual.keep_over),
            tools,
            keep_bytes: self.amount(&raw.keep_bytes, "size", units::room).unwrap_or(usual.keep_bytes),
            keep_for: self.amount(&raw.keep_for, "duration", units::duration).unwrap_or(usual.keep_for),
        }
    }
}

/// A number of characters, or `"off"`.
fn over(amount: &Amount) -> Result<Option<usize>, &'static str> {
    const HOW: &str = "write characters as a number from 1000 on, or \"off\"";
    match amount {
        Amount::Text(word) if word == "off" => Ok(None),
        Amount::Number(number) if (1_000.0..=1e9).contains(number) => Ok(Some(*number as usize)),
        _ => Err(HOW),
    }
}
