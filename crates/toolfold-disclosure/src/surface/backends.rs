//! `gateway`: nine tools for a client that filters, pages and keeps what it was told. Members are in camel case here, as
//! such clients expect them.

use std::collections::BTreeMap;

use serde_json::{Map, Value, json};
use toolfold_catalog::Node;
use toolfold_core::{Code, Entry, Kind, Next, Refusal, ServerName, words};
use toolfold_index::{Filter, OTHER, Query};
use toolfold_wire::Raw;

use super::lookup::{call_through, needed, needed_name, node, spelling, tool};
use super::request::Arguments;
use super::result::{json_result, json_result_with};
use super::table::{Calling, Listed, Meta, Table};
use super::{Action, Browse, Describe, Search, Shape, View, note, noted};
use crate::level::{Level, compact_schema, example, micro_schema, short_description};
use crate::tokens;

const SEARCH: &str = "gateway_search_tools";
const SCHEMA: &str = "gateway_get_tool_schema";
const SCHEMAS: &str = "gateway_get_tool_schemas";
const CATEGORIES: &str = "gateway_get_tool_categories";
const TREE: &str = "gateway_get_tool_tree";
const STATS: &str = "gateway_get_tool_stats";
const NAMES: &str = "gateway_list_tool_names";
const BACKEND: &str = "gateway_get_tools_by_backend";
const CALL: &str = "gateway_call_tool";

const CALLING: Calling =
    Calling { name: CALL, keys: &["toolName", "name", "tool"], arguments: "arguments", always: &[], finder: SEARCH };

pub(super) static TABLE: Table = Table {
    rules: "Tools are behind gateway_search_tools. Do not assume that a tool exists: search first, by \
    query, backend or category; when unsure, look at gateway_get_tool_categories. Never call a tool without its schema: \
    gateway_get_tool_schema, with mode \"micro\" to save tokens. Then gateway_call_tool. When refused, follow the hints \
    and next_action.",
    metas: &[
        Meta {
            name: SEARCH,
            definition: r#"{"name":"gateway_search_tools","description":"Search and filter tools.","inputSchema":{"type":"object","properties":{"query":{"type":"string"},"backend":{"type":"string"},"prefix":{"type":"string"},"category":{"type":"string"},"detailLevel":{"type":"string","enum":["name_only","name_description","micro_schema","compact_schema","full_schema"]},"includeExamples":{"type":"boolean"},"limit":{"type":"integer"},"offset":{"type":"integer"}}},"annotations":{"readOnlyHint":true},"_meta":{"anthropic/alwaysLoad":true}}"#,
            listed: Listed::Always,
            ask: |_, given| search(&given),
        },
        Meta {
            name: SCHEMA,
            definition: r#"{"name":"gateway_get_tool_schema","description":"Get one tool's schema.","inputSchema":{"type":"object","properties":{"toolName":{"type":"string"},"mode":{"type":"string","enum":["full","compact","micro"]}},"required":["toolName"]},"annotations":{"readOnlyHint":true},"_meta":{"anthropic/alwaysLoad":true}}"#,
            listed: Listed::Always,
            ask: |_, given| schema(&given),
        },
        Meta {
            name: SCHEMAS,
            definition: r#"{"name":"gateway_get_tool_schemas","description":"Get several tools' schemas.","inputSchema":{"type":"object","properties":{"toolNames":{"type":"array","items":{"type":"string"}},"mode":{"type":"string","enum":["full","compact","micro"]}},"required":["toolNames"]},"annotations":{"readOnlyHint":true},"_meta":{"anthropic/alwaysLoad":true}}"#,
            listed: Listed::Always,
            ask: |_, given| schemas(&given),
        },
        Meta {
            name: CATEGORIES,
            definition: r#"{"name":"gateway_get_tool_categories","description":"Categories with their tools.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"_meta":{"anthropic/alwaysLoad":true}}"#,
            listed: Listed::Always,
            ask: |_, _| Ok(everything(categories)),
        },
        Meta {
            name: TREE,
            definition: r#"{"name":"gateway_get_tool_tree","description":"All tools as a tree of servers.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"_meta":{"anthropic/alwaysLoad":true}}"#,
            listed: Listed::Always,
            ask: |_, _| Ok(everything(tree)),
        },
        Meta {
            name: STATS,
            definition: r#"{"name":"gateway_get_tool_stats","description":"Tools per server.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"_meta":{"anthropic/alwaysLoad":true}}"#,
            listed: Listed::Always,
            ask: |_, _| Ok(everything(stats)),
        },
        Meta {
            name: NAMES,
            definition: r#"{"name":"gateway_list_tool_names","description":"All tool names.","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true},"_meta":{"anthropic/alwaysLoad":true}}"#,
            listed: Listed::Always,
            ask: |_, _| Ok(everything(all_names)),
        },
        Meta {
            name: BACKEND,
            definition: r#"{"name":"gateway_get_tools_by_backend","description":"One server's tools.","inputSchema":{"type":"object","properties":{"backend":{"type":"string"}},"required":["backend"]},"annotations":{"readOnlyHint":true},"_meta":{"anthropic/alwaysLoad":true}}"#,
            listed: Listed::Always,
            ask: |_, given| by_backend(&given),
        },
        Meta {
            name: CALL,
            definition: r#"{"name":"gateway_call_tool","description":"Call a tool.","inputSchema":{"type":"object","properties":{"toolName":{"type":"string"},"arguments":{"type":"object"}},"required":["toolName"]},"_meta":{"anthropic/alwaysLoad":true}}"#,
            listed: Listed::Always,
            ask: |asking, given| call_through(asking, given, &CALLING),
        },
    ],
    by_server: None,
    call: Some(CALLING),
    next: |next| Some(self::next(next)),
};

