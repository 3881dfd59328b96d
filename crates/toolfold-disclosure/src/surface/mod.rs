//! Surfaces: which meta-tools a client is shown and what its requests ask for. One file each; what they share is here.
//!
//! What a reader would get wrong: every surface serves a call that names a real tool, listed or not. A list is an offer,
//! not a fence.

mod compact;
mod direct;
mod request;

use serde::Deserialize;
use serde_json::value::RawValue;
use serde_json::{Value, json};
use toolfold_catalog::{Catalog, Unresolved};
use toolfold_core::{Code, Entry, Kind, Refusal, Surface, words};
use toolfold_index::Index;
use toolfold_wire::{Object, Raw, raw};

use crate::level::Level;

/// What a request is answered from: one snapshot, and what the client has pinned of it.
#[derive(Debug, Clone, Copy)]
pub struct View<'a> {
    pub catalog: &'a Catalog,
    pub index: &'a Index,
    /// Positions of the tools that are listed beside the meta-tools, in their order.
    pub pins: &'a [usize],
    /// Tokens an answer may cost.
    pub budget: usize,
}

/// What a request asks for. Positions belong to the view's catalog.
#[derive(Debug, Clone)]
pub enum Action {
    Browse(Browse),
    Search(Search),
    Describe(Describe),
    Load(Load),
    Active,
    Call { entry: usize, arguments: Option<Raw> },
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

/// Tools a session wants in its own list, in the order asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Load {
    pub tools: Vec<usize>,
}

/// The `tools` of `tools/list`: the meta-tools, then the pinned tools as their servers define them.
pub fn tools(surface: Surface, view: &View<'_>) -> Vec<Raw> {
    match surface {
        Surface::Compact => compact::tools(view),
        Surface::Direct => direct::tools(view),
    }
}

/// What a client is told at the start, in at most 120 tokens. The servers are the configured ones: a client is told
/// before any of them has answered, and the same every time.
pub fn instructions(surface: Surface, servers: &[&str]) -> String {
    match surface {
        Surface::Compact => compact::instructions(servers),
        Surface::Direct => direct::instructions(),
    }
}

/// What a `tools/call` asks for.
pub fn route(surface: Surface, view: &View<'_>, name: &str, arguments: Option<&RawValue>) -> Action {
    match surface {
        Surface::Compact => compact::route(view, name, arguments),
        Surface::Direct => direct::route(view, name, arguments),
    }
}

/// The result of what needs no server: browse, search, describe. Anything else is for the gateway to do.
pub fn answer(surface: Surface, view: &View<'_>, action: &Action) -> Result<Raw, Refusal> {
    let text = match (surface, action) {
        (_, Action::Browse(browse)) => crate::answer::browse(view, browse)?,
        (_, Action::Search(search)) => crate::answer::search(view, search)?,
        (_, Action::Describe(describe)) => crate::answer::describe(view, describe)?,
        (_, Action::Refuse(refusal)) => return Err(refusal.clone()),
        (_, Action::Load(_) | Action::Active | Action::Call { .. }) => {
            return Err(Refusal::new(Code::InvalidRequest, "This request is not answered from the catalog."));
        }
    };
    Ok(text_result(&text))
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
    toolfold_wire::raw_of(&format!("{before}{}{after}", Value::from(exposed))).ok()
}

/// A call of a real tool, however it is spelled.
pub(crate) fn call(view: &View<'_>, name: &str, arguments: Option<Raw>) -> Action {
    match view.catalog.resolve(name) {
        Ok(entry) => Action::Call { entry, arguments },
        Err(unresolved) => Action::Refuse(not_found(name, unresolved)),
    }
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
