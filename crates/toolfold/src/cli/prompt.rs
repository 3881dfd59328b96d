//! `toolfold prompt`: the rules a model is told, for clients that do not pass on a server's instructions.

use clap::Args;
use serde_json::json;
use toolfold_core::{ServerName, Surface};
use toolfold_disclosure::instructions;

use super::open::local_servers;
use super::output::{print, print_json};
use super::{Common, Fail, parse_surface};

#[derive(Args)]
pub(crate) struct Prompt {
    /// The rules of this surface [default: the configured one]
    #[arg(long, value_name = "SURFACE", value_parser = parse_surface)]
    surface: Option<Surface>,
}

impl Prompt {
    /// Needs no server: what a model is told does not depend on who is up.
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        let config = common.load(&common.options())?.config;
        let surface = self.surface.unwrap_or(config.surface);
        let local = local_servers(&config);
        let names = config
            .servers
            .keys()
            .chain(config.unusable.keys())
            .chain(local.iter().map(|server| &server.name))
            .map(ServerName::as_str);
        let text = instructions(surface, &names.collect::<Vec<_>>());
        if common.json { print_json(&json!({"surface": surface, "prompt": text})) } else { print(&text) }
    }
}
