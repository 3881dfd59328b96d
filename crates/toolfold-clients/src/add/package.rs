//! Packages by name: `npm:`, `pypi:` and `oci:`, each run by the program that people have for it.

use super::{AddError, NewServer, name_of_package};
use crate::definition::ServerDefinition;

/// `None` where the text is no name of a package.
pub(super) fn from_name(target: &str) -> Option<Result<NewServer, AddError>> {
    let (registry, package) = target.split_once(':')?;
    let definition = run(registry, package, None)?;
    if !is_package(package) {
        return Some(Err(AddError::NotUnderstood(format!("{package:?} is not the name of a package"))));
    }
    let name = name_of_package(package);
    Some(Ok(NewServer { name, definition, missing: Vec::new(), notes: Vec::new() }))
}

/// How a package is run, with `runner` where somebody says which.
pub(super) fn run(registry: &str, package: &str, runner: Option<&str>) -> Option<ServerDefinition> {
    let (command, args): (&str, Vec<&str>) = match registry {
        "npm" => (runner.unwrap_or("npx"), vec!["-y", package]),
        "pypi" => (runner.unwrap_or("uvx"), vec![package]),
        "oci" => (runner.unwrap_or("docker"), vec!["run", "-i", "--rm", package]),
        "nuget" => (runner.unwrap_or("dnx"), vec![package, "--yes"]),
        _ => return None,
    };
    let args = args.into_iter().map(str::to_owned).collect();
    Some(ServerDefinition { command: Some(command.to_owned()), args, ..ServerDefinition::default() })
}

/// A name that no program could take for an option or a path elsewhere.
pub(super) fn is_package(package: &str) -> bool {
    let fits = |c: char| c.is_ascii_alphanumeric() || "@/._-:+=[],~^<>!".contains(c);
    !package.is_empty() && package.len() <= 256 && package.chars().all(fits) && !package.starts_with(['-', '.', '/'])
}
