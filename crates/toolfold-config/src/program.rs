//! Where a command's program is, as the system would look for it when the server is started.

use std::path::{Path, PathBuf};

use crate::report::quoted;

/// A name with a slash is a path from the folder the server runs in; any other is searched for in `PATH`.
pub fn find(command: &str, paths: &str, directory: &Path) -> Option<PathBuf> {
    if command.contains('/') {
        return Some(directory.join(command)).filter(|path| is_program(path));
    }
    std::env::split_paths(paths).map(|folder| directory.join(folder).join(command)).find(|path| is_program(path))
}

pub(crate) fn not_found(typed: &str, is_path: bool) -> (String, String) {
    let place = if is_path { "there is no such program" } else { "is not on the PATH" };
    let hint = match typed {
        "npx" | "npm" | "node" => "install Node.js, or write the whole path of the program",
        "uvx" | "uv" => "install uv, or write the whole path of the program",
        "docker" => "install Docker, or write the whole path of the program",
        _ if is_path => "check the path, and that the file may be executed",
        _ => "install it, or write the whole path of the program",
    };
    (format!("{}: {place}", quoted(typed)), hint.to_owned())
}

#[cfg(unix)]
fn is_program(path: &Path) -> bool {
    use std::os::unix::fs::PermissionsExt;
    path.metadata().is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

#[cfg(not(unix))]
fn is_program(path: &Path) -> bool {
    path.is_file() || path.with_extension("exe").is_file()
}
