//! Surfaces: which meta-tools a client is shown and what its requests ask for. One table in one file each (`table` says
//! what is in it); what they share is in `lookup` (names, paths and queries) and in `result`.
//!
//! What a reader would get wrong: every surface serves a call that names a real tool, listed or not. A list is an offer,
//! not a fence.

mod action;
mod backends;
mod capabilities;
mod code;
mod compact;
mod direct;
mod doors;
mod hybrid;
mod levels;
mod lifecycle;
mod lookup;
mod missing;
mod next;
mod ontology;
mod places;
mod request;
mod result;
mod single;
mod table;
mod two_phase;
mod xml;

use toolfold_core::{Code, Refusal, Surface};
use toolfold_wire::Raw;

use crate::tokens;
use crate::view::View;
use request::Arguments;
use table::{Asking, table};

pub use action::{Action, Browse, Describe, Load, Search, SearchNodes, Shape, Unknown};
pub use code::{RUN, describing, finding, written_as};
pub use doors::{is_door_of, shut};
pub use lifecycle::{active, loaded};
pub(crate) use lookup::{call, node, not_found};
pub(crate) use missing::{note, noted};
pub use next::fitted;
pub(crate) use result::text_result;
pub use result::{definition, refusal_result};
pub use table::{MetaTool, door_tools, is_meta, is_reserved, is_reserved_beside, meta_tools, reserved_names};

/// What a client is told at the start costs no more than this.
const MOST_TOKENS: usize = 120;

/// The `tools` of `tools/list`: the meta-tools, then pinned and loaded tools as their servers define them.
pub fn tools(surface: Surface, view: &View<'_>) -> Vec<Raw> {
    if surface == Surface::Direct {
        return direct::tools(view);
    }
    let own = table(surface).definitions(view).into_iter();
    own.chain(view.listed().map(|at| definition(view.entry(at), view.exposed(at)))).collect()
}

/// What a client is told at the start, in at most 120 tokens: the rules, and whose tools there are, or what for where there
/// are too many servers to name. The servers are the configured ones: a client is told before any of them has answered, and
/// the same every time.
pub fn instructions(surface: Surface, servers: &[&str]) -> String {
    let rules = table(surface).rules;
    // Who sees every tool sees whose they are.
    if surface == Surface::Direct || servers.is_empty() {
        return rules.to_owned();
    }
    let all = format!("{rules}\nServers: {}", servers.join(", "));
    if tokens::count(&all) <= MOST_TOKENS {
        return all;
    }
    let capabilities = capabilities::of(servers);
    let (opening, words): (String, Vec<&str>) = if capabilities.is_empty() {
        ("Servers:".to_owned(), servers.to_vec())
    } else {
        (format!("{} servers, for", servers.len()), capabilities.iter().map(String::as_str).collect())
    };
    fitted_list(rules, &opening, &words)
}

/// The rules and as much of a list as there is room for.
fn fitted_list(rules: &str, opening: &str, words: &[&str]) -> String {
    let mut text = rules.to_owned();
    for (place, word) in words.iter().enumerate() {
        let longer = if place == 0 { format!("{text}\n{opening} {word}") } else { format!("{text}, {word}") };
        // Room for the mark that says there are more.
        if tokens::count(&longer) + 2 > MOST_TOKENS {
            return if place == 0 { text } else { format!("{text}, …") };
        }
        text = longer;
    }
    text
}

/// What a `tools/call` asks for. Cheap, whatever is asked: names are looked up, and nothing else is.
pub fn route(surface: Surface, view: &View<'_>, name: &str, arguments: Option<&Raw>) -> Action {
    let asking = Asking { table: table(surface), view };
    let action = if asking.knows(name) {
        let given = Arguments::read(arguments);
        let asked = given.and_then(|given| asking.ask(name, given).unwrap_or_else(|| Ok(call(view, name, None))));
        asked.unwrap_or_else(Action::Refuse)
    } else {
        call(view, name, arguments.cloned())
    };
    match action {
        Action::Refuse(refusal) => Action::Refuse(fitted(surface, refusal)),
        action => action,
    }
}

/// The result of what needs no server. Anything else is for the gateway to do.
///
/// This is where the time goes: a search may ask an encoder, a description may read a large schema.
pub fn answer(surface: Surface, view: &View<'_>, action: &Action) -> Result<Raw, Refusal> {
    let about = action.about();
    let view = &view.about(&about);
    let result = match action {
        Action::Browse(browse, shape) => shape(view, browse),
        Action::Search(search, shape) => shape(view, search),
        Action::Nodes(nodes, shape) => shape(view, nodes),
        Action::Describe(describe, shape) => shape(view, describe),
        Action::Unknown(unknown) => Err(lookup::nobody(view, unknown)),
        Action::Refuse(refusal) | Action::Shut { refusal, .. } => Err(refusal.clone()),
        Action::Load(_) | Action::Active { .. } | Action::Call { .. } | Action::Read(_) | Action::Run { .. } => {
            Err(Refusal::new(Code::InvalidRequest, "This request is not answered from the catalog."))
        }
    };
    let names = match action {
        Action::Unknown(Unknown { names, .. }) | Action::Describe(Describe { names, .. }, _) => names.as_slice(),
        _ => &[],
    };
    let there = !names.is_empty() && names.iter().all(|name| view.is_of_present(name));
    result.map_err(|refusal| fitted(surface, if there { refusal } else { missing::said(view, refusal) }))
}
