//! `direct`: every tool, as it is. Progressive disclosure switched off.

use serde_json::value::RawValue;
use toolfold_wire::Raw;

use super::{Action, View, call, definition};

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

pub(super) fn instructions() -> String {
    "The tools listed here belong to several servers; a name starts with its server's name. \
     When a call is refused, follow the hints in the error."
        .to_owned()
}

pub(super) fn route(view: &View<'_>, name: &str, arguments: Option<&RawValue>) -> Action {
    call(view, name, arguments.map(RawValue::to_owned))
}
