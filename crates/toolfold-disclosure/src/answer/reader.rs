//! What reads kept results, found and described like a tool. It is in no catalog: nobody's list has it, nobody counts it, and
//! a request that is about anything else never meets it.

use toolfold_core::words;
use toolfold_wire::Raw;

use super::budget::{Item, fit};
use crate::level::Level;
use crate::surface::{Browse, Search, text_result};
use crate::view::View;

/// How it is called. A server's own of that name comes first.
const NAMES: [&str; 3] = ["results.read", "results__read", "results/read"];
/// The node that it would be in.
const NODE: &str = "results";
/// Before the name of a kept result in an address.
const ADDRESS: &str = "toolfold://results/";

/// What a request for it is about, and in which words besides. One other word, and it is about something else: "read test
/// results" is.
const WHAT: [&str; 2] = ["result", "results"];
const HOW: [&str; 12] = [
    "continue",
    "handle",
    "kept",
    "more",
    "page",
    "read",
    "reading",
    "remaining",
    "rest",
    "saved",
    "stored",
    "truncated",
];
const BESIDES: [&str; 24] = [
    "a", "an", "as", "earlier", "from", "in", "is", "it", "its", "large", "last", "long", "my", "next", "of", "on",
    "part", "parts", "previous", "that", "the", "this", "tool", "toolfold",
];

pub(crate) fn is_name(name: &str) -> bool {
    NAMES.contains(&name.trim())
}

pub(crate) fn is_path(path: &[String]) -> bool {
    match path {
        [only] => only.eq_ignore_ascii_case(NODE) || is_name(only),
        [first, second] => first.eq_ignore_ascii_case(toolfold_catalog::SERVERS) && second.eq_ignore_ascii_case(NODE),
        _ => false,
    }
}

/// Whether a query asks for it.
fn is_meant(query: &str) -> bool {
    if query.split_whitespace().any(is_handle) {
        return true;
    }
    let words = words::split(query);
    let has = |known: &[&str]| words.iter().any(|word| known.contains(&word.as_str()));
    let known = |word: &String| [&WHAT[..], &HOW, &BESIDES].iter().any(|words| words.contains(&word.as_str()));
    has(&WHAT) && has(&HOW) && words.iter().all(known)
}

/// Whether it can be the name of a kept result.
fn is_handle(word: &str) -> bool {
    let word = word.trim_matches(['"', '\'', '`', ',', '.']);
    let digits = word.strip_prefix(ADDRESS).unwrap_or(word).strip_prefix('r').unwrap_or_default();
    digits.len() == 32 && digits.bytes().all(|byte| byte.is_ascii_hexdigit())
}

/// Its line above what is found, where a search is for it.
pub(super) fn line(view: &View<'_>, search: &Search) -> Option<String> {
    let wanted = search.path.is_empty() && search.offset == 0 && is_meant(&search.query);
    let reader = view.reader().filter(|reader| wanted && search.kind.is_none_or(|kind| kind == reader.kind))?;
    fit(&[Item::entry(reader, search.detail.max(Level::Signature), String::new())], view.budget()).pop()
}

/// What is in the node that it would be in.
pub(crate) fn browse(view: &View<'_>, _: &Browse) -> Result<Raw, toolfold_core::Refusal> {
    let items = view.reader().map(|reader| Item::entry(reader, Level::Signature, String::new()));
    Ok(text_result(&fit(items.as_slice(), view.budget()).join("\n")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_means_it_and_who_does_not() {
        let handle = "0123456789abcdef0123456789abcdef";
        for query in [
            "results.read",
            "read a kept result",
            "read more of the result",
            "continue reading a truncated result",
            "Read the rest of a long result",
            &format!("read r{handle}"),
            &format!("what is toolfold://results/r{handle}?").replace('?', ""),
        ] {
            assert!(is_meant(query), "{query}");
        }
        for query in [
            "",
            "read",
            "results",
            "read a file",
            "read test results",
            "search results page",
            "get exam results",
            "read results of a query",
            "r0123",
            handle,
        ] {
            assert!(!is_meant(query), "{query}");
        }
    }
}
