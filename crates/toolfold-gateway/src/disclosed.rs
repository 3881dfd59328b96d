//! Which tools an answer named. Read off the answer itself, as whoever gets it would: what a surface found and then did not
//! show was not shown.

use toolfold_audit::Shown;
use toolfold_core::ToolId;
use toolfold_disclosure::{Action, View};
use toolfold_wire::Raw;

/// Answers are small; of a larger one the beginning is read.
const LONGEST: usize = 64 * 1024;
const MOST: usize = 64;

/// The tools of an answer, in its order, with how sure the search was of each.
pub(crate) fn shown(view: &View<'_>, action: &Action, answer: &Raw, noted: &[(usize, f32)]) -> Vec<Shown> {
    let places = match action {
        Action::Load(load) => load.tools.clone(),
        Action::Describe(describe, _) => describe.names.iter().filter_map(|name| view.resolve(name).ok()).collect(),
        _ => named(view, answer.get(), noted),
    };
    let sure = |place: &usize| noted.iter().find(|(noted, _)| noted == place).map(|(_, confidence)| *confidence);
    let shown = |place: usize| Shown { tool: view.entry(place).id.to_string(), confidence: sure(&place) };
    places.into_iter().take(MOST).map(shown).collect()
}

fn named(view: &View<'_>, text: &str, noted: &[(usize, f32)]) -> Vec<usize> {
    let end = (0..=LONGEST.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0);
    let text = &text[..end];
    let mut found: Vec<(usize, usize)> = Vec::new();
    let is_known = |found: &[(usize, usize)], place: usize| found.iter().any(|(_, known)| *known == place);
    for (at, word) in words(text) {
        let word = word.trim_end_matches('.');
        let place = match ToolId::parse(word) {
            Some(id) => view.position(&id),
            None if word.contains("__") => view.resolve(word).ok(),
            None => None,
        };
        found.extend(place.filter(|place| !is_known(&found, *place)).map(|place| (at, place)));
    }
    // What is named otherwise, by its bare name or with odd characters in it, is looked for among what was found.
    for (place, _) in noted {
        let entry = view.entry(*place);
        // Every spelling has the name in it, and most hits of a search are not shown.
        if is_known(&found, *place) || !text.contains(entry.name()) {
            continue;
        }
        let spellings = [entry.id.to_string(), format!("\"{}\"", entry.name()), format!("\\\"{}\\\"", entry.name())];
        let at = spellings.iter().find_map(|spelling| text.find(spelling.as_str()));
        found.extend(at.map(|at| (at, *place)));
    }
    found.sort_by_key(|(at, _)| *at);
    found.into_iter().map(|(_, place)| place).collect()
}

/// What could be a name, and where. An escape of JSON ends a word: `\n` is no letter.
fn words(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let bytes = text.as_bytes();
    let mut at = 0;
    std::iter::from_fn(move || {
        while at < bytes.len() && !is_part(bytes[at]) {
            at += match bytes[at] {
                b'\\' if bytes.get(at + 1) == Some(&b'u') => 6,
                b'\\' => 2,
                _ => 1,
            };
        }
        let start = at.min(bytes.len());
        while at < bytes.len() && is_part(bytes[at]) {
            at += 1;
        }
        (start < bytes.len()).then(|| (start, &text[start..at]))
    })
}

fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_an_answer() {
        let text = r#"{"text":"a.b(x)\nc.d — e\u2014f.g"}"#;
        let words: Vec<&str> = words(text).map(|(_, word)| word).collect();
        assert_eq!(words, ["text", "a.b", "x", "c.d", "e", "f.g"]);
    }
}
