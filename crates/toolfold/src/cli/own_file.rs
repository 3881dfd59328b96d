//! The `toolfold.toml` that commands change: the named one, else the one that is used here, else the user's own. And the
//! surroundings that clients' files are looked for in.

use std::io::{BufRead, IsTerminal, Write};
use std::path::{Path, PathBuf};

use toolfold_clients::{Environment, read_file, replace_file};
use toolfold_config::{LoadOptions, Origin, TrustList};
use toolfold_core::shown_line;

use super::output::tell;
use super::{Common, Fail};

pub(crate) struct OwnFile {
    pub(crate) path: PathBuf,
    /// `None`: there is none yet.
    pub(crate) text: Option<String>,
    /// It is used because somebody trusts it as it is: changed by us, it has to be trusted anew.
    is_trusted: bool,
}

pub(crate) fn environment(options: &LoadOptions) -> Environment {
    Environment::new(options.environment.clone(), options.directory.clone(), options.data_dir.clone())
}

impl OwnFile {
    pub(crate) fn find(common: &Common) -> Result<OwnFile, Fail> {
        let options = common.options();
        let named = options
            .file
            .clone()
            .or_else(|| options.environment.get("TOOLFOLD_CONFIG").filter(|name| !name.is_empty()).map(PathBuf::from));
        let used = || match toolfold_config::load(&options).map(|loaded| loaded.origin) {
            Ok(Origin::File(path)) => Some(path),
            _ => None,
        };
        let users = options.user_config_dir.as_ref().map(|folder| folder.join("toolfold.toml"));
        let (path, is_trusted) = match named {
            Some(file) => (options.directory.join(file), false),
            None => match used() {
                Some(path) => (path.clone(), Some(&path) != users.as_ref()),
                None => (users.ok_or_else(no_place)?, false),
            },
        };
        if path.extension().is_some_and(|ending| ending != "toml") {
            let shown = shown_line(&path.display().to_string()).into_owned();
            return Err(Fail::usage(format!("{shown} is not a toolfold.toml, and only that is written"))
                .hint("name one with --config, or none for the one in your configuration folder"));
        }
        let text = read_file(&path).map_err(|error| Fail::usage(shown_line(&error.to_string())))?;
        Ok(OwnFile { path, text, is_trusted })
    }

    pub(crate) fn text(&self) -> &str {
        self.text.as_deref().unwrap_or_default()
    }

    pub(crate) fn shown(&self, environment: &Environment) -> String {
        shown_path(&self.path, environment)
    }

    pub(crate) fn write(&self, text: &str, options: &LoadOptions) -> Result<(), Fail> {
        replace_file(&self.path, self.text.as_deref(), text)
            .map_err(|error| Fail::machine(shown_line(&error.to_string())))?;
        if let (true, Some(state)) = (self.is_trusted, &options.data_dir) {
            TrustList::new(state).add(&self.path).map_err(|error| Fail::machine(shown_line(&error.to_string())))?;
        }
        Ok(())
    }

    /// Why Toolfold would not take a server that the file, as it is, does not have; `text` has that one alone.
    pub(crate) fn refused(&self, text: &str, options: &LoadOptions) -> Option<String> {
        let wrong = toolfold_config::mistakes(&self.path, text, options).into_iter().next()?;
        // `servers.name.url`
        let key = wrong.key.splitn(3, '.').nth(2).unwrap_or_default();
        Some(if key.is_empty() { wrong.message } else { format!("{key}: {}", wrong.message) })
    }

    /// Why an edit of it failed.
    pub(crate) fn broken(&self, error: &toolfold_clients::EditError) -> Fail {
        let path = shown_line(&self.path.display().to_string()).into_owned();
        Fail::usage(format!("{path}: {error}")).hint("`toolfold check` tells what is wrong with it")
    }
}

fn no_place() -> Fail {
    Fail::usage("there is no configuration folder")
        .hint("set HOME or XDG_CONFIG_HOME, or name a toolfold.toml with --config")
}

pub(crate) fn shown_path(path: &Path, environment: &Environment) -> String {
    shown_line(&environment.shown(path)).into_owned()
}

/// Whether to go on: said on the command line, or asked of a person. Where there is nobody to ask, it is no.
pub(crate) fn agreed(question: &str, yes: bool) -> bool {
    if yes || !is_person() {
        return yes;
    }
    matches!(asked(&format!("{question} [y/N] ")).as_deref(), Some("y" | "Y" | "yes"))
}

pub(crate) fn is_person() -> bool {
    std::io::stdin().is_terminal() && std::io::stderr().is_terminal()
}

/// A line that somebody types.
pub(crate) fn asked(question: &str) -> Option<String> {
    let mut out = std::io::stderr().lock();
    let _ = write!(out, "{question}");
    let _ = out.flush();
    let mut line = String::new();
    std::io::stdin().lock().read_line(&mut line).ok()?;
    Some(line.trim().to_owned())
}

/// What was not done, for want of somebody to ask.
pub(crate) fn nothing_written() {
    tell("Nothing was written. Add --yes to do it.");
}
