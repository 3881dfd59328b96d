//! `ontology`: walk a tree of capabilities, search in it, expand one tool, call it. Also what the HTTP API speaks.

use serde_json::{Value, json};
use toolfold_catalog::Node;
use toolfold_core::{Code, Kind, Next, Refusal};
use toolfold_index::{Filter, Hit, Query};
use toolfold_wire::{Object, Raw};

use super::lookup::{call_through, hundredths, limit, needed, needed_name, node, path_of, tool};
use super::places::Places;
use super::request::Arguments;
use super::result::json_result;
use super::table::{Calling, Listed, Meta, Table};
use super::{Action, Browse, Describe, Search, SearchNodes, View, noted};
use crate::answer::{not_in_node, rank};
use crate::cursor::Cursor;
use crate::level::{Level, lines};

const LIST: &str = "list";
const SEARCH: &str = "search_tool_by_category";
const NODES: &str = "search_nodes";
const EXPAND: &str = "expand_tool";
const CALL: &str = "call_tool";

const CALLING: Calling =
    Calling { name: CALL, keys: &["tool_id", "tool", "name"], arguments: "arguments", always: &[], finder: SEARCH };

pub(super) static TABLE: Table = Table {
    rules: "Do not assume tools exist: discover them with list or the searches. Prefer to navigate: \
    list(path) before searching. When no child node seems right, use search_nodes or search_tool_by_category. Never call \
    a tool without expand_tool: it gives the argument schema. On an error follow its hints: retry with the categories or \
    queries they suggest.",
    metas: &[
        Meta {
            name: LIST,
            definition: r#"{"name":"list","description":"List child nodes and tools at a path; no path: the root.","inputSchema":{"type":"object","properties":{"path":{"type":"array","items":{"type":"string"}},"tags":{"type":"array","items":{"type":"string"}},"query":{"type":"string"},"limit":{"type":"integer"},"cursor":{"type":"string"}}},"annotations":{"readOnlyHint":true},"_meta":{"anthropic/alwaysLoad":true}}"#,
            listed: Listed::Always,
            ask: |asking, given| list(asking.view, &given),
        },
        Meta {
            name: SEARCH,
            definition: r#"{"name":"search_tool_by_category","description":"Search tools within a category.","inputSchema":{"type":"object","properties":{"query":{"type":"string"},"category_path":{"type":"array","items":{"type":"string"}},"limit":{"type":"integer"},"cursor":{"type":["string","null"]}},"required":["query","category_path"]},"annotations":{"readOnlyHint":true},"_meta":{"anthropic/alwaysLoad":true}}"#,
            listed: Listed::Always,
            ask: |asking, given| search(asking.view, &given),
        },
        Meta {
            name: NODES,
            definition: r#"{"name":"search_nodes","description":"Search categories when you do not know where to start.","inputSchema":{"type":"object","properties":{"query":{"type":"string"},"limit":{"type":"integer"}},"required":["query"]},"annotations":{"readOnlyHint":true},"_meta":{"anthropic/alwaysLoad":true}}"#,
            listed: Listed::Always,
            ask: |_, given| nodes(&given),
        },
        Meta {
            name: EXPAND,
            definition: r#"{"name":"expand_tool","description":"Get a tool's full schema.","inputSchema":{"type":"object","properties":{"tool_id":{"type":"string"}},"required":["tool_id"]},"annotations":{"readOnlyHint":true},"_meta":{"anthropic/alwaysLoad":true}}"#,
            listed: Listed::Always,
            ask: |_, given| expand(&given),
        },
        Meta {
            name: CALL,
            definition: r#"{"name":"call_tool","description":"Call an expanded tool.","inputSchema":{"type":"object","properties":{"tool_id":{"type":"string"},"arguments":{"type":"object"}},"required":["tool_id"]},"_meta":{"anthropic/alwaysLoad":true}}"#,
            listed: Listed::Always,
            ask: |asking, given| call_through(asking, given, &CALLING),
        },
    ],
    by_server: None,
    call: Some(CALLING),
    next: |next| Some(self::next(next)),
};

fn next(next: &Next) -> (&'static str, Value) {
    match next {
        Next::Overview | Next::Agents => (LIST, json!({})),
        Next::Search { query } => (NODES, json!({"query": query})),
        Next::Browse { path } => (LIST, json!({"path": path})),
        Next::Describe { tool, .. } => (EXPAND, json!({"tool_id": tool})),
    }
}

