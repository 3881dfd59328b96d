//! Where a client's own file is, by platform, by what variables say, and by what is there.

use std::path::PathBuf;

use super::KnownClient;
use crate::environment::{Environment, Platform};
use crate::files;

#[derive(Debug, Clone, Copy)]
pub struct FilePlace {
    pub base: Base,
    /// One part may be `*`: whatever folder fits.
    pub path: &'static str,
    pub rank: Rank,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Base {
    Home,
    /// `$XDG_CONFIG_HOME`, or `~/.config`, on every platform.
    Xdg,
    /// `~/.config`, `~/Library/Application Support` or `%APPDATA%`.
    System,
    /// On one platform alone.
    Linux,
    Mac,
    /// `%APPDATA%`, on Windows alone.
    AppData,
    LocalAppData,
    /// Only where this variable names a folder.
    Variable(&'static str),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Rank {
    /// The file that is made where there is none.
    Main,
    /// Used before the main one where it is there.
    Before,
    /// Only ever read.
    Also,
}

impl FilePlace {
    pub const fn main(base: Base, path: &'static str) -> FilePlace {
        FilePlace { base, path, rank: Rank::Main }
    }

    pub const fn before(base: Base, path: &'static str) -> FilePlace {
        FilePlace { base, path, rank: Rank::Before }
    }

    pub const fn also(base: Base, path: &'static str) -> FilePlace {
        FilePlace { base, path, rank: Rank::Also }
    }

    /// The paths it stands for here: none on another platform, several where a `*` fits several.
    pub fn paths(&self, environment: &Environment) -> Vec<PathBuf> {
        let on = |platform| (environment.platform == platform).then(|| environment.home.clone()).flatten();
        let folder = match self.base {
            Base::Home => environment.home.clone(),
            Base::Xdg => environment.xdg(),
            Base::System => environment.system(),
            Base::Linux => on(Platform::Linux),
            Base::Mac => on(Platform::Mac),
            Base::AppData => on(Platform::Windows).and_then(|_| environment.system()),
            Base::LocalAppData => on(Platform::Windows).and_then(|_| environment.local_app_data()),
            Base::Variable(name) => environment.folder(name),
        };
        let Some(folder) = folder else { return Vec::new() };
        match self.path.split_once('*') {
            // The variable names the file itself.
            None if self.path.is_empty() => vec![folder],
            None => vec![folder.join(self.path)],
            Some((before, after)) => {
                let (parent, start) = before.rsplit_once('/').unwrap_or(("", before));
                let (end, rest) = after.split_once('/').unwrap_or((after, ""));
                let fits = |name: &str| name.starts_with(start) && name.ends_with(end);
                let names = files::names(&folder.join(parent)).into_iter().filter(|name| fits(name));
                let below = |found: PathBuf| if rest.is_empty() { found } else { found.join(rest) };
                names.map(|name| below(folder.join(parent).join(name))).collect()
            }
        }
    }

    /// For the document: `~/.config/…`.
    pub(super) fn shown(&self) -> String {
        let path = self.path;
        match self.base {
            Base::Home => format!("~/{path}"),
            Base::Xdg => format!("~/.config/{path}"),
            Base::System => format!("<config>/{path}"),
            Base::Linux => format!("~/{path} (Linux)"),
            Base::Mac => format!("~/{path} (macOS)"),
            Base::AppData => format!("%APPDATA%/{path} (Windows)"),
            Base::LocalAppData => format!("%LOCALAPPDATA%/{path} (Windows)"),
            Base::Variable(name) if path.is_empty() => format!("${name}"),
            Base::Variable(name) => format!("${name}/{path}"),
        }
    }
}

impl KnownClient {
    /// Every file of the user's that is there.
    pub fn user_files(&self, environment: &Environment) -> Vec<PathBuf> {
        let mut found = Vec::new();
        for path in self.user.iter().flat_map(|place| place.paths(environment)) {
            if files::is_file(&path) && !found.contains(&path) {
                found.push(path);
            }
        }
        found
    }

    /// Every file of the project's that is there.
    pub fn project_files(&self, environment: &Environment) -> Vec<PathBuf> {
        let paths = self.project.iter().flat_map(|path| {
            FilePlace::main(Base::Home, path)
                .paths(&Environment { home: Some(environment.directory.clone()), ..environment.clone() })
        });
        paths.filter(|path| files::is_file(path)).collect()
    }

    /// The file that an entry for the user goes into, there or not.
    pub fn own_file(&self, environment: &Environment) -> Option<PathBuf> {
        let of = |rank: Rank| {
            let places = self.user.iter().filter(move |place| place.rank == rank);
            places.flat_map(|place| place.paths(environment))
        };
        of(Rank::Before).find(|path| files::is_file(path)).or_else(|| of(Rank::Main).next())
    }

    /// Whether the client seems to be on this machine.
    pub fn is_present(&self, environment: &Environment) -> bool {
        let signs =
            || self.signs.iter().filter_map(|sign| environment.below_home(sign)).any(|path| files::is_there(&path));
        let on_path =
            |program: &str| files::on_path(program, environment.variables.get("PATH").map_or("", String::as_str));
        !self.user_files(environment).is_empty() || signs() || self.program.is_some_and(on_path)
    }
}
