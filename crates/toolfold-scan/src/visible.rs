//! Which characters nobody sees, and how they are shown. Every other file asks here, so that what the scanner reports,
//! what a diff shows and what is marked in a result are the same characters.
//!
//! What a reader would get wrong: a joiner inside a word of Persian, a selector after an emoji or a mark of direction
//! beside Hebrew belongs to the text. Whether a character is hidden depends on its neighbours.

use std::fmt::Write;

/// What is wrong with a character where it stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Odd {
    /// Nothing is to be seen of it: zero width, filler, private use, tag.
    Invisible,
    /// It turns the direction of reading.
    Direction,
    /// It commands a terminal.
    Control,
}

/// The odd characters of a text with their places, in order.
pub(crate) fn odd(text: &str) -> impl Iterator<Item = (usize, char, Odd)> {
    let right_to_left = text.chars().any(is_right_to_left);
    let mut before = None;
    // Inside of the flag of a region of a country, which is written with tags.
    let mut flag = false;
    let mut characters = text.char_indices().peekable();
    std::iter::from_fn(move || {
        loop {
            let (at, c) = characters.next()?;
            let after = characters.peek().map(|(_, c)| *c);
            let last = before.replace(c);
            flag = c == '\u{1f3f4}' || (flag && matches!(c, '\u{e0020}'..='\u{e007e}'));
            let fits = match c {
                '\u{e0020}'..='\u{e007f}' => flag || (c == '\u{e007f}' && last.is_some_and(is_tag)),
                '\u{200c}' | '\u{200d}' => beside(last) && beside(after),
                '\u{fe00}'..='\u{fe0f}' => last.is_some_and(|c| !is_selector(c) && (!c.is_ascii() || keycap(c))),
                '\u{e0100}'..='\u{e01ef}' => last.is_some_and(is_ideograph),
                '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{2066}'..='\u{2069}' => right_to_left,
                '\u{feff}' => at == 0,
                '\u{ad}' => last.is_some_and(char::is_alphabetic) && after.is_some_and(char::is_alphabetic),
                _ => false,
            };
            if let Some(odd) = kind(c).filter(|_| !fits) {
                return Some((at, c, odd));
            }
        }
    })
}

fn kind(c: char) -> Option<Odd> {
    match c {
        '\n' | '\t' | '\r' => None,
        _ if c.is_ascii() => c.is_ascii_control().then_some(Odd::Control),
        '\u{80}'..='\u{9f}' => Some(Odd::Control),
        '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => Some(Odd::Direction),
        '\u{ad}'
        | '\u{34f}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{17b4}'
        | '\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{200b}'..='\u{200d}'
        | '\u{2060}'..='\u{2065}'
        | '\u{206a}'..='\u{206f}'
        | '\u{2800}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{feff}'
        | '\u{ffa0}'
        | '\u{fff0}'..='\u{fffb}'
        | '\u{1bca0}'..='\u{1bca3}'
        | '\u{1d173}'..='\u{1d17a}'
        | '\u{e0000}'..='\u{e0fff}'
        | '\u{e000}'..='\u{f8ff}'
        | '\u{f0000}'..='\u{10ffff}' => Some(Odd::Invisible),
        _ => None,
    }
}

/// Whether a character is left out before a text is compared with anything.
pub(crate) fn vanishes(c: char) -> bool {
    kind(c).is_some()
}

/// What a run of tag characters says: they mirror ASCII, and a model reads them.
pub(crate) fn tagged(text: &str) -> String {
    text.chars().filter(|c| is_tag(*c)).filter_map(|c| char::from_u32(u32::from(c) - 0xe0000)).collect()
}

pub(crate) fn is_tag(c: char) -> bool {
    matches!(c, '\u{e0020}'..='\u{e007e}')
}

fn is_selector(c: char) -> bool {
    matches!(c, '\u{fe00}'..='\u{fe0f}' | '\u{e0100}'..='\u{e01ef}')
}

fn keycap(c: char) -> bool {
    c.is_ascii_digit() || matches!(c, '#' | '*')
}

fn is_ideograph(c: char) -> bool {
    matches!(c, '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

fn is_right_to_left(c: char) -> bool {
    matches!(c, '\u{590}'..='\u{8ff}' | '\u{fb1d}'..='\u{fdff}' | '\u{fe70}'..='\u{fefc}' | '\u{10800}'..='\u{10fff}')
        && c != '\u{61c}'
}

/// A visible character beyond ASCII: joiners stand between two of them.
fn beside(c: Option<char>) -> bool {
    c.is_some_and(|c| !c.is_ascii() && (kind(c).is_none() || c == '\u{fe0f}'))
}

/// A text in which everything can be seen: odd characters as `\u{…}`, line ends and tabs as they are.
pub fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut done = 0;
    for (at, c, _) in odd(text) {
        out.push_str(&text[done..at]);
        // Writing to a string cannot fail.
        let _ = write!(out, "\\u{{{:x}}}", u32::from(c));
        done = at + c.len_utf8();
    }
    out.push_str(&text[done..]);
    // A line end of another system stays one; alone it would go back to the start of a line.
    out.replace("\r\n", "\n").replace('\r', "\\r")
}

/// A part of a text as one line of at most so many characters.
pub(crate) fn excerpt(text: &str) -> String {
    const LONGEST: usize = 240;
    let line = visible(text);
    let line: Vec<&str> = line.split_whitespace().collect();
    let line = line.join(" ");
    match line.char_indices().nth(LONGEST) {
        Some((end, _)) => format!("{}…", &line[..end]),
        None => line,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_belongs_to_a_script_is_not_odd() {
        for text in [
            "café – „so“",
            "👨\u{200d}👩\u{200d}👧 ❤\u{fe0f} 1\u{fe0f}\u{20e3}",
            "می\u{200c}خواهم",
            "שלום\u{200f}!",
            "🏴\u{e0067}\u{e0062}\u{e0065}\u{e006e}\u{e0067}\u{e007f}",
            "葛\u{e0100}",
            "\u{feff}text",
            "line\r\nline\tx",
        ] {
            assert_eq!(odd(text).collect::<Vec<_>>(), [], "{text}");
        }
    }

    #[test]
    fn what_hides_is_odd_and_shown() {
        assert_eq!(
            visible("a\u{200b}b\u{202e}c\u{1b}[2J\u{e0041}\u{e123}"),
            r"a\u{200b}b\u{202e}c\u{1b}[2J\u{e0041}\u{e123}"
        );
        assert_eq!(visible("x❤\u{fe0f}\u{fe01}\u{fe02}"), "x❤\u{fe0f}\\u{fe01}\\u{fe02}");
        assert_eq!(tagged("a\u{e0068}\u{e0069}"), "hi");
        assert_eq!(visible("one\rtwo\r\nthree"), "one\\rtwo\nthree");
    }
}
