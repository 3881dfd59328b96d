//! `direct`: every tool, as it is. Progressive disclosure switched off.

use toolfold_wire::Raw;

use super::{View, definition};

/// Grouped by server, in the order each server gave.
pub(super) fn tools(view: &View<'_>) -> Vec<Raw> {
    let entries = view.catalog.servers().iter().flat_map(|server| &server.entries);
    entries
        .filter(|entry| entry.is_tool())
        .filter_map(|entry| {
            let position = view.catalog.position(&entry.id)?;
            Some(definition(entry, view.catalog.exposed(position)))
        })
        .collect()
}

pub(super) const RULES: &str = "The tools listed here belong to several servers; a name starts with its server's name. \
    When a call is refused, follow the hints in the error.";
