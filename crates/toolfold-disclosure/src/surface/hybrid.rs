//! `hybrid`: the pinned tools as they are, a search for the rest, and a tool that calls what was found.

use serde_json::{Value, json};
use toolfold_core::{Format, Refusal};

use super::next::Wish;
use super::places::Places;
use super::request::Arguments;
use super::{Action, Meta, View, call_through, found, json_result, text_result, xml};
use crate::level::summary;

const SEARCH: &str = "search_tools";
const USE: &str = "use_tool";

pub(super) const DEFINITIONS: [&str; 2] = [
    SEARCH_DEFINITION,
    r#"{"name":"use_tool","description":"Execute a tool that search_tools found.","inputSchema":{"type":"object","properties":{"name":{"type":"string","description":"From search_tools"},"arguments":{"type":"object","description":"The tool's own arguments"}},"required":["name","arguments"]},"_meta":{"anthropic/alwaysLoad":true}}"#,
];

pub(super) const SEARCH_DEFINITION: &str = r#"{"name":"search_tools","description":"Search for tools by what they do. Returns names and descriptions.","inputSchema":{"type":"object","properties":{"query":{"type":"string","description":"What the tool should do, e.g. \"lights\""},"category":{"type":"string","description":"Only in this category, as results name it"}},"required":["query"]},"_meta":{"anthropic/alwaysLoad":true}}"#;

pub(super) const RULES: &str = "More tools than those listed are behind search_tools. Do not assume that a tool exists: \
    search first, with a short phrase for one step at a time, in a category if one seems right, without it when unsure. \
    Then execute with use_tool; a refusal for wrong arguments shows the schema. When refused, follow the hints and \
    next_action.";

const SHOWN: usize = 10;

pub(super) fn meta(name: &str) -> Option<Meta> {
    match name {
        SEARCH => Some(|view, _, given| search(view, &given)),
        USE => Some(|view, _, given| call_through(view, given, USE, &["name", "tool"], SEARCH)),
        _ => None,
    }
}

pub(super) fn next(wish: &Wish) -> (&'static str, Value) {
    match wish {
        Wish::Anything => (SEARCH, json!({"query": ""})),
        Wish::Query(query) | Wish::Tool(query) => (SEARCH, json!({"query": query})),
        Wish::Path(path) => (SEARCH, json!({"query": "", "category": path.join("/")})),
    }
}

/// The search of this surface and of `two-phase`.
pub(super) fn search(view: &View<'_>, given: &Arguments) -> Result<Action, Refusal> {
    let tools = pointers(view, given, true)?;
    Ok(Action::Answer(match view.settings.format {
        Format::Json => json_result(&json!({"tools": tools})),
        Format::Xml => text_result(&xml::tools(&tools)),
    }))
}

/// What was found, each with a name, a description, tags, and its category where that is wanted.
pub(super) fn pointers(view: &View<'_>, given: &Arguments, categories: bool) -> Result<Vec<Value>, Refusal> {
    let query = given.text("query")?.unwrap_or_default();
    let found = found(view, &query, &given.path("category")?, SHOWN)?;
    let places = Places::of(view);
    let pointer = |position: usize| {
        let mut pointer =
            json!({"name": view.catalog.exposed(position), "description": summary(view.catalog.entry(position))});
        if categories {
            pointer["category"] = json!(places.category(position));
        }
        pointer["tags"] = json!(places.tags(position));
        pointer
    };
    Ok(found.hits.iter().map(|hit| pointer(hit.entry)).collect())
}
