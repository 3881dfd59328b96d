//! `ontology`: walk a tree of capabilities, search in it, expand one tool, call it. Also what the HTTP API speaks.

use serde_json::{Value, json};
use toolfold_catalog::Node;
use toolfold_core::{Code, Kind, Refusal};
use toolfold_index::{Filter, Hit, Query};
use toolfold_wire::Object;

use super::next::Wish;
use super::places::Places;
use super::request::Arguments;
use super::{Action, Meta, Search, View, call_through, hundredths, json_result, limit, needed, node, tool};
use crate::answer::{not_in_node, rank};
use crate::cursor::Cursor;
use crate::level::{Level, summary};

const LIST: &str = "list";
const SEARCH: &str = "search_tool_by_category";
const NODES: &str = "search_nodes";
const EXPAND: &str = "expand_tool";
const CALL: &str = "call_tool";

pub(super) const DEFINITIONS: [&str; 5] = [
    r#"{"name":"list","description":"List child nodes and tools at a path; no path: the root.","inputSchema":{"type":"object","properties":{"path":{"type":"array","items":{"type":"string"}},"tags":{"type":"array","items":{"type":"string"}},"query":{"type":"string"},"limit":{"type":"integer"},"cursor":{"type":"string"}}},"_meta":{"anthropic/alwaysLoad":true}}"#,
    r#"{"name":"search_tool_by_category","description":"Search tools within a category.","inputSchema":{"type":"object","properties":{"query":{"type":"string"},"category_path":{"type":"array","items":{"type":"string"}},"limit":{"type":"integer"},"cursor":{"type":["string","null"]}},"required":["query","category_path"]},"_meta":{"anthropic/alwaysLoad":true}}"#,
    r#"{"name":"search_nodes","description":"Search categories when you do not know where to start.","inputSchema":{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"}},"required":["query"]},"_meta":{"anthropic/alwaysLoad":true}}"#,
    r#"{"name":"expand_tool","description":"Get a tool's full schema.","inputSchema":{"type":"object","properties":{"tool_id":{"type":"string"}},"required":["tool_id"]},"_meta":{"anthropic/alwaysLoad":true}}"#,
    r#"{"name":"call_tool","description":"Call an expanded tool.","inputSchema":{"type":"object","properties":{"tool_id":{"type":"string"},"arguments":{"type":"object"}},"required":["tool_id"]},"_meta":{"anthropic/alwaysLoad":true}}"#,
];

pub(super) const RULES: &str = "Do not assume tools exist: discover them with list or the searches. Prefer to navigate: \
    list(path) before searching. When no child node seems right, use search_nodes or search_tool_by_category. Never call \
    a tool without expand_tool: it gives the argument schema. On an error follow its hints: retry with the categories or \
    queries they suggest.";

pub(super) fn meta(name: &str) -> Option<Meta> {
    match name {
        LIST => Some(|view, _, given| list(view, &given)),
        SEARCH => Some(|view, _, given| search(view, &given)),
        NODES => Some(|view, _, given| nodes(view, &given)),
        EXPAND => Some(|view, _, given| expand(view, &given)),
        CALL => Some(|view, _, given| call_through(view, given, CALL, &["tool_id", "tool", "name"], SEARCH)),
        _ => None,
    }
}

pub(super) fn next(wish: &Wish) -> (&'static str, Value) {
    match wish {
        Wish::Anything => (LIST, json!({})),
        Wish::Query(query) => (NODES, json!({"query": query})),
        Wish::Path(path) => (LIST, json!({"path": path})),
        Wish::Tool(name) => (EXPAND, json!({"tool_id": name})),
    }
}

/// What `list` and `search_tool_by_category` ask, once a cursor has had its say.
struct Question<'a> {
    node: &'a Node,
    query: String,
    tags: Vec<String>,
    limit: usize,
    offset: usize,
}

fn question<'a>(view: &View<'a>, given: &Arguments, path: &str) -> Result<Question<'a>, Refusal> {
    let query = given.text("query")?.unwrap_or_default();
    let Some(cursor) = given.text("cursor")? else {
        let tags = given.texts("tags")?.iter().map(|tag| tag.to_lowercase()).collect();
        return Ok(Question { node: node(view, &given.path(path)?)?, query, tags, limit: limit(given)?, offset: 0 });
    };
    let refuse = |message: &str| Refusal::new(Code::InvalidCursor, message).next("find_tools", json!({"path": []}));
    let cursor =
        Cursor::decode(&cursor).ok_or_else(|| refuse("This cursor was not given out here. Ask without it."))?;
    if !query.is_empty() && query != cursor.query {
        return Err(refuse("This cursor belongs to another query. Ask without it."));
    }
    let gone = |_| refuse("The node this cursor is about is gone. Ask without the cursor.");
    let node = view.catalog.node(&cursor.path).map_err(gone)?;
    Ok(Question { node, query: cursor.query, tags: cursor.tags, limit: cursor.limit, offset: cursor.offset })
}

impl Question<'_> {
    fn next_cursor(&self, shown: usize, total: usize) -> Option<String> {
        let offset = self.offset + shown;
        let cursor = Cursor {
            query: self.query.clone(),
            path: self.node.path.clone(),
            kind: None,
            detail: Level::Summary,
            limit: self.limit,
            offset,
            tags: self.tags.clone(),
        };
        (offset < total).then(|| cursor.encode())
    }

    fn no_match(&self, view: &View<'_>) -> Refusal {
        if self.offset > 0 {
            let message = "There is nothing behind this cursor any more: what is served has changed. Ask without it.";
            return Refusal::new(Code::InvalidCursor, message).next("find_tools", json!({"path": self.node.path}));
        }
        let (query, path) = (self.query.clone(), self.node.path.clone());
        let asked = Search { query, path, kind: Some(Kind::Tool), detail: Level::Summary, limit: 1, offset: 0 };
        not_in_node(view, &asked, self.node)
    }
}

