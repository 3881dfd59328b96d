//! A small catalog: three servers, one of them without prefix, with the odd things real ones have.

use std::sync::Arc;

use serde_json::{Value, json};
use toolfold_catalog::{Catalog, ServerSource, ServerTools};
use toolfold_core::{Absent, Entry, ServerName, Surface, SurfaceSettings};
use toolfold_disclosure::{Action, View, answer, is_reserved, refusal_result, route};
use toolfold_index::{Index, Placement};
use toolfold_wire::{Raw, raw, raw_of};

/// Every surface that calls through a meta-tool, that meta-tool, and what it calls the tool by.
pub(crate) const CALLERS: [(Surface, &str, &str); 9] = [
    (Surface::Compact, "call_tool", "tool"),
    (Surface::Hybrid, "use_tool", "name"),
    (Surface::TwoPhase, "call_tool", "tool"),
    (Surface::Single, "discover_and_use_tool", "tool_name"),
    (Surface::Lifecycle, "call_tool", "tool"),
    (Surface::Levels, "call_tool", "tool"),
    (Surface::Ontology, "call_tool", "tool_id"),
    (Surface::Backends, "gateway_call_tool", "toolName"),
    (Surface::Code, "call_tool", "tool"),
];

pub(crate) struct Fixture {
    pub(crate) catalog: Catalog,
    pub(crate) index: Index,
    pub(crate) pins: Vec<usize>,
    pub(crate) budget: usize,
    pub(crate) settings: SurfaceSettings,
    pub(crate) absent: Vec<Absent>,
}

impl Fixture {
    pub(crate) fn new() -> Fixture {
        Fixture::of([github(), slack(), notes()])
    }

    pub(crate) fn of(servers: impl IntoIterator<Item = ServerSource>) -> Fixture {
        let servers = servers.into_iter().map(|source| Arc::new(ServerTools::read(source).0));
        let catalog = Catalog::merge_beside(1, servers, is_reserved);
        let index = Index::build(&catalog);
        let catalog = Placement::default().update(&[], &catalog, &index).apply(catalog);
        Fixture {
            catalog,
            index,
            pins: Vec::new(),
            budget: 700,
            settings: SurfaceSettings::default(),
            absent: Vec::new(),
        }
    }

    pub(crate) fn view(&self) -> View<'_> {
        View::new(&self.catalog, &self.index, self.budget)
            .pinned(&self.pins)
            .in_session(true)
            .with_settings(self.settings)
            .missing(&self.absent)
    }

    /// The JSON that a client of this surface gets from a meta-tool.
    pub(crate) fn say(&self, surface: Surface, name: &str, arguments: Value) -> Value {
        let action = route(surface, &self.view(), name, Some(&raw(&arguments)));
        let result = answer(surface, &self.view(), &action).unwrap_or_else(|refusal| refusal_result(&refusal));
        let said: Value = serde_json::from_str(&text(&result)).unwrap();
        let whole: Value = serde_json::from_str(result.get()).unwrap();
        assert!(!said.is_object() || whole["structuredContent"] == said, "both forms say the same");
        said
    }

    pub(crate) fn pinned(mut self, names: &[&str]) -> Fixture {
        self.pins = names.iter().map(|name| self.catalog.resolve(name).unwrap()).collect();
        self
    }

    pub(crate) fn entry(&self, name: &str) -> &Entry {
        self.catalog.entry(self.catalog.resolve(name).unwrap())
    }

    pub(crate) fn route(&self, name: &str, arguments: Value) -> Action {
        route(Surface::Compact, &self.view(), name, Some(&raw(&arguments)))
    }

    /// What a model reads when it calls `find_tools` with these arguments.
    pub(crate) fn find(&self, arguments: Value) -> String {
        self.ask("find_tools", arguments)
    }

    pub(crate) fn ask(&self, name: &str, arguments: Value) -> String {
        let action = self.route(name, arguments);
        let result = answer(Surface::Compact, &self.view(), &action).unwrap_or_else(|refusal| refusal_result(&refusal));
        text(&result)
    }
}

pub(crate) fn text(result: &Raw) -> String {
    let result: Value = serde_json::from_str(result.get()).unwrap();
    result["content"][0]["text"].as_str().unwrap().to_owned()
}

pub(crate) fn source(name: &str, tools: &[Value]) -> ServerSource {
    let tools = tools.iter().map(raw).collect();
    ServerSource { name: ServerName::new(name).unwrap(), prefix: true, title: None, instructions: None, tools }
}

pub(crate) fn tool(name: &str, description: &str, schema: Value) -> Value {
    json!({"name": name, "description": description, "inputSchema": schema})
}

pub(crate) fn entry(schema: Value) -> Entry {
    let server = ServerName::new("s").unwrap();
    Entry::tool(&server, &raw(&tool("t", "Does a thing.", schema))).unwrap()
}

pub(crate) fn github() -> ServerSource {
    let repo =
        json!({"owner": {"type": "string", "description": "Owner of the repository"}, "repo": {"type": "string"}});
    let with = |more: Value, required: Value| {
        let mut properties = repo.clone();
        for (key, value) in more.as_object().unwrap() {
            properties[key] = value.clone();
        }
        json!({"type": "object", "properties": properties, "required": required})
    };
    let mut source = source(
        "github",
        &[
            tool(
                "create_issue",
                "Create a new issue in a GitHub repository. Labels must exist. Returns the issue.",
                with(
                    json!({
                        "title": {"type": "string", "minLength": 1},
                        "body": {"type": "string"},
                        "labels": {"type": "array", "items": {"type": "string"}},
                    }),
                    json!(["owner", "repo", "title"]),
                ),
            ),
            tool(
                "list_issues",
                "List issues in a repository, with filters for state and labels and with pagination of the result pages",
                with(
                    json!({
                        "state": {"enum": ["open", "closed", "all"], "default": "open", "description": "Which issues"},
                        "filter": {"$ref": "#/$defs/Filter"},
                    }),
                    json!(["owner", "repo"]),
                ),
            ),
            tool(
                "merge_pull_request",
                "Merge a pull request",
                with(json!({"number": {"type": "integer"}}), json!(["owner", "repo", "number"])),
            ),
        ],
    );
    // References are resolved where they are shown.
    let definition = source.tools[1].get().replacen(
        "\"type\":\"object\"",
        r##""$defs":{"Filter":{"type":"object","properties":{"label":{"type":"string","description":"A label"},"since":{"type":"string","format":"date-time"}},"required":["label"]}},"type":"object""##,
        1,
    );
    source.tools[1] = raw_of(&definition).unwrap();
    source.instructions = Some("# GitHub\nWork with issues and pull requests. Use search first.".to_owned());
    source
}

pub(crate) fn slack() -> ServerSource {
    source(
        "slack",
        &[
            tool(
                "post_message",
                "This tool posts a message to a channel",
                json!({"type": "object", "properties": {"channel": {"type": "string"}, "text": {"type": "string"}}, "required": ["channel", "text"], "additionalProperties": false}),
            ),
            json!({"name": "list_channels", "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}}),
        ],
    )
}

pub(crate) fn notes() -> ServerSource {
    let spaced = r#"{ "name" : "search",  "description": "Search notes by text", "inputSchema": {"type": "object", "properties": {"q": {"type": "string"}}, "required": ["q"]},
  "execution": {"taskSupport": "optional"} }"#;
    let mut source = source("notes", &[tool("call_tool", "Calls whoever wrote the note.", json!({"type": "object"}))]);
    source.tools.push(raw_of(spaced).unwrap());
    source.prefix = false;
    source
}
