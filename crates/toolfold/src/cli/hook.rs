//! `toolfold hook`: a host asks before it lets a model call a tool, and is answered for the tool that is really meant.
//!
//! What a reader would get wrong: this decides nothing that the gateway does not decide again. A host that allows what it is
//! told to allow, and asks its user otherwise, shows people `github.delete_repo` where it would have shown them `call_tool`.

use std::io::Read;

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolfold_core::shown_line;
use toolfold_disclosure::{Action, route};
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
that says it only reads; what may not be called here is denied; for everything else the user is asked. Nothing is started for it.

Claude Code, in settings.json:
  {\"hooks\": {\"PreToolUse\": [{\"matcher\": \"mcp__toolfold__.*\", \"hooks\": [{\"type\": \"command\", \"command\": \"toolfold hook claude-code\"}]}]}}

Cursor, in .cursor/hooks.json:
  {\"version\": 1, \"hooks\": {\"beforeMCPExecution\": [{\"command\": \"toolfold hook cursor\"}]}}"
)]
pub(crate) struct Hook {
    /// Whose question it is
    host: HookHost,
}

/// A question, as it goes to the running instance.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Question {
    host: HookHost,
    tool: String,
    arguments: Option<Value>,
}

/// What a host is told to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Allow,
    Ask,
    Deny,
}

impl Hook {
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        let mut text = String::new();
        let read = std::io::stdin().take(LARGEST).read_to_string(&mut text);
        let question = read.ok().and_then(|_| Question::read(self.host, &text));
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
    fn read(host: HookHost, text: &str) -> Option<Question> {
        let asked: Value = serde_json::from_str(text).ok()?;
        let name = asked.get("tool_name")?.as_str()?;
        // `mcp__SERVER__TOOL`; a tool's own name may have two underscores in it as well.
        let tool = name.strip_prefix("mcp__").and_then(|rest| rest.split_once("__")).map_or(name, |(_, tool)| tool);
        // Cursor sends what is in JSON as a text.
        let arguments = match asked.get("tool_input") {
            Some(Value::String(text)) => serde_json::from_str(text).ok(),
            other => other.cloned(),
        };
        Some(Question { host, tool: tool.to_owned(), arguments })
    }

    pub(crate) async fn answer(&self, gateway: &Gateway) -> Result<Answer, Fail> {
        gateway.published().await;
        let client = open::asker();
        let scope = gateway.latest(&client);
        let view = scope.view();
        let arguments: Option<Raw> = self.arguments.as_ref().map(raw);
        let (verdict, why) = match route(gateway.config().surface, &view, &self.tool, arguments.as_ref()) {
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
    let verdict = match verdict {
        Verdict::Allow => "allow",
        Verdict::Ask => "ask",
        Verdict::Deny => "deny",
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
        let asked = Question::read(HookHost::ClaudeCode, claude).unwrap();
        assert_eq!((asked.tool.as_str(), asked.arguments), ("call_tool", Some(json!({"tool": "a.b"}))));
        let pinned = r#"{"tool_name": "mcp__toolfold__github__create_issue", "tool_input": {}}"#;
        assert_eq!(Question::read(HookHost::ClaudeCode, pinned).unwrap().tool, "github__create_issue");
        let cursor = r#"{"tool_name": "call_tool", "tool_input": "{\"tool\": \"a.b\"}", "command": "toolfold"}"#;
        let asked = Question::read(HookHost::Cursor, cursor).unwrap();
        assert_eq!((asked.tool.as_str(), asked.arguments), ("call_tool", Some(json!({"tool": "a.b"}))));
        assert!(Question::read(HookHost::Cursor, "{}").is_none());
    }

    #[test]
    fn each_host_is_answered_in_its_words() {
        let said = |host| serde_json::from_str::<Value>(&said(host, Verdict::Deny, "no\u{1b}")).unwrap();
        assert_eq!(said(HookHost::ClaudeCode)["hookSpecificOutput"]["permissionDecision"], "deny");
        assert_eq!(said(HookHost::Cursor)["permission"], "deny");
        assert!(!said(HookHost::Cursor).to_string().contains('\u{1b}'));
    }
}
