//! `gateway`: nine tools for a client that filters, pages and keeps what it was told. Members are in camel case here, as
//! such clients expect them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use toolfold_catalog::Node;
use toolfold_core::{Code, Entry, Kind, Refusal, ServerName, words};
use toolfold_index::{Filter, OTHER, Query};

use super::next::Wish;
use super::request::Arguments;
use super::{Action, Meta, View, call_through, json_result, needed, node, tool};
use crate::level::{compact_schema, example, micro_schema, short_description};
use crate::tokens;

const SEARCH: &str = "gateway_search_tools";
const SCHEMA: &str = "gateway_get_tool_schema";
const SCHEMAS: &str = "gateway_get_tool_schemas";
const BACKEND: &str = "gateway_get_tools_by_backend";
const CALL: &str = "gateway_call_tool";

pub(super) const DEFINITIONS: [&str; 9] = [
    r#"{"name":"gateway_search_tools","description":"Search and filter tools.","inputSchema":{"type":"object","properties":{"query":{"type":"string"},"backend":{"type":"string"},"prefix":{"type":"string"},"category":{"type":"string"},"detailLevel":{"type":"string","enum":["name_only","name_description","micro_schema","compact_schema","full_schema"]},"includeExamples":{"type":"boolean"},"limit":{"type":"integer"},"offset":{"type":"integer"}}},"_meta":{"anthropic/alwaysLoad":true}}"#,
    r#"{"name":"gateway_get_tool_schema","description":"Get one tool's schema.","inputSchema":{"type":"object","properties":{"toolName":{"type":"string"},"mode":{"type":"string","enum":["full","compact","micro"]}},"required":["toolName"]},"_meta":{"anthropic/alwaysLoad":true}}"#,
    r#"{"name":"gateway_get_tool_schemas","description":"Get several tools' schemas.","inputSchema":{"type":"object","properties":{"toolNames":{"type":"array","items":{"type":"string"}},"mode":{"type":"string","enum":["full","compact","micro"]}},"required":["toolNames"]},"_meta":{"anthropic/alwaysLoad":true}}"#,
    r#"{"name":"gateway_get_tool_categories","description":"Categories with their tools.","inputSchema":{"type":"object"},"_meta":{"anthropic/alwaysLoad":true}}"#,
    r#"{"name":"gateway_get_tool_tree","description":"All tools as a tree of servers.","inputSchema":{"type":"object"},"_meta":{"anthropic/alwaysLoad":true}}"#,
    r#"{"name":"gateway_get_tool_stats","description":"Tools per server.","inputSchema":{"type":"object"},"_meta":{"anthropic/alwaysLoad":true}}"#,
    r#"{"name":"gateway_list_tool_names","description":"All tool names.","inputSchema":{"type":"object"},"_meta":{"anthropic/alwaysLoad":true}}"#,
    r#"{"name":"gateway_get_tools_by_backend","description":"One server's tools.","inputSchema":{"type":"object","properties":{"backend":{"type":"string"}},"required":["backend"]},"_meta":{"anthropic/alwaysLoad":true}}"#,
    r#"{"name":"gateway_call_tool","description":"Call a tool.","inputSchema":{"type":"object","properties":{"toolName":{"type":"string"},"arguments":{"type":"object"}},"required":["toolName"]},"_meta":{"anthropic/alwaysLoad":true}}"#,
];

pub(super) const RULES: &str = "Tools are behind gateway_search_tools. Do not assume that a tool exists: search first, by \
    query, backend or category; when unsure, look at gateway_get_tool_categories. Never call a tool without its schema: \
    gateway_get_tool_schema, with mode \"micro\" to save tokens. Then gateway_call_tool. When refused, follow the hints \
    and next_action.";

/// The categories that clients of this kind know, where a node answers to their name.
const CATEGORIES: [&str; 8] = ["database", "filesystem", "api", "ai", "search", "transform", "auth", "messaging"];
/// What a tool is in that is in none.
const NONE: &str = "other";

const USUAL_LIMIT: usize = 50;
const LARGEST_LIMIT: usize = 200;
const MOST_NAMES: usize = 100;

