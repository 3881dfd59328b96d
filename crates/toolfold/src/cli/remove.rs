//! `toolfold remove`: a server out of `toolfold.toml`, and nothing else.

use clap::Args;
use serde_json::json;
use toolfold_clients::{remove_server, server_names};
use toolfold_core::{shown_line, words};

use super::output::{print, print_json};
use super::own_file::{OwnFile, environment};
use super::{Common, Fail};

#[derive(Args)]
pub(crate) struct Remove {
    /// The server's name
    name: String,
    /// Show what would be done, and do nothing
    #[arg(long)]
    dry_run: bool,
}

impl Remove {
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        let options = common.options();
        let environment = environment(&options);
        let file = OwnFile::find(common)?;
        let name = shown_line(&self.name).into_owned();
        let shown = file.shown(&environment);
        let removed = remove_server(file.text(), &self.name).map_err(|error| file.broken(&error))?;
        let Some(text) = removed else {
            let known = server_names(file.text()).map_err(|error| file.broken(&error))?;
            let fail = Fail::nothing(format!("There is no server {name} in {shown}."));
            return Err(match words::nearest(&self.name, known.iter().map(String::as_str)) {
                Some(near) => fail.hint(format!("did you mean {}?", shown_line(near))),
                None => fail,
            });
        };
        if !self.dry_run {
            file.write(&text, &options)?;
        }
        if common.json {
            return print_json(&json!({"removed": self.name, "file": file.path, "written": !self.dry_run}));
        }
        print(&match self.dry_run {
            true => format!("{name} would be taken out of {shown}."),
            false => format!("{name} is out of {shown}."),
        })
    }
}
