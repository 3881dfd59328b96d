//! The built-in toolbox as a program that embeds Toolfold takes it in: beside its own tools, in any registry.

use std::path::PathBuf;

use crate::Registry;

/// Adds every tool of the toolbox.
pub fn register(registry: &mut Registry) {
    register_without(registry, []);
}

/// As [`register`], with files and folders that its tools never read: a program's own configuration and state.
pub fn register_without(registry: &mut Registry, private: impl IntoIterator<Item = PathBuf>) {
    for tool in toolfold_toolbox::tools(private) {
        registry.add(tool);
    }
}
