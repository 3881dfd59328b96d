//! `toolfold logs`: what a server wrote and how it fared, or which tools were called.

use clap::Args;
use toolfold_core::{ServerName, shown_line, words};

use super::output::{print, print_json};
use super::{Common, Fail, journal};

#[derive(Args)]
#[command(
    after_help = "Every instance writes there, a megabyte and its predecessor for each server. Arguments and results of calls \
are never written."
)]
pub(crate) struct Logs {
    /// The server
    #[arg(required_unless_present = "calls")]
    server: Option<String>,
    /// The calls instead: when, which tool, what became of it, how long it took
    #[arg(long, conflicts_with = "server")]
    calls: bool,
    /// How many lines, from the end
    #[arg(long, short = 'n', default_value_t = 100)]
    lines: usize,
}

impl Logs {
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        let options = common.options();
        let Some(state) = &options.data_dir else {
            return Err(Fail::usage("there is no folder that logs could be in").hint("set HOME or XDG_STATE_HOME"));
        };
        let server = self.server.as_ref().map(|name| known(name, common)).transpose()?;
        let lines = journal::read(state, server.as_ref());
        let last = &lines[lines.len().saturating_sub(self.lines)..];
        if common.json {
            return print_json(&last);
        }
        match (last, server) {
            ([], Some(server)) => {
                let why = left_out(&server, common)
                    .map_or_else(|| "yet".to_owned(), |why| format!("as it is left out: {why}"));
                Err(Fail::nothing(format!("Nothing is written about {server} {why}.")))
            }
            ([], None) => Err(Fail::nothing("No call is written down yet.")),
            (lines, _) => print(&lines.join("\n")),
        }
    }
}

/// Why nothing ever happens to it.
fn left_out(server: &ServerName, common: &Common) -> Option<String> {
    let mut config = toolfold_config::load(&common.options()).ok()?.config;
    config.unusable.remove(server).map(|why| shown_line(&why).into_owned())
}

/// A server of the configuration, or one that something was written about.
fn known(name: &str, common: &Common) -> Result<ServerName, Fail> {
    let config = common.load(&common.options())?.config;
    let names: Vec<&str> = config.servers.keys().chain(config.unusable.keys()).map(ServerName::as_str).collect();
    let wrong = || {
        let fail = Fail::usage(format!("there is no server {name:?}"));
        match words::nearest(name, names.iter().copied()) {
            Some(near) => fail.hint(format!("did you mean {near:?}?")),
            None if names.is_empty() => fail.hint("no server is configured"),
            None => fail.hint(format!("servers: {}", names.join(", "))),
        }
    };
    let server = ServerName::new(name).map_err(|_| wrong())?;
    let written = || common.options().data_dir.is_some_and(|state| !journal::read(&state, Some(&server)).is_empty());
    if names.contains(&name) || written() { Ok(server) } else { Err(wrong()) }
}
