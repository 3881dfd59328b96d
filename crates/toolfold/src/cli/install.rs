//! `toolfold install`: Toolfold into a client's own file, and out again. Without a client's name it lists them.

use clap::Args;
use serde_json::{Value, json};
use toolfold_clients::{
    Environment, ImportOptions, InstallError, InstallPlan, KnownClient, PlannedServer, USUAL_PORT, Verified, Way,
    apply_install, apply_undo, clients, plan_import, plan_install, plan_undo, points_here, survey, variables_in,
    verify,
};
use toolfold_config::LoadOptions;
use toolfold_core::shown_line;

use super::import::known_client;
use super::output::{print, print_json, progress, table, tell};
use super::own_file::{OwnFile, agreed, environment, nothing_written, shown_path};
use super::{Common, Fail};

#[derive(Args)]
#[command(
    after_help = "What would be written is shown first; what was there is kept in Toolfold's state folder. --undo gives a file \
back as it was where nobody has written it since, and otherwise takes out Toolfold's entry alone. Clients start Toolfold over stdio, each \
its own; with --http they share the one that `toolfold serve` runs."
)]
pub(crate) struct Install {
    /// The clients, such as claude-code, cursor or codex [default: list them]
    #[arg(value_name = "CLIENT", value_parser = known_client)]
    clients: Vec<&'static KnownClient>,
    /// Every client that is on this machine
    #[arg(long, conflicts_with = "clients")]
    all: bool,
    /// Take Toolfold out again
    #[arg(long, conflicts_with_all = ["http", "allow_search", "verify"])]
    undo: bool,
    /// Ask the client's own status command whether it reaches Toolfold
    #[arg(long)]
    verify: bool,
    /// Use the Toolfold that `toolfold serve` runs, instead of starting one
    #[arg(long)]
    http: bool,
    /// Let the client search without asking; calls are still asked about
    #[arg(long)]
    allow_search: bool,
    /// Show what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
    /// Write without asking
    #[arg(long, short, conflicts_with = "dry_run")]
    yes: bool,
}

/// What became of one client.
struct Done {
    client: &'static KnownClient,
    outcome: Result<InstallPlan, InstallError>,
    written: bool,
    backups: Vec<std::path::PathBuf>,
    /// Servers of its own that are behind Toolfold too.
    twice: Vec<String>,
    verified: Option<Verified>,
}

