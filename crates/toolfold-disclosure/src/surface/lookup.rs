//! What surfaces share when they read a request and answer it: names to tools, paths to nodes, queries to hits. Where
//! there is none, a refusal with a wish for the next step; `next` fits that to the surface that was asked.

use serde_json::json;
use toolfold_catalog::{Node, Unresolved};
use toolfold_core::{Code, Kind, Next, Refusal, words};
use toolfold_index::{Filter, Found, Query};
use toolfold_wire::Raw;

use super::request::Arguments;
use super::table::{Asking, Calling};
use super::{Action, Search, Unknown, View};
use crate::answer::unknown_path;

pub(super) const DEFAULT_LIMIT: usize = 10;
pub(super) const LARGEST_LIMIT: usize = 50;
/// Characters of a name that are repeated to whoever said it.
const SHOWN: usize = 100;
/// Names of one request that others are suggested for.
const MOST_SUGGESTED: usize = 10;

/// A call of a real tool, however it is spelled.
pub(crate) fn call(view: &View<'_>, name: &str, arguments: Option<Raw>) -> Action {
    match view.resolve(name) {
        Ok(entry) => Action::Call { entry, arguments, fields: Vec::new() },
        Err(_) if view.reader_called(name).is_some() => Action::Read(arguments),
        Err(_) => Action::Unknown(Unknown { names: vec![spelling(name)], loading: false }),
    }
}

/// A call through a meta-tool: the tool's name is under one of `keys`, its arguments beside it. A name that the surface
/// has for a meta-tool is that one's, and never a tool's that a server calls the same.
pub(super) fn call_through(asking: &Asking<'_, '_>, given: Arguments, calling: &Calling) -> Result<Action, Refusal> {
    let Named { name, arguments, fields } = named(asking.view, given, calling.name, calling.keys, calling.finder)?;
    let mut action = through(asking, calling.name, &name, arguments)?;
    if let Action::Call { fields: wanted, .. } = &mut action {
        *wanted = fields;
    }
    Ok(action)
}

/// The tool that a meta-tool is to call.
pub(super) struct Named {
    pub(super) name: String,
    pub(super) arguments: Option<Raw>,
    pub(super) fields: Vec<String>,
}

pub(super) fn named(
    view: &View<'_>,
    mut given: Arguments,
    own: &str,
    keys: &[&str],
    finder: &str,
) -> Result<Named, Refusal> {
    let key = keys.iter().find(|key| given.has(key)).unwrap_or(&keys[0]);
    let name = given.text(key)?.ok_or_else(|| {
        let message = format!("{own} needs `{}`: the name of a tool, as {finder} shows it.", keys[0]);
        Refusal::new(Code::InvalidRequest, message).next(Next::Overview)
    })?;
    let fields = fields(view, &mut given, &name)?;
    Ok(Named { arguments: given.take_inner(key), name, fields })
}

/// The fields of a result that are wanted, where `fields` is ours: arguments may stand beside a tool's name, and the tool may
/// have a parameter of that name.
fn fields(view: &View<'_>, given: &mut Arguments, tool: &str) -> Result<Vec<String>, Refusal> {
    if !given.has("fields") {
        return Ok(Vec::new());
    }
    let has_parameter = |at: usize| view.entry(at).definition.get().contains("\"fields\"");
    if !given.has("arguments") && view.resolve(tool).is_ok_and(has_parameter) {
        return Ok(Vec::new());
    }
    let fields = given.texts("fields")?;
    given.take("fields");
    Ok(fields)
}

/// As [`call_through`], where name and arguments have been read.
pub(super) fn through(
    asking: &Asking<'_, '_>,
    own: &'static str,
    name: &str,
    inner: Option<Raw>,
) -> Result<Action, Refusal> {
    if name == own {
        let message = format!("{own} cannot call itself: name the tool to be called.");
        return Err(Refusal::new(Code::InvalidRequest, message).next(Next::Overview));
    }
    if asking.knows(name) {
        let given = Arguments::read(inner.as_ref())?;
        return asking.ask(name, given).unwrap_or_else(|| Ok(call(asking.view, name, inner)));
    }
    Ok(call(asking.view, name, inner))
}

/// The text under one of these keys, which a meta-tool cannot do without.
pub(super) fn needed(given: &Arguments, own: &str, keys: &[&str]) -> Result<String, Refusal> {
    let key = keys.iter().find(|key| given.has(key)).unwrap_or(&keys[0]);
    given.text(key)?.ok_or_else(|| {
        let message = format!("{own} needs `{}`, a string.", keys[0]);
        Refusal::new(Code::InvalidRequest, message).next(Next::Overview)
    })
}

/// The name of a tool, which a meta-tool cannot do without.
pub(super) fn needed_name(given: &Arguments, own: &str, keys: &[&str]) -> Result<String, Refusal> {
    needed(given, own, keys).map(|name| spelling(&name))
}

/// A name that is too long to be one is kept as such, and no longer.
pub(super) fn spelling(name: &str) -> String {
    let longest = toolfold_catalog::LONGEST_SPELLING;
    let end = name.char_indices().map(|(at, _)| at).find(|at| *at > longest).unwrap_or(name.len());
    name[..end].to_owned()
}

