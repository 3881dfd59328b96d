//! `toolfold login` and `toolfold logout`: a person at a server that wants one.
//!
//! What a reader would get wrong: the login is made by this process and not by the one that serves. Both keep logins in the
//! same place, and the one that serves is told to look there.

use std::process::{Command, Stdio};
use std::time::Duration;

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolfold_config::{Config, Start, find_program};
use toolfold_core::{Identity, Principal, Proof, ServerName, shown_line, words};
use toolfold_gateway::Gateway;
use toolfold_upstream::{NoVisitor, Unvisited, Visit};

use super::ask::{Answer, Ask};
use super::output::{print, print_json, tell};
use super::{Common, Fail, instance, open};

#[derive(Args)]
#[command(
    after_help = "The address to log in at is printed, and opened with the program that BROWSER names, or with xdg-open. Whoever \
comes back from there is awaited on 127.0.0.1 for ten minutes. What Toolfold gets is kept sealed in its store, is renewed \
by itself, and never reaches a model. A `toolfold serve` that runs with the same configuration uses it at once.

Servers that have wanted more rights than their login has get them the same way. Exit codes: 0 logged in, 1 not needed, \
2 usage or configuration, 3 it did not work."
)]
pub(crate) struct Login {
    /// The server
    server: String,
    /// Print the address and open nothing
    #[arg(long)]
    no_browser: bool,
    /// For whom, where logins are each one's own: the name of a token, or "ISSUER NAME"
    #[arg(long = "as", value_name = "NAME")]
    principal: Option<String>,
}

#[derive(Args)]
#[command(
    after_help = "The login is deleted, and the login server is told where it wants to know. What was found out about the server \
stays. Exit codes: 0 done, 1 nobody was logged in, 2 usage or configuration, 3 it did not work."
)]
pub(crate) struct Logout {
    /// The server
    server: String,
    /// Whose, where logins are each one's own: the name of a token, or "ISSUER NAME"
    #[arg(long = "as", value_name = "NAME")]
    principal: Option<String>,
}

/// How long a server may take to say whether it wants a login.
const PATIENCE: Duration = Duration::from_secs(30);
const LOOK: Duration = Duration::from_millis(25);

impl Login {
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        let (config, server) = alone(common, &self.server)?;
        let principal = whose(self.principal.as_deref());
        open::with_config(common, config, async |gateway| {
            let mut visit = self.begin(gateway, &server, &principal).await?;
            if common.json {
                print_json(&json!({"server": server, "url": visit.url}))?;
            } else {
                print(&visit.url)?;
                tell("Log in there, in a browser on this machine; this waits for you.");
            }
            if !self.no_browser {
                browse(&visit.url);
            }
            let failed = |why: NoVisitor| {
                Fail::machine(format!("Nobody is logged in to {server}: {}.", shown_line(&why.to_string())))
            };
            visit.done().await.map_err(failed)?;
            instance::tell_all(common, || Ask::Login(LoginChanged { server: server.to_string() })).await;
            if !common.quiet && !common.json {
                tell(&format!("Logged in to {server}."));
            }
            Ok(())
        })
    }

    /// An address to log in at, once it is clear that the server wants that.
    async fn begin(&self, gateway: &Gateway, server: &ServerName, principal: &Principal) -> Result<Visit, Fail> {
        let state = settled(gateway, server).await;
        let needed = gateway.logins().needed(server, principal).await.is_some();
        let own = *principal != Principal::local();
        if state == "ready" && !needed && !own && !pending(gateway, server, principal).await {
            let message = format!("{server} answers as it is: no login is needed.");
            return Err(
                Fail::nothing(message).hint(format!("to log in as somebody else, `toolfold logout {server}` first"))
            );
        }
        let begun = gateway.logins().begin(server, principal).await;
        begun
            .ok_or_else(|| Fail::usage(format!("there is no server {server}")))?
            .map_err(|error| unvisited(server, &error))
    }
}

impl Logout {
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        let (config, server) = alone(common, &self.server)?;
        let principal = whose(self.principal.as_deref());
        open::with_config(common, config, async |gateway| {
            let ended = gateway.logins().end(&server, &principal).await;
            let ended = ended.ok_or_else(|| Fail::usage(format!("there is no server {server}")))?;
            if !ended.map_err(|error| unvisited(&server, &error))? {
                return Err(Fail::nothing(format!("Nobody was logged in to {server}.")));
            }
            instance::tell_all(common, || Ask::Login(LoginChanged { server: server.to_string() })).await;
            if !common.quiet {
                tell(&format!("Logged out of {server}."));
            }
            Ok(())
        })
    }
}

