//! What is held, as people and programs see it, and what they decide.

use serde::Serialize;
use toolfold_core::{Code, Principal, Refusal, ServerName, shown_line};
use toolfold_scan::{Context, Finding, differences, render};
use toolfold_store::StoreError;
use toolfold_trust::{Offer, Why};
use toolfold_wire::Raw;

use super::docket::report;

/// Bytes of a difference that are shown.
const LONGEST_DIFF: usize = 256 * 1024;
/// Characters of a fingerprint that are enough to mean it.
const SHORTEST_PRINT: usize = 8;

/// One entry that is held.
#[derive(Debug)]
pub(crate) struct Held {
    pub(crate) id: String,
    pub(crate) server: ServerName,
    pub(crate) offer: Offer,
    pub(crate) why: Why,
    /// What serves meanwhile, or was accepted.
    old: Option<Raw>,
    /// Whether that serves meanwhile.
    pub(super) serves: bool,
}

/// What is held, for whoever is to decide.
#[derive(Debug, Clone, Serialize)]
pub struct HeldList {
    /// How many there are, of which these are a part.
    pub total: usize,
    pub held: Vec<HeldEntry>,
    /// Ids of entries that serve, and in which something is worth a look.
    pub review: Vec<String>,
}

/// Texts are as they are shown: with every character visible.
#[derive(Debug, Clone, Serialize)]
pub struct HeldEntry {
    pub id: String,
    pub kind: &'static str,
    pub server: ServerName,
    pub name: String,
    pub why: String,
    /// Somebody has refused it as it is.
    pub denied: bool,
    /// Whether what was accepted serves meanwhile; otherwise nothing does.
    pub serves_old: bool,
    /// Of what would be approved.
    pub fingerprint: String,
    pub diff: String,
    /// Bytes at the end of the difference that are not shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub diff_cut: Option<usize>,
    pub findings: Vec<Finding>,
}

/// What somebody decided.
#[derive(Debug, Clone)]
pub struct Decision {
    /// As [`HeldEntry::id`], each with `@` and the beginning of a fingerprint where nothing else is meant.
    pub ids: Vec<String>,
    /// All of these servers.
    pub servers: Vec<String>,
    /// All there are, but for those that were refused.
    pub all: bool,
    pub deny: bool,
    pub by: Principal,
}

/// What came of it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Decided {
    pub ids: Vec<String>,
    /// What was named and is not held.
    pub unknown: Vec<String>,
}

/// Why nothing could be decided.
#[derive(Debug, thiserror::Error)]
pub enum Undecided {
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error("the record of what was accepted cannot be used, because the store could not be opened")]
    NoRecord,
    #[error("the record of what was accepted did not answer in time; what was decided may be in it all the same")]
    Late,
    #[error("the gateway is being stopped")]
    Stopped,
}

impl Held {
    pub(super) fn new(server: ServerName, offer: Offer, why: Why, old: Option<Raw>, serves: bool) -> Held {
        let id = shown_line(&offer.what.id(&server, &offer.name)).into_owned();
        Held { id, server, offer, why, old, serves }
    }

    /// As it is told to who does not see everything, like anything else that is new: what was found in it may be how much it
    /// is like something they do not see.
    pub(crate) fn without_reason(&self) -> Held {
        let Held { id, server, offer, why, old, serves } = self;
        let why = match why {
            Why::Found(_) => Why::New,
            other => other.clone(),
        };
        let (id, server, offer, old) = (id.clone(), server.clone(), offer.clone(), old.clone());
        Held { id, server, offer, why, old, serves: *serves }
    }

    pub(crate) fn is_denied(&self) -> bool {
        self.why == Why::Denied
    }

    /// For whoever wanted it. Nothing of what it says is repeated: that is what it is held for.
    pub(crate) fn refusal(&self) -> Refusal {
        let why = match &self.why {
            Why::Changed => "its definition is not the one that was accepted",
            Why::LessRisk => "it declares less risk than it did before",
            Why::New => "it is new, and nobody has approved it yet",
            Why::Found(_) => "it is new, and something in its definition has to be looked at first",
            Why::Lost(_) => "the record of what was accepted is lost",
            Why::TooMany => "its server has had too many entries",
            Why::Denied => "somebody has refused it",
        };
        Refusal::new(
            Code::Quarantined,
            format!("{} is held back: {why}. Do without it, or ask whoever runs Toolfold.", self.id),
        )
        .hint("Whoever runs Toolfold sees it with `toolfold approve`, and approves or refuses it there.")
    }

    /// Whether a decision is about this.
    pub(crate) fn is_meant(&self, decision: &Decision) -> bool {
        let listed = decision.all || decision.servers.iter().any(|server| server == self.server.as_str());
        (listed && !self.is_denied()) || decision.ids.iter().any(|id| self.is_called(id))
    }

    /// Whether this is its id, or its id and fingerprint.
    pub(crate) fn is_called(&self, id: &str) -> bool {
        let with_print = || {
            let (id, print) = id.rsplit_once('@')?;
            let is_it = || self.offer.fingerprint.to_string().starts_with(&print.to_ascii_lowercase());
            Some(id == self.id && print.len() >= SHORTEST_PRINT && is_it())
        };
        id == self.id || with_print().unwrap_or(false)
    }

    pub(crate) fn shown(&self, context: &Context) -> HeldEntry {
        let before = self.old.clone().unwrap_or_else(Raw::null);
        let mut diff = render(&differences(&before, &self.offer.definition));
        let whole = diff.len();
        let mut end = whole.min(LONGEST_DIFF);
        while !diff.is_char_boundary(end) {
            end -= 1;
        }
        diff.truncate(end);
        HeldEntry {
            id: self.id.clone(),
            kind: self.offer.what.as_str(),
            server: self.server.clone(),
            name: toolfold_scan::visible(&self.offer.name),
            why: shown_line(&self.why.to_string()).into_owned(),
            denied: self.is_denied(),
            serves_old: self.serves,
            fingerprint: self.offer.fingerprint.to_string(),
            diff,
            diff_cut: (whole > end).then_some(whole - end),
            findings: report(self.server.as_str(), &self.offer, context).findings,
        }
    }
}
