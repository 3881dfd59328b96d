//! What many tools of one server say: "This is the public REST API.", "Error Responses:". It tells none of them apart, so
//! it is left out of what an entry says for itself, in its line and in what is searched.
//!
//! What a reader would get wrong: the description stays as it is. A tool that would have nothing left to say keeps all of
//! it, because copies of one tool are described by what they share. And what only some tools begin with is not left out: it
//! says what kind of tool it is, and is told to whoever has room for one line (`tell_apart`).

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, OnceLock};

use toolfold_core::{Alike, Entry};

/// Tools that must say the same before it counts as common, whatever the size of the server.
const FEWEST: usize = 4;
/// One tool in so many, up to the number that is always enough.
const ONE_IN: usize = 8;
const ENOUGH: usize = 12;
/// Bytes of a description that are looked at: what comes after is left as it is.
const LOOKED_AT: usize = 8 * 1024;
/// A label in front of a description has no more words than this.
const LONGEST_LABEL: usize = 4;

/// Gives each entry of a server its own description, where it says something that many of the others say too.
pub(crate) fn leave_out(entries: &mut [Arc<Entry>]) {
    if entries.len() < FEWEST {
        return;
    }
    let common = common(entries);
    if common.is_empty() {
        return;
    }
    for entry in entries {
        if let Some(own) = own(&entry.description, &common) {
            let entry = Arc::make_mut(entry);
            (entry.own, entry.lines) = (Some(own.into_boxed_str()), OnceLock::new());
        }
    }
}

/// Tools that begin alike before it is noticed, and words with which they do: two may well be two ways to the same.
const FEWEST_ALIKE: usize = 3;
const FEWEST_WORDS: usize = 3;
/// Words of a description that are compared.
const COMPARED: usize = 64;
/// In the place of a word, where a sentence ends.
const END: &str = ".";
/// Words that only add to what is before them.
const ADDING: [&str; 22] = [
    END,
    "and",
    "as",
    "at",
    "based",
    "by",
    "for",
    "from",
    "if",
    "in",
    "including",
    "of",
    "on",
    "or",
    "so",
    "that",
    "to",
    "using",
    "via",
    "when",
    "which",
    "with",
];

/// Finds out with what each description begins that some others begin with too, as far as it goes on behind that.
pub(crate) fn tell_apart(entries: &mut [Arc<Entry>]) {
    let alike = alike(&entries.iter().map(|entry| words(entry.own_description())).collect::<Vec<_>>());
    for (entry, alike) in entries.iter_mut().zip(alike).filter(|(_, alike)| alike.is_some()) {
        let entry = Arc::make_mut(entry);
        (entry.alike, entry.lines) = (alike, OnceLock::new());
    }
}

/// What each text begins with that two others begin with as well.
fn alike(texts: &[Vec<(&str, usize)>]) -> Vec<Option<Alike>> {
    let mut sorted: Vec<usize> = (0..texts.len()).collect();
    let plain = |text: usize| texts[text].iter().map(|(word, _)| *word);
    sorted.sort_by(|one, other| plain(*one).cmp(plain(*other)));
    let mut shared = vec![(0, false); texts.len()];
    // What begins alike stands together, and what the outer ones share the inner ones share as well.
    for some in sorted.windows(FEWEST_ALIKE) {
        let (first, last) = (some[0], some[FEWEST_ALIKE - 1]);
        let words = plain(first).zip(plain(last)).take_while(|(one, other)| one == other).count();
        let is_over = plain(first).take(words).next_back() == Some(END);
        let is_phrase = is_over || some.iter().all(|text| texts[*text].get(words).is_none_or(|(word, _)| adds(word)));
        some.iter().for_each(|text| shared[*text] = shared[*text].max((words, is_phrase)));
    }
    let told = |(text, (words, is_phrase)): (&Vec<(&str, usize)>, (usize, bool))| {
        let goes_on = (FEWEST_WORDS..text.len()).contains(&words);
        goes_on.then(|| Alike { bytes: text[words - 1].1, is_phrase })
    };
    texts.iter().zip(shared).map(told).collect()
}

