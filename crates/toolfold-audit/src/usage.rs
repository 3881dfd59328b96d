//! What was used, by whom, found how, and how long it took.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;
use toolfold_store::StoreError;

use crate::event::{AuditEvent, EventKind};
use crate::moment::Moment;
use crate::read::Reader;

#[derive(Debug, Default, Serialize)]
pub struct Tally {
    /// Of the first and the last event that is counted.
    pub first: Option<Moment>,
    pub last: Option<Moment>,
    pub calls: u64,
    /// Calls of tools that an answer had shown before, and of those that none had.
    pub discovered: u64,
    pub direct: u64,
    pub refused: u64,
    /// Sessions, or days of somebody who has none.
    pub conversations: u64,
    pub searches: u64,
    pub browses: u64,
    pub descriptions: u64,
    /// What the answers of meta-tools cost.
    pub tokens: u64,
    pub tools: BTreeMap<String, ToolUse>,
    pub principals: BTreeMap<String, PrincipalUse>,
    #[serde(skip)]
    seen: BTreeSet<String>,
}

#[derive(Debug, Default, Serialize)]
pub struct ToolUse {
    pub calls: u64,
    pub failed: u64,
    pub refused: u64,
    pub discovered: u64,
    pub direct: u64,
    /// How often each way led to it.
    pub via: BTreeMap<String, u64>,
    pub principals: BTreeSet<String>,
    /// In milliseconds.
    pub median: f64,
    pub p95: f64,
    /// Bytes of arguments and results.
    pub input: u64,
    pub output: u64,
    /// About how many tokens those are: four bytes each.
    pub tokens: u64,
    #[serde(skip)]
    durations: Durations,
}

#[derive(Debug, Default, Serialize)]
pub struct PrincipalUse {
    pub calls: u64,
    pub refused: u64,
    pub disclosures: u64,
}

impl Reader {
    pub fn usage(&self, since: Moment) -> Result<Tally, StoreError> {
        let mut usage = Tally::default();
        self.each(since, |stored| {
            if let Some(event) = stored.event() {
                usage.count(&event);
            }
            true
        })?;
        Ok(usage.finished())
    }
}

impl Tally {
    /// With what is known only once everything has been counted.
    pub(crate) fn finished(mut self) -> Self {
        for tool in self.tools.values_mut() {
            (tool.median, tool.p95) = (tool.durations.quantile(0.5), tool.durations.quantile(0.95));
        }
        self.conversations = self.seen.len() as u64;
        self
    }

    pub(crate) fn count(&mut self, event: &AuditEvent) {
        self.first = Some(self.first.map_or(event.time, |first| first.min(event.time)));
        self.last = Some(self.last.map_or(event.time, |last| last.max(event.time)));
        if let Some(principal) = &event.principal {
            let day = event.time.0 / (24 * 3600 * 1_000_000);
            let conversation = match event.session {
                Some(session) => format!("{session} {}", event.client.as_deref().unwrap_or_default()),
                None => format!("{principal} {} day {day}", event.client.as_deref().unwrap_or_default()),
            };
            self.seen.insert(conversation);
        }
        match event.kind {
            EventKind::Search => self.searches += 1,
            EventKind::Browse => self.browses += 1,
            EventKind::Describe | EventKind::Load => self.descriptions += 1,
            EventKind::Refuse => self.refused += 1,
            EventKind::Result if event.outcome.as_deref() != Some("parked") && event.tool.is_some() => {
                self.ended(event)
            }
            _ => {}
        }
        let discloses =
            matches!(event.kind, EventKind::Search | EventKind::Browse | EventKind::Describe | EventKind::Load);
        self.tokens += event.tokens.unwrap_or(0) as u64;
        if let Some(principal) = &event.principal {
            let of = self.principals.entry(principal.clone()).or_default();
            of.disclosures += u64::from(discloses);
            of.refused += u64::from(event.kind == EventKind::Refuse);
        }
        if let (EventKind::Refuse, Some(tool)) = (event.kind, &event.tool) {
            self.tools.entry(tool.clone()).or_default().refused += 1;
        }
    }

    fn ended(&mut self, event: &AuditEvent) {
        let Some(name) = &event.tool else { return };
        let discovered = event.is_discovered();
        self.calls += 1;
        self.discovered += u64::from(discovered);
        self.direct += u64::from(!discovered);
        let tool = self.tools.entry(name.clone()).or_default();
        tool.calls += 1;
        tool.failed += u64::from(event.outcome.as_deref() != Some("done"));
        tool.discovered += u64::from(discovered);
        tool.direct += u64::from(!discovered);
        *tool.via.entry(event.via.clone().unwrap_or_else(|| "unknown".to_owned())).or_default() += 1;
        tool.durations.add(event.duration.unwrap_or(0));
        if let Some(sizes) = event.sizes {
            (tool.input, tool.output) = (tool.input + sizes.input as u64, tool.output + sizes.output as u64);
            tool.tokens = (tool.input + tool.output).div_ceil(4);
        }
        if let Some(principal) = &event.principal {
            tool.principals.insert(principal.clone());
            self.principals.entry(principal.clone()).or_default().calls += 1;
        }
    }
}

/// How many took about how long: each step is a tenth longer than the one before.
#[derive(Debug, Default)]
struct Durations(BTreeMap<u32, u64>);

impl Durations {
    fn add(&mut self, microseconds: u64) {
        *self.0.entry(((microseconds as f64 + 1.0).ln() * 10.0) as u32).or_default() += 1;
    }

    /// In milliseconds, to a twentieth.
    fn quantile(&self, part: f64) -> f64 {
        let all: u64 = self.0.values().sum();
        let wanted = (all as f64 * part).ceil() as u64;
        let mut seen = 0;
        for (step, count) in &self.0 {
            seen += count;
            if seen >= wanted.max(1) {
                let microseconds = ((f64::from(*step) + 0.5) / 10.0).exp() - 1.0;
                return (microseconds / 10.0).round() / 100.0;
            }
        }
        0.0
    }
}