/// The categories that clients of this kind know, where a node answers to their name.
const KNOWN: [&str; 8] = ["database", "filesystem", "api", "ai", "search", "transform", "auth", "messaging"];
/// What a tool is in that is in none.
const NONE: &str = "other";

const USUAL_LIMIT: usize = 50;
const LARGEST_LIMIT: usize = 200;
const MOST_NAMES: usize = 100;

fn next(next: &Next) -> (&'static str, Value) {
    match next {
        Next::Overview | Next::Agents => (SEARCH, json!({})),
        Next::Search { query } => (SEARCH, json!({"query": query})),
        Next::Browse { path } => (SEARCH, json!({"category": path.join("/")})),
        Next::Describe { tool, .. } => (SCHEMA, json!({"toolName": tool})),
    }
}

fn names<'a>(view: &View<'a>, positions: &[usize]) -> Vec<&'a str> {
    positions.iter().map(|&at| view.exposed(at)).collect()
}

fn search(given: &Arguments) -> Result<Action, Refusal> {
    let search = Search {
        path: given.path("category")?,
        server: given.name("backend")?,
        // As it is shown, `server__tool`, or as an id.
        prefix: given.name("prefix")?.map(|prefix| prefix.replacen("__", ".", 1)),
        detail: detail(given)?,
        examples: given.flag("includeExamples")?,
        offset: given.number("offset")?.unwrap_or(0),
        ..Search::tools(given.query()?, given.number("limit")?.unwrap_or(USUAL_LIMIT).clamp(1, LARGEST_LIMIT))
    };
    Ok(Action::Search(search, infos))
}

fn infos(view: &View<'_>, search: &Search) -> Result<Raw, Refusal> {
    let backend = search.server.as_deref().map(|name| backend(view, name)).transpose()?;
    let categories = Categories::of(view);
    let within = if search.path.is_empty() { None } else { Some(categories.within(&search.path)?) };
    let filter = Filter {
        servers: backend.map(|name| vec![name.clone()]),
        within: within.as_deref(),
        kind: Some(Kind::Tool),
        prefix: search.prefix.clone(),
        ..Filter::default()
    };
    let (limit, offset) = (search.limit, search.offset);
    let found = view.search(Query { text: &search.query, filter, limit, offset, ..Query::default() });
    let info = |at: usize| info(view, &categories, at, search.detail, search.examples);
    let tools: Vec<Value> = found.hits.iter().map(|hit| info(hit.entry)).collect();
    let more = offset.saturating_add(tools.len()) < found.total;
    Ok(json_result(&noted(view, json!({"tools": tools, "total": found.total, "hasMore": more}))))
}

/// What is shown of a tool beside its name.
fn detail(given: &Arguments) -> Result<Level, Refusal> {
    let known = ["name_only", "name_description", "micro_schema", "compact_schema", "full_schema"];
    let name = given.name("detailLevel")?.unwrap_or_else(|| known[1].to_owned());
    let place = known.iter().position(|known| *known == name);
    let wrong =
        || Refusal::new(Code::InvalidRequest, "`detailLevel` is one of the hints.").hints(known.map(String::from));
    place.map(|place| Level::ALL[place]).ok_or_else(wrong)
}