fn list(view: &View<'_>, given: &Arguments) -> Result<Action, Refusal> {
    let search = asked(view, given, "path")?;
    if !search.query.is_empty() {
        return Ok(Action::Search(search, |view, search| Question::new(view, search)?.list()));
    }
    let Search { path, kind, tags, limit, offset, .. } = search;
    let browse = Browse { path, kind, tags, limit, offset };
    Ok(Action::Browse(browse, |view, browse| {
        let Browse { path, kind, tags, limit, offset } = browse.clone();
        let search = Search { path, kind, tags, offset, ..Search::tools(String::new(), limit) };
        Question::new(view, &search)?.list()
    }))
}

fn search(view: &View<'_>, given: &Arguments) -> Result<Action, Refusal> {
    let path = if given.has("category_path") { "category_path" } else { "path" };
    Ok(Action::Search(asked(view, given, path)?, |view, search| Question::new(view, search)?.search()))
}

/// What `list` and `search_tool_by_category` ask, once a cursor has had its say.
fn asked(view: &View<'_>, given: &Arguments, path: &str) -> Result<Search, Refusal> {
    let query = given.query()?;
    let Some(cursor) = given.text("cursor")? else {
        let path = path_of(view, given.path(path)?);
        return Ok(Search { path, tags: given.tags()?, ..Search::tools(query, limit(given)?) });
    };
    let refuse = |message: &str| Refusal::new(Code::InvalidCursor, message).next(Next::Browse { path: Vec::new() });
    let cursor =
        Cursor::decode(&cursor).ok_or_else(|| refuse("This cursor was not given out here. Ask without it."))?;
    if !query.is_empty() && query != cursor.query {
        return Err(refuse("This cursor belongs to another query. Ask without it."));
    }
    let gone = |_| refuse("The node this cursor is about is gone. Ask without the cursor.");
    let path = view.node(&cursor.path).map_err(gone)?.path.clone();
    Ok(Search { path, tags: cursor.tags, offset: cursor.offset, ..Search::tools(cursor.query, cursor.limit) })
}

/// A question and the node it is about.
struct Question<'q, 'v> {
    view: &'q View<'v>,
    node: &'v Node,
    asked: &'q Search,
    places: Places<'v>,
}

impl<'q, 'v> Question<'q, 'v> {
    fn new(view: &'q View<'v>, asked: &'q Search) -> Result<Self, Refusal> {
        Ok(Question { view, node: node(view, &asked.path)?, asked, places: Places::of(view) })
    }

    fn list(&self) -> Result<Raw, Refusal> {
        let Search { query, tags, limit, offset, .. } = self.asked;
        let children = self.children();
        let shown: Vec<&Node> = children.iter().skip(*offset).take(*limit).copied().collect();
        let within =
            if query.is_empty() { self.view.own_entries(self.node) } else { self.view.entries_in(self.node).collect() };
        let within: Vec<usize> =
            within.into_iter().filter(|&at| tags.is_empty() || tagged(tags, &self.places.tags(at))).collect();
        let (after, left) = (offset.saturating_sub(children.len()), limit - shown.len());
        let (hits, found) = self.tools(&within, left, after);
        let total = children.len() + found;
        let count = shown.len() + hits.len();
        if count == 0 && (*offset > 0 || !query.is_empty() || !tags.is_empty()) {
            return Err(self.no_match());
        }
        let nodes = shown
            .iter()
            .map(|node| json!({"name": node.name(), "path": node.path, "summary": node.summary, "tags": node.tags}));
        Ok(self.answered(json!({
            "path": self.node.path,
            "nodes": nodes.collect::<Vec<_>>(),
            "tools": self.pointers(&hits),
            "next_cursor": self.next_cursor(count, total),
        })))
    }

    fn search(&self) -> Result<Raw, Refusal> {
        let (hits, total) = self.tools(&self.node.entries, self.asked.limit, self.asked.offset);
        if hits.is_empty() {
            return Err(self.no_match());
        }
        let results = self.pointers(&hits);
        let next_cursor = self.next_cursor(results.len(), total);
        Ok(self.answered(json!({"category_path": self.node.path, "results": results, "next_cursor": next_cursor})))
    }

    fn answered(&self, answer: Value) -> Raw {
        json_result(&noted(self.view, answer))
    }

