//! `toolfold import`: servers out of clients' files into `toolfold.toml`. What is shown has names, programs and hosts in it,
//! never a value.

use clap::Args;
use serde_json::{Value, json};
use toolfold_clients::{
    Environment, FoundIn, ImportOptions, ImportPlan, KnownClient, PlannedServer, USUAL_PORT, client, clients,
    plan_import, survey,
};
use toolfold_core::{shown_line, words};

use super::output::{Style, print, print_json, table, tell};
use super::own_file::{OwnFile, agreed, environment, nothing_written, shown_path};
use super::{Common, Fail};

#[derive(Args)]
#[command(
    after_help = "The files of every client that Toolfold knows are read (see `toolfold install` without a name for a list), yours \
and those of the project in this folder. Nothing is started. Secrets that are written into a client's file become variables, which \
have to be set where Toolfold is started; --keep-secrets copies them as they are instead."
)]
pub(crate) struct Import {
    /// Only what this client has; may be given several times
    #[arg(long, value_name = "CLIENT", value_parser = known_client)]
    from: Vec<&'static KnownClient>,
    /// Show what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Write without asking
    #[arg(long, short, conflicts_with = "dry_run")]
    yes: bool,
    /// Copy secrets into toolfold.toml as they are
    #[arg(long)]
    keep_secrets: bool,
}

/// A client of the table, by its id or its name.
pub(crate) fn known_client(typed: &str) -> Result<&'static KnownClient, String> {
    let plain = typed.trim().to_lowercase().replace([' ', '_'], "-");
    let by_name = || clients().find(|client| client.name.to_lowercase().replace(' ', "-") == plain);
    client(&plain).or_else(by_name).ok_or_else(|| match words::nearest(&plain, clients().map(|client| client.id)) {
        Some(near) => format!("did you mean {near}?"),
        None => format!("known are {}", clients().map(|client| client.id).collect::<Vec<_>>().join(", ")),
    })
}

impl Import {
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        let options = common.options();
        let environment = environment(&options);
        let file = OwnFile::find(common)?;
        let port = toolfold_config::load(&options).map_or(USUAL_PORT, |loaded| loaded.config.http.listen.port());
        let how = ImportOptions { port, keep_secrets: self.keep_secrets };
        let seen = survey(&environment, &self.from);
        let refused = |text: &str| file.refused(text, &options);
        let plan =
            plan_import(&seen, file.text(), &how, &environment, &refused).map_err(|error| file.broken(&error))?;
        let fresh = plan.servers.iter().filter(|server| server.known_as.is_none()).count();
        let style = Style::here(common.json);
        if !common.json {
            show(&plan, &file, fresh, &environment, style)?;
        }
        let write = fresh > 0 && !self.dry_run && agreed(&format!("Write {}?", file.shown(&environment)), self.yes);
        if write {
            file.write(&plan.text, &options)?;
        }
        if common.json {
            print_json(&as_json(&plan, &file, write, &environment))?;
        } else if write {
            tell(&format!("Wrote {}. Next: toolfold install {}", file.shown(&environment), whose(&plan)));
        } else if fresh > 0 && !self.dry_run {
            nothing_written();
        }
        match plan.servers.is_empty() && plan.left_out.is_empty() && !common.json {
            true => Err(Fail::nothing("No client has a server configured here.")
                .hint("`toolfold add` adds one by name, URL or command")),
            false => Ok(()),
        }
    }
}

/// The clients that the servers are from, as they are typed.
fn whose(plan: &ImportPlan) -> String {
    let is_source = |client: &&KnownClient| {
        let from = plan.servers.iter().flat_map(|server| &server.from);
        client.is_written && from.into_iter().any(|from| from.client == client.name)
    };
    let ids: Vec<&str> = clients().filter(is_source).map(|client| client.id).collect();
    if ids.is_empty() { "CLIENT".to_owned() } else { ids.join(" ") }
}

