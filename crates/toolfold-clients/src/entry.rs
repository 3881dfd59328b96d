//! Toolfold's entry in a client's file, looked at: whether there is one, whether what it names is there, and which variables
//! the client hands on. What an older install wrote, or somebody moved since, is seen here.

use std::path::PathBuf;

use serde_json::Value;

use crate::edit;
use crate::environment::Environment;
use crate::files;
use crate::own::is_own_entry;
use crate::read::{Reading, server};
use crate::table::{ENTRY_NAME, KnownClient, Variables};

/// Whether the client's file leads to Toolfold.
pub fn points_here(environment: &Environment, client: &KnownClient) -> bool {
    entry(environment, client).is_some()
}

/// Those of the variables that a client whose file leads to Toolfold does not hand on to it.
pub fn withheld(environment: &Environment, client: &KnownClient, variables: &[String]) -> Vec<String> {
    entry(environment, client).map(|entry| client.withheld(&entry, variables)).unwrap_or_default()
}

/// What the entry names and is not there: the program that it would start, or the configuration.
pub fn gone(environment: &Environment, client: &KnownClient) -> Option<PathBuf> {
    let reading = Reading { variables: Variables::Nothing, timeout: None, home: None, project: None };
    let made = server(ENTRY_NAME, &entry(environment, client)?, reading).outcome.ok()?;
    let config = made.args.iter().skip_while(|word| *word != "--config").nth(1);
    let named = made.command.iter().chain(config).map(|text| PathBuf::from(text.replace("$$", "$")));
    // A name without a folder is looked for by the client, who knows where.
    named.filter(|path| path.is_absolute()).find(|path| !files::is_file(path))
}

fn entry(environment: &Environment, client: &KnownClient) -> Option<Value> {
    let text = files::read(&client.own_file(environment)?).ok()??;
    let root = client.format.parse(&text).ok()?;
    edit::get(&root, &client.own_slot(&root)).filter(|entry| client.is_written && is_own_entry(entry)).cloned()
}