pub(super) fn meta(name: &str) -> Option<Meta> {
    match name {
        SEARCH => Some(|view, _, given| search(view, &given)),
        SCHEMA => Some(|view, _, given| schema(view, &given)),
        SCHEMAS => Some(|view, _, given| schemas(view, &given)),
        "gateway_get_tool_categories" => Some(|view, _, _| Ok(categories(view))),
        "gateway_get_tool_tree" => Some(|view, _, _| Ok(tree(view))),
        "gateway_get_tool_stats" => Some(|view, _, _| Ok(stats(view))),
        "gateway_list_tool_names" => Some(|view, _, _| Ok(shown(&names(view, &all(view))))),
        BACKEND => Some(|view, _, given| by_backend(view, &given)),
        CALL => Some(|view, _, given| call_through(view, given, CALL, &["toolName", "name", "tool"], SEARCH)),
        _ => None,
    }
}

pub(super) fn next(wish: &Wish) -> (&'static str, Value) {
    match wish {
        Wish::Anything => (SEARCH, json!({})),
        Wish::Query(query) => (SEARCH, json!({"query": query})),
        Wish::Path(path) => (SEARCH, json!({"category": path.join("/")})),
        Wish::Tool(name) => (SCHEMA, json!({"toolName": name})),
    }
}

fn shown(answer: &impl serde::Serialize) -> Action {
    Action::Answer(json_result(answer))
}

fn all(view: &View<'_>) -> Vec<usize> {
    (0..view.catalog.len()).filter(|&at| view.catalog.entry(at).is_tool()).collect()
}

fn names<'a>(view: &View<'a>, positions: &[usize]) -> Vec<&'a str> {
    positions.iter().map(|&at| view.catalog.exposed(at)).collect()
}

fn search(view: &View<'_>, given: &Arguments) -> Result<Action, Refusal> {
    let query = given.text("query")?.unwrap_or_default();
    let backend = given.text("backend")?.map(|name| backend(view, &name)).transpose()?;
    let category = given.path("category")?;
    let categories = Categories::of(view);
    let within = if category.is_empty() { None } else { Some(categories.within(&category)?) };
    let filter = Filter {
        servers: backend.map(|name| vec![name]),
        within: within.as_deref(),
        kind: Some(Kind::Tool),
        // As it is shown, `server__tool`, or as an id.
        prefix: given.text("prefix")?.map(|prefix| prefix.replacen("__", ".", 1)),
        ..Filter::default()
    };
    let limit = given.number("limit")?.unwrap_or(USUAL_LIMIT).clamp(1, LARGEST_LIMIT);
    let offset = given.number("offset")?.unwrap_or(0);
    let detail = detail(given)?;
    let examples = given.flag("includeExamples")?;
    let found = view.search(Query { text: &query, filter, limit, offset, ..Query::default() });
    let tools: Vec<Value> = found.hits.iter().map(|hit| info(view, &categories, hit.entry, detail, examples)).collect();
    let more = offset + tools.len() < found.total;
    Ok(shown(&json!({"tools": tools, "total": found.total, "hasMore": more})))
}

/// What is shown of a tool beside its name.
#[derive(Clone, Copy, PartialEq)]
enum Detail {
    Name,
    Description,
    Micro,
    Compact,
    Full,
}

fn detail(given: &Arguments) -> Result<Detail, Refusal> {
    let known = ["name_only", "name_description", "micro_schema", "compact_schema", "full_schema"];
    let name = given.text("detailLevel")?.unwrap_or_else(|| known[1].to_owned());
    let place = known.iter().position(|known| *known == name);
    let wrong =
        || Refusal::new(Code::InvalidRequest, "`detailLevel` is one of the hints.").hints(known.map(String::from));
    let all = [Detail::Name, Detail::Description, Detail::Micro, Detail::Compact, Detail::Full];
    place.map(|place| all[place]).ok_or_else(wrong)
}

