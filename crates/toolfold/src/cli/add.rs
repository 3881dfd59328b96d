//! `toolfold add`: a server into `toolfold.toml`, from a command, a URL, a package, a `server.json`, a bundle or a README's
//! block. It is started once, so that what it offers and costs is seen at once.

use std::io::Read;

use clap::Args;
use serde_json::{Value, json};
use toolfold_clients::{
    AddError, Environment, NewServer, from_command, from_target, from_text, server_names, write_server,
};
use toolfold_config::LoadOptions;
use toolfold_core::{ServerName, shown_line};

use super::cost;
use super::open::{asker, with_config};
use super::output::{print, print_json, tell};
use super::own_file::{OwnFile, asked, environment, is_person};
use super::{Common, Fail};

#[derive(Args)]
#[command(
    override_usage = "toolfold add [OPTIONS] [NAME] <TARGET>\n       toolfold add [OPTIONS] [NAME] -- <COMMAND> [ARGUMENTS]...",
    after_help = "\
TARGET is one of
  https://…                the URL of a server
  npm:PACKAGE              a package of npm, run with npx
  pypi:PACKAGE             a package of PyPI, run with uvx
  oci:IMAGE                a container's image, run with docker
  FILE                     a server.json, an .mcpb bundle, or JSON with one server in it
  -                        the JSON block of a README, on stdin: every server in it

Secrets are never written into toolfold.toml: they become variables, which have to be set where Toolfold is started."
)]
pub(crate) struct Add {
    /// A name, if it is to have another than the obvious, and where the server comes from
    #[arg(value_name = "NAME|TARGET", num_args = 0..=2)]
    what: Vec<String>,
    /// The program to start, with its arguments
    #[arg(last = true, value_name = "COMMAND")]
    command: Vec<String>,
    /// A variable of the server: NAME=VALUE, or NAME alone to pass it on
    #[arg(long, short, value_name = "NAME[=VALUE]")]
    env: Vec<String>,
    /// A header that is sent to its URL: NAME=VALUE
    #[arg(long, value_name = "NAME=VALUE")]
    header: Vec<String>,
    /// Something that the server wants to know: NAME=VALUE
    #[arg(long, value_name = "NAME=VALUE")]
    set: Vec<String>,
    /// Show what would be written, and write nothing
    #[arg(long)]
    dry_run: bool,
    /// Do not start it to see what it offers
    #[arg(long)]
    no_start: bool,
}

/// More than that is no block that anybody copied.
const LARGEST: u64 = 4 << 20;

