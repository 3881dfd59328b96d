//! How a file is laid out: its line ends and its indentation. What goes in looks like what is there.

/// Line end and one step of indentation.
pub(crate) struct Layout {
    pub(crate) eol: &'static str,
    pub(crate) unit: String,
}

impl Layout {
    pub(crate) fn of(text: &str) -> Layout {
        let first = text.find('\n');
        let eol = if first.is_some_and(|at| text[..at].ends_with('\r')) { "\r\n" } else { "\n" };
        let unit = text.lines().map(leading).find(|white| !white.is_empty()).unwrap_or("  ");
        // A comment's second line is often one space in; nobody indents by one.
        let unit = if unit.starts_with('\t') {
            "\t"
        } else if unit.len() < 2 {
            "  "
        } else {
            unit
        };
        Layout { eol, unit: unit.to_owned() }
    }
}

/// The white space that a line begins with.
pub(crate) fn leading(line: &str) -> &str {
    &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
}

/// Where the line of this place begins.
pub(crate) fn line_start(text: &str, at: usize) -> usize {
    text[..at].rfind('\n').map_or(0, |end| end + 1)
}

/// Where the line of this place ends, its line end not included.
pub(crate) fn line_end(text: &str, at: usize) -> usize {
    let end = text[at..].find('\n').map_or(text.len(), |end| at + end);
    if end > at && text[..end].ends_with('\r') && end < text.len() { end - 1 } else { end }
}

/// Where the line end that is right before this place begins; the place itself where there is none.
pub(crate) fn before_eol(text: &str, at: usize) -> usize {
    let head = &text[..at];
    head.strip_suffix("\r\n").or(head.strip_suffix('\n')).map_or(at, str::len)
}

/// Behind the line end that begins at this place.
pub(crate) fn after_eol(text: &str, at: usize) -> usize {
    let tail = &text[at..];
    at + if tail.starts_with("\r\n") { 2 } else { usize::from(tail.starts_with('\n')) }
}