    /// The nodes right below the asked one; with a query only those that answer it, best first.
    fn children(&self) -> Vec<&'v Node> {
        let direct: Vec<&Node> = if self.asked.query.is_empty() {
            self.view.children(self.node).collect()
        } else {
            // What is deeper is reached through the child that leads there.
            let depth = self.node.path.len() + 1;
            let ranked = rank(self.view, &self.asked.query, self.node);
            let mut leading: Vec<&Node> = Vec::new();
            for (_, node) in ranked {
                let child = node.path.get(..depth).and_then(|path| self.view.node(path).ok());
                leading.extend(child.filter(|child| !leading.iter().any(|known| known.path == child.path)));
            }
            leading
        };
        direct.into_iter().filter(|node| tagged(&self.asked.tags, &node.tags)).collect()
    }

    fn tools(&self, within: &[usize], limit: usize, offset: usize) -> (Vec<Hit>, usize) {
        let filter = Filter { within: Some(within), kind: Some(Kind::Tool), ..Filter::default() };
        // A page may be full of nodes; how many tools follow is asked for all the same.
        let query = Query { text: &self.asked.query, filter, limit: limit.max(1), offset, ..Query::default() };
        let found = self.view.rank(query);
        (found.hits.into_iter().take(limit).collect(), found.total)
    }

    fn pointers(&self, hits: &[Hit]) -> Vec<Value> {
        let pointer = |hit: &Hit| {
            let entry = self.view.entry(hit.entry);
            // What is only listed is where it is listed, for certain.
            let confidence = if self.asked.query.is_empty() { 1.0 } else { hundredths(hit.confidence) };
            json!({
                "tool_id": entry.id.to_string(),
                "path": self.places.path(hit.entry, &self.node.path),
                "summary": lines(entry).summary,
                "tags": self.places.tags(hit.entry),
                "confidence": confidence,
            })
        };
        hits.iter().map(pointer).collect()
    }

    fn next_cursor(&self, shown: usize, total: usize) -> Option<String> {
        let Search { query, tags, limit, offset, .. } = self.asked.clone();
        let offset = offset + shown;
        let path = self.node.path.clone();
        let cursor = Cursor { query, path, kind: None, detail: Level::Summary, limit, offset, tags };
        (offset < total).then(|| cursor.encode())
    }

    fn no_match(&self) -> Refusal {
        if self.asked.offset > 0 {
            let message = "There is nothing behind this cursor any more: what is served has changed. Ask without it.";
            return Refusal::new(Code::InvalidCursor, message).next(Next::Browse { path: self.node.path.clone() });
        }
        not_in_node(self.view, &Search { limit: 1, ..self.asked.clone() }, self.node)
    }
}

/// Whether one of the tags asked for is among these.
fn tagged(asked: &[String], tags: &[String]) -> bool {
    asked.is_empty() || tags.iter().any(|tag| asked.contains(&tag.to_lowercase()))
}

fn nodes(given: &Arguments) -> Result<Action, Refusal> {
    needed(given, NODES, &["query"])?;
    Ok(Action::Nodes(SearchNodes { query: given.query()?, limit: limit(given)? }, |view, asked| {
        let ranked = rank(view, &asked.query, view.root());
        if ranked.is_empty() {
            let message = format!("No category matches {:?}. Try other words, or list the root.", asked.query);
            return Err(Refusal::new(Code::NoMatchInCategory, message).next(Next::Overview));
        }
        let result = |(confidence, node): &(f32, &Node)| json!({"path": node.path, "summary": node.summary, "confidence": hundredths(*confidence)});
        let results: Vec<Value> = ranked.iter().take(asked.limit).map(result).collect();
        Ok(json_result(&noted(view, json!({"results": results}))))
    }))
}

fn expand(given: &Arguments) -> Result<Action, Refusal> {
    let name = needed_name(given, EXPAND, &["tool_id", "tool", "name"])?;
    Ok(Action::Describe(Describe::one(name, Level::Full), |view, describe| {
        let position = tool(view, &describe.names[0])?;
        let entry = view.entry(position);
        let mut whole = Object::parse(&entry.definition).unwrap_or_default();
        let mut answer = Object::new()
            .with("tool_id", &entry.id.to_string())
            .with("path", &Places::of(view).path(position, &[]))
            .with("summary", &lines(entry).summary);
        for (key, shown) in [("inputSchema", "args_schema"), ("outputSchema", "result_schema")] {
            match whole.remove(key) {
                Some(schema) => answer.set_raw(shown, schema),
                None => answer.set(shown, &Value::Null),
            };
        }
        Ok(json_result(&answer))
    }))
}
