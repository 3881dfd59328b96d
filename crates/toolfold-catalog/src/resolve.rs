//! Which entry a spelling means. Exact forms are tried first, so a tool that can be named exactly is never shadowed by
//! another one's variant, and no name by another one's alias; a variant counts only while it means one entry.
//!
//! What a reader would get wrong: nothing is compared with every tool here. That is [`Catalog::nearest`], for the answers
//! that show it.

use crate::catalog::Catalog;
use crate::spelling::{Form, folded};

/// More candidates than this teach a model nothing.
pub(crate) const CANDIDATES: usize = 5;
/// Bytes. What is longer is nobody's name, and not looked at.
pub const LONGEST_SPELLING: usize = 512;

/// A spelling that means no entry, or several. Candidates are ids, at most five.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    #[error("no such tool")]
    Unknown,
    #[error("several tools have this name")]
    Ambiguous { candidates: Vec<String> },
}

/// `admits` says which entries there are for whoever asks.
pub(crate) fn resolve(catalog: &Catalog, spelling: &str, admits: &dyn Fn(usize) -> bool) -> Result<usize, Unresolved> {
    let spelling = spelling.trim();
    if spelling.is_empty() || spelling.len() > LONGEST_SPELLING {
        return Err(Unresolved::Unknown);
    }
    if let Some(position) = exact(catalog, spelling).filter(|position| admits(*position)) {
        return Ok(position);
    }
    let otherwise: Vec<usize> = otherwise(catalog, spelling).filter(|position| admits(*position)).collect();
    if !otherwise.is_empty() {
        return only(catalog, otherwise);
    }
    let having = |form: Form, text: &str, has: &dyn Fn(usize) -> bool| {
        let mut found: Vec<usize> = Vec::new();
        let those = catalog.spellings().candidates(form, text).filter(|position| admits(*position) && has(*position));
        for position in those {
            if found.last() != Some(&position) {
                found.push(position);
            }
            // One more than are shown, so that nobody pays for a name that thousands share.
            if found.len() > CANDIDATES {
                break;
            }
        }
        found
    };
    let bare = having(Form::Bare, spelling, &|position| catalog.entry(position).name() == spelling);
    if !bare.is_empty() {
        return only(catalog, bare);
    }
    let wanted = folded(spelling);
    if wanted.is_empty() {
        return Err(Unresolved::Unknown);
    }
    let is_after_server = |position: usize, name: &str| {
        let server = folded(catalog.entry(position).server().as_str());
        wanted.strip_prefix(server.as_str()).is_some_and(|rest| rest == folded(name))
    };
    let alike = having(Form::Folded, &wanted, &|position| {
        let name = catalog.entry(position).name();
        folded(name) == wanted || is_after_server(position, name)
    });
    if !alike.is_empty() {
        return only(catalog, alike);
    }
    let answers =
        |position: usize, fits: &dyn Fn(&str) -> bool| catalog.entry(position).aliases.iter().any(|a| fits(a));
    let mut called =
        having(Form::Alias, &wanted, &|position| answers(position, &|alias| is_after_server(position, alias)));
    // Whoever names a server means that one, and no other that would like to be called so.
    if !spelling.contains(['.', '/', ':']) && !spelling.contains("__") {
        let alone = having(Form::AliasAlone, &wanted, &|position| answers(position, &|alias| folded(alias) == wanted));
        called.extend(alone);
        called.sort_unstable();
        called.dedup();
    }
    if called.is_empty() { Err(Unresolved::Unknown) } else { only(catalog, called) }
}

/// The id, or the exposed name.
fn exact(catalog: &Catalog, spelling: &str) -> Option<usize> {
    let by_id = || spelling.split_once('.').and_then(|(server, tool)| catalog.position_of(server, tool));
    let by_exposed = || {
        let mut candidates = catalog.spellings().candidates(Form::Exposed, spelling);
        candidates.find(|position| catalog.exposed(*position) == spelling)
    };
    by_id().or_else(by_exposed)
}

/// The id with another separator. Names may have underscores of their own: `a__b__c` is `b__c` of `a` and `c` of `a__b`.
fn otherwise(catalog: &Catalog, spelling: &str) -> impl Iterator<Item = usize> {
    let split = ["/", ":"].iter().find_map(|mark| spelling.split_once(mark));
    let at = |at: usize| spelling[at..].strip_prefix("__").map(|tool| (&spelling[..at], tool));
    let joined = spelling.char_indices().filter_map(move |(place, _)| at(place)).filter(move |_| split.is_none());
    split.into_iter().chain(joined).filter_map(|(server, tool)| catalog.position_of(server, tool))
}

/// The one that is meant. A tool before an agent or a skill of the same name: those are rarely asked for by bare name.
fn only(catalog: &Catalog, mut positions: Vec<usize>) -> Result<usize, Unresolved> {
    if positions.iter().any(|&position| catalog.entry(position).is_tool()) {
        positions.retain(|&position| catalog.entry(position).is_tool());
    }
    match positions[..] {
        [position] => Ok(position),
        _ => Err(Unresolved::Ambiguous { candidates: ids(catalog, positions) }),
    }
}

pub(crate) fn ids(catalog: &Catalog, positions: impl IntoIterator<Item = usize>) -> Vec<String> {
    positions.into_iter().take(CANDIDATES).map(|position| catalog.entry(position).id.to_string()).collect()
}
