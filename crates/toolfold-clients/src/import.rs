//! From what clients have to what `toolfold.toml` will say: the same server once, each name once, no secret, never
//! Toolfold itself, and the file that is there already kept as it is.

use std::collections::BTreeMap;
use std::path::PathBuf;

use toolfold_core::{ServerName, slug};

use crate::definition::ServerDefinition;
use crate::edit::{self, EditError, Shape, Slot};
use crate::environment::Environment;
use crate::format::FileFormat;
use crate::own::is_own;
use crate::read::{Reading, server};
use crate::secrets::{MovedSecret, constant, move_out};
use crate::survey::{Scope, SeenFile};
use crate::table::Variables;

#[derive(Debug, Clone)]
pub struct ImportPlan {
    pub servers: Vec<PlannedServer>,
    pub left_out: Vec<LeftOut>,
    /// Files that could not be read, and why.
    pub unreadable: Vec<(PathBuf, String)>,
    /// `toolfold.toml` as it would be.
    pub text: String,
}

#[derive(Debug, Clone)]
pub struct PlannedServer {
    pub name: String,
    pub from: Vec<FoundIn>,
    pub definition: ServerDefinition,
    pub notes: Vec<String>,
    pub secrets: Vec<MovedSecret>,
    /// It is in `toolfold.toml` already, under this name.
    pub known_as: Option<String>,
}

#[derive(Debug, Clone)]
pub struct LeftOut {
    pub name: String,
    pub from: FoundIn,
    pub why: String,
}

/// Where an entry was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundIn {
    pub client: &'static str,
    pub scope: Scope,
    pub path: PathBuf,
    /// What it is called there.
    pub name: String,
}

#[derive(Debug, Clone)]
pub struct ImportOptions {
    /// Toolfold's own port, whose address is never taken over.
    pub port: u16,
    /// Leave secrets where they are.
    pub keep_secrets: bool,
}

/// What importing would do to a `toolfold.toml` with this text. `refused` says why Toolfold would not take a file with one server in
/// it: a server that somebody else's program put up with must not keep all the others from being served.
pub fn plan_import(
    seen: &[SeenFile],
    existing: &str,
    options: &ImportOptions,
    environment: &Environment,
    refused: &dyn Fn(&str) -> Option<String>,
) -> Result<ImportPlan, EditError> {
    let known = known_servers(existing)?;
    let mut plan =
        ImportPlan { servers: Vec::new(), left_out: Vec::new(), unreadable: Vec::new(), text: existing.to_owned() };
    for file in seen {
        let servers = match &file.outcome {
            Ok(servers) => servers,
            Err(why) => {
                plan.unreadable.push((file.path.clone(), why.to_string()));
                continue;
            }
        };
        for found in servers {
            let (client, scope, path) = (file.client.name, file.scope.clone(), file.path.clone());
            let from = FoundIn { client, scope, path, name: found.name.clone() };
            match &found.outcome {
                Err(why) => plan.left_out.push(LeftOut { name: found.name.clone(), from, why: why.to_string() }),
                Ok(definition) if is_own(definition, options.port) => {
                    let why = "it is Toolfold itself".to_owned();
                    plan.left_out.push(LeftOut { name: found.name.clone(), from, why });
                }
                Ok(definition) => add(&mut plan.servers, from, definition, &found.notes),
            }
        }
    }
    name_all(&mut plan.servers, &known);
    if !options.keep_secrets {
        let mut variables = Names { taken: BTreeMap::new(), environment };
        for planned in &mut plan.servers {
            let server = planned.name.clone();
            planned.secrets =
                move_out(&mut planned.definition, &server, &mut |wish, value| variables.pick(wish, value, &server));
        }
    }
    for planned in std::mem::take(&mut plan.servers) {
        if planned.known_as.is_none() {
            if let Some(why) = refused(&write_server("", &planned.name, &planned.definition)?) {
                let left_out = |from: FoundIn| LeftOut { name: from.name.clone(), from, why: why.clone() };
                plan.left_out.extend(planned.from.into_iter().map(left_out));
                continue;
            }
            plan.text = write_server(&plan.text, &planned.name, &planned.definition)?;
        }
        plan.servers.push(planned);
    }
    Ok(plan)
}

/// `toolfold.toml` with this server in it.
pub fn write_server(text: &str, name: &str, definition: &ServerDefinition) -> Result<String, EditError> {
    let edited = edit::set(FileFormat::Toml, text, &own_server(name), &definition.to_value())?;
    Ok(edited.map_or_else(|| text.to_owned(), |edited| edited.text))
}

/// `toolfold.toml` without it; `None` where it is not there.
pub fn remove_server(text: &str, name: &str) -> Result<Option<String>, EditError> {
    let edited = edit::remove(FileFormat::Toml, text, &own_server(name), &edit::Traces::default())?;
    Ok(edited.map(|edited| edited.text))
}

