//! `toolfold hook`: a host asks before it lets a model call a tool, and is answered for the tool that is really meant.
//!
//! What a reader would get wrong: this decides nothing that the gateway does not decide again. A host that allows what it is
//! told to allow, and asks its user otherwise, shows people `github.delete_repo` where it would have shown them `call_tool`.

use std::io::Read;

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolfold_clients::{ENTRY_NAME, ServerDefinition, is_own};
use toolfold_config::{Config, Http};
use toolfold_core::{Surface, shown_line};
use toolfold_disclosure::{Action, View, route};
use toolfold_gateway::Gateway;
use toolfold_wire::{Raw, raw};

use super::ask::{Answer, Ask};
use super::output::print;
use super::{Common, Fail, open};

/// Bytes of a question. The arguments of a call are in it.
const LARGEST: u64 = 16 << 20;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum, Serialize, Deserialize)]
pub(crate) enum HookHost {
    ClaudeCode,
    Cursor,
}

#[derive(Debug, Args)]
#[command(
    after_help = "Reads the host's question on stdin and answers on stdout. A search or a description is allowed, and so is a tool \
that says it only reads; what may not be called here is denied; for everything else the user is asked. Nothing is started for it. \
What is asked about another server's tool is left to the host and its user.

Claude Code, in settings.json:
  {\"hooks\": {\"PreToolUse\": [{\"matcher\": \"mcp__toolfold__.*\", \"hooks\": [{\"type\": \"command\", \"command\": \"toolfold hook claude-code\"}]}]}}

Cursor, in .cursor/hooks.json:
  {\"version\": 1, \"hooks\": {\"beforeMCPExecution\": [{\"command\": \"toolfold hook cursor\"}]}}"
)]
pub(crate) struct Hook {
    /// Whose question it is
    host: HookHost,
    /// What Toolfold is called in Claude Code's file
    #[arg(long, value_name = "NAME", default_value = ENTRY_NAME)]
    server: String,
}

/// A question, as it goes to the running instance.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Question {
    host: HookHost,
    tool: String,
    arguments: Option<Value>,
    /// Whether the host says that the tool is another server's, by the server's name.
    is_foreign: bool,
    /// What the host starts for the server, or where it reaches it. A name says nothing there: every server has a `read_file`.
    #[serde(default)]
    command: Option<String>,
    #[serde(default)]
    url: Option<String>,
}

/// What a host is told to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    /// It is none of ours.
    None,
    Allow,
    Ask,
    Deny,
}

impl Hook {
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        let mut text = String::new();
        let read = std::io::stdin().take(LARGEST).read_to_string(&mut text);
        let question = read.ok().and_then(|_| Question::read(self.host, &self.server, &text));
        let Some(question) = question else {
            let why = "the question could not be read";
            return print(&said(self.host, Verdict::Ask, why));
        };
        // A host that gets no answer may go on as if there were no hook.
        let answer = open::ask(common, Ask::Hook(question));
        let text = answer.map_or_else(|fail| said(self.host, Verdict::Ask, fail.message()), |answer| answer.text);
        print(&text)
    }
}

impl Question {
    fn read(host: HookHost, server: &str, text: &str) -> Option<Question> {
        let asked: Value = serde_json::from_str(text).ok()?;
        let name = asked.get("tool_name")?.as_str()?;
        // `mcp__SERVER__TOOL`; a tool's own name may have two underscores in it as well.
        let (of, tool) = match name.strip_prefix("mcp__") {
            Some(rest) => match rest.strip_prefix(server).and_then(|rest| rest.strip_prefix("__")) {
                Some(tool) => (true, tool),
                None => (false, rest),
            },
            // A host's own tools have names without a server; Cursor names the server beside it.
            None => (host == HookHost::Cursor, name),
        };
        // Cursor sends what is in JSON as a text.
        let arguments = match asked.get("tool_input") {
            Some(Value::String(text)) => serde_json::from_str(text).ok(),
            other => other.cloned(),
        };
        let text = |key: &str| asked.get(key).and_then(Value::as_str).map(str::to_owned);
        let (command, url) = (text("command"), text("url"));
        Some(Question { host, tool: tool.to_owned(), arguments, is_foreign: !of, command, url })
    }

    /// Whether it is about a tool that is called through this Toolfold.
    fn is_ours(&self, config: &Config) -> bool {
        if self.is_foreign {
            return false;
        }
        let (Http { listen, public_url, .. }, url) = (&config.http, self.url.as_deref().unwrap_or_default());
        let nothing_said = self.command.is_none() && self.url.is_none();
        let server = ServerDefinition { command: self.command.clone(), url: self.url.clone(), ..Default::default() };
        nothing_said
            || is_own(&server, listen.port())
            || public_url.as_ref().is_some_and(|public| url.starts_with(&format!("{public}/")))
    }

