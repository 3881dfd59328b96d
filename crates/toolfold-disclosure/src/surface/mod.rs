//! Surfaces: which meta-tools a client is shown and what its requests ask for. One file each; what they share is here.
//!
//! What a reader would get wrong: every surface serves a call that names a real tool, listed or not. A list is an offer,
//! not a fence.

mod compact;
mod direct;
mod gateway;
mod hybrid;
mod levels;
mod lifecycle;
mod next;
mod ontology;
mod places;
mod request;
mod single;
mod two_phase;
mod xml;

use std::borrow::Cow;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolfold_catalog::{Catalog, Node, Unresolved};
use toolfold_core::{Code, Entry, Kind, Refusal, Surface, SurfaceSettings, words};
use toolfold_index::{Filter, Found, Index, Query};
use toolfold_wire::{Object, Raw, raw, raw_of};

use crate::level::Level;
use crate::tokens;
use request::Arguments;

pub use lifecycle::{active, loaded};
pub use next::fitted;

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

const DEFAULT_LIMIT: usize = 10;
const LARGEST_LIMIT: usize = 50;
const LONGEST_QUERY: usize = 400;

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
pub fn route(surface: Surface, view: &View<'_>, name: &str, arguments: Option<&RawValue>) -> Action {
    let action = match meta(surface, view, name) {
        Some(meta) => {
            Arguments::read(arguments).and_then(|given| meta(view, name, given)).unwrap_or_else(Action::Refuse)
        }
        None => call(view, name, arguments.map(RawValue::to_owned)),
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

/// A refusal as the result of a tool call.
pub fn refusal_result(refusal: &Refusal) -> Raw {
    let error = refusal.to_json();
    raw(&json!({
        "content": [{"type": "text", "text": error.to_string()}],
        "structuredContent": error,
        "isError": true,
    }))
}

pub(crate) fn text_result(text: &str) -> Raw {
    raw(&json!({"content": [{"type": "text", "text": text}]}))
}

/// JSON as the result of a tool call: as text for the model and, where it is an object, as such for programs.
fn json_result(answer: &impl Serialize) -> Raw {
    let answer = raw(answer);
    let mut result = Object::new().with("content", &json!([{"type": "text", "text": answer.get()}]));
    if answer.get().starts_with('{') {
        result.set_raw("structuredContent", answer);
    }
    result.to_raw()
}

/// A definition as it came, under the name this client knows it by: nothing but that name is touched.
pub fn definition(entry: &Entry, exposed: &str) -> Raw {
    if entry.name() == exposed {
        return raw(&*entry.definition);
    }
    renamed(entry.definition.get(), exposed).unwrap_or_else(|| {
        // The name is there twice, say: then members are kept, though not the space between them.
        let mut object = Object::parse(&entry.definition).unwrap_or_default();
        object.set("name", exposed);
        object.to_raw()
    })
}

#[derive(Deserialize)]
struct Named<'a> {
    #[serde(borrow)]
    name: &'a RawValue,
}

fn renamed(text: &str, exposed: &str) -> Option<Raw> {
    let name = serde_json::from_str::<Named<'_>>(text).ok()?.name.get();
    // The name borrows from the text, so the distance of the two is its place in it.
    let start = (name.as_ptr() as usize).checked_sub(text.as_ptr() as usize)?;
    let (before, after) = (text.get(..start)?, text.get(start + name.len()..)?);
    raw_of(&format!("{before}{}{after}", Value::from(exposed))).ok()
}

/// A call of a real tool, however it is spelled.
pub(crate) fn call(view: &View<'_>, name: &str, arguments: Option<Raw>) -> Action {
    match view.catalog.resolve(name) {
        Ok(entry) => Action::Call { entry, arguments },
        Err(unresolved) => Action::Refuse(not_found(name, unresolved)),
    }
}

/// A call through a meta-tool: the tool's name is under one of `keys`, its arguments beside it.
fn call_through(
    view: &View<'_>,
    mut given: Arguments,
    own: &str,
    keys: &[&str],
    finder: &str,
) -> Result<Action, Refusal> {
    let key = keys.iter().find(|key| given.has(key)).unwrap_or(&keys[0]);
    let name = given.text(key)?.ok_or_else(|| {
        let message = format!("{own} needs `{}`: the name of a tool, as {finder} shows it.", keys[0]);
        Refusal::new(Code::InvalidRequest, message).next("find_tools", json!({}))
    })?;
    let inner = given.take_inner(key);
    Ok(call(view, &name, inner))
}

/// The text under one of these keys, which a meta-tool cannot do without.
fn needed(given: &Arguments, own: &str, keys: &[&str]) -> Result<String, Refusal> {
    let key = keys.iter().find(|key| given.has(key)).unwrap_or(&keys[0]);
    given.text(key)?.ok_or_else(|| {
        let message = format!("{own} needs `{}`, a string.", keys[0]);
        Refusal::new(Code::InvalidRequest, message).next("find_tools", json!({}))
    })
}

fn limit(given: &Arguments) -> Result<usize, Refusal> {
    Ok(given.number("limit")?.unwrap_or(DEFAULT_LIMIT).clamp(1, LARGEST_LIMIT))
}

/// A query is a phrase; what goes on for a page is not made better by its end.
fn clipped(query: &str) -> String {
    query.chars().take(LONGEST_QUERY).collect()
}

fn hundredths(confidence: f32) -> f64 {
    (f64::from(confidence) * 100.0).round() / 100.0
}

/// The node at a path; where there is none, a refusal that names the nearest.
fn node<'a>(view: &View<'a>, asked: &[String]) -> Result<&'a Node, Refusal> {
    view.catalog.node(asked).map_err(|nearest| {
        let shown: String = asked.join("/").chars().take(200).collect();
        let refusal = Refusal::new(Code::UnknownPath, format!("There is no node {shown:?}."));
        let refusal = if nearest.is_empty() { refusal } else { refusal.hint(nearest.join("/")) };
        refusal.next("find_tools", json!({"path": nearest}))
    })
}