fn mode(given: &Arguments) -> Result<Level, Refusal> {
    match given.value("mode") {
        Value::Null | Value::Bool(false) => Ok(Level::Full),
        Value::Bool(true) => Ok(Level::Details),
        Value::String(mode) if mode == "compact" => Ok(Level::Details),
        Value::String(mode) if mode == "micro" => Ok(Level::Signature),
        Value::String(mode) if mode == "full" || mode.is_empty() => Ok(Level::Full),
        _ => Err(Refusal::new(Code::InvalidRequest, "`mode` is one of the hints.")
            .hints(["full", "compact", "micro"].map(String::from))),
    }
}

/// A tool in as much detail as asked for; from a schema on it says what it costs to read.
fn info(view: &View<'_>, categories: &Categories<'_>, at: usize, detail: Level, examples: bool) -> Value {
    let entry = view.entry(at);
    let mut info = json!({"name": view.exposed(at), "backend": entry.server().as_str()});
    if let Some(category) = categories.name(at) {
        info["category"] = json!(category);
    }
    if detail != Level::Name {
        info["description"] = json!(entry.description);
        info["shortDescription"] = json!(short_description(&entry.description, entry.name()));
    }
    let schema = match detail {
        Level::Name | Level::Summary => None,
        Level::Signature => Some(micro_schema(&entry.input_schema())),
        Level::Details => Some(compact_schema(&entry.input_schema())),
        Level::Full => Some(entry.input_schema()),
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

fn schema(given: &Arguments) -> Result<Action, Refusal> {
    let name = needed_name(given, SCHEMA, &["toolName", "name", "tool"])?;
    Ok(Action::Describe(Describe::one(name, mode(given)?), |view, describe| {
        let at = tool(view, &describe.names[0])?;
        Ok(json_result(&with_schema(view, &Categories::of(view), at, describe.detail)))
    }))
}

fn with_schema(view: &View<'_>, categories: &Categories<'_>, at: usize, mode: Level) -> Value {
    info(view, categories, at, mode, input_examples(view.entry(at)).is_some())
}

fn schemas(given: &Arguments) -> Result<Action, Refusal> {
    let (detail, wanted) = (mode(given)?, given.texts("toolNames")?);
    if wanted.is_empty() || wanted.len() > MOST_NAMES {
        let message = format!("{SCHEMAS} needs `toolNames`: from one to {MOST_NAMES} names of tools.");
        return Err(Refusal::new(Code::InvalidRequest, message).next(Next::Overview));
    }
    let names = wanted.iter().map(|name| spelling(name)).collect();
    Ok(Action::Describe(Describe { names, parameters: Vec::new(), detail }, |view, describe| {
        let categories = Categories::of(view);
        let (mut tools, mut missing, mut held) = (Vec::new(), Vec::new(), Vec::new());
        for name in &describe.names {
            match (view.resolve(name), view.withheld(name)) {
                (Ok(at), _) if view.entry(at).is_tool() => {
                    tools.push(with_schema(view, &categories, at, describe.detail));
                }
                (Err(_), Some(refusal)) => held.push(refusal.to_json()),
                _ => missing.push(name),
            }
        }
        let mut answer = json!({"tools": tools, "notFound": missing});
        if !held.is_empty() {
            answer["held"] = json!(held);
        }
        Ok(json_result(&if missing.is_empty() { answer } else { noted(view, answer) }))
    }))
}

/// All tools at once, in this shape.
fn everything(shape: Shape<Browse>) -> Action {
    Action::Browse(Browse { kind: Some(Kind::Tool), ..Browse::at(Vec::new()) }, shape)
}

fn all_names(view: &View<'_>, _: &Browse) -> Result<Raw, Refusal> {
    Ok(json_result_with(&names(view, &view.tools().collect::<Vec<_>>()), note(view)))
}

fn categories(view: &View<'_>, _: &Browse) -> Result<Raw, Refusal> {
    let categories = Categories::of(view);
    let mut by_name: BTreeMap<String, Vec<usize>> = BTreeMap::new();
    for at in view.tools() {
        by_name.entry(categories.name(at).unwrap_or_else(|| NONE.to_owned())).or_default().push(at);
    }
    let shape = |(name, at): (String, Vec<usize>)| (name, json!({"count": at.len(), "tools": names(view, &at)}));
    Ok(json_result_with(&by_name.into_iter().map(shape).collect::<Map<_, _>>(), note(view)))
}

fn tree(view: &View<'_>, _: &Browse) -> Result<Raw, Refusal> {
    let leaf = |&at: &usize| {
        let (entry, name) = (view.entry(at), view.exposed(at));
        // All of them at once: whole descriptions would be most of what it costs.
        let description = short_description(&entry.description, entry.name());
        let tool = json!({"name": name, "description": description, "backend": entry.server().as_str()});
        json!({"name": name, "type": "tool", "tool": tool})
    };
    let branch = |(name, tools): (&ServerName, Vec<usize>)| json!({"name": name, "type": "server", "children": tools.iter().map(leaf).collect::<Vec<_>>()});
    Ok(json_result_with(&view.tools_by_server().map(branch).collect::<Vec<_>>(), note(view)))
}

fn stats(view: &View<'_>, _: &Browse) -> Result<Raw, Refusal> {
    let shape = |(name, at): (&ServerName, Vec<usize>)| {
        (name.to_string(), json!({"toolCount": at.len(), "tools": names(view, &at)}))
    };
    Ok(json_result_with(&view.tools_by_server().map(shape).collect::<Map<_, _>>(), note(view)))
}

fn by_backend(given: &Arguments) -> Result<Action, Refusal> {
    let server = spelling(&needed(given, BACKEND, &["backend", "backendId", "server"])?);
    let search = Search { server: Some(server), ..Search::tools(String::new(), usize::MAX) };
    Ok(Action::Search(search, of_backend))
}

fn of_backend(view: &View<'_>, search: &Search) -> Result<Raw, Refusal> {
    let wanted = backend(view, search.server.as_deref().unwrap_or_default())?;
    let categories = Categories::of(view);
    let about = |at: usize| {
        let entry = view.entry(at);
        let mut about =
            json!({"name": view.exposed(at), "description": entry.description, "backend": entry.server().as_str()});
        if let Some(category) = categories.name(at) {
            about["category"] = json!(category);
        }
        about
    };
    let tools = view.of_server(wanted).filter(|at| view.entry(*at).is_tool());
    Ok(json_result(&tools.map(about).collect::<Vec<_>>()))
}

fn backend<'a>(view: &View<'a>, name: &str) -> Result<&'a ServerName, Refusal> {
    let mut servers = view.servers();
    servers.find(|server| server.as_str().eq_ignore_ascii_case(name)).ok_or_else(|| {
        if let Some(absent) = view.absent_of(name) {
            return absent.refusal();
        }
        let names = || view.servers().map(ServerName::as_str);
        let hints: Vec<String> = match words::nearest(name, names()) {
            Some(near) => vec![near.to_owned()],
            None => names().take(10).map(str::to_owned).collect(),
        };
        let shown: String = name.chars().take(100).collect();
        Refusal::new(Code::UnknownPath, format!("There is no backend {shown:?}.")).hints(hints).next(Next::Overview)
    })
}