fn show(plan: &ImportPlan, file: &OwnFile, fresh: usize, environment: &Environment, style: Style) -> Result<(), Fail> {
    let line = |text: &str| shown_line(text).into_owned();
    let rows: Vec<Vec<String>> = plan
        .servers
        .iter()
        .map(|server| {
            let from: Vec<String> = server.from.iter().map(|from| place(from, environment)).collect();
            vec![line(&server.name), line(&server.definition.told()), from.join(", ")]
        })
        .collect();
    let mut text = table(&rows);
    for server in &plan.servers {
        for note in &server.notes {
            text.push_str(&format!("  {}: {}\n", line(&server.name), line(note)));
        }
    }
    for left in &plan.left_out {
        let from = place(&left.from, environment);
        text.push_str(&format!("  {} of {from} is left out: {}\n", line(&left.name), line(&left.why)));
    }
    for (path, why) in &plan.unreadable {
        text.push_str(&format!("  {} cannot be read: {}\n", shown_path(path, environment), line(why)));
    }
    let unset = unset(plan, environment);
    if !unset.is_empty() {
        text.push_str(&format!("\n{}\n", style.bold("Set these variables where Toolfold is started:")));
        let width = unset.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        for (name, places) in &unset {
            text.push_str(&format!("  {name:<width$}  {}\n", style.dim(&places.join(", "))));
        }
    }
    if !plan.servers.is_empty() {
        let known = plan.servers.len() - fresh;
        let already = if known > 0 { format!(", {known} there already") } else { String::new() };
        text.push_str(&format!("\n{}: {fresh} new{already}.\n", file.shown(environment)));
    }
    if text.is_empty() { Ok(()) } else { print(&text) }
}

fn place(from: &FoundIn, environment: &Environment) -> String {
    let scope = from.scope.to_string();
    let scope = if scope == "user" { String::new() } else { format!(", {}", shown_line(&scope)) };
    format!("{} ({}{scope})", from.client, shown_path(&from.path, environment))
}

/// Variables that new servers need and that are not set here, each with where its value is now.
fn unset(plan: &ImportPlan, environment: &Environment) -> Vec<(String, Vec<String>)> {
    let mut all: Vec<(String, Vec<String>)> = Vec::new();
    let on = |server: &&PlannedServer| server.known_as.is_none() && !server.definition.is_off;
    for server in plan.servers.iter().filter(on) {
        for name in server.definition.needs().into_iter().filter(|name| !environment.variables.contains_key(name)) {
            let moved = server.secrets.iter().find(|secret| secret.variable == name);
            let place = match (moved, server.from.first()) {
                (Some(secret), Some(from)) => {
                    let entry = shown_line(&from.name).into_owned();
                    format!("{} of {entry} in {}", shown_line(&secret.place), shown_path(&from.path, environment))
                }
                _ => format!("for {}", server.name),
            };
            match all.iter_mut().find(|(known, _)| *known == name) {
                Some((_, places)) => places.push(place),
                None => all.push((name, vec![place])),
            }
        }
    }
    all
}

fn as_json(plan: &ImportPlan, file: &OwnFile, written: bool, environment: &Environment) -> Value {
    let from = |from: &FoundIn| json!({"client": from.client, "scope": from.scope.to_string(), "file": from.path, "name": from.name});
    let server = |server: &PlannedServer| {
        json!({
            "name": server.name,
            "what": server.definition.told(),
            "enabled": !server.definition.is_off,
            "from": server.from.iter().map(from).collect::<Vec<_>>(),
            "notes": server.notes,
            "variables": server.definition.needs(),
            "known_as": server.known_as,
        })
    };
    let left: Vec<Value> = plan
        .left_out
        .iter()
        .map(|left| json!({"name": left.name, "from": from(&left.from), "why": left.why}))
        .collect();
    json!({
        "file": file.path,
        "written": written,
        "servers": plan.servers.iter().map(server).collect::<Vec<_>>(),
        "left_out": left,
        "unreadable": plan.unreadable.iter().map(|(path, why)| json!({"file": path, "why": why})).collect::<Vec<_>>(),
        "unset_variables": unset(plan, environment).into_iter().map(|(name, _)| name).collect::<Vec<_>>(),
    })
}