    /// What is asked for. A host may be connected to another surface than the one of the configuration, whose tools have other
    /// names and other arguments: the first that understands it counts, and that of the configuration before the others.
    fn meant(&self, configured: Surface, view: &View<'_>, arguments: Option<&Raw>) -> Action {
        let named = self.url.as_deref().and_then(|url| Surface::parse(url.rsplit_once("/mcp/")?.1));
        let meant = |surface: Surface| route(surface, view, &self.tool, arguments);
        let surfaces = || [named, Some(configured)].into_iter().flatten().chain(Surface::ALL);
        let is_understood = |action: &Action| !matches!(action, Action::Unknown(_) | Action::Refuse(_));
        // A call of something that is not there is understood better than no call at all.
        let is_call =
            |action: &Action| matches!(action, Action::Unknown(unknown) if *unknown.names != [self.tool.clone()]);
        let found = surfaces().map(meant).find(is_understood);
        found.or_else(|| surfaces().map(meant).find(is_call)).unwrap_or_else(|| meant(named.unwrap_or(configured)))
    }

    pub(crate) async fn answer(&self, gateway: &Gateway) -> Result<Answer, Fail> {
        if !self.is_ours(&gateway.config()) {
            return Ok(Answer::new(said(self.host, Verdict::None, "this is not one of its tools")));
        }
        gateway.published().await;
        let client = open::asker();
        let scope = gateway.latest(&client);
        let view = scope.view();
        let arguments: Option<Raw> = self.arguments.as_ref().map(raw);
        let (verdict, why) = match self.meant(gateway.config().surface, &view, arguments.as_ref()) {
            Action::Call { entry, .. } => {
                let entry = view.entry(entry);
                let call = format!("call {}", entry.id);
                match entry.only_reads() {
                    _ if !gateway.access().may_call(&client, entry) => {
                        (Verdict::Deny, format!("{call}: not allowed here"))
                    }
                    true => (Verdict::Allow, format!("{call}, which only reads")),
                    false if entry.hints.destructive == Some(true) => {
                        (Verdict::Ask, format!("{call}, which may destroy something"))
                    }
                    false => (Verdict::Ask, call),
                }
            }
            Action::Unknown(unknown) if view.what_is_missing().is_none() => {
                (Verdict::Deny, format!("there is no tool {}", unknown.names.join(" ")))
            }
            Action::Unknown(unknown) => (Verdict::Ask, format!("call {}, not known yet", unknown.names.join(" "))),
            Action::Run { .. } => (Verdict::Ask, "run a program that may call several tools".to_owned()),
            Action::Refuse(refusal) | Action::Shut { refusal, .. } => (Verdict::Deny, refusal.message),
            Action::Browse(..)
            | Action::Search(..)
            | Action::Nodes(..)
            | Action::Describe(..)
            | Action::Load(_)
            | Action::Active { .. }
            | Action::Read(_) => (Verdict::Allow, "only looks at the catalog".to_owned()),
        };
        Ok(Answer::new(said(self.host, verdict, &why)))
    }
}

/// The answer in the words of the host.
fn said(host: HookHost, verdict: Verdict, why: &str) -> String {
    let verdict = match (verdict, host) {
        // Without a decision Claude Code goes on as if there were no hook. Cursor has no word for that: its user decides.
        (Verdict::None, HookHost::ClaudeCode) => return "{}\n".to_owned(),
        (Verdict::None | Verdict::Ask, _) => "ask",
        (Verdict::Allow, _) => "allow",
        (Verdict::Deny, _) => "deny",
    };
    let why = format!("Toolfold: {}", shown_line(why));
    let answer = match host {
        HookHost::ClaudeCode => json!({"hookSpecificOutput": {
            "hookEventName": "PreToolUse", "permissionDecision": verdict, "permissionDecisionReason": why,
        }}),
        HookHost::Cursor => json!({"permission": verdict, "user_message": why, "agent_message": why}),
    };
    format!("{answer}\n")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn questions_of_both_hosts_are_read() {
        let claude = r#"{"hook_event_name": "PreToolUse", "tool_name": "mcp__toolfold__call_tool", "tool_input": {"tool": "a.b"}}"#;
        let read = |host, text: &str| Question::read(host, ENTRY_NAME, text);
        let asked = read(HookHost::ClaudeCode, claude).unwrap();
        assert_eq!((asked.tool.as_str(), asked.arguments), ("call_tool", Some(json!({"tool": "a.b"}))));
        let pinned = r#"{"tool_name": "mcp__toolfold__github__create_issue", "tool_input": {}}"#;
        assert_eq!(read(HookHost::ClaudeCode, pinned).unwrap().tool, "github__create_issue");
        let cursor = r#"{"tool_name": "call_tool", "tool_input": "{\"tool\": \"a.b\"}", "command": "toolfold"}"#;
        let asked = read(HookHost::Cursor, cursor).unwrap();
        assert_eq!((asked.tool.as_str(), asked.arguments), ("call_tool", Some(json!({"tool": "a.b"}))));
        assert!(read(HookHost::Cursor, "{}").is_none());
    }

    #[test]
    fn each_host_is_answered_in_its_words() {
        let said = |host| serde_json::from_str::<Value>(&said(host, Verdict::Deny, "no\u{1b}")).unwrap();
        assert_eq!(said(HookHost::ClaudeCode)["hookSpecificOutput"]["permissionDecision"], "deny");
        assert_eq!(said(HookHost::Cursor)["permission"], "deny");
        assert!(!said(HookHost::Cursor).to_string().contains('\u{1b}'));
    }
}