/// The names in it.
pub fn server_names(text: &str) -> Result<Vec<String>, EditError> {
    Ok(known_servers(text)?.into_iter().map(|(name, _)| name).collect())
}

fn own_server(name: &str) -> Slot {
    Slot { container: vec!["servers".to_owned()], shape: Shape::Map, name: name.to_owned() }
}

/// What is in `toolfold.toml`, its texts as they are written there.
fn known_servers(text: &str) -> Result<Vec<(String, ServerDefinition)>, EditError> {
    let root = FileFormat::Toml.parse(text)?;
    let reading = Reading { variables: Variables::Nothing, timeout: None, home: None, project: None };
    let servers = root.get("servers").and_then(|servers| servers.as_object()).into_iter().flatten();
    let read = |value| server("", value, reading).outcome.unwrap_or_default();
    Ok(servers.map(|(name, value)| (name.clone(), read(value))).collect())
}

/// Whether the file has it: what is run or reached is compared, not what is passed to it, which people change.
fn same_as(definition: &ServerDefinition, known: &[(String, ServerDefinition)]) -> Option<String> {
    let unescaped = |text: &String| text.replace("$$", "$");
    let what = |definition: &ServerDefinition, own: bool| {
        // A known one was read as if every `$` were meant: its texts have been escaped once more.
        let text = |text: &String| if own { unescaped(text) } else { text.clone() };
        let words: Vec<String> = definition.command.iter().chain(&definition.args).map(text).collect();
        (words, definition.url.as_ref().map(text).map(|url| url.trim_end_matches('/').to_owned()))
    };
    let wanted = what(definition, false);
    known.iter().find(|(_, other)| what(other, true) == wanted).map(|(name, _)| name.clone())
}

fn add(servers: &mut Vec<PlannedServer>, from: FoundIn, definition: &ServerDefinition, notes: &[String]) {
    if let Some(same) = servers.iter_mut().find(|planned| planned.definition.is_same_as(definition)) {
        // On anywhere is on.
        same.definition.is_off &= definition.is_off;
        same.from.push(from);
        return;
    }
    let (name, definition, notes) = (from.name.clone(), definition.clone(), notes.to_vec());
    servers.push(PlannedServer { name, from: vec![from], definition, notes, secrets: Vec::new(), known_as: None });
}

/// Names that Toolfold takes, each once, and none that stands for another server in the file already.
fn name_all(servers: &mut [PlannedServer], known: &[(String, ServerDefinition)]) {
    let mut taken: Vec<String> = known.iter().map(|(name, _)| name.clone()).collect();
    for planned in servers {
        // What an earlier import has written is found again: its secrets are variables by now.
        let mut written = planned.definition.clone();
        move_out(&mut written, &free_name(&planned.name, "", &[]), &mut |wish, _| wish.to_owned());
        let same = same_as(&planned.definition, known).or_else(|| same_as(&written, known));
        if let Some(name) = same {
            planned.name = name.clone();
            planned.known_as = Some(name);
            continue;
        }
        let found = planned.name.clone();
        let client = planned.from.first().map_or("", |from| from.client);
        planned.name = free_name(&found, client, &taken);
        if planned.name != found {
            planned.notes.push(match found.as_str() {
                "" => "it has no name there".to_owned(),
                found => format!("it is called {found:?} there"),
            });
        }
        taken.push(planned.name.clone());
    }
}

/// A server's name as near to this one as can be.
pub(crate) fn free_name(wanted: &str, hint: &str, taken: &[String]) -> String {
    let plain: String = slug(wanted.trim()).trim_matches('_').chars().take(48).collect();
    let base = if ServerName::new(plain.clone()).is_ok() { plain } else { "server".to_owned() };
    let hinted = format!("{base}-{}", slug(&hint.to_lowercase()).replace('_', "-"));
    let numbered = (2..).map(|number| format!("{base}-{number}"));
    let mut names = std::iter::once(base.clone()).chain((!hint.is_empty()).then_some(hinted)).chain(numbered);
    names.find(|name| ServerName::new(name.clone()).is_ok() && !taken.contains(name)).unwrap_or(base)
}

/// Names of variables for secrets: one name, one value.
struct Names<'a> {
    taken: BTreeMap<String, String>,
    environment: &'a Environment,
}

impl Names<'_> {
    fn pick(&mut self, wish: &str, value: &str, server: &str) -> String {
        let longer = format!("{}_{wish}", constant(server));
        let numbered = (2..).map(|number| format!("{longer}_{number}"));
        let mut names = [wish.to_owned(), longer.clone()].into_iter().chain(numbered);
        let fits = |name: &String| match (self.taken.get(name), self.environment.variables.get(name)) {
            (Some(known), _) => known == value,
            // Set to something else already: it is another one's.
            (None, Some(set)) => set == value || name.starts_with(&longer),
            (None, None) => true,
        };
        let name = names.find(fits).unwrap_or(longer);
        self.taken.insert(name.clone(), value.to_owned());
        name
    }
}