fn list(view: &View<'_>, given: &Arguments) -> Result<Action, Refusal> {
    let asked = question(view, given, "path")?;
    let places = Places::of(view);
    let children = children(view, &asked);
    let shown: Vec<&Node> = children.iter().skip(asked.offset).take(asked.limit).copied().collect();
    let within = if asked.query.is_empty() { asked.node.own_entries() } else { asked.node.entries.clone() };
    let within: Vec<usize> =
        within.into_iter().filter(|&at| asked.tags.is_empty() || tagged(&asked.tags, &places.tags(at))).collect();
    let (after, left) = (asked.offset.saturating_sub(children.len()), asked.limit - shown.len());
    let (hits, found) = tools(view, &asked.query, &within, left, after);
    let total = children.len() + found;
    let count = shown.len() + hits.len();
    if count == 0 && (asked.offset > 0 || !asked.query.is_empty() || !asked.tags.is_empty()) {
        return Err(asked.no_match(view));
    }
    let nodes = shown
        .iter()
        .map(|node| json!({"name": node.name(), "path": node.path, "summary": node.summary, "tags": node.tags}));
    Ok(Action::Answer(json_result(&json!({
        "path": asked.node.path,
        "nodes": nodes.collect::<Vec<_>>(),
        "tools": pointers(view, &places, &asked, &hits),
        "next_cursor": asked.next_cursor(count, total),
    }))))
}

/// The nodes right below the asked one; with a query only those that answer it, best first.
fn children<'a>(view: &View<'a>, asked: &Question<'a>) -> Vec<&'a Node> {
    let direct: Vec<&Node> = if asked.query.is_empty() {
        asked.node.children.iter().collect()
    } else {
        let depth = asked.node.path.len() + 1;
        rank(view, &asked.query, asked.node)
            .into_iter()
            .map(|(_, node)| node)
            .filter(|node| node.path.len() == depth)
            .collect()
    };
    direct.into_iter().filter(|node| tagged(&asked.tags, &node.tags)).collect()
}

/// Whether one of the tags asked for is among these.
fn tagged(asked: &[String], tags: &[String]) -> bool {
    asked.is_empty() || tags.iter().any(|tag| asked.contains(&tag.to_lowercase()))
}

fn tools(view: &View<'_>, query: &str, within: &[usize], limit: usize, offset: usize) -> (Vec<Hit>, usize) {
    let filter = Filter { within: Some(within), kind: Some(Kind::Tool), ..Filter::default() };
    // A page may be full of nodes; how many tools follow is asked for all the same.
    let found = view
        .index
        .search(view.catalog, &Query { text: query, filter, limit: limit.max(1), offset, ..Query::default() });
    (found.hits.into_iter().take(limit).collect(), found.total)
}

fn pointers(view: &View<'_>, places: &Places<'_>, asked: &Question<'_>, hits: &[Hit]) -> Vec<Value> {
    let pointer = |hit: &Hit| {
        let entry = view.catalog.entry(hit.entry);
        // What is only listed is where it is listed, for certain.
        let confidence = if asked.query.is_empty() { 1.0 } else { hundredths(hit.confidence) };
        json!({
            "tool_id": entry.id.to_string(),
            "path": places.path(hit.entry, &asked.node.path),
            "summary": summary(entry),
            "tags": places.tags(hit.entry),
            "confidence": confidence,
        })
    };
    hits.iter().map(pointer).collect()
}

fn search(view: &View<'_>, given: &Arguments) -> Result<Action, Refusal> {
    let path = if given.has("category_path") { "category_path" } else { "path" };
    let asked = question(view, given, path)?;
    let (hits, total) = tools(view, &asked.query, &asked.node.entries, asked.limit, asked.offset);
    if hits.is_empty() {
        return Err(asked.no_match(view));
    }
    let results = pointers(view, &Places::of(view), &asked, &hits);
    let next_cursor = asked.next_cursor(results.len(), total);
    Ok(Action::Answer(json_result(
        &json!({"category_path": asked.node.path, "results": results, "next_cursor": next_cursor}),
    )))
}

fn nodes(view: &View<'_>, given: &Arguments) -> Result<Action, Refusal> {
    let query = needed(given, NODES, &["query"])?;
    let ranked = rank(view, &query, view.catalog.root());
    if ranked.is_empty() {
        let message = format!("No category matches {:?}. Try other words, or list the root.", super::clipped(&query));
        return Err(Refusal::new(Code::NoMatchInCategory, message).next("find_tools", json!({})));
    }
    let result = |(confidence, node): &(f32, &Node)| json!({"path": node.path, "summary": node.summary, "confidence": hundredths(*confidence)});
    let results: Vec<Value> = ranked.iter().take(limit(given)?).map(result).collect();
    Ok(Action::Answer(json_result(&json!({"results": results}))))
}

fn expand(view: &View<'_>, given: &Arguments) -> Result<Action, Refusal> {
    let position = tool(view, &needed(given, EXPAND, &["tool_id", "tool", "name"])?)?;
    let entry = view.catalog.entry(position);
    let mut whole = Object::parse(&entry.definition).unwrap_or_default();
    let mut answer = Object::new()
        .with("tool_id", &entry.id.to_string())
        .with("path", &Places::of(view).path(position, &[]))
        .with("summary", &summary(entry));
    for (key, shown) in [("inputSchema", "args_schema"), ("outputSchema", "result_schema")] {
        match whole.remove(key) {
            Some(schema) => answer.set_raw(shown, schema),
            None => answer.set(shown, &Value::Null),
        };
    }
    Ok(Action::Answer(json_result(&answer)))
}
