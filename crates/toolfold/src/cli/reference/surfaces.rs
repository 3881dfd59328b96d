//! Every surface with its tools.

use serde_json::Value;
use toolfold_core::Surface;
use toolfold_disclosure::{MetaTool, door_tools, instructions, meta_tools, tokens};

use super::rest::kind;

const OPENING: &str = "\
# Surfaces

A surface is the set of tools that a model is shown in front of everything else. Choose one with `surface = \"…\"` in the
configuration, `--surface`, or per connection by URL: `/mcp` is the configured one, `/mcp/<surface>` any other. Whatever the surface,
pinned tools are listed beside these, and a call that names a real tool is served, listed or not. Tokens are counted with o200k_base.
";

const DOORS: &str = "
## Doors

Beside what calls everything, where `doors` in the configuration says so, on every surface but `direct`: tools that call only some tools, so that
a client can let them through without asking. Here as they are on `compact`; elsewhere their parameters are called as there. What a door does not
lead to is refused with `NOT_AUTHORIZED` and the tool that calls it.
";

pub(super) fn page() -> String {
    let mut text = OPENING.to_owned();
    for surface in Surface::ALL {
        text.push_str(&section(surface));
    }
    text.push_str(DOORS);
    for door in door_tools(Surface::Compact) {
        text.push_str(&described(&door));
    }
    text
}

fn section(surface: Surface) -> String {
    let tools = meta_tools(surface);
    let mut text = format!("\n## `{surface}`\n\n{}\n", surface.summary());
    for tool in &tools {
        text.push_str(&described(tool));
    }
    let cost: usize = tools.iter().map(|tool| tokens::count(tool.definition.get())).sum();
    if cost > 0 {
        text.push_str(&format!("\nAll of them together: {cost} tokens.\n"));
    }
    text.push_str("\nWhat a model is told at the start:\n\n");
    text.push_str(&format!("> {}\n", instructions(surface, &[])));
    text
}

fn described(tool: &MetaTool) -> String {
    let definition: Value = serde_json::from_str(tool.definition.get()).unwrap_or_default();
    let word = |key: &str| definition[key].as_str().unwrap_or_default().to_owned();
    let schema = &definition["inputSchema"];
    let empty = serde_json::Map::new();
    let required = |name: &str| schema["required"].as_array().is_some_and(|list| list.iter().any(|item| item == name));
    let parameters: Vec<String> = schema["properties"]
        .as_object()
        .unwrap_or(&empty)
        .iter()
        .map(|(name, of)| {
            let mark = if required(name) { "" } else { "?" };
            match kind(of).as_str() {
                "anything" => format!("{name}{mark}"),
                kind => format!("{name}{mark}: {kind}"),
            }
        })
        .collect();
    let listed = if tool.listed.is_empty() { String::new() } else { format!(" ({})", tool.listed) };
    format!("\n- **`{}({})`**{listed}\n  {}\n", word("name"), parameters.join(", "), word("description"))
}
