//! Writing to people and programs. Nothing here panics when the reader is gone.

use std::io::{IsTerminal, Write, stderr, stdout};

use serde::Serialize;

use super::Fail;

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
    let text = serde_json::to_string_pretty(value).map_err(|error| Fail::server(format!("error: {error}")))?;
    print(&text)
}

/// Everything else, on stderr.
pub(crate) fn tell(text: &str) {
    // There is nobody left to tell when this fails.
    let _ = writeln!(stderr().lock(), "{text}");
}

/// A line that the next one replaces, where a person watches.
pub(crate) fn progress(text: &str) {
    if stderr().is_terminal() {
        let _ = write!(stderr().lock(), "\r\u{1b}[2K{text}");
        let _ = stderr().flush();
    }
}

pub(crate) fn bold(text: &str) -> String {
    paint("1", text)
}

pub(crate) fn dim(text: &str) -> String {
    paint("2", text)
}

/// Colours only on a terminal, and not where `NO_COLOR` asks for none.
fn paint(style: &str, text: &str) -> String {
    let wanted = stdout().is_terminal() && std::env::var_os("NO_COLOR").is_none_or(|value| value.is_empty());
    if wanted { format!("\u{1b}[{style}m{text}\u{1b}[0m") } else { text.to_owned() }
}

/// Text of a server for a terminal: control characters would be commands there.
pub(crate) fn plain(text: &str) -> String {
    text.chars().map(|c| if c.is_control() && c != '\n' && c != '\t' { '\u{fffd}' } else { c }).collect()
}

/// Rows with aligned columns.
pub(crate) fn table(rows: &[Vec<String>]) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let width = |column: usize| rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..columns).map(|column| width(column).unwrap_or(0)).collect();
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
