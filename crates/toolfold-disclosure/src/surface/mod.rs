//! Surfaces: which meta-tools a client is shown and what its requests ask for. One file each; what they share is here, in
//! `lookup` (names, paths and queries) and in `result`.
//!
//! What a reader would get wrong: every surface serves a call that names a real tool, listed or not. A list is an offer,
//! not a fence.

mod compact;
mod direct;
mod gateway;
mod hybrid;
mod levels;
mod lifecycle;
mod lookup;
mod next;
mod ontology;
mod places;
mod request;
mod result;
mod single;
mod two_phase;
mod xml;

use std::borrow::Cow;

use toolfold_catalog::Catalog;
use toolfold_core::{Code, Kind, Refusal, Surface, SurfaceSettings};
use toolfold_index::{Found, Index, Query};
use toolfold_wire::{Raw, raw_of};

use crate::level::Level;
use crate::tokens;
use lookup::{call_through, clipped, found, hundredths, limit, needed, node, tool};
use request::Arguments;
use result::json_result;

pub use lifecycle::{active, loaded};
pub(crate) use lookup::{call, not_found};
pub use next::fitted;
pub(crate) use result::text_result;
pub use result::{definition, refusal_result};

/// What a request is answered from: one snapshot, and what the client has of it.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    pub catalog: &'a Catalog,
    pub index: &'a Index,
    /// Positions of the tools that are listed beside the meta-tools, in their order.
    pub pins: &'a [usize],
    /// Positions of the tools that this client has loaded, in the order it did.
    pub loaded: &'a [usize],
    /// Whether the client has a session, and so can have loaded tools in its list.
    pub session: bool,
    pub settings: SurfaceSettings,
    /// Tokens an answer may cost.
    pub budget: usize,
}

impl<'a> View<'a> {
    /// The view of somebody who has nothing pinned or loaded, and no session.
    pub fn new(catalog: &'a Catalog, index: &'a Index, budget: usize) -> View<'a> {
        let settings = SurfaceSettings::default();
        View { catalog, index, pins: &[], loaded: &[], session: false, settings, budget }
    }

    /// What is found; nothing, where even the best is no answer.
    pub fn search(&self, query: Query<'_>) -> Found {
        self.index.search(self.catalog, &Query { answers_only: true, ..query })
    }

    /// Whether the client has the tool itself in its list.
    pub fn is_active(&self, position: usize) -> bool {
        self.pins.contains(&position) || self.loaded.contains(&position)
    }

    /// What is loaded and was not there anyway.
    fn newly_loaded(&self) -> Vec<usize> {
        self.loaded.iter().copied().filter(|position| !self.pins.contains(position)).collect()
    }
}

/// What a request asks for. Positions belong to the view's catalog.
#[derive(Debug, Clone)]
pub enum Action {
    Browse(Browse),
    Search(Search),
    Describe(Describe),
    /// The result itself: what the view alone could answer, in the surface's own shape.
    Answer(Raw),
    Load(Load),
    /// What is active: of this client, or of a set that was loaded without a session.
    Active {
        toolset: Option<String>,
    },
    Call {
        entry: usize,
        arguments: Option<Raw>,
    },
    Refuse(Refusal),
}

/// What is in a node; the empty path is the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Browse {
    pub path: Vec<String>,
    pub kind: Option<Kind>,
    pub limit: usize,
    pub offset: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    pub query: String,
    pub path: Vec<String>,
    pub kind: Option<Kind>,
    /// The most that is shown of a hit.
    pub detail: Level,
    pub limit: usize,
    pub offset: usize,
}

#[derive(Debug, Clone)]
pub struct Describe {
    pub tools: Vec<usize>,
    /// For each name that means no tool: why not.
    pub missing: Vec<Refusal>,
    pub parameter: Option<String>,
    pub detail: Level,
}

/// Tools a client wants to have at hand, in the order asked for.
#[derive(Debug, Clone)]
pub struct Load {
    pub tools: Vec<usize>,
    /// The set to add to, for a client without a session.
    pub toolset: Option<String>,
    /// What is answered, where that does not depend on how the loading goes: then it may fail unnoticed.
    pub answer: Option<Raw>,
}