/// The best tools for a query in a node; a refusal where the node has none.
fn found(view: &View<'_>, query: &str, path: &[String], limit: usize) -> Result<Found, Refusal> {
    let (node, query) = (node(view, path)?, clipped(query));
    let within = (!path.is_empty()).then_some(node.entries.as_slice());
    let filter = Filter { within, kind: Some(Kind::Tool), ..Filter::default() };
    let found = view.index.search(view.catalog, &Query { text: &query, filter, limit, offset: 0, ..Query::default() });
    if found.hits.is_empty() && !path.is_empty() {
        let path = node.path.clone();
        let search = Search { query, path, kind: Some(Kind::Tool), detail: Level::Summary, limit, offset: 0 };
        return Err(crate::answer::not_in_node(view, &search, node));
    }
    Ok(found)
}

/// The tool that a name means. Agents and skills are read elsewhere.
fn tool(view: &View<'_>, name: &str) -> Result<usize, Refusal> {
    let position = view.catalog.resolve(name).map_err(|unresolved| not_found(name, unresolved))?;
    let entry = view.catalog.entry(position);
    if entry.is_tool() {
        return Ok(position);
    }
    Err(Refusal::new(
        Code::InvalidRequest,
        format!("{} is not a tool but of the kind {}.", entry.id, entry.kind.as_str()),
    ))
}

pub(crate) fn not_found(name: &str, unresolved: Unresolved) -> Refusal {
    let shown: String = name.chars().take(100).collect();
    let (message, hints) = match unresolved {
        Unresolved::Ambiguous { candidates } => {
            (format!("Several servers have a tool called {shown:?}: use one of the full ids in the hints."), candidates)
        }
        Unresolved::Unknown { nearest } if nearest.is_empty() => {
            (format!("There is no tool called {shown:?}. Search for what it should do."), nearest)
        }
        Unresolved::Unknown { nearest } => (
            format!("There is no tool called {shown:?}. Use one of the hints, or search for what it should do."),
            nearest,
        ),
    };
    let query = words::split(&shown).join(" ");
    let arguments = if query.is_empty() { json!({}) } else { json!({"query": query}) };
    Refusal::new(Code::ToolNotFound, message).hints(hints).next("find_tools", arguments)
}