impl Install {
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        let options = common.options();
        let environment = environment(&options);
        let chosen: Vec<&'static KnownClient> = match self.all {
            true => self.present(&environment),
            false => self.clients.clone(),
        };
        if chosen.is_empty() && !self.all {
            return list(common, &environment);
        }
        if chosen.is_empty() {
            return Err(Fail::nothing("None of the clients that Toolfold knows is on this machine.")
                .hint("name one to write its file all the same: toolfold install CLIENT"));
        }
        let way = if self.undo { None } else { Some(self.way(common, &options)?) };
        let done: Vec<Done> =
            chosen.into_iter().map(|client| self.one(client, way.as_ref(), &environment, common)).collect();
        if common.json {
            print_json(&done.iter().map(|done| done.to_json(&environment)).collect::<Vec<_>>())?;
        }
        let failed = done.iter().find_map(|done| done.failed());
        match failed {
            Some(fail) if !common.json => Err(fail),
            Some(_) => Err(Fail::silent(1)),
            None => Ok(()),
        }
    }

    /// All that are here, but for those that cannot do what is wanted: that is no failure of the others.
    fn present(&self, environment: &Environment) -> Vec<&'static KnownClient> {
        let here = clients().filter(|client| client.is_written && client.is_present(environment));
        let (fit, unfit): (Vec<_>, Vec<_>) = here.partition(|client| !self.http || client.spelling.url.is_some());
        for client in unfit {
            tell(&format!(
                "{} is left out: it takes no URL. It can start Toolfold: toolfold install {}",
                client.name, client.id
            ));
        }
        fit
    }

    /// What an entry says. Absolute paths: a client with a window knows no shell's PATH, and none its folder.
    fn way(&self, common: &Common, options: &LoadOptions) -> Result<Way, Fail> {
        if self.http {
            let config = common.load(options)?.config;
            let mut address = config.http.listen;
            if address.ip().is_unspecified() {
                address.set_ip(std::net::Ipv4Addr::LOCALHOST.into());
            }
            if config.http.token.is_some() {
                tell("A token is asked for there: the client has to send it as `Authorization: Bearer …`.");
            }
            return Ok(Way::Reach { url: format!("http://{address}/mcp") });
        }
        let program = options.program.clone().ok_or_else(|| Fail::machine("where this program is cannot be told"))?;
        let file = OwnFile::find(common)?;
        let mut args = vec!["serve".to_owned(), "--stdio".to_owned()];
        match file.text {
            Some(_) => args.extend(["--config".to_owned(), file.path.display().to_string()]),
            None => tell(
                "There is no toolfold.toml yet: the client will get the built-in toolbox. `toolfold import` makes one.",
            ),
        }
        let variables = variables_in(file.text());
        Ok(Way::Start { command: program.display().to_string(), args, variables })
    }

    /// Where all are meant, a client that cannot be told so is told the rest.
    fn allows(&self, client: &KnownClient) -> bool {
        let cannot = self.allow_search && self.all && client.allow.is_none();
        if cannot {
            tell(&format!("{} will ask about searches too: it has no way to let one tool through.", client.name));
        }
        self.allow_search && !cannot
    }

    fn one(&self, client: &'static KnownClient, way: Option<&Way>, environment: &Environment, common: &Common) -> Done {
        let plan = match way {
            Some(way) => plan_install(environment, client, way, self.allows(client)),
            None => plan_undo(environment, client),
        };
        let mut done =
            Done { client, outcome: plan, written: false, backups: Vec::new(), twice: Vec::new(), verified: None };
        let Ok(plan) = &done.outcome else { return done };
        let say = |text: String| if common.json { Ok(()) } else { print(&text) };
        if plan.changes.is_empty() {
            let file = shown_path(&plan.path, environment);
            let text = if self.undo {
                format!("{}: Toolfold is not in {file}.", client.name)
            } else {
                format!("{}: nothing to do, {file} is as it should be.", client.name)
            };
            let _ = say(text);
        } else {
            for change in &plan.changes {
                let _ = say(format!(
                    "{}: {}\n{}",
                    client.name,
                    shown_path(&change.path, environment),
                    shown_lines(&change.preview)
                ));
            }
            if !self.dry_run && agreed(&format!("Write it for {}?", client.name), self.yes) {
                let applied = match way {
                    Some(_) => apply_install(environment, plan).map(|backups| done.backups = backups),
                    None => apply_undo(environment, plan),
                };
                match applied {
                    Ok(()) => done.written = true,
                    Err(error) => {
                        done.outcome = Err(error);
                        return done;
                    }
                }
                done.twice = if self.undo { Vec::new() } else { twice(client, environment, common) };
                let _ = say(done.told(self.undo, environment));
            } else if !self.dry_run && !common.json {
                nothing_written();
            }
        }
        if self.verify && !self.dry_run {
            if !common.quiet {
                progress(&format!("asking {} …", client.name));
            }
            done.verified = Some(verify(environment, client));
            progress("");
            let _ = say(format!("{}: {}", client.name, done.verdict()));
        }
        done
    }
}

impl Done {
    fn told(&self, undone: bool, environment: &Environment) -> String {
        if undone {
            return format!("{}: Toolfold is out. Restart it to see that.", self.client.name);
        }
        let mut text = format!("{}: Toolfold is in. Restart it to use it.", self.client.name);
        for backup in &self.backups {
            text.push_str(&format!("\n  as it was: {}", shown_path(backup, environment)));
        }
        for note in self.client.notes {
            text.push_str(&format!("\n  {note}"));
        }
        if !self.twice.is_empty() {
            let names: Vec<_> = self.twice.iter().map(|name| shown_line(name)).collect();
            text.push_str(&format!(
                "\n  Still its own, and behind Toolfold too: {}. Switch them off there, or its model is shown them twice.",
                names.join(", ")
            ));
        }
        text
    }