/// What a meta-tool makes of its arguments. The name is the one it was called by: some tools have several.
type Meta = fn(&View<'_>, &str, Arguments) -> Result<Action, Refusal>;

const CALL_DEFINITION: &str = r#"{"name":"call_tool","description":"Call a tool by its name.","inputSchema":{"type":"object","properties":{"tool":{"type":"string"},"arguments":{"type":"object"}},"required":["tool"]},"_meta":{"anthropic/alwaysLoad":true}}"#;
const CALL: &str = "call_tool";
/// What a client is told at the start costs no more than this.
const MOST_TOKENS: usize = 120;

/// The `tools` of `tools/list`: the meta-tools, then pinned and loaded tools as their servers define them.
pub fn tools(surface: Surface, view: &View<'_>) -> Vec<Raw> {
    if surface == Surface::Direct {
        return direct::tools(view);
    }
    let own = definitions(surface, view).into_iter().filter_map(|text| raw_of(&text).ok());
    let listed = view.pins.iter().copied().chain(view.newly_loaded());
    own.chain(listed.map(|at| definition(view.catalog.entry(at), view.catalog.exposed(at)))).collect()
}

fn definitions(surface: Surface, view: &View<'_>) -> Vec<Cow<'static, str>> {
    let mut own: Vec<Cow<'static, str>> = match surface {
        Surface::Compact => compact::DEFINITIONS.map(Cow::from).into(),
        Surface::Hybrid => hybrid::DEFINITIONS.map(Cow::from).into(),
        Surface::TwoPhase => two_phase::DEFINITIONS.map(Cow::from).into(),
        Surface::Single => single::DEFINITIONS.map(Cow::from).into(),
        Surface::Lifecycle => lifecycle::definitions(view),
        Surface::Levels => levels::definitions(view),
        Surface::Ontology => ontology::DEFINITIONS.map(Cow::from).into(),
        Surface::Gateway => gateway::DEFINITIONS.map(Cow::from).into(),
        Surface::Direct => Vec::new(),
    };
    if loads(surface) && !view.session {
        own.push(CALL_DEFINITION.into());
    }
    own
}

/// Whether tools are loaded on this surface. Without a session that cannot change its list, so they need another way in.
fn loads(surface: Surface) -> bool {
    matches!(surface, Surface::TwoPhase | Surface::Lifecycle)
}

/// What a client is told at the start, in at most 120 tokens: the rules, and as many servers' names as there is room for.
/// The servers are the configured ones: a client is told before any of them has answered, and the same every time.
pub fn instructions(surface: Surface, servers: &[&str]) -> String {
    let mut text = rules(surface).to_owned();
    // Who sees every tool sees whose they are.
    let named = if surface == Surface::Direct { &[] } else { servers };
    for (place, name) in named.iter().enumerate() {
        let before = if place == 0 { "\nServers: " } else { ", " };
        let longer = format!("{text}{before}{name}");
        // Room for the mark that says there are more.
        if tokens::count(&longer) + 2 > MOST_TOKENS {
            return if place == 0 { text } else { format!("{text}, …") };
        }
        text = longer;
    }
    text
}

fn rules(surface: Surface) -> &'static str {
    match surface {
        Surface::Compact => compact::RULES,
        Surface::Hybrid => hybrid::RULES,
        Surface::TwoPhase => two_phase::RULES,
        Surface::Single => single::RULES,
        Surface::Lifecycle => lifecycle::RULES,
        Surface::Levels => levels::RULES,
        Surface::Ontology => ontology::RULES,
        Surface::Gateway => gateway::RULES,
        Surface::Direct => direct::RULES,
    }
}

/// What a `tools/call` asks for.
pub fn route(surface: Surface, view: &View<'_>, name: &str, arguments: Option<&Raw>) -> Action {
    let action = match meta(surface, view, name) {
        Some(meta) => {
            Arguments::read(arguments).and_then(|given| meta(view, name, given)).unwrap_or_else(Action::Refuse)
        }
        None => call(view, name, arguments.map(Raw::to_owned)),
    };
    match action {
        Action::Refuse(refusal) => Action::Refuse(fitted(surface, refusal)),
        action => action,
    }
}

fn meta(surface: Surface, view: &View<'_>, name: &str) -> Option<Meta> {
    let own = match surface {
        Surface::Compact => compact::meta(name),
        Surface::Hybrid => hybrid::meta(name),
        Surface::TwoPhase => two_phase::meta(name),
        Surface::Single => single::meta(name),
        Surface::Lifecycle => lifecycle::meta(name),
        Surface::Levels => levels::meta(view, name),
        Surface::Ontology => ontology::meta(name),
        Surface::Gateway => gateway::meta(name),
        Surface::Direct => None,
    };
    let through: Meta = |view, _, given| call_through(view, given, CALL, &["tool", "name"], "the search");
    own.or_else(|| (loads(surface) && name == CALL).then_some(through))
}

/// The result of what needs no server: browse, search, describe. Anything else is for the gateway to do.
pub fn answer(surface: Surface, view: &View<'_>, action: &Action) -> Result<Raw, Refusal> {
    let text = match action {
        Action::Browse(browse) => crate::answer::browse(view, browse),
        Action::Search(search) => crate::answer::search(view, search),
        Action::Describe(describe) => crate::answer::describe(view, describe),
        Action::Answer(result) => return Ok(result.clone()),
        Action::Refuse(refusal) => Err(refusal.clone()),
        Action::Load(_) | Action::Active { .. } | Action::Call { .. } => {
            Err(Refusal::new(Code::InvalidRequest, "This request is not answered from the catalog."))
        }
    };
    text.map(|text| text_result(&text)).map_err(|refusal| fitted(surface, refusal))
}
