//! `toolfold store`: what is kept, moved from one place to another.

use clap::{Args, Subcommand};
use serde_json::json;
use toolfold_config::LoadOptions;
use toolfold_core::{DatabaseUrl, StorePlace, shown_line};
use toolfold_store::{StoreError, copy};

use super::open::runtime;
use super::output::{print, print_json, tell};
use super::{Common, Fail};

#[derive(Args)]
#[command(
    after_help = "A store is a file (its record, beside it, is part of it) or a database, postgres://user:password@host/database. \
`${NAME}` in place of either stands for a variable, so that a password need not be typed: toolfold store copy toolfold.db '${DATABASE_URL}'. \
Nothing should use the target meanwhile. All of it is copied or nothing; the audit stays where it is. Exit codes: 0 done, 1 the \
target holds something, 2 usage, 3 a store cannot be used."
)]
pub(crate) struct StoreCommand {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Copy everything that is kept to another place
    Copy {
        /// Where it is
        from: String,
        /// Where it is to be
        to: String,
        /// Replace what the target holds; files that are replaced are kept beside it
        #[arg(long)]
        replace: bool,
    },
}

impl StoreCommand {
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        let What::Copy { from, to, replace } = self.what;
        let (from, to) = (place(&from)?, place(&to)?);
        if from == to {
            return Err(Fail::usage("both are the same store"));
        }
        let progress = |text: &str| {
            if !common.quiet && !common.json {
                tell(text);
            }
        };
        let copied = runtime()?.block_on(copy(&from, &to, replace, progress)).map_err(|error| unusable(&error))?;
        if copied.of("logins") > 0 && from.file().is_some() && to.database().is_some() && !common.quiet {
            tell("Logins are sealed: set TOOLFOLD_KEY to what is in the .key file beside the store they came from.");
        }
        let rows: u64 = copied.rows.iter().map(|(_, rows)| rows).sum();
        match common.json {
            true => {
                let tables: serde_json::Map<_, _> =
                    copied.rows.iter().map(|(name, rows)| ((*name).to_owned(), json!(rows))).collect();
                print_json(&json!({"copied": rows, "tables": tables}))
            }
            false => print(&format!("{rows} entries of {from} are in {to} now.")),
        }
    }
}

/// A place as it is typed, with its variables.
fn place(text: &str) -> Result<StorePlace, Fail> {
    let options = LoadOptions::from_process();
    let whole = match text.strip_prefix("${").and_then(|rest| rest.strip_suffix('}')) {
        Some(name) => match options.environment.get(name) {
            Some(value) => value.clone(),
            None => return Err(Fail::usage(format!("the variable {} is not set", shown_line(name)))),
        },
        None => text.to_owned(),
    };
    if whole.is_empty() || whole == "memory" {
        return Err(Fail::usage("what is kept in memory cannot be copied").hint("name a file or a database"));
    }
    Ok(match DatabaseUrl::parse(&whole) {
        Some(url) => StorePlace::Database(url),
        None => StorePlace::File(options.directory.join(whole)),
    })
}

fn unusable(error: &StoreError) -> Fail {
    let said = shown_line(&error.to_string()).into_owned();
    match error {
        StoreError::Occupied { .. } => Fail::nothing(said).hint(error.hint()),
        StoreError::Address { .. } | StoreError::Missing { .. } => Fail::usage(said).hint(error.hint()),
        _ => Fail::machine(said).hint(error.hint()),
    }
}
