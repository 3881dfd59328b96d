//! Cuts text into the pieces that are merged on their own, as o200k_base's pattern does:
//!
//! ```text
//! [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]*[\p{Ll}\p{Lm}\p{Lo}\p{M}]+(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! [^\r\n\p{L}\p{N}]?[\p{Lu}\p{Lt}\p{Lm}\p{Lo}\p{M}]+[\p{Ll}\p{Lm}\p{Lo}\p{M}]*(?i:'s|'t|'re|'ve|'m|'ll|'d)?
//! \p{N}{1,3}
//!  ?[^\s\p{L}\p{N}]+[\r\n/]*
//! \s*[\r\n]+
//! \s+(?!\S)
//! \s+
//! ```
//!
//! By hand, because the first match of an alternation with a look-ahead is what small regular expression engines cannot
//! do, and the table of categories is 13 KB.

/// What the pattern asks of a character.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    Other,
    /// Lu, Lt.
    Upper,
    /// Ll.
    Lower,
    /// Lm, Lo: letters without case, which stand on both sides.
    Caseless,
    /// M: on both sides too, and yet no letter.
    Mark,
    Number,
    Space,
}

/// Runs of characters of one class, each as its first character times eight plus its class, ascending.
static CLASSES: &[u8] = include_bytes!("../../data/classes.bin");

pub(super) fn pieces(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        let length = piece(rest);
        let (piece, after) = rest.split_at_checked(length).filter(|(piece, _)| !piece.is_empty())?;
        rest = after;
        Some(piece)
    })
}

/// The length of the first piece; 0 for an empty text.
fn piece(text: &str) -> usize {
    let Some(first) = text.chars().next() else { return 0 };
    let width = first.len_utf8();
    let first_class = class(first);
    let can_lead = !matches!(first_class, Class::Upper | Class::Lower | Class::Caseless | Class::Number)
        && !matches!(first, '\r' | '\n');
    let led = can_lead.then_some(width);
    let word = |find: fn(&str) -> Option<usize>| {
        led.and_then(|lead| find(&text[lead..]).map(|length| lead + length)).or_else(|| find(text))
    };
    if let Some(length) = word(ends_lower).or_else(|| word(starts_upper)) {
        return length + contraction(&text[length..]);
    }
    match first_class {
        Class::Number => run(text, |c| class(c) == Class::Number, 3),
        Class::Space if first == ' ' => symbols(&text[1..]).map_or_else(|| blank(text), |length| 1 + length),
        Class::Space => blank(text),
        _ => symbols(text).unwrap_or(width),
    }
}

/// `[upper]*[lower]+`: what has no case belongs to both, so a run of upper gives back its end until it ends in such.
fn ends_lower(text: &str) -> Option<usize> {
    let upper = run(text, is_upper, usize::MAX);
    let lower = run(&text[upper..], is_lower, usize::MAX);
    if lower > 0 {
        return Some(upper + lower);
    }
    let last = text[..upper].char_indices().rev().find(|(_, c)| is_lower(*c));
    last.map(|(at, c)| at + c.len_utf8())
}

/// `[upper]+[lower]*`.
fn starts_upper(text: &str) -> Option<usize> {
    let upper = run(text, is_upper, usize::MAX);
    (upper > 0).then(|| upper + run(&text[upper..], is_lower, usize::MAX))
}

/// The length of `'s`, `'t`, `'re`, `'ve`, `'m`, `'ll` or `'d` in any case. The long s is an s to a pattern.
fn contraction(text: &str) -> usize {
    let Some(rest) = text.strip_prefix('\'') else { return 0 };
    let mut letters = rest.chars();
    let (Some(first), second) = (letters.next(), letters.next()) else { return 0 };
    let second = second.map(|c| c.to_ascii_lowercase());
    match (first.to_ascii_lowercase(), second) {
        ('s' | 't' | 'm' | 'd' | 'ſ', _) => 1 + first.len_utf8(),
        ('r' | 'v', Some('e')) | ('l', Some('l')) => 3,
        _ => 0,
    }
}

/// Neither space nor letter nor number, and then line ends and slashes.
fn symbols(text: &str) -> Option<usize> {
    let length = run(text, |c| matches!(class(c), Class::Other | Class::Mark), usize::MAX);
    (length > 0).then(|| length + run(&text[length..], |c| matches!(c, '\r' | '\n' | '/'), usize::MAX))
}

/// Up to the last line end; otherwise all but the last space, which belongs to what follows.
fn blank(text: &str) -> usize {
    let length = run(text, |c| class(c) == Class::Space, usize::MAX);
    let space = &text[..length];
    if let Some(at) = space.rfind(['\r', '\n']) {
        return at + 1;
    }
    let last = space.chars().next_back().map_or(0, char::len_utf8);
    if length == text.len() || length == last { length } else { length - last }
}

fn is_upper(c: char) -> bool {
    matches!(class(c), Class::Upper | Class::Caseless | Class::Mark)
}

fn is_lower(c: char) -> bool {
    matches!(class(c), Class::Lower | Class::Caseless | Class::Mark)
}

/// The length in bytes of the characters that fit, at most so many.
fn run(text: &str, fits: impl Fn(char) -> bool, most: usize) -> usize {
    text.chars().take(most).take_while(|c| fits(*c)).map(char::len_utf8).sum()
}

fn class(c: char) -> Class {
    match c {
        'a'..='z' => Class::Lower,
        'A'..='Z' => Class::Upper,
        '0'..='9' => Class::Number,
        ' ' | '\t'..='\r' => Class::Space,
        '\0'..='\x7f' => Class::Other,
        _ => looked_up(c),
    }
}

fn looked_up(c: char) -> Class {
    let entry = |i: usize| u32::from_le_bytes([0, 1, 2, 3].map(|byte| CLASSES[4 * i + byte]));
    let (mut low, mut high) = (0, CLASSES.len() / 4);
    while high - low > 1 {
        let middle = low + (high - low) / 2;
        if entry(middle) >> 3 <= c as u32 { low = middle } else { high = middle }
    }
    match entry(low) & 7 {
        1 => Class::Upper,
        2 => Class::Lower,
        3 => Class::Caseless,
        4 => Class::Mark,
        5 => Class::Number,
        6 => Class::Space,
        _ => Class::Other,
    }
}
