//! `toolfold permissions`: the rules of a host, out of what Toolfold knows of its tools.
//!
//! What a reader would get wrong: exact names alone. Hosts have had patterns that matched too much, or nothing.

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolfold_disclosure::{View, tools};
use toolfold_gateway::Gateway;
use toolfold_wire::{Object, Raw};

use super::Fail;
use super::ask::Answer;
use super::open;
use super::output::as_json;

/// Tools of one pattern: a host reads it before every call.
const MOST_NAMED: usize = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub(crate) enum Host {
    ClaudeCode,
    Codex,
    Cursor,
    Gemini,
    Vscode,
}

#[derive(Debug, Args, Serialize, Deserialize)]
#[command(
    after_help = "What only reads is allowed, and for everything else the user is asked. Nothing is written: the rules go into

  claude-code  .claude/settings.json
  codex        ~/.codex/config.toml
  cursor       ~/.cursor/permissions.json
  gemini       ~/.gemini/policies/toolfold.toml
  vscode       .vscode/settings.json

Only Gemini can tell tools apart behind `call_tool`; for Claude Code and Cursor `toolfold hook` does."
)]
pub(crate) struct Permissions {
    /// Whose rules
    #[arg(long = "for", value_name = "HOST")]
    host: Host,
    /// What the host calls Toolfold
    #[arg(long, value_name = "NAME", default_value = "toolfold")]
    name: String,
}

/// What there are rules about.
struct Known {
    /// Tools that the host lists, each with whether it only reads.
    listed: Vec<(String, bool)>,
    /// Tools behind them that only read, and may be called.
    reading: Vec<String>,
}

impl Permissions {
    pub(crate) fn answer(&self, gateway: &Gateway, view: &View<'_>) -> Result<Answer, Fail> {
        let client = open::asker();
        let listed = tools(gateway.config().surface, view);
        let reading = view.tools().map(|place| view.entry(place));
        let reading =
            reading.filter(|entry| entry.hints.read_only == Some(true) && gateway.access().may_call(&client, entry));
        let known = Known {
            listed: listed.iter().filter_map(listed_tool).collect(),
            reading: reading.map(|entry| entry.id.to_string()).take(MOST_NAMED).collect(),
        };
        Ok(Answer::new(self.rules(&known)?))
    }

    fn rules(&self, known: &Known) -> Result<String, Fail> {
        let named = |wanted: bool, spell: &dyn Fn(&str) -> String| -> Vec<String> {
            known.listed.iter().filter(|(_, reads)| *reads == wanted).map(|(name, _)| spell(name)).collect()
        };
        let own = &self.name;
        match self.host {
            Host::ClaudeCode => {
                let spell = |name: &str| format!("mcp__{own}__{name}");
                as_json(&json!({"permissions": {"allow": named(true, &spell), "ask": named(false, &spell)}}))
            }
            Host::Cursor => as_json(&json!({"mcpAllowlist": named(true, &|name| format!("{own}:{name}"))})),
            Host::Vscode => {
                let all: serde_json::Map<String, Value> =
                    known.listed.iter().map(|(name, reads)| (name.clone(), Value::Bool(*reads))).collect();
                as_json(&json!({"chat.tools.eligibleForAutoApproval": all}))
            }
            Host::Codex => {
                let table = format!("mcp_servers.{}", quoted(own));
                let mut text = format!("[{table}]\ndefault_tools_approval_mode = \"prompt\"\n");
                for name in named(true, &quoted) {
                    text.push_str(&format!("\n[{table}.tools.{name}]\napproval_mode = \"approve\"\n"));
                }
                Ok(text)
            }
            Host::Gemini => Ok(self.gemini(known)),
        }
    }

    /// The one host whose rules see arguments.
    fn gemini(&self, known: &Known) -> String {
        let server = quoted(&self.name);
        let rule = |tool: &str, more: &str, decision: &str, priority: u32| {
            let tool = quoted(tool);
            format!(
                "[[rule]]\nmcpName = {server}\ntoolName = {tool}\n{more}decision = \"{decision}\"\npriority = {priority}\n\n"
            )
        };
        let mut text = String::new();
        for (name, reads) in &known.listed {
            text.push_str(&rule(name, "", if *reads { "allow" } else { "ask_user" }, 100));
        }
        if !known.reading.is_empty() && known.listed.iter().any(|(name, _)| name == "call_tool") {
            let names: Vec<String> = known.reading.iter().map(|id| id.replace('.', "\\.")).collect();
            let pattern = format!("\"tool\":\"(?:{})\"", names.join("|"));
            text.push_str(&rule("call_tool", &format!("argsPattern = {}\n", quoted(&pattern)), "allow", 200));
        }
        text.truncate(text.trim_end().len());
        text.push('\n');
        text
    }
}

/// A text of TOML. JSON's spelling is one of its own.
fn quoted(text: &str) -> String {
    Value::from(text).to_string()
}

fn listed_tool(definition: &Raw) -> Option<(String, bool)> {
    let definition = Object::parse(definition)?;
    let reads = definition.object("annotations").and_then(|hints| hints.read::<bool>("readOnlyHint"));
    Some((definition.string("name")?, reads == Some(true)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules(host: Host) -> String {
        let listed = vec![("find_tools".to_owned(), true), ("call_tool".to_owned(), false)];
        let known = Known { listed, reading: vec!["github.get_issue".to_owned()] };
        Permissions { host, name: "toolfold".to_owned() }.rules(&known).unwrap()
    }

    #[test]
    fn each_host_has_rules_in_its_own_form() {
        let read = |host| serde_json::from_str::<Value>(&rules(host)).unwrap();
        let claude =
            json!({"permissions": {"allow": ["mcp__toolfold__find_tools"], "ask": ["mcp__toolfold__call_tool"]}});
        assert_eq!(read(Host::ClaudeCode), claude);
        assert_eq!(read(Host::Cursor), json!({"mcpAllowlist": ["toolfold:find_tools"]}));
        let code = json!({"chat.tools.eligibleForAutoApproval": {"find_tools": true, "call_tool": false}});
        assert_eq!(read(Host::Vscode), code);
        let codex = "[mcp_servers.\"toolfold\"]\ndefault_tools_approval_mode = \"prompt\"\n\n[mcp_servers.\"toolfold\".tools.\"find_tools\"]\napproval_mode = \"approve\"\n";
        assert_eq!(rules(Host::Codex), codex);
        let gemini = rules(Host::Gemini);
        assert_eq!(gemini.matches("[[rule]]").count(), 3);
        assert!(gemini.contains(r#"argsPattern = "\"tool\":\"(?:github\\.get_issue)\"""#), "{gemini}");
    }
}