/// Whether a phrase can be over before a word.
fn adds(word: &str) -> bool {
    let participle = word.len() > 4 && ["ed", "ing"].iter().any(|end| word.ends_with(end));
    participle || ADDING.contains(&word)
}

/// The words of a text without the marks around them, each with where it ends.
fn words(text: &str) -> Vec<(&str, usize)> {
    let mut words = Vec::new();
    let mut start = 0;
    while words.len() < COMPARED {
        start += text[start..].len() - text[start..].trim_start().len();
        let length = text[start..].find(char::is_whitespace).unwrap_or(text.len() - start);
        if length == 0 {
            break;
        }
        let word = &text[start..start + length];
        let behind = word.trim_end_matches(|c: char| !c.is_alphanumeric());
        words.push((behind.trim_start_matches(|c: char| !c.is_alphanumeric()), start + behind.len()));
        start += length;
        if word.ends_with(['.', '!', '?']) {
            words.push((END, start));
        }
    }
    words
}

/// The pieces that many descriptions have.
fn common(entries: &[Arc<Entry>]) -> HashSet<String> {
    let mut counts: HashMap<&str, usize> = HashMap::new();
    for entry in entries {
        let once: HashSet<&str> = pieces(&entry.description).into_iter().map(str::trim).collect();
        // A full stop behind a parenthesis is a piece too, and no text can do without it.
        let says = |piece: &&str| piece.chars().any(char::is_alphanumeric);
        once.into_iter().filter(says).for_each(|piece| *counts.entry(piece).or_default() += 1);
    }
    let least = (entries.len() / ONE_IN).clamp(FEWEST, ENOUGH);
    counts.into_iter().filter(|(_, count)| *count >= least).map(|(piece, _)| piece.to_owned()).collect()
}

/// The description without common pieces; `None` where that is the same, or nothing.
fn own(description: &str, common: &HashSet<String>) -> Option<String> {
    let mut text = String::with_capacity(description.len());
    let mut left_out = false;
    for piece in pieces(description) {
        if common.contains(piece.trim()) {
            left_out = true;
            // Lines stay lines.
            if piece.ends_with('\n') && !text.is_empty() && !text.ends_with('\n') {
                text.push('\n');
            }
        } else {
            text.push_str(piece);
        }
    }
    let says = text.chars().any(char::is_alphanumeric);
    (left_out && says).then(|| text.trim().to_owned())
}

/// A text in pieces that could stand in another one: lines, sentences, what is in parentheses, a label in front. Put
/// together again they are the text.
fn pieces(text: &str) -> Vec<&str> {
    let mut end = text.len().min(LOOKED_AT);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    let (head, tail) = text.split_at(end);
    let mut pieces = Vec::new();
    let rest = match label(head) {
        Some(length) => {
            pieces.push(&head[..length]);
            &head[length..]
        }
        None => head,
    };
    let mut start = 0;
    let mut before = ' ';
    for (at, c) in rest.char_indices() {
        let after = at + c.len_utf8();
        let sentence = c == ' ' && matches!(before, '.' | '!' | '?');
        if c == '\n' || sentence || c == ')' {
            pieces.push(&rest[start..after]);
            start = after;
        } else if c == '(' && at > start {
            pieces.push(&rest[start..at]);
            start = at;
        }
        before = c;
    }
    pieces.push(&rest[start..]);
    pieces.push(tail);
    pieces
}

/// Where a label in front ends: `Notion | `, `Twilio - Chat: `.
fn label(text: &str) -> Option<usize> {
    let line = text.lines().next()?;
    let ends = [": ", " | "].iter().filter_map(|mark| Some(line.find(mark)? + mark.len()));
    ends.min().filter(|end| line[..*end].split_whitespace().count() <= LONGEST_LABEL + 1)
}

#[cfg(test)]
mod tests {
    use super::pieces;

    #[test]
    fn pieces_are_the_whole_text() {
        let text = "Chat - Rooms: This is the API. Make (or find) a room\nErrors:\n400 (bad)";
        assert_eq!(pieces(text).concat(), text);
        assert_eq!(pieces(text)[..2], ["Chat - Rooms: ", "This is the API. "]);
        assert!(pieces(text).contains(&"(or find)"));
        assert_eq!(pieces("").concat(), "");
    }
}