pub(super) fn limit(given: &Arguments) -> Result<usize, Refusal> {
    Ok(given.number("limit")?.unwrap_or(DEFAULT_LIMIT).clamp(1, LARGEST_LIMIT))
}

pub(super) fn hundredths(confidence: f32) -> f64 {
    (f64::from(confidence) * 100.0).round() / 100.0
}

/// The path of the node that is asked for. Where there is none it stays as it was asked: its server may be about to come, and
/// whoever answers refuses it then.
pub(crate) fn path_of(view: &View<'_>, asked: Vec<String>) -> Vec<String> {
    view.node(&asked).map_or(asked, |node| node.path.clone())
}

/// The node at a path; where there is none, a refusal that names the nearest.
pub(crate) fn node<'a>(view: &View<'a>, asked: &[String]) -> Result<&'a Node, Refusal> {
    view.node(asked).map_err(|nearest| match view.absent_at(asked) {
        Some(absent) => absent.refusal(),
        None => unknown_path(view, asked, nearest),
    })
}

/// The best tools for a query in a node; a refusal where the node has none.
pub(super) fn found(view: &View<'_>, search: &Search) -> Result<Found, Refusal> {
    let node = node(view, &search.path)?;
    let within = (!search.path.is_empty()).then_some(node.entries.as_slice());
    let filter = Filter { within, kind: Some(Kind::Tool), ..Filter::default() };
    let (text, limit) = (search.query.as_str(), search.limit);
    let found = view.search(Query { text, filter, limit, offset: 0, ..Query::default() });
    if found.hits.is_empty() && !search.path.is_empty() {
        return Err(crate::answer::not_in_node(view, search, node));
    }
    Ok(found)
}

/// The tool that a name means. Agents and skills are read elsewhere.
pub(crate) fn tool(view: &View<'_>, name: &str) -> Result<usize, Refusal> {
    let position = view.resolve(name).map_err(|unresolved| not_found(view, name, unresolved))?;
    let entry = view.entry(position);
    if entry.is_tool() {
        return Ok(position);
    }
    Err(Refusal::new(
        Code::InvalidRequest,
        format!("{} is not a tool but of the kind {}.", entry.id, entry.kind.as_str()),
    ))
}

/// Why a name means no tool: it is held back, its server is not there, several have it, or nobody.
pub(crate) fn not_found(view: &View<'_>, name: &str, unresolved: Unresolved) -> Refusal {
    if unresolved == Unresolved::Unknown
        && let Some(refusal) = view.withheld(name)
    {
        return refusal;
    }
    if let Some(absent) = view.absent_of(name) {
        return absent.refusal();
    }
    let shown: String = name.chars().take(SHOWN).collect();
    let (message, hints) = match unresolved {
        Unresolved::Ambiguous { candidates } => {
            (format!("Several servers have a tool called {shown:?}: use one of the full ids in the hints."), candidates)
        }
        Unresolved::Unknown => {
            let nearest = view.nearest(name);
            let use_hint = if nearest.is_empty() { "Search" } else { "Use one of the hints, or search" };
            (format!("There is no tool called {shown:?}. {use_hint} for what it should do."), nearest)
        }
    };
    Refusal::new(Code::ToolNotFound, message).hints(hints).next(search_for(&shown))
}

fn search_for(name: &str) -> Next {
    let query = words::split(name).join(" ");
    if query.is_empty() { Next::Overview } else { Next::Search { query } }
}

/// The refusal of what nobody has.
pub(super) fn nobody(view: &View<'_>, unknown: &Unknown) -> Refusal {
    let suggested = unknown.names.iter().take(MOST_SUGGESTED);
    let mut refusals: Vec<Refusal> = suggested.filter_map(|name| tool(view, name).err()).collect();
    // Of several that are not there, the one that is held back is what somebody can do something about.
    let held = unknown.names.iter().find_map(|name| view.withheld(name));
    if let Some(held) = held {
        refusals = vec![held];
    } else if unknown.names.len() > 1 {
        return several_unknown(unknown, &refusals);
    }
    let Some(mut refusal) = refusals.pop() else {
        return Refusal::new(Code::ToolNotFound, "There is no such tool.").next(Next::Overview);
    };
    if unknown.loading {
        refusal.message = format!("{} Nothing was loaded.", refusal.message);
    }
    refusal
}

fn several_unknown(unknown: &Unknown, refusals: &[Refusal]) -> Refusal {
    let shorten = |name: &String| name.chars().take(SHOWN).collect::<String>();
    let names: Vec<String> = unknown.names.iter().map(shorten).collect();
    let message = format!("Nothing was loaded: there are no tools called {}.", names.join(", "));
    let hints = refusals.iter().flat_map(|refusal| refusal.hints.iter().take(2).cloned());
    Refusal::new(Code::ToolNotFound, message)
        .hints(hints)
        .next(search_for(&names[0]))
        .details(json!({"unknown": names}))
}
