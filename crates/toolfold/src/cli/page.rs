//! `toolfold page`: where the page of the running instance is, and the key that it takes to start and stop servers there.
//!
//! The key is in the memory of that process alone. It is told through the socket that only this user can open, and to a
//! terminal or a pipe of theirs: never to a log.

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolfold_core::Secret;
use toolfold_gateway::Gateway;
use toolfold_serve::page_key;

use super::ask::{Answer, Ask};
use super::instance::Found;
use super::output::{Style, as_json};
use super::{Common, Fail, instance, open};

#[derive(Debug, Args, Serialize, Deserialize)]
#[command(after_help = "\
The page shows what is served, what an agent would find, and calls as they are made. Looking takes
nothing on this machine. To start and stop servers it asks for the key, once for each tab; where a
token is configured, that takes its place.")]
pub(crate) struct Page {
    /// Where the page is; filled in by the command itself.
    #[arg(skip)]
    address: String,
}

impl Page {
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        let origin = common.load(&common.options())?.origin;
        let state = common.options().data_dir;
        let found = match state.as_deref() {
            Some(state) => open::runtime()?.block_on(instance::find(state, &origin)),
            None => Found::default(),
        };
        let silent = found.silent.first().copied();
        let address = found.running.and_then(|(note, _)| note.address).ok_or_else(|| match silent {
            Some(pid) => Fail::machine(format!("Toolfold is running (process {pid}) and does not answer"))
                .hint("end it, and start it again with `toolfold serve`"),
            None => Fail::nothing("Toolfold does not serve HTTP with this configuration.")
                .hint("start it with `toolfold serve`"),
        })?;
        let address = address.strip_suffix("mcp").unwrap_or(&address).to_owned();
        common.ask(Ask::Page(Page { address }))
    }

    pub(crate) fn answer(&self, gateway: &Gateway, style: Style) -> Result<Answer, Fail> {
        // Whoever reads this may start and stop servers from the command line as well.
        let key = page_key().filter(|_| gateway.config().is_open()).map(Secret::expose);
        if style.json {
            return Ok(Answer::new(as_json(&json!({"page": self.address, "key": key}))?));
        }
        let key = key.map_or_else(|| "the token of the configuration".to_owned(), str::to_owned);
        Ok(Answer::new(format!("page  {}\nkey   {key}", self.address)))
    }
}