impl Add {
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        let options = common.options();
        let environment = environment(&options);
        let file = OwnFile::find(common)?;
        let mut text = file.text().to_owned();
        let taken = server_names(&text).map_err(|error| file.broken(&error))?;
        let mut added = self.servers(&environment)?;
        self.check_set(&added)?;
        let mut told: Vec<String> = Vec::new();
        for server in &mut added {
            check_name(server, &taken)?;
            let secrets = self.complete(server, &environment)?;
            told.extend(secrets.iter().map(|name| not_written(name)));
            for secret in server.definition.move_secrets(&server.name) {
                told.push(match secret.place.strip_prefix("variable ") == Some(secret.variable.as_str()) {
                    true => not_written(&secret.variable),
                    false => format!("the {} is now the variable {}", shown_line(&secret.place), secret.variable),
                });
            }
            let before = text.clone();
            let written = |text: &str| write_server(text, &server.name, &server.definition);
            let alone = written("").map_err(|error| file.broken(&error))?;
            if let Some(why) = file.refused(&alone, &options) {
                return Err(Fail::usage(format!("{} cannot be added: {}", shown_line(&server.name), shown_line(&why)))
                    .hint("nothing was written"));
            }
            text = written(&text).map_err(|error| file.broken(&error))?;
            if !common.json {
                print(&shown_block(&before, &text))?;
            }
        }
        if !self.dry_run {
            file.write(&text, &options)?;
        }
        let unset = |server: &NewServer| -> Vec<String> {
            server.definition.needs().into_iter().filter(|name| !environment.variables.contains_key(name)).collect()
        };
        if !common.json {
            // What is in the file stands apart from what is said of it.
            tell("");
            told.iter().for_each(|line| tell(line));
            for server in &added {
                tell_missing(server, &unset(server));
            }
            tell(&format!(
                "{} {}.",
                if self.dry_run { "This would go into" } else { "Wrote" },
                file.shown(&environment)
            ));
        }
        let mut answers = Vec::new();
        let mut failed = None;
        for server in &added {
            let start = !self.dry_run && !self.no_start && !server.definition.is_off && unset(server).is_empty();
            let offered = if start { Some(try_out(common, &file, &options, &server.name)?) } else { None };
            if let Some(Err(why)) = &offered {
                failed =
                    Some(Fail::servers(format!("{} did not start: {}", server.name, shown_line(why))).hint(format!(
                        "`toolfold logs {0}` shows its last words, `toolfold remove {0}` takes it out again",
                        server.name
                    )));
            }
            if let (Some(Ok(offered)), false) = (&offered, common.json) {
                print(&offered.to_text(&server.name))?;
            }
            answers.push(json!({
                "name": server.name, "file": file.path, "written": !self.dry_run, "unset_variables": unset(server), "notes": server.notes,
                "tools": offered.as_ref().and_then(|offered| offered.as_ref().ok()).map(Offered::to_json),
                "failed": offered.as_ref().and_then(|offered| offered.as_ref().err()),
            }));
        }
        if common.json {
            print_json(&answers)?;
            return failed.map_or(Ok(()), |_| Err(Fail::silent(3)));
        }
        failed.map_or(Ok(()), Err)
    }

    fn servers(&self, environment: &Environment) -> Result<Vec<NewServer>, Fail> {
        let made = match (self.what.as_slice(), self.command.is_empty()) {
            ([], false) => from_command(None, &self.command).map(|server| vec![server]),
            ([name], false) => from_command(Some(name), &self.command).map(|server| vec![server]),
            ([target], true) if target == "-" => from_text(None, &stdin()?, environment),
            ([name, target], true) if target == "-" => from_text(Some(name), &stdin()?, environment),
            ([target], true) => from_target(None, target, environment).map(|server| vec![server]),
            ([name, target], true) => from_target(Some(name), target, environment).map(|server| vec![server]),
            _ => {
                return Err(Fail::usage("what is to be added?")
                    .hint("toolfold add NAME -- COMMAND, a URL, npm:…, pypi:…, oci:…, a file, or - for stdin"));
            }
        };
        made.map_err(|error| match error {
            AddError::NotUnderstood(why) => {
                Fail::usage(shown_line(&why)).hint("`toolfold add --help` lists what can be added")
            }
            other => Fail::usage(shown_line(&other.to_string())),
        })
    }

    /// What nobody asked for is a slip: it would be lost without a word.
    fn check_set(&self, added: &[NewServer]) -> Result<(), Fail> {
        let wanted: Vec<String> = added.iter().flat_map(wishes).collect();
        let mut names = self.set.iter().filter_map(|typed| typed.split_once('=')).map(|(name, _)| name);
        let slip = names.find(|name| !wanted.iter().any(|known| known.eq_ignore_ascii_case(name)));
        let Some(name) = slip else { return Ok(()) };
        let asked = if wanted.is_empty() { "nothing".to_owned() } else { wanted.join(", ") };
        Err(Fail::usage(format!("nothing asks for {:?}", shown_line(name)))
            .hint(format!("what is asked for: {}", shown_line(&asked))))
    }

    /// What was said on the command line, and what a person answers. Gives the secrets that were said: whoever made the server
    /// knows what is one, whatever it is called.
    fn complete(&self, server: &mut NewServer, environment: &Environment) -> Result<Vec<String>, Fail> {
        let mut secrets = Vec::new();
        for typed in &self.env {
            let passed_on = |name: &str| (name.to_owned(), format!("${{{name}}}"));
            let (name, value) = match typed.split_once('=') {
                Some((name, _)) if is_secret(server, name) => {
                    secrets.push(name.to_owned());
                    passed_on(name)
                }
                Some(said) => owned(said),
                None => passed_on(typed),
            };
            server.definition.set_variable(&name, &value);
        }
        for typed in &self.header {
            let split = typed.split_once('=').or_else(|| typed.split_once(": "));
            let (name, value) = split.map(owned).ok_or_else(|| Fail::usage("a header is NAME=VALUE"))?;
            server.definition.headers.push((name, value));
        }
        for typed in &self.set {
            let (name, value) =
                typed.split_once('=').map(owned).ok_or_else(|| Fail::usage("--set takes NAME=VALUE"))?;
            if let Some(name) = wishes(server).into_iter().find(|known| known.eq_ignore_ascii_case(&name)) {
                if is_secret(server, &name) {
                    secrets.push(name);
                    continue;
                }
                server.definition.fill_in(&name, &value);
                server.missing.retain(|missing| missing.name != name);
            }
        }
        let wanted: Vec<_> = server
            .missing
            .iter()
            .filter(|missing| !missing.is_secret && !environment.variables.contains_key(&missing.name))
            .cloned()
            .collect();
        let mut open = Vec::new();
        for missing in wanted {
            let about =
                if missing.about.is_empty() { String::new() } else { format!(" ({})", shown_line(&missing.about)) };
            let answer = if is_person() { asked(&format!("{}{about}: ", shown_line(&missing.name))) } else { None };
            match answer.filter(|answer| !answer.is_empty()) {
                Some(answer) => server.definition.fill_in(&missing.name, &answer),
                None => open.push(format!("--set {}=…{about}", shown_line(&missing.name))),
            }
        }
        match open.is_empty() || self.dry_run {
            true => Ok(secrets),
            false => Err(Fail::usage(format!("{} wants to know more", shown_line(&server.name)))
                .hint(format!("say it with {}", open.join(", ")))),
        }
    }
}

