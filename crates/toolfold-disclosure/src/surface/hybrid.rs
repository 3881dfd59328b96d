//! `hybrid`: the pinned tools as they are, a search for the rest, and a tool that calls what was found.

use serde_json::{Value, json};
use toolfold_core::{Format, Next, Refusal};
use toolfold_wire::Raw;

use super::lookup::{call_through, found};
use super::places::Places;
use super::request::Arguments;
use super::result::json_result;
use super::table::{Calling, Listed, Meta, Table};
use super::{Action, Search, View, noted, text_result, xml};
use crate::level::marked_summary;

const SEARCH: &str = "search_tools";
const USE: &str = "use_tool";

const CALLING: Calling =
    Calling { name: USE, keys: &["name", "tool"], arguments: "arguments", always: &[], finder: SEARCH };

pub(super) static TABLE: Table = Table {
    rules: "More tools than those listed are behind search_tools. Do not assume that a tool exists: \
    search first, with a short phrase for one step at a time, in a category if one seems right, without it when unsure. \
    Then execute with use_tool; a refusal for wrong arguments shows the schema. When refused, follow the hints and \
    next_action.",
    metas: &[
        SEARCH_META,
        Meta {
            name: USE,
            definition: r#"{"name":"use_tool","description":"Execute a tool that search_tools found.","inputSchema":{"type":"object","properties":{"name":{"type":"string","description":"From search_tools"},"arguments":{"type":"object","description":"The tool's own arguments"}},"required":["name","arguments"]},"_meta":{"anthropic/alwaysLoad":true}}"#,
            listed: Listed::Always,
            ask: |asking, given| call_through(asking, given, &CALLING),
        },
    ],
    by_server: None,
    call: Some(CALLING),
    next: |next| Some(self::next(next)),
};

/// The search of this surface and of `two-phase`.
pub(super) const SEARCH_META: Meta = Meta {
    name: SEARCH,
    definition: r#"{"name":"search_tools","description":"Search for tools by what they do. Returns names and descriptions.","inputSchema":{"type":"object","properties":{"query":{"type":"string","description":"What the tool should do, e.g. \"lights\""},"category":{"type":"string","description":"Only in this category, as results name it"}},"required":["query"]},"annotations":{"readOnlyHint":true},"_meta":{"anthropic/alwaysLoad":true}}"#,
    listed: Listed::Always,
    ask: |_, given| Ok(Action::Search(asked(&given)?, tools)),
};

const SHOWN: usize = 10;

pub(super) fn next(next: &Next) -> (&'static str, Value) {
    match next {
        Next::Overview | Next::Agents => (SEARCH, json!({"query": ""})),
        Next::Search { query } | Next::Describe { tool: query, .. } => (SEARCH, json!({"query": query})),
        Next::Browse { path } => (SEARCH, json!({"query": "", "category": path.join("/")})),
    }
}

pub(super) fn asked(given: &Arguments) -> Result<Search, Refusal> {
    Ok(Search { path: given.path("category")?, ..Search::tools(given.query()?, SHOWN) })
}

fn tools(view: &View<'_>, search: &Search) -> Result<Raw, Refusal> {
    let tools = pointers(view, search, true)?;
    Ok(match view.settings().format {
        Format::Json => json_result(&noted(view, json!({"tools": tools}))),
        Format::Xml => text_result(&xml::tools(&tools, view.what_is_missing())),
    })
}

/// What was found, each with a name, a description, tags, and its category where that is wanted. What destroys or publishes is
/// marked; `ontology` and `gateway` keep to the exact words of their designs, and mark nothing.
pub(super) fn pointers(view: &View<'_>, search: &Search, categories: bool) -> Result<Vec<Value>, Refusal> {
    let found = found(view, search)?;
    let places = Places::of(view);
    let pointer = |position: usize| {
        let mut pointer = json!({"name": view.exposed(position), "description": marked_summary(view.entry(position))});
        if categories {
            pointer["category"] = json!(places.category(position));
        }
        pointer["tags"] = json!(places.tags(position));
        pointer
    };
    Ok(found.hits.iter().map(|hit| pointer(hit.entry)).collect())
}
