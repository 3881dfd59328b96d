//! A rule of access as a person writes it: who, what, and whether. What all rules together come to is decided elsewhere.

use std::collections::BTreeMap;
use std::fmt;

use crate::entry::{Entry, Kind};
use crate::pattern::Pattern;

/// One `[[rules]]` of a configuration. A list that is empty asks for nothing; of one that is not, one item must fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AccessRule {
    /// Its place among the rules, from 1, and its line in the file where there is one.
    pub number: usize,
    pub line: Option<usize>,
    pub who: Vec<Pattern>,
    pub groups: Vec<Pattern>,
    pub scopes: Vec<String>,
    /// All of these must be said by the issuer.
    pub claims: BTreeMap<String, Pattern>,
    pub what: Vec<Pattern>,
    pub servers: Vec<Pattern>,
    /// Paths of nodes: what is in one of them or below.
    pub nodes: Vec<Vec<String>>,
    pub kinds: Vec<Kind>,
    pub risk: Vec<RiskClass>,
    pub effect: RuleEffect,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RuleEffect {
    /// It exists.
    See,
    /// It exists and may be called.
    Call,
    /// It does not exist, whatever else is said.
    Forbid,
}

/// What calling something may do, as its pinned definition says. What says nothing is taken for the worst, as the
/// protocol has it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RiskClass {
    Read,
    Write,
    Destructive,
}

impl RuleEffect {
    pub const ALL: [RuleEffect; 3] = [RuleEffect::See, RuleEffect::Call, RuleEffect::Forbid];

    pub fn as_str(self) -> &'static str {
        match self {
            RuleEffect::See => "see",
            RuleEffect::Call => "call",
            RuleEffect::Forbid => "forbid",
        }
    }
}

impl RiskClass {
    pub const ALL: [RiskClass; 3] = [RiskClass::Read, RiskClass::Write, RiskClass::Destructive];

    /// Of what is read and never called there is nothing to fear.
    pub fn of(entry: &Entry) -> RiskClass {
        match (entry.is_tool(), entry.hints.read_only, entry.hints.destructive) {
            (true, Some(true), _) => RiskClass::Read,
            (true, _, Some(false)) => RiskClass::Write,
            (true, ..) => RiskClass::Destructive,
            (false, ..) => RiskClass::Read,
        }
    }

    pub fn as_str(self) -> &'static str {
        match self {
            RiskClass::Read => "read",
            RiskClass::Write => "write",
            RiskClass::Destructive => "destructive",
        }
    }
}

/// `rule 3 (line 41)`.
impl fmt::Display for AccessRule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "rule {}", self.number)?;
        self.line.iter().try_for_each(|line| write!(f, " (line {line})"))
    }
}