/// The names of what can be said with `--set`.
fn wishes(server: &NewServer) -> Vec<String> {
    let mut names: Vec<String> = server.missing.iter().map(|missing| missing.name.clone()).collect();
    let needs = server.definition.needs().into_iter();
    names.extend(needs.filter(|name| !server.missing.iter().any(|missing| missing.name == *name)));
    names
}

fn is_secret(server: &NewServer, name: &str) -> bool {
    server.missing.iter().any(|missing| missing.is_secret && missing.name == name)
}

fn not_written(variable: &str) -> String {
    format!("the value of {} is not written: it stays a variable", shown_line(variable))
}

fn owned((name, value): (&str, &str)) -> (String, String) {
    (name.to_owned(), value.to_owned())
}

fn stdin() -> Result<String, Fail> {
    if is_person() {
        tell("Paste the block, then end with Ctrl-D on a line of its own:");
    }
    let mut text = String::new();
    std::io::stdin()
        .lock()
        .take(LARGEST)
        .read_to_string(&mut text)
        .map_err(|error| Fail::usage(format!("stdin cannot be read: {error}")))?;
    Ok(text)
}

fn check_name(server: &NewServer, taken: &[String]) -> Result<(), Fail> {
    let name = shown_line(&server.name);
    ServerName::new(server.name.clone())
        .map_err(|error| Fail::usage(shown_line(&error.to_string())).hint("toolfold add NAME …"))?;
    match taken.contains(&server.name) {
        true => Err(Fail::usage(format!("there is a server {name} already"))
            .hint(format!("give another name, or take it out first: toolfold remove {name}"))),
        false => Ok(()),
    }
}