/// What an instance is told that serves: somebody has logged in or out.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct LoginChanged {
    server: String,
}

impl LoginChanged {
    pub(crate) async fn answer(&self, gateway: &Gateway) -> Result<Answer, Fail> {
        if let Ok(server) = ServerName::new(&*self.server) {
            gateway.logins().look_for(&server).await;
        }
        Ok(Answer::new(""))
    }
}

/// The configuration with this server and no other, where a login could be made and kept.
fn alone(common: &Common, name: &str) -> Result<(Config, ServerName), Fail> {
    let mut config = common.load(&common.options())?.config;
    if let Some(why) = ServerName::new(name).ok().and_then(|name| config.unusable.get(&name).cloned()) {
        return Err(Fail::usage(format!("{name} cannot be used: {why}")));
    }
    let names: Vec<&str> = config.servers.keys().map(ServerName::as_str).collect();
    let Some(server) = config.servers.keys().find(|known| known.as_str() == name).cloned() else {
        let fail = Fail::usage(format!("there is no server {name:?}"));
        return Err(match words::nearest(name, names.iter().copied()) {
            Some(near) => fail.hint(format!("did you mean {near:?}?")),
            None if names.is_empty() => fail.hint("no server is configured"),
            None => fail.hint(format!("servers: {}", names.join(", "))),
        });
    };
    if config.store.is_none() {
        return Err(Fail::usage("there is no store, so a login would be gone with this command")
            .hint("name a file with `store = \"…\"` or TOOLFOLD_STORE"));
    }
    config.servers.retain(|known, _| *known == server);
    config.servers.values_mut().for_each(|server| server.start = Start::Eager);
    (config.toolbox, config.prefer) = (false, Vec::new());
    (config.agents, config.skills) = (Vec::new(), Vec::new());
    config.unusable.clear();
    Ok((config, server))
}

/// The holder of a token, or somebody whom an issuer knows, as they are told to write it.
fn whose(name: Option<&str>) -> Principal {
    let Some(name) = name.filter(|name| *name != "local") else { return Principal::local() };
    match name.split_once(' ').filter(|(issuer, _)| issuer.contains("://")) {
        Some((issuer, name)) => Principal::new(Identity {
            name: name.to_owned(),
            proof: Proof::Signed(issuer.to_owned()),
            groups: Vec::new(),
            scopes: Vec::new(),
            claims: Default::default(),
        }),
        None => Principal::named(name, Vec::new()),
    }
}

/// How the server is, once that is known.
async fn settled(gateway: &Gateway, server: &ServerName) -> &'static str {
    let waiting = async {
        loop {
            let status = gateway.status().await;
            let state = status.iter().find(|status| status.name == *server).map_or("", |status| status.state);
            let listed = !gateway.awaited(true).await.contains(server);
            if !matches!(state, "configured" | "known" | "starting") && (listed || state != "ready") {
                return state;
            }
            tokio::time::sleep(LOOK).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.unwrap_or("silent")
}

/// Whether a server has wanted more than the login has, in another process perhaps.
async fn pending(gateway: &Gateway, server: &ServerName, principal: &Principal) -> bool {
    gateway.logins().is_wanted(server, principal).await
}

fn unvisited(server: &ServerName, error: &Unvisited) -> Fail {
    match error {
        Unvisited::NotForPeople(why) => Fail::nothing(format!("{}.", shown_line(why))),
        Unvisited::Failed(why) => Fail::machine(format!("a login at {server} cannot be made: {}", shown_line(why)))
            .hint(format!("`toolfold doctor {server}` looks at the way there")),
    }
}

/// Opens an address with a program of the person's, without a shell. Where that fails they have it in front of them.
fn browse(url: &str) {
    let named = std::env::var("BROWSER").unwrap_or_default();
    let fallback = if cfg!(target_os = "macos") { "open" } else { "xdg-open" };
    let paths = std::env::var("PATH").unwrap_or_default();
    let here = std::env::current_dir().unwrap_or_default();
    // Several may be named, the best first, each with arguments of its own.
    let candidates = named.split(':').map(str::trim).filter(|text| !text.is_empty()).chain([fallback]);
    for candidate in candidates {
        let mut words = candidate.split_whitespace();
        let Some(program) = words.next().filter(|program| find_program(program, &paths, &here).is_some()) else {
            continue;
        };
        let mut arguments: Vec<String> = words.map(|word| word.replace("%s", url)).collect();
        if !candidate.contains("%s") {
            arguments.push(url.to_owned());
        }
        let mut command = Command::new(program);
        command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        if command.spawn().is_ok() {
            return;
        }
    }
}