fn mode(given: &Arguments) -> Result<Detail, Refusal> {
    match given.value("mode") {
        Value::Null | Value::Bool(false) => Ok(Detail::Full),
        Value::Bool(true) => Ok(Detail::Compact),
        Value::String(mode) if mode == "compact" => Ok(Detail::Compact),
        Value::String(mode) if mode == "micro" => Ok(Detail::Micro),
        Value::String(mode) if mode == "full" || mode.is_empty() => Ok(Detail::Full),
        _ => Err(Refusal::new(Code::InvalidRequest, "`mode` is one of the hints.")
            .hints(["full", "compact", "micro"].map(String::from))),
    }
}

/// A tool in as much detail as asked for; from a schema on it says what it costs to read.
fn info(view: &View<'_>, categories: &Categories<'_>, at: usize, detail: Detail, examples: bool) -> Value {
    let entry = view.catalog.entry(at);
    let mut info = json!({"name": view.catalog.exposed(at), "backend": entry.server().as_str()});
    if let Some(category) = categories.name(at) {
        info["category"] = json!(category);
    }
    if detail != Detail::Name {
        info["description"] = json!(entry.description);
        info["shortDescription"] = json!(short_description(&entry.description, entry.name()));
    }
    let schema = match detail {
        Detail::Name | Detail::Description => None,
        Detail::Micro => Some(micro_schema(&entry.input_schema())),
        Detail::Compact => Some(compact_schema(&entry.input_schema())),
        Detail::Full => Some(entry.input_schema()),
    };
    if let Some(schema) = &schema {
        info["inputSchema"] = schema.clone();
    }
    if examples {
        info["inputExamples"] = input_examples(entry).unwrap_or_else(|| json!([example(entry)]));
    }
    if schema.is_some() {
        info["estimatedTokens"] = json!(tokens::count(&info.to_string()));
    }
    info
}

/// The examples of the definition itself.
fn input_examples(entry: &Entry) -> Option<Value> {
    Some(entry.member("inputExamples")).filter(|value| value.as_array().is_some_and(|list| !list.is_empty()))
}

fn schema(view: &View<'_>, given: &Arguments) -> Result<Action, Refusal> {
    let at = tool(view, &needed(given, SCHEMA, &["toolName", "name", "tool"])?)?;
    Ok(shown(&with_schema(view, &Categories::of(view), at, mode(given)?)))
}

fn with_schema(view: &View<'_>, categories: &Categories<'_>, at: usize, mode: Detail) -> Value {
    info(view, categories, at, mode, input_examples(view.catalog.entry(at)).is_some())
}

fn schemas(view: &View<'_>, given: &Arguments) -> Result<Action, Refusal> {
    let (mode, wanted) = (mode(given)?, given.texts("toolNames")?);
    if wanted.is_empty() || wanted.len() > MOST_NAMES {
        let message = format!("{SCHEMAS} needs `toolNames`: from one to {MOST_NAMES} names of tools.");
        return Err(Refusal::new(Code::InvalidRequest, message).next("find_tools", json!({})));
    }
    let categories = Categories::of(view);
    let (mut tools, mut missing) = (Vec::new(), Vec::new());
    for name in wanted {
        match tool(view, &name) {
            Ok(at) => tools.push(with_schema(view, &categories, at, mode)),
            Err(_) => missing.push(name),
        }
    }
    Ok(shown(&json!({"tools": tools, "notFound": missing})))
}

fn categories(view: &View<'_>) -> Action {
    let categories = Categories::of(view);
    let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for at in all(view) {
        by_name.entry(categories.name(at).unwrap_or_else(|| NONE.to_owned())).or_default().push(at);
    }
    let shape = |(name, at): (String, Vec<usize>)| (name, json!({"count": at.len(), "tools": names(view, &at)}));
    shown(&by_name.into_iter().map(shape).collect::<Map<_, _>>())
}

/// Every server that has tools, and their positions.
fn backends<'a>(view: &View<'a>) -> Vec<(&'a str, Vec<usize>)> {
    let servers = view.catalog.servers().iter().map(|server| {
        let entries = server.entries.iter().filter(|entry| entry.is_tool());
        (server.name.as_str(), entries.filter_map(|entry| view.catalog.position(&entry.id)).collect::<Vec<_>>())
    });
    servers.filter(|(_, tools)| !tools.is_empty()).collect()
}

