//! What is counted, by whoever has the catalog: the running instance, or a gateway for this one command.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolfold_core::{Principal, Surface};
use toolfold_disclosure::level::summary;
use toolfold_disclosure::{Action, View, answered, route, tokens};
use toolfold_gateway::{Client, Gateway};
use toolfold_wire::{Raw, raw};

use super::super::cost;

/// Searches that are made to see what one costs.
const SAMPLES: usize = 60;

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Bill {
    pub(crate) surface: String,
    pub(crate) servers: Vec<Part>,
    /// Tools that Toolfold shows in place of them, and what they cost.
    pub(crate) shown: (usize, usize),
    /// What a client may tell its model beside the tools.
    pub(crate) instructions: usize,
    pub(crate) search: Option<Search>,
    /// Servers that nothing is known of, and why.
    pub(crate) missing: Vec<(String, String)>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Part {
    pub(crate) server: String,
    /// The dearest first.
    pub(crate) tools: Vec<(String, usize)>,
}

/// Searches for the catalog's own tools in the words of their descriptions: request and answer together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Search {
    pub(crate) samples: usize,
    pub(crate) low: usize,
    pub(crate) median: usize,
    pub(crate) high: usize,
}

impl Part {
    pub(crate) fn tokens(&self) -> usize {
        self.tools.iter().map(|(_, tokens)| tokens).sum()
    }
}

impl Bill {
    pub(crate) async fn of(gateway: &Gateway) -> Bill {
        let surface = gateway.config().surface;
        let client = Client::inside(Principal::local(), surface);
        let status = gateway.status().await;
        let list: Value = serde_json::from_str(gateway.tool_list(&client).await.get()).unwrap_or_default();
        let shown: Vec<usize> =
            list["tools"].as_array().into_iter().flatten().map(|tool| cost::of_tool(&raw(tool))).collect();
        let scope = gateway.latest(&client);
        let view = scope.view();
        let mut servers: Vec<Part> =
            view.servers().map(|name| part(&view, name)).filter(|part| !part.tools.is_empty()).collect();
        servers.sort_by_key(|part| std::cmp::Reverse(part.tokens()));
        let is_listed = |name: &str| servers.iter().any(|part| part.server == name);
        let missing = status.into_iter().filter(|server| server.tools == 0 && !is_listed(server.name.as_str()));
        let why = |why: Option<String>, state: &str| why.unwrap_or_else(|| state.to_owned());
        let missing = missing.map(|server| (server.name.to_string(), why(server.why, server.state))).collect();
        Bill {
            surface: surface.to_string(),
            shown: (shown.len(), shown.iter().sum()),
            instructions: tokens::count(&gateway.instructions(surface)),
            search: if surface == Surface::Direct { None } else { Search::measure(&view) },
            servers,
            missing,
        }
    }

    /// How many tools there are, and what all of them cost.
    pub(crate) fn direct(&self) -> (usize, usize) {
        (self.servers.iter().map(|part| part.tools.len()).sum(), self.servers.iter().map(Part::tokens).sum())
    }

    pub(crate) fn through(&self) -> usize {
        self.shown.1 + self.instructions
    }

    /// After how many searches in one conversation the tools themselves would have cost less.
    pub(crate) fn pays_for(&self) -> Option<usize> {
        let search = self.search?.median.max(1);
        Some(self.direct().1.saturating_sub(self.through()) / search)
    }
}

fn part(view: &View<'_>, name: &toolfold_core::ServerName) -> Part {
    let entries = view.of_server(name).map(|place| view.entry(place)).filter(|entry| entry.is_tool());
    let mut tools: Vec<(String, usize)> =
        entries.map(|entry| (entry.id.to_string(), cost::of_tool(&entry.definition))).collect();
    tools.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    Part { server: name.to_string(), tools }
}

impl Search {
    /// Tools from all over the catalog, as far from each other as can be: a sample without chance.
    fn measure(view: &View<'_>) -> Option<Search> {
        let all: Vec<usize> = view.tools().collect();
        let step = all.len().div_ceil(SAMPLES).max(1);
        let mut costs: Vec<usize> =
            all.iter().step_by(step).filter_map(|place| one(view, &summary(view.entry(*place)))).collect();
        costs.sort_unstable();
        let at = |share: f64| costs.get(((costs.len().saturating_sub(1)) as f64 * share).round() as usize).copied();
        Some(Search { samples: costs.len(), low: at(0.05)?, median: at(0.5)?, high: at(0.95)? })
    }
}

/// The question and the answer, as they stand in a conversation.
fn one(view: &View<'_>, query: &str) -> Option<usize> {
    let arguments: Raw = raw(&json!({ "query": query }));
    let Action::Search(search, _) = route(Surface::Compact, view, "find_tools", Some(&arguments)) else { return None };
    let answer = answered(view, &search).ok()?;
    Some(tokens::count(arguments.get()) + tokens::count(&answer.text))
}
