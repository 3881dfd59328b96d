//! What is counted, by whoever has the catalog: the running instance, or a gateway for this one command.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolfold_core::{Entry, Principal, Surface};
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
    pub(crate) search: Option<SearchCost>,
    /// Servers that nothing is known of, and why.
    pub(crate) missing: Vec<(String, String)>,
}

#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Part {
    pub(crate) server: String,
    /// The dearest first.
    pub(crate) tools: Vec<(String, usize)>,
}

/// Searches for the catalog's own tools, question and answer together: the mean, and where nine of ten are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct SearchCost {
    pub(crate) samples: usize,
    pub(crate) low: usize,
    pub(crate) mean: usize,
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
            instructions: tokens::count(&gateway.instructions(surface, &client.principal())),
            search: if surface == Surface::Direct { None } else { SearchCost::measure(&view) },
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

    /// For how many searches in one conversation it costs less than the tools themselves: where all are as dear as the
    /// dearest, and where they are as they usually are.
    pub(crate) fn pays_for(&self) -> Option<(usize, usize)> {
        let search = self.search?;
        let saved = self.direct().1.saturating_sub(self.through());
        Some((saved / search.high.max(1), saved / search.mean.max(1)))
    }
}

fn part(view: &View<'_>, name: &toolfold_core::ServerName) -> Part {
    let entries = view.of_server(name).map(|place| view.entry(place)).filter(|entry| entry.is_tool());
    let mut tools: Vec<(String, usize)> =
        entries.map(|entry| (entry.id.to_string(), cost::of_tool(&entry.definition))).collect();
    tools.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
    Part { server: name.to_string(), tools }
}

impl SearchCost {
    /// Tools from all over the catalog, as far from each other as can be: a sample without chance.
    fn measure(view: &View<'_>) -> Option<SearchCost> {
        let all: Vec<usize> = view.tools().collect();
        let step = all.len().div_ceil(SAMPLES).max(1);
        let sample = all.iter().step_by(step).map(|place| question(view.entry(*place)));
        let mut costs: Vec<usize> = sample.filter_map(|question| one(view, &question)).collect();
        costs.sort_unstable();
        let at = |share: f64| costs.get(((costs.len().saturating_sub(1)) as f64 * share).round() as usize).copied();
        let mean = costs.iter().sum::<usize>().div_ceil(costs.len().max(1));
        Some(SearchCost { samples: costs.len(), low: at(0.05)?, mean, high: at(0.95)? })
    }
}

/// As somebody asks who knows what it is about and not what the tool is called: two words of what is said of it, after the
/// verb that most descriptions begin with. Whole sentences of the description would be found at once, and their answers
/// be half as long as those to questions that people and models really ask.
fn question(entry: &Entry) -> String {
    let summary = summary(entry);
    let words: Vec<&str> =
        summary.split(|c: char| !c.is_alphanumeric()).filter(|word| word.chars().count() > 3).collect();
    match words.get(1..words.len().min(3)) {
        Some(about) if !about.is_empty() => about.join(" "),
        _ => entry.name().replace(['_', '-', '.'], " "),
    }
}

/// The question and the answer, as they stand in a conversation.
fn one(view: &View<'_>, query: &str) -> Option<usize> {
    let arguments: Raw = raw(&json!({ "query": query }));
    let Action::Search(search, _) = route(Surface::Compact, view, "find_tools", Some(&arguments)) else { return None };
    let answer = answered(view, &search).ok()?;
    Some(tokens::count(arguments.get()) + tokens::count(&answer.text))
}