fn tree(view: &View<'_>) -> Action {
    let leaf = |&at: &usize| {
        let (entry, name) = (view.catalog.entry(at), view.catalog.exposed(at));
        // All of them at once: whole descriptions would be most of what it costs.
        let description = short_description(&entry.description, entry.name());
        let tool = json!({"name": name, "description": description, "backend": entry.server().as_str()});
        json!({"name": name, "type": "tool", "tool": tool})
    };
    let branch = |(name, tools): &(&str, Vec<usize>)| json!({"name": name, "type": "server", "children": tools.iter().map(leaf).collect::<Vec<_>>()});
    shown(&backends(view).iter().map(branch).collect::<Vec<_>>())
}

fn stats(view: &View<'_>) -> Action {
    let shape =
        |(name, at): (&str, Vec<usize>)| (name.to_owned(), json!({"toolCount": at.len(), "tools": names(view, &at)}));
    shown(&backends(view).into_iter().map(shape).collect::<Map<_, _>>())
}

fn by_backend(view: &View<'_>, given: &Arguments) -> Result<Action, Refusal> {
    let wanted = backend(view, &needed(given, BACKEND, &["backend", "backendId", "server"])?)?;
    let categories = Categories::of(view);
    let tools = backends(view).into_iter().find(|(name, _)| *name == wanted.as_str()).map(|(_, tools)| tools);
    let about = |at: usize| {
        let entry = view.catalog.entry(at);
        let mut about = json!({"name": view.catalog.exposed(at), "description": entry.description, "backend": entry.server().as_str()});
        if let Some(category) = categories.name(at) {
            about["category"] = json!(category);
        }
        about
    };
    Ok(shown(&tools.unwrap_or_default().into_iter().map(about).collect::<Vec<_>>()))
}

fn backend(view: &View<'_>, name: &str) -> Result<ServerName, Refusal> {
    let servers = view.catalog.servers();
    let named = servers.iter().find(|server| server.name.as_str().eq_ignore_ascii_case(name));
    named.map(|server| server.name.clone()).ok_or_else(|| {
        let names = || servers.iter().map(|server| server.name.as_str());
        let hints: Vec<String> = match words::nearest(name, names()) {
            Some(near) => vec![near.to_owned()],
            None => names().take(10).map(str::to_owned).collect(),
        };
        let shown: String = name.chars().take(100).collect();
        Refusal::new(Code::UnknownPath, format!("There is no backend {shown:?}."))
            .hints(hints)
            .next("find_tools", json!({}))
    })
}

/// Which category a tool is in: one that clients know, where its node goes by that name; else the root of its node.
struct Categories<'a> {
    view: View<'a>,
    known: Vec<(&'static str, &'a Node)>,
}

impl<'a> Categories<'a> {
    fn of(view: &View<'a>) -> Self {
        let node = |name: &'static str| Some((name, view.catalog.capability(&[name.to_owned()])?));
        Categories { view: *view, known: CATEGORIES.into_iter().filter_map(node).collect() }
    }

    fn name(&self, at: usize) -> Option<String> {
        let home = self.view.catalog.home(at)?;
        let known = self.known.iter().find(|(_, node)| home.starts_with(&node.path));
        let root = home.first().filter(|root| *root != OTHER).cloned();
        known.map(|(name, _)| (*name).to_owned()).or(root)
    }

    /// The entries of a category, of the name that [`Categories::name`] gives or of any node.
    fn within(&self, path: &[String]) -> Result<Vec<usize>, Refusal> {
        if let Some(node) = self.view.catalog.capability(path) {
            return Ok(node.entries.clone());
        }
        let nothing = |name: &str| name == NONE || CATEGORIES.contains(&name);
        match path {
            // Clients may ask for what they know although there is nothing of the kind.
            [only] if nothing(&only.to_lowercase()) => Ok(self.uncategorised(only)),
            _ => node(&self.view, path).map(|node| node.entries.clone()),
        }
    }

    fn uncategorised(&self, name: &str) -> Vec<usize> {
        all(&self.view).into_iter().filter(|&at| name == NONE && self.name(at).is_none()).collect()
    }
}
