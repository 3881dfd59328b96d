//! Rules of a host, in its own file and in its own form: which tools it lets through, asks its person about, or refuses.
//!
//! What a reader would get wrong: nothing that somebody else wrote is changed or taken out. A rule that was there already is
//! theirs, one that we wrote and somebody changed is theirs from then on, and one of ours that is not wanted any more goes.

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::edit::{self, EditError, Shape, Slot, Traces};
use crate::environment::Environment;
use crate::files;
use crate::format::FileFormat;
use crate::install::{Book, FileChange, InstallError, InstallPlan, Noted, preview, undo_noted};
use crate::table::{KnownClient, RuleFile, RuleForm};

/// What a host does when a model wants to call a tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HostVerdict {
    Allow,
    Ask,
    Deny,
}

/// What a host is to be told.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostRules {
    /// What it calls Toolfold.
    pub name: String,
    /// The tools that it lists.
    pub tools: Vec<(String, HostVerdict)>,
    /// Tools behind them that only read, and may be called.
    pub reading: Vec<String>,
}

/// One rule in somebody's file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct PlacedRule {
    slot: Slot,
    value: Value,
    traces: Traces,
}

/// What writing these rules would do.
pub fn plan_rules(
    environment: &Environment,
    client: &'static KnownClient,
    rules: &HostRules,
) -> Result<InstallPlan, InstallError> {
    let file = client.rules.as_ref().ok_or(InstallError::NoRules(client.name))?;
    let path = file.path(environment).ok_or(InstallError::NoHome)?;
    let before = files::read(&path)?;
    let text = before.clone().unwrap_or_default();
    let failed = |source| InstallError::Edit { path: path.clone(), source };
    let root = file.format.parse(&text).map_err(|broken| failed(broken.into()))?;
    if file.form == RuleForm::ToolModes && root.pointer(&format!("/mcp_servers/{}", pointed(&rules.name))).is_none() {
        return Err(InstallError::NoEntry { path, name: rules.name.clone() });
    }
    let book = format!("{}-rules", client.id);
    let noted = Book::open(environment, &book)?.read();
    let earlier = noted.into_iter().find(|note| note.path == path).map(|note| note.rules).unwrap_or_default();
    let mut writing = Writing { format: file.format, text, preview: String::new() };
    let placed = writing.write(file, rules, &earlier).map_err(failed)?;
    let is_same = before.as_deref().unwrap_or_default() == writing.text;
    let change = (!is_same).then(|| {
        let slot = Slot { container: Vec::new(), shape: Shape::Map, name: "rules".to_owned() };
        let Writing { format, text, preview } = writing;
        FileChange::noted(path.clone(), format, before, text, preview, (slot, Traces::default(), placed))
    });
    Ok(InstallPlan { client, path, changes: change.into_iter().collect(), book })
}

/// What taking them out again would do.
pub fn plan_rules_undo(environment: &Environment, client: &'static KnownClient) -> Result<InstallPlan, InstallError> {
    let file = client.rules.as_ref().ok_or(InstallError::NoRules(client.name))?;
    let path = file.path(environment).ok_or(InstallError::NoHome)?;
    let book = format!("{}-rules", client.id);
    let mut changes = Vec::new();
    for note in &Book::open(environment, &book)?.read() {
        changes.extend(undo_noted(note)?);
    }
    Ok(InstallPlan { client, path, changes, book })
}

/// The rules as they would stand in a file with nothing else in it.
pub fn rules_text(client: &KnownClient, rules: &HostRules) -> Option<String> {
    let file = client.rules.as_ref()?;
    let mut writing = Writing { format: file.format, text: String::new(), preview: String::new() };
    writing.write(file, rules, &[]).ok()?;
    Some(writing.text)
}

/// The file without the rules of ours that are still as we wrote them.
pub(crate) fn without_rules(note: &Noted, now: String) -> Result<Option<FileChange>, InstallError> {
    let failed = |source| InstallError::Edit { path: note.path.clone(), source };
    let mut writing = Writing { format: note.format, text: now.clone(), preview: String::new() };
    for rule in note.rules.iter().rev() {
        writing.remove(rule).map_err(failed)?;
    }
    let Writing { text, preview, .. } = writing;
    let changed = (text != now).then(|| FileChange {
        path: note.path.clone(),
        before: Some(now),
        after: Some(text),
        preview,
        noted: None,
    });
    Ok(changed)
}

/// A text on its way, with what was done to it so far.
struct Writing {
    format: FileFormat,
    text: String,
    preview: String,
}

