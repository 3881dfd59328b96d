//! Which entry a spelling means. Exact forms are tried first, so a tool that can be named exactly is never shadowed by
//! another one's variant, and no name by another one's alias; a variant counts only while it means one entry.

use toolfold_core::{Entry, ServerName, ToolId, words};

use crate::catalog::Catalog;

/// More candidates than this teach a model nothing.
const CANDIDATES: usize = 5;
/// Half of the words right, or half of the letters.
const NEAR_ENOUGH: f32 = 0.5;

/// A spelling that means no entry, or several. Candidates are ids, at most five.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unresolved {
    #[error("no such tool")]
    Unknown { nearest: Vec<String> },
    #[error("several tools have this name")]
    Ambiguous { candidates: Vec<String> },
}

pub(crate) fn resolve(catalog: &Catalog, spelling: &str) -> Result<usize, Unresolved> {
    let spelling = spelling.trim();
    if let Some(position) = exact(catalog, spelling) {
        return Ok(position);
    }
    let bare = positions(catalog, |entry| entry.name() == spelling);
    if !bare.is_empty() {
        return only(catalog, bare);
    }
    let wanted: Vec<char> = folded(spelling).collect();
    if wanted.is_empty() {
        return Err(Unresolved::Unknown { nearest: Vec::new() });
    }
    // After its server's name, or alone where that will do.
    let is_meant = |entry: &Entry, name: &str, alone: bool| {
        let (server, name) = (folded(entry.server().as_str()), || folded(name));
        alone && name().eq(wanted.iter().copied()) || server.chain(name()).eq(wanted.iter().copied())
    };
    let alike = positions(catalog, |entry| is_meant(entry, entry.name(), true));
    if !alike.is_empty() {
        return only(catalog, alike);
    }
    // Whoever names a server means that one, and no other that would like to be called so.
    let bare = !spelling.contains(['.', '/', ':']) && !spelling.contains("__");
    let called = positions(catalog, |entry| entry.aliases.iter().any(|alias| is_meant(entry, alias, bare)));
    if called.is_empty() {
        Err(Unresolved::Unknown { nearest: nearest(catalog, spelling) })
    } else {
        only(catalog, called)
    }
}

/// The id, the exposed name, or the id with another separator.
fn exact(catalog: &Catalog, spelling: &str) -> Option<usize> {
    let by_id = ToolId::parse(spelling).and_then(|id| catalog.position(&id));
    by_id.or_else(|| catalog.position_of_exposed(spelling)).or_else(|| {
        let (server, tool) = ["/", ":", "__"].iter().find_map(|mark| spelling.split_once(mark))?;
        catalog.position(&ToolId::new(ServerName::new(server).ok()?, tool))
    })
}

fn positions(catalog: &Catalog, fits: impl Fn(&Entry) -> bool) -> Vec<usize> {
    (0..catalog.len()).filter(|&position| fits(catalog.entry(position))).collect()
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

fn ids(catalog: &Catalog, positions: impl IntoIterator<Item = usize>) -> Vec<String> {
    positions.into_iter().take(CANDIDATES).map(|position| catalog.entry(position).id.to_string()).collect()
}

/// Letters and digits alone, in lower case: `createIssue`, `create-issue` and `create_issue` are one.
fn folded(text: &str) -> impl Iterator<Item = char> {
    text.chars().filter(|c| c.is_alphanumeric()).flat_map(char::to_lowercase)
}

fn nearest(catalog: &Catalog, spelling: &str) -> Vec<String> {
    let wanted_words = words::split(spelling);
    let wanted: String = folded(spelling).collect();
    let mut near: Vec<(f32, usize)> = (0..catalog.len())
        .map(|position| (similarity(&wanted, &wanted_words, catalog.entry(position)), position))
        .filter(|(similarity, _)| *similarity >= NEAR_ENOUGH)
        .collect();
    near.sort_by(|a, b| b.0.total_cmp(&a.0).then(a.1.cmp(&b.1)));
    ids(catalog, near.into_iter().map(|(_, position)| position))
}

/// The better of shared words and shared letters, 0 to 1, with a little of the other to break ties.
fn similarity(wanted: &str, wanted_words: &[String], entry: &Entry) -> f32 {
    let mut own_words = words::split(entry.name());
    let name: String = folded(entry.name()).collect();
    let by_name = letters(wanted, &name);
    own_words.extend(words::split(entry.server().as_str()));
    let whole: String = folded(entry.server().as_str()).chain(name.chars()).collect();
    let by_letters = by_name.max(letters(wanted, &whole));
    let shared = wanted_words.iter().filter(|word| own_words.contains(word)).count();
    let by_words = shared as f32 / wanted_words.len().max(1) as f32;
    by_letters.max(by_words) + 0.1 * by_letters.min(by_words)
}

fn letters(a: &str, b: &str) -> f32 {
    let (long, short) = (a.len().max(b.len()).max(1), a.len().min(b.len()));
    // Too different in length to be near: not worth measuring.
    if short * 2 < long {
        return 0.0;
    }
    1.0 - words::distance(a, b) as f32 / long as f32
}
