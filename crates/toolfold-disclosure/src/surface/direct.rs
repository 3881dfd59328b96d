//! `direct`: every tool, as it is. Progressive disclosure switched off.

use toolfold_wire::Raw;

use super::table::Table;
use super::{View, definition};

pub(super) static TABLE: Table = Table {
    rules: "The tools listed here belong to several servers; a name starts with its server's name. \
    When a call is refused, follow the hints in the error.",
    metas: &[],
    by_server: None,
    call: None,
    next: |_| None,
};

/// Grouped by server, in the order each server gave.
pub(super) fn tools(view: &View<'_>) -> Vec<Raw> {
    let tools = view.tools_by_server().flat_map(|(_, tools)| tools);
    tools.map(|position| definition(view.entry(position), view.exposed(position))).collect()
}