    fn verdict(&self) -> String {
        match &self.verified {
            Some(Verified::Connected) => "it is connected, by its own word.".to_owned(),
            Some(Verified::Listed) => "it reads the entry; whether it connects shows when it is started.".to_owned(),
            Some(Verified::Failed(said)) => format!("it does not reach Toolfold: {}", shown_line(said)),
            Some(Verified::Unknown(why)) => format!("cannot be asked: {why}."),
            None => String::new(),
        }
    }

    fn failed(&self) -> Option<Fail> {
        match (&self.outcome, &self.verified) {
            (Err(error), _) => {
                let fail = Fail::usage(shown_line(&error.to_string()));
                Some(match error {
                    InstallError::Edit { .. } | InstallError::Taken(_) => {
                        fail.hint("nothing was written; mend the file, or change it by hand")
                    }
                    InstallError::NoUrl(_) => fail.hint("leave --http out"),
                    InstallError::NoAllow(_) => fail.hint("leave --allow-search out"),
                    InstallError::NoHome | InstallError::NoState => fail.hint("set HOME"),
                    InstallError::OnlyRead(_) => fail.hint("`toolfold import` reads its servers"),
                    InstallError::File(_) | InstallError::NoRules(_) | InstallError::NoEntry { .. } => fail,
                })
            }
            (Ok(_), Some(Verified::Failed(_))) => {
                Some(Fail::nothing(format!("{} does not reach Toolfold.", self.client.name)))
            }
            _ => None,
        }
    }

    fn to_json(&self, environment: &Environment) -> Value {
        let mut value = json!({"client": self.client.id, "written": self.written, "points_here": points_here(environment, self.client)});
        match &self.outcome {
            Ok(plan) => {
                value["file"] = json!(plan.path);
                value["changes"] =
                    plan.changes.iter().map(|change| json!({"file": change.path, "preview": change.preview})).collect();
            }
            Err(error) => value["error"] = json!(error.to_string()),
        }
        value["backups"] = json!(self.backups);
        value["twice"] = json!(self.twice);
        if self.verified.is_some() {
            value["verified"] = json!(self.verdict());
        }
        value
    }
}

/// What the client goes on starting itself although Toolfold does.
fn twice(client: &'static KnownClient, environment: &Environment, common: &Common) -> Vec<String> {
    let Ok(file) = OwnFile::find(common) else { return Vec::new() };
    let how = ImportOptions { port: USUAL_PORT, keep_secrets: false };
    let plan = plan_import(&survey(environment, &[client]), file.text(), &how, environment, &|_| None);
    let is_twice = |server: &PlannedServer| server.known_as.is_some() && !server.definition.is_off;
    let servers = plan.map(|plan| plan.servers).unwrap_or_default();
    servers.into_iter().filter(is_twice).flat_map(|server| server.from).map(|from| from.name).collect()
}

/// Clients that are here, or whose file is.
fn list(common: &Common, environment: &Environment) -> Result<(), Fail> {
    let state = |client: &KnownClient| match (
        points_here(environment, client),
        client.is_present(environment),
        client.is_written,
    ) {
        (true, ..) => "uses Toolfold",
        (false, true, true) => "is here",
        (false, true, false) => "is here, only read",
        (false, false, _) => "",
    };
    let file = |client: &KnownClient| client.own_file(environment);
    if common.json {
        let all: Vec<Value> = clients()
            .map(|client| json!({"id": client.id, "name": client.name, "file": file(client), "present": client.is_present(environment), "points_here": points_here(environment, client)}))
            .collect();
        return print_json(&all);
    }
    let rows: Vec<Vec<String>> = clients()
        .map(|client| {
            let file = file(client).map(|path| shown_path(&path, environment)).unwrap_or_default();
            vec![client.id.to_owned(), client.name.to_owned(), state(client).to_owned(), file]
        })
        .collect();
    print(&table(&rows))
}

pub(crate) fn shown_lines(text: &str) -> String {
    text.lines().map(|line| format!("{}\n", shown_line(&line.replace('\t', "    ")))).collect()
}