/// The lines that came to be: what was added is one piece.
fn shown_block(before: &str, after: &str) -> String {
    let same = before.bytes().zip(after.bytes()).take_while(|(one, other)| one == other).count();
    let added = after.len() - before.len();
    let block = after.get(same..same + added).unwrap_or(after);
    let start = after[..same].rfind('\n').map_or(0, |at| at + 1);
    let lead = after.get(start..same).unwrap_or_default();
    format!("{lead}{block}").trim().lines().map(|line| format!("{}\n", shown_line(line))).collect()
}

fn tell_missing(server: &NewServer, unset: &[String]) {
    for note in &server.notes {
        tell(&format!("{}: {}", shown_line(&server.name), shown_line(note)));
    }
    if unset.is_empty() {
        return;
    }
    tell(&format!(
        "{} needs variables that are not set here. Set them where Toolfold is started:",
        shown_line(&server.name)
    ));
    for name in unset {
        let about = server
            .missing
            .iter()
            .find(|missing| missing.name == *name)
            .map(|missing| shown_line(&missing.about).into_owned());
        tell(format!("  {name}  {}", about.unwrap_or_default()).trim_end());
    }
}

/// What a server offers, and what its definitions cost a model that is shown them all.
struct Offered {
    tools: Vec<(String, usize)>,
}

impl Offered {
    fn to_text(&self, name: &str) -> String {
        let total: usize = self.tools.iter().map(|(_, tokens)| tokens).sum();
        let count = if self.tools.len() == 1 { "1 tool".to_owned() } else { format!("{} tools", self.tools.len()) };
        let mut text = format!("{name} started: {count}, {total} tokens if all were shown (o200k_base)\n");
        for (tool, tokens) in self.tools.iter().take(20) {
            text.push_str(&format!("  {tokens:>6}  {}\n", shown_line(tool)));
        }
        if self.tools.len() > 20 {
            text.push_str(&format!("          and {} more: toolfold ls {name}\n", self.tools.len() - 20));
        }
        text
    }

    fn to_json(&self) -> Value {
        self.tools.iter().map(|(tool, tokens)| json!({"tool": tool, "tokens": tokens})).collect()
    }
}

/// Starts one server and no other; what it offers, or why it does not.
fn try_out(
    common: &Common,
    file: &OwnFile,
    options: &LoadOptions,
    name: &str,
) -> Result<Result<Offered, String>, Fail> {
    let options = LoadOptions { file: Some(file.path.clone()), ..options.clone() };
    let mut config = common.load(&options)?.config;
    config.servers.retain(|server, _| server.as_str() == name);
    config.toolbox = false;
    (config.agents, config.skills, config.scripts, config.nodes) = Default::default();
    with_config(common, config, async |gateway| {
        let status = gateway.status().await.into_iter().find(|server| server.name.as_str() == name);
        let why = status.and_then(|server| server.why);
        let is_silent = gateway.awaited(true).await.iter().any(|server| server.as_str() == name);
        let scope = gateway.latest(&asker());
        let view = scope.view();
        let tools = view.tools().map(|place| view.entry(place));
        let tools: Vec<(String, usize)> =
            tools.map(|entry| (entry.id.to_string(), cost::of_tool(&entry.definition))).collect();
        Ok(outcome(why, is_silent, tools))
    })
}

/// One that says nothing has offered nothing, and that is no start.
fn outcome(why: Option<String>, is_silent: bool, tools: Vec<(String, usize)>) -> Result<Offered, String> {
    match why {
        Some(why) if tools.is_empty() => Err(why),
        None if tools.is_empty() && is_silent => {
            Err("it has not answered, and is not waited for any longer".to_owned())
        }
        _ => Ok(Offered { tools }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_that_is_silent_has_not_started() {
        let failed = |why: Option<&str>, is_silent| outcome(why.map(str::to_owned), is_silent, Vec::new()).err();
        assert!(failed(None, true).is_some_and(|why| why.starts_with("it has not answered")));
        assert_eq!(failed(Some("no"), true).as_deref(), Some("no"));
        assert_eq!(failed(None, false), None, "it has no tools, and that is all");
    }
}