/// Which category a tool is in: one that clients know, where its node goes by that name; else the root of its node.
struct Categories<'a> {
    view: View<'a>,
    known: Vec<(&'static str, &'a Node)>,
}

impl<'a> Categories<'a> {
    fn of(view: &View<'a>) -> Self {
        let node = |name: &'static str| Some((name, view.capability(&[name.to_owned()])?));
        Categories { view: *view, known: KNOWN.into_iter().filter_map(node).collect() }
    }

    fn name(&self, at: usize) -> Option<String> {
        let home = self.view.home(at)?;
        let known = self.known.iter().find(|(_, node)| home.starts_with(&node.path));
        let root = home.first().filter(|root| *root != OTHER).cloned();
        known.map(|(name, _)| (*name).to_owned()).or(root)
    }

    /// The entries of a category, of the name that [`Categories::name`] gives or of any node.
    fn within(&self, path: &[String]) -> Result<Vec<usize>, Refusal> {
        if let Some(node) = self.view.capability(path) {
            return Ok(node.entries.clone());
        }
        let nothing = |name: &str| name == NONE || KNOWN.contains(&name);
        match path {
            // Clients may ask for what they know although there is nothing of the kind.
            [only] if nothing(&only.to_lowercase()) => Ok(self.uncategorised(only)),
            _ => node(&self.view, path).map(|node| node.entries.clone()),
        }
    }

    fn uncategorised(&self, name: &str) -> Vec<usize> {
        self.view.tools().filter(|&at| name == NONE && self.name(at).is_none()).collect()
    }
}