impl Writing {
    /// All that is wanted in, and what was wanted before and is not now out; what of it is ours.
    fn write(
        &mut self,
        file: &RuleFile,
        rules: &HostRules,
        earlier: &[PlacedRule],
    ) -> Result<Vec<PlacedRule>, EditError> {
        let wanted = wanted(file.form, rules);
        let is_wanted = |rule: &&PlacedRule| wanted.iter().any(|(slot, _)| *slot == rule.slot);
        for rule in earlier.iter().rev().filter(|rule| !is_wanted(rule)) {
            self.remove(rule)?;
        }
        let mut placed = Vec::new();
        for (slot, value) in wanted {
            let ours = earlier.iter().find(|rule| rule.slot == slot);
            let root = self.format.parse(&self.text)?;
            let theirs = slot.shape != Shape::Block
                && edit::get(&root, &slot).is_some_and(|found| ours.is_none_or(|rule| rule.value != *found));
            if theirs {
                continue;
            }
            let edited = match &value {
                Value::String(lines) if slot.shape == Shape::Block => edit::set_block(&self.text, lines)?,
                value => edit::set(self.format, &self.text, &slot, value)?,
            };
            let fresh = edited.as_ref().map(|edited| edited.traces.clone()).unwrap_or_default();
            let traces = ours.map_or(fresh, |rule| rule.traces.clone());
            placed.push(PlacedRule { slot, value, traces });
            self.take(edited);
        }
        Ok(placed)
    }

    fn remove(&mut self, rule: &PlacedRule) -> Result<(), EditError> {
        let edited = match rule.slot.shape {
            Shape::Block => edit::remove_block(&self.text)?,
            _ if edit::get(&self.format.parse(&self.text)?, &rule.slot) != Some(&rule.value) => None,
            _ => edit::remove(self.format, &self.text, &rule.slot, &rule.traces)?,
        };
        self.take(edited);
        Ok(())
    }

    fn take(&mut self, edited: Option<edit::Edited>) {
        if let Some(edited) = edited {
            self.preview.push_str(&preview(&self.text, &edited));
            self.text = edited.text;
        }
    }
}

/// Each rule and where it goes.
fn wanted(form: RuleForm, rules: &HostRules) -> Vec<(Slot, Value)> {
    let own = &rules.name;
    let slot = |container: &[&str], shape, name: &str| Slot {
        container: container.iter().map(|key| (*key).to_owned()).collect(),
        shape,
        name: name.to_owned(),
    };
    let listed = |container: &[&str], item: String| (slot(container, Shape::Strings, &item), Value::from(item.clone()));
    let tools = rules.tools.iter();
    match form {
        RuleForm::Lists => tools
            .map(|(tool, verdict)| {
                let list = match verdict {
                    HostVerdict::Allow => "allow",
                    HostVerdict::Ask => "ask",
                    HostVerdict::Deny => "deny",
                };
                listed(&["permissions", list], format!("mcp__{own}__{tool}"))
            })
            .collect(),
        RuleForm::AllowList => tools
            .filter(|(_, verdict)| *verdict == HostVerdict::Allow)
            .map(|(tool, _)| listed(&["mcpAllowlist"], format!("{own}:{tool}")))
            .collect(),
        RuleForm::Flags => tools
            .map(|(tool, verdict)| {
                let eligible = Value::from(*verdict == HostVerdict::Allow);
                (slot(&["chat.tools.eligibleForAutoApproval"], Shape::Map, tool), eligible)
            })
            .collect(),
        RuleForm::ToolModes => tools
            .map(|(tool, verdict)| {
                let mode = if *verdict == HostVerdict::Allow { "approve" } else { "prompt" };
                (slot(&["mcp_servers", own, "tools"], Shape::Map, tool), json!({"approval_mode": mode}))
            })
            .collect(),
        RuleForm::Policies => vec![(slot(&[], Shape::Block, "rules"), Value::from(policies(rules)))],
    }
}

/// The one host whose rules see arguments.
fn policies(rules: &HostRules) -> String {
    let quoted = |text: &str| Value::from(text).to_string();
    let server = quoted(&rules.name);
    let rule = |tool: &str, more: &str, decision: &str, priority: u32| {
        let tool = quoted(tool);
        format!(
            "[[rule]]\nmcpName = {server}\ntoolName = {tool}\n{more}decision = \"{decision}\"\npriority = {priority}\n\n"
        )
    };
    let mut text = String::new();
    for (tool, verdict) in &rules.tools {
        let decision = match verdict {
            HostVerdict::Allow => "allow",
            HostVerdict::Ask => "ask_user",
            HostVerdict::Deny => "deny",
        };
        text.push_str(&rule(tool, "", decision, 100));
    }
    if !rules.reading.is_empty() && rules.tools.iter().any(|(tool, _)| tool == "call_tool") {
        let names: Vec<String> = rules.reading.iter().map(|id| escaped(id)).collect();
        // To the end: keys are in order there, so this is the tool that is called and none that its arguments speak of.
        let pattern = format!("\"tool\":\"(?:{})\"\\x00?\\}}$", names.join("|"));
        text.push_str(&rule("call_tool", &format!("argsPattern = {}\n", quoted(&pattern)), "allow", 200));
    }
    text.trim_end().to_owned()
}

/// A name in a regular expression over JSON.
fn escaped(id: &str) -> String {
    let json = Value::from(id).to_string();
    let special =
        |c: char| if c.is_ascii_alphanumeric() || "_-".contains(c) { c.to_string() } else { format!("\\{c}") };
    json[1..json.len() - 1].chars().map(special).collect()
}

/// A key in a JSON pointer.
fn pointed(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}
