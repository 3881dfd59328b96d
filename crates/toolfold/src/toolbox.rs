//! The built-in toolbox as a program that embeds Toolfold takes it in: beside its own tools, in any registry.

use crate::Registry;

/// Adds every tool of the toolbox.
pub fn register(registry: &mut Registry) {
    for tool in toolfold_toolbox::tools() {
        registry.add(tool);
    }
}
