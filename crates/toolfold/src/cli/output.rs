//! Writing to people and programs. Nothing here panics when the reader is gone. What is written has been made fit for a
//! terminal where it was put together ([`toolfold_core::shown`]); JSON is made so here.

use std::io::{IsTerminal, Stderr, Write, stderr, stdout};
use std::sync::atomic::{AtomicBool, Ordering};

use serde::{Deserialize, Serialize};
use toolfold_core::shown_json;

use super::Fail;

/// Where no terminal says how wide it is.
const USUAL_WIDTH: usize = 80;

/// Longer lines are hard to read, however wide the terminal is.
const WIDEST_PROSE: usize = 100;

/// How an answer is to look. It travels to the running instance, which does not see our terminal.
#[derive(Debug, Clone, Copy, Serialize, Deserialize)]
pub(crate) struct Style {
    pub(crate) json: bool,
    colours: bool,
    /// Columns that prose is broken at.
    #[serde(default)]
    width: usize,
}

impl Style {
    /// Colours only on a terminal, and not where `NO_COLOR` asks for none.
    pub(crate) fn here(json: bool) -> Style {
        let colours = stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
        Style { json, colours, width: columns().unwrap_or(0) }
    }

    /// Lines of prose, indented, and broken where a terminal would break them anyway.
    pub(crate) fn wrapped(self, text: &str, indent: usize) -> String {
        let room = self.width.clamp(40, WIDEST_PROSE).saturating_sub(indent);
        let room = if self.width == 0 { usize::MAX } else { room };
        let mut wrapped = String::new();
        for line in text.trim().lines() {
            for piece in pieces(line, room) {
                wrapped.push_str(format!("{}{piece}", " ".repeat(indent)).trim_end());
                wrapped.push('\n');
            }
        }
        wrapped
    }

    pub(crate) fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    pub(crate) fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    pub(crate) fn green(self, text: &str) -> String {
        self.paint("32", text)
    }

    pub(crate) fn yellow(self, text: &str) -> String {
        self.paint("33", text)
    }

    pub(crate) fn blue(self, text: &str) -> String {
        self.paint("34", text)
    }

    pub(crate) fn red(self, text: &str) -> String {
        self.paint("31", text)
    }

    fn paint(self, style: &str, text: &str) -> String {
        if self.colours { format!("\u{1b}[{style}m{text}\u{1b}[0m") } else { text.to_owned() }
    }
}

/// Data, on stdout.
pub(crate) fn print(text: &str) -> Result<(), Fail> {
    let mut out = stdout().lock();
    out.write_all(text.as_bytes())?;
    if !text.ends_with('\n') {
        out.write_all(b"\n")?;
    }
    Ok(out.flush()?)
}

pub(crate) fn print_json(value: &impl Serialize) -> Result<(), Fail> {
    print(&as_json(value)?)
}

/// JSON for people and programs: characters that a terminal would act on are escapes of JSON.
pub(crate) fn as_json(value: &impl Serialize) -> Result<String, Fail> {
    let text = serde_json::to_string_pretty(value).map_err(|error| Fail::machine(error.to_string()))?;
    Ok(shown_json(&text).into_owned())
}

/// Whether the last line of the terminal is one that the next replaces.
static UNFINISHED: AtomicBool = AtomicBool::new(false);

/// Stderr at the beginning of a line.
pub(crate) fn clean_stderr() -> Stderr {
    if UNFINISHED.swap(false, Ordering::Relaxed) {
        let _ = write!(stderr().lock(), "\r\u{1b}[2K");
    }
    stderr()
}

/// Everything else, on stderr.
pub(crate) fn tell(text: &str) {
    // There is nobody left to tell when this fails.
    let _ = writeln!(clean_stderr().lock(), "{text}");
}

/// A line that the next one replaces, where a person watches. Longer than the terminal is wide it could not be replaced.
pub(crate) fn progress(text: &str) {
    if stderr().is_terminal() {
        let _ = write!(stderr().lock(), "\r\u{1b}[2K{}", cut(text, width().saturating_sub(1)));
        let _ = stderr().flush();
        UNFINISHED.store(!text.is_empty(), Ordering::Relaxed);
    }
}

/// A line in pieces of at most so many characters, broken between words; a longer word stays whole.
fn pieces(line: &str, room: usize) -> Vec<String> {
    let lead: String = line.chars().take_while(|c| c.is_whitespace()).collect();
    let mut pieces = vec![lead];
    for word in line.split_whitespace() {
        let last = pieces
            .last_mut()
            .filter(|last| last.trim().is_empty() || last.chars().count() + 1 + word.chars().count() <= room);
        match last {
            Some(last) if last.trim().is_empty() => last.push_str(word),
            Some(last) => {
                last.push(' ');
                last.push_str(word);
            }
            None => pieces.push(word.to_owned()),
        }
    }
    pieces
}

fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['…']).collect()
}

/// Columns of the terminal that stdout is; none where it is none.
pub(crate) fn columns() -> Option<usize> {
    let columns = rustix::termios::tcgetwinsize(stdout()).map_or(0, |size| usize::from(size.ws_col));
    stdout().is_terminal().then_some(if columns == 0 { USUAL_WIDTH } else { columns })
}

/// Columns of the terminal that stderr is.
fn width() -> usize {
    let columns = rustix::termios::tcgetwinsize(stderr()).map_or(0, |size| usize::from(size.ws_col));
    if columns == 0 { USUAL_WIDTH } else { columns }
}

/// Characters of a column that others are aligned to.
const WIDEST_COLUMN: usize = 200;

/// Rows with aligned columns.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    // One that is longer than any line stands out, and nothing is moved to the right for it.
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0).min(WIDEST_COLUMN)).collect();
    let mut text = String::new();
    for row in rows {
        let mut line = String::new();
        for (cell, width) in row.iter().zip(&widths) {
            line.push_str(&format!("{cell:<width$}  "));
        }
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::{WIDEST_COLUMN, cut, pieces, table};

    /// Names are as long as strangers like, and a width that does not fit into 16 bits is none.
    #[test]
    fn a_column_is_as_wide_as_somebody_can_read() {
        let row = |first: &str| vec![first.to_owned(), "end".to_owned()];
        let text = table(&[row(&"x".repeat(100_000)), row("short")]);
        let lengths: Vec<usize> = text.lines().map(str::len).collect();
        assert_eq!(lengths, [100_000 + 5, WIDEST_COLUMN + 5]);
    }

    #[test]
    fn prose_is_broken_between_words() {
        assert_eq!(pieces("  one two three", 9), ["  one two", "three"]);
        assert_eq!(pieces("", 9), [""]);
        assert_eq!(pieces("unbreakable", 3), ["unbreakable"]);
        assert_eq!(pieces("a  b", usize::MAX), ["a b"]);
    }

    #[test]
    fn progress_fits_the_terminal() {
        assert_eq!(cut("connecting to a, b …", 80), "connecting to a, b …");
        assert_eq!(cut("connecting to größer", 10), "connectin…");
        assert_eq!(cut("x", 0), "…");
    }
}
