//! What a client's files are looked for in: given from outside, so that a test never meets a real home.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Platform {
    Linux,
    Mac,
    Windows,
}

#[derive(Debug, Clone)]
pub struct Environment {
    pub platform: Platform,
    pub home: Option<PathBuf>,
    /// The folder that is worked in: project files are looked for here.
    pub directory: PathBuf,
    pub variables: BTreeMap<String, String>,
    /// Toolfold's own state folder, for backups and what was installed where.
    pub state: Option<PathBuf>,
}

impl Environment {
    /// For these variables, on the platform this was built for.
    pub fn new(variables: BTreeMap<String, String>, directory: PathBuf, state: Option<PathBuf>) -> Environment {
        let platform = match std::env::consts::OS {
            "macos" => Platform::Mac,
            "windows" => Platform::Windows,
            _ => Platform::Linux,
        };
        let name = if platform == Platform::Windows { "USERPROFILE" } else { "HOME" };
        let home = variables.get(name).filter(|home| !home.is_empty()).map(PathBuf::from);
        Environment { platform, home, directory, variables, state }
    }

    pub(crate) fn below_home(&self, path: &str) -> Option<PathBuf> {
        self.home.as_ref().map(|home| home.join(path))
    }

    /// A folder that a variable names. A relative one is ignored, as the XDG rules ask.
    pub(crate) fn folder(&self, variable: &str) -> Option<PathBuf> {
        self.variables.get(variable).map(PathBuf::from).filter(|path| path.is_absolute())
    }

    /// `~/.config`, wherever that is.
    pub(crate) fn xdg(&self) -> Option<PathBuf> {
        self.folder("XDG_CONFIG_HOME").or_else(|| self.below_home(".config"))
    }

    /// Where this platform's programs with a window keep what they are told.
    pub(crate) fn system(&self) -> Option<PathBuf> {
        match self.platform {
            Platform::Linux => self.xdg(),
            Platform::Mac => self.below_home("Library/Application Support"),
            Platform::Windows => self.folder("APPDATA").or_else(|| self.below_home("AppData/Roaming")),
        }
    }

    pub(crate) fn local_app_data(&self) -> Option<PathBuf> {
        self.folder("LOCALAPPDATA").or_else(|| self.below_home("AppData/Local"))
    }

    /// Short, for people: below the home as `~/…`.
    pub fn shown(&self, path: &Path) -> String {
        match self.home.as_deref().and_then(|home| path.strip_prefix(home).ok()) {
            Some(below) => format!("~/{}", below.display()),
            None => path.display().to_string(),
        }
    }
}
