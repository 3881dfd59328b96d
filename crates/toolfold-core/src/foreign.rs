//! Text that somebody else wrote, on its way to a terminal or a log: names, descriptions, results, errors, what a program
//! prints. It is data there: it may not move the cursor, begin a line of its own, turn the direction of reading or hide.
//!
//! Everything that would is written out (`\u{202e}`), not dropped: whoever looks sees that something was there. This is
//! not for clients: an answer to a model is passed on as it came.

use std::borrow::Cow;
use std::fmt::Write;

/// More than anybody reads in one line. What is longer is cut, and says by how much.
pub const LONGEST_LINE: usize = 2_000;

/// Foreign text in as many lines as it has. Only line ends and tabs still mean something; never cut, as it is what was
/// asked for.
pub fn shown(text: &str) -> Cow<'_, str> {
    written_out(text, |c| matches!(c, '\n' | '\t'))
}

/// Foreign text as a part of one line: a name, a reason, a field of the log. Cut where it is longer than
/// [`LONGEST_LINE`].
pub fn shown_line(text: &str) -> Cow<'_, str> {
    let Some((end, _)) = text.char_indices().nth(LONGEST_LINE) else { return written_out(text, |_| false) };
    let mut line = written_out(&text[..end], |_| false).into_owned();
    // Writing to a string cannot fail.
    let _ = write!(line, "… ({} more bytes)", text.len() - end);
    Cow::Owned(line)
}

/// The beginning of a text that a stranger sent, where it is said back: never more of it than helps, and marked where it
/// was cut.
pub fn beginning(text: &str, most: usize) -> Cow<'_, str> {
    match text.char_indices().nth(most) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

/// JSON whose strings are foreign: the same JSON, with every such character as an escape of JSON. Outside of strings
/// none of them can stand but line ends and tabs.
pub fn shown_json(json: &str) -> Cow<'_, str> {
    rewritten(
        json,
        |c| matches!(c, '\n' | '\t' | '\r'),
        |c, out| {
            for unit in c.encode_utf16(&mut [0; 2]) {
                let _ = write!(out, "\\u{unit:04x}");
            }
        },
    )
}

fn written_out(text: &str, meant: fn(char) -> bool) -> Cow<'_, str> {
    rewritten(text, meant, |c, out| out.extend(c.escape_default()))
}

fn rewritten(text: &str, meant: fn(char) -> bool, escape: impl Fn(char, &mut String)) -> Cow<'_, str> {
    let unfit = |(at, c): &(usize, char)| !meant(*c) && acts(*c) && !joins(text, *at, *c);
    let Some((first, _)) = text.char_indices().find(unfit) else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    let rest = text[first..].char_indices().map(|(at, c)| (first + at, c));
    for (at, c) in rest {
        match c {
            // The line end of other systems; alone it would go back to the start of the line.
            '\r' if meant('\n') && text[at + 1..].starts_with('\n') => {}
            _ if unfit(&(at, c)) => escape(c, &mut out),
            _ => out.push(c),
        }
    }
    Cow::Owned(out)
}

/// Whether a character does something instead of being seen: it commands a terminal, breaks a line, turns the direction
/// or is invisible.
fn acts(c: char) -> bool {
    if c.is_ascii() {
        return c.is_ascii_control();
    }
    c.is_control()
        || matches!(c,
            // Invisible: soft hyphen, joiners, fillers, separators of letters, selectors of variants.
            '\u{ad}' | '\u{34f}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}' | '\u{180b}'..='\u{180f}'
            | '\u{200b}'..='\u{200d}' | '\u{2060}'..='\u{2065}' | '\u{206a}'..='\u{206f}' | '\u{3164}'
            | '\u{fe00}'..='\u{fe0f}' | '\u{feff}' | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1bca0}'..='\u{1bca3}'
            | '\u{1d173}'..='\u{1d17a}' | '\u{e0000}'..='\u{e0fff}'
            // Direction.
            | '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}'
            // Line and paragraph.
            | '\u{2028}' | '\u{2029}'
            // No characters at all.
            | '\u{fdd0}'..='\u{fdef}' | '\u{fffe}' | '\u{ffff}')
}

/// Joiners and the selector of coloured signs belong to how some scripts and emoji are written: one of them between
/// two visible characters beyond ASCII (or after one) is not hidden text.
fn joins(text: &str, at: usize, c: char) -> bool {
    let beside = |c: Option<char>| c.is_some_and(|c| !c.is_ascii() && (!acts(c) || c == '\u{fe0f}'));
    let before = || beside(text[..at].chars().next_back());
    match c {
        '\u{200c}' | '\u{200d}' => before() && beside(text[at + c.len_utf8()..].chars().next()),
        '\u{fe0f}' => text[..at].chars().next_back().is_some_and(|before| !before.is_ascii() && !acts(before)),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn what_acts_is_written_out() {
        assert_eq!(shown("a\u{1b}[31mred\u{7}\u{8}\u{7f}\u{9b}2J"), r"a\u{1b}[31mred\u{7}\u{8}\u{7f}\u{9b}2J");
        assert_eq!(shown("one\r\ntwo\n\tthree\rfour"), "one\ntwo\n\tthree\\rfour");
        assert_eq!(shown_line("one\ntwo\tthree\u{2028}four"), r"one\ntwo\tthree\u{2028}four");
        assert_eq!(
            shown("\u{202e}gnp.exe \u{2066}x\u{200b}y\u{e0041}"),
            r"\u{202e}gnp.exe \u{2066}x\u{200b}y\u{e0041}"
        );
    }

    #[test]
    fn what_is_seen_stays_and_is_not_copied() {
        for text in
            ["plain", "größer – „so“", "日本語", "👨\u{200d}👩\u{200d}👧 ❤\u{fe0f}\u{200d}🔥", "می\u{200c}خواهم"]
        {
            assert!(matches!(shown(text), Cow::Borrowed(same) if same == text), "{text}");
            assert!(matches!(shown_line(text), Cow::Borrowed(_)), "{text}");
        }
        assert_eq!(shown("a\u{200d}b"), r"a\u{200d}b");
        assert_eq!(shown("❤\u{fe0f}\u{fe0f}"), "❤\u{fe0f}\\u{fe0f}");
    }

    #[test]
    fn a_long_line_is_cut_and_says_so() {
        let line = shown_line(&"ä".repeat(5_000)).into_owned();
        assert!(line.ends_with("ä… (6000 more bytes)"), "{line}");
        assert_eq!(shown(&"ä".repeat(5_000)).chars().count(), 5_000);
    }

    #[test]
    fn json_stays_the_same_json() {
        let json = "{\n  \"a\": \"\u{9b}\u{202e}\u{e0041}\u{7f}x\"\n}";
        let safe = shown_json(json);
        assert_eq!(safe, "{\n  \"a\": \"\\u009b\\u202e\\udb40\\udc41\\u007fx\"\n}");
        let value = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
        assert_eq!(value(&safe), value(json));
    }

    proptest! {
        #[test]
        fn nothing_acts_afterwards(text in any::<String>()) {
            let line = shown_line(&text);
            prop_assert!(!line.chars().any(char::is_control));
            prop_assert!(!shown(&text).chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')));
            prop_assert_eq!(shown_line(&line), line.clone());
        }
    }
}
