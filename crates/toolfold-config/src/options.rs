//! What a configuration is made from beside its file. A test fills it in by hand; the program takes it from its own
//! surroundings.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use toolfold_core::Surface;

#[derive(Debug, Clone, Default)]
pub struct LoadOptions {
    /// `--config`. Without it the file is searched for.
    pub file: Option<PathBuf>,
    /// The search for `toolfold.toml` begins here and goes upwards.
    pub directory: PathBuf,
    /// Variables for `${VAR}`, and Toolfold's own (`TOOLFOLD_CONFIG`, `TOOLFOLD_SURFACE`, …).
    pub environment: BTreeMap<String, String>,
    /// Where the user's own `toolfold.toml` is, if it is nowhere above.
    pub user_config_dir: Option<PathBuf>,
    /// Where the store is unless somebody says otherwise; `None`: in memory.
    pub data_dir: Option<PathBuf>,
    /// Where the program itself is, and what was installed with it.
    pub program_dir: Option<PathBuf>,
    /// The program itself: as the command of a server it would start itself.
    pub program: Option<PathBuf>,
    /// Use a file that was found by looking upwards without asking whether somebody trusts it. For looking at it only.
    pub trusting: bool,
    /// A server whose variables are not set is left out, with the reason in [`crate::Config::unusable`], instead of
    /// refused: the others can be served.
    pub lenient: bool,
    /// Refuse a server whose command is nowhere to be found.
    pub look_for_commands: bool,
    /// `--surface`.
    pub surface: Option<Surface>,
    /// `--listen`.
    pub listen: Option<SocketAddr>,
}

impl LoadOptions {
    /// The surroundings of this process; flags are for the caller to add.
    pub fn from_process() -> Self {
        // `std::env::vars` panics at the first variable that is not UTF-8.
        let text = |text: std::ffi::OsString| text.into_string().ok();
        let environment = std::env::vars_os().filter_map(|(name, value)| Some((text(name)?, text(value)?)));
        let directory = std::env::current_dir().unwrap_or_else(|_| PathBuf::from("."));
        let program = std::env::current_exe().ok();
        LoadOptions {
            program: program.clone(),
            program_dir: program.as_deref().and_then(Path::parent).map(Path::to_owned),
            ..LoadOptions::from_environment(environment.collect(), directory)
        }
    }

    /// The folders of the XDG base directory rules, for these variables.
    pub fn from_environment(environment: BTreeMap<String, String>, directory: PathBuf) -> Self {
        LoadOptions {
            user_config_dir: xdg(&environment, "XDG_CONFIG_HOME", ".config"),
            data_dir: xdg(&environment, "XDG_STATE_HOME", ".local/state"),
            environment,
            directory,
            ..LoadOptions::default()
        }
    }

    /// A variable of Toolfold's own; one that is set to nothing counts as not set.
    pub(crate) fn variable(&self, name: &str) -> Option<&str> {
        self.environment.get(name).map(String::as_str).filter(|value| !value.is_empty())
    }
}

fn xdg(environment: &BTreeMap<String, String>, variable: &str, below_home: &str) -> Option<PathBuf> {
    // The rules say that a relative path is to be ignored.
    let absolute = |name: &str| environment.get(name).map(Path::new).filter(|path| path.is_absolute());
    let folder = absolute(variable).map(Path::to_owned).or_else(|| Some(absolute("HOME")?.join(below_home)));
    folder.map(|folder| folder.join("toolfold"))
}
