//! `toolfold permissions`: the rules of a host, out of what Toolfold knows of its tools and of who may call them.
//!
//! What a reader would get wrong: the host decides about the tools that it lists. What is behind `call_tool` is told apart by
//! doors, by `toolfold hook`, or by a host whose rules see arguments.

use clap::{Args, ValueEnum};
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolfold_clients::{
    Environment, HostRules, HostVerdict, InstallError, InstallPlan, KnownClient, apply_install, apply_undo, client,
    plan_rules, plan_rules_undo, rules_text,
};
use toolfold_core::shown_line;
use toolfold_disclosure::{Action, View, route, tools};
use toolfold_gateway::Gateway;
use toolfold_wire::{Object, Raw};

use super::ask::{Answer, Ask};
use super::install::shown_lines;
use super::open;
use super::output::{as_json, print, print_json};
use super::own_file::{agreed, environment, nothing_written, shown_path};
use super::{Common, Fail};

/// Tools of one pattern: a host reads it before every call.
const MOST_NAMED: usize = 500;

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Host {
    ClaudeCode,
    Codex,
    Cursor,
    Gemini,
    Vscode,
}

#[derive(Debug, Args)]
#[command(
    after_help = "What only reads is allowed, what may not be called here is denied, and for everything else the user is asked. \
The rules are printed; --write puts them into

  claude-code  ~/.claude/settings.json
  codex        ~/.codex/config.toml, where Toolfold is in it
  cursor       ~/.cursor/permissions.json
  gemini       ~/.gemini/policies/toolfold.toml
  vscode       settings.json of the user

What would be written is shown first; what was there is kept in Toolfold's state folder. Rules of others are left alone. Written \
again, rules of Toolfold's that no longer hold go. --undo gives the file back as it was where nobody has written it since, and otherwise takes out \
Toolfold's rules alone.

Only Gemini can tell tools apart behind `call_tool`; for Claude Code and Cursor `toolfold hook` does, and for every host `doors` in \
the configuration."
)]
pub(crate) struct Permissions {
    /// Whose rules
    #[arg(long = "for", value_name = "HOST")]
    host: Host,
    /// What the host calls Toolfold
    #[arg(long, value_name = "NAME", default_value = "toolfold")]
    name: String,
    /// Write them into the host's own file
    #[arg(long)]
    write: bool,
    /// Take out again what was written
    #[arg(long, conflicts_with = "write")]
    undo: bool,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Write without asking
    #[arg(long, short, conflicts_with = "dry_run")]
    yes: bool,
}

/// What a gateway is asked for them.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct RuleQuestion {
    name: String,
}

impl Permissions {
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        let client = self.host.client()?;
        if self.undo {
            let environment = environment(&common.options());
            let plan = plan_rules_undo(&environment, client).map_err(|error| failed(&error))?;
            return self.carry_out(common, &environment, &plan);
        }
        let answer = open::ask(common, Ask::Permissions(RuleQuestion { name: self.name.clone() }))?;
        let rules: HostRules =
            serde_json::from_str(&answer.text).map_err(|_| Fail::machine("the rules could not be read"))?;
        if !self.write && !self.dry_run {
            let text =
                rules_text(client, &rules).ok_or_else(|| Fail::machine("the rules could not be written down"))?;
            return print(text.trim_end());
        }
        let environment = environment(&common.options());
        let plan = plan_rules(&environment, client, &rules).map_err(|error| failed(&error))?;
        self.carry_out(common, &environment, &plan)
    }

    /// Shows a plan, and does what it says where that is wanted.
    fn carry_out(&self, common: &Common, environment: &Environment, plan: &InstallPlan) -> Result<(), Fail> {
        let (name, file) = (plan.client.name, shown_path(&plan.path, environment));
        let say = |text: &str| if common.json { Ok(()) } else { print(text) };
        for change in &plan.changes {
            say(&format!("{name}: {}\n{}", shown_path(&change.path, environment), shown_lines(&change.preview)))?;
        }
        let wanted = !plan.changes.is_empty() && !self.dry_run;
        let written = wanted && agreed(&format!("Write it for {name}?"), self.yes);
        let mut backups = Vec::new();
        if written && self.undo {
            apply_undo(environment, plan).map_err(|error| failed(&error))?;
        } else if written {
            backups = apply_install(environment, plan).map_err(|error| failed(&error))?;
        }
        if common.json {
            let changes = plan.changes.iter().map(|change| json!({"file": change.path, "preview": change.preview}));
            let changes: Vec<_> = changes.collect();
            return print_json(&json!({
                "client": plan.client.id, "file": plan.path, "written": written, "changes": changes, "backups": backups,
            }));
        }
        match (plan.changes.is_empty(), written) {
            (true, _) if self.undo => say(&format!("{name}: no rules of Toolfold's are in {file}.")),
            (true, _) => say(&format!("{name}: nothing to do, {file} is as it should be.")),
            (false, true) => {
                let mut text = format!("{name}: the rules are {}.", if self.undo { "out" } else { "in" });
                for backup in &backups {
                    text.push_str(&format!("\n  as it was: {}", shown_path(backup, environment)));
                }
                say(&text)
            }
            (false, false) => {
                if !self.dry_run {
                    nothing_written();
                }
                Ok(())
            }
        }
    }
}

impl Host {
    fn client(self) -> Result<&'static KnownClient, Fail> {
        let id = self.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default();
        client(&id).ok_or_else(|| Fail::machine(format!("{id} is in no table of clients")))
    }
}

impl RuleQuestion {
    pub(crate) fn answer(&self, gateway: &Gateway, view: &View<'_>) -> Result<Answer, Fail> {
        let (asker, surface) = (open::asker(), gateway.config().surface);
        let may_call = |name: &str| match route(surface, view, name, None) {
            Action::Call { entry, .. } => gateway.access().may_call(&asker, view.entry(entry)),
            _ => true,
        };
        let rule = |definition: &Raw| {
            let (name, reads) = listed_tool(definition)?;
            let verdict = match may_call(&name) {
                false => HostVerdict::Deny,
                true if reads => HostVerdict::Allow,
                true => HostVerdict::Ask,
            };
            Some((name, verdict))
        };
        let reading = view.tools().map(|place| view.entry(place));
        let reading = reading.filter(|entry| entry.only_reads() && gateway.access().may_call(&asker, entry));
        let rules = HostRules {
            name: self.name.clone(),
            tools: tools(surface, view).iter().filter_map(rule).collect(),
            reading: reading.map(|entry| entry.id.to_string()).take(MOST_NAMED).collect(),
        };
        Ok(Answer::new(as_json(&rules)?))
    }
}

fn failed(error: &InstallError) -> Fail {
    let fail = Fail::usage(shown_line(&error.to_string()));
    match error {
        InstallError::NoEntry { .. } => {
            fail.hint("`toolfold install codex` puts it in; --name says what it is called there")
        }
        InstallError::Edit { .. } => fail.hint("nothing was written; mend the file, or change it by hand"),
        InstallError::NoHome | InstallError::NoState => fail.hint("set HOME"),
        _ => fail,
    }
}

fn listed_tool(definition: &Raw) -> Option<(String, bool)> {
    let definition = Object::parse(definition)?;
    let hints = definition.object("annotations").unwrap_or_default();
    let reads = hints.read("readOnlyHint") == Some(true) && hints.read("destructiveHint") != Some(true);
    Some((definition.string("name")?, reads))
}
