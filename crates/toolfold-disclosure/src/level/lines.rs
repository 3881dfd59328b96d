//! An entry in one line, made once: reading a schema and counting tokens costs more than finding the entry did.

use toolfold_core::{Entry, Kind, Lines};
use toolfold_index::Risk;

use super::{Level, prose, signature};
use crate::tokens::count;

/// Bytes. A larger definition is read by who asks for that tool, not by every search that finds it.
const LARGEST_DEFINITION: usize = 512 * 1024;
/// The signature of such a one: there is more to know.
const UNREAD: &str = "…~";
/// In front of what destroys something or shows it to everybody.
const GRAVE: &str = "! ";

/// The parts of an entry's line and what its forms cost; kept with the entry.
pub fn lines(entry: &Entry) -> &Lines {
    entry.lines.get_or_init(|| {
        let summary = prose::summary(entry).into_boxed_str();
        let readable = entry.definition.get().len() <= LARGEST_DEFINITION;
        let signature =
            entry.is_tool().then(|| if readable { signature(entry).text.into_boxed_str() } else { UNREAD.into() });
        let grave = match readable {
            true => Risk::of(entry).is_grave(),
            false => entry.hints.destructive == Some(true),
        };
        let mut lines = Lines { signature, summary, grave, costs: [0; 3] };
        lines.costs = FORMS.map(|form| u32::try_from(count(&line(entry, &lines, form))).unwrap_or(u32::MAX));
        lines
    })
}

/// The forms of a line, the longest first.
pub(crate) const FORMS: [Level; 3] = [Level::Signature, Level::Summary, Level::Name];

/// The line of an entry in one of its forms.
pub fn line(entry: &Entry, lines: &Lines, form: Level) -> String {
    let Lines { signature, summary, grave, .. } = lines;
    let mark = match entry.kind {
        Kind::Prompt => "prompt: ",
        Kind::Resource => "resource: ",
        _ if *grave => GRAVE,
        _ => "",
    };
    match (form, signature) {
        (Level::Name, _) if mark == GRAVE => format!("{} {}", entry.id, GRAVE.trim_end()),
        (Level::Name, _) => entry.id.to_string(),
        (Level::Summary, _) | (_, None) => format!("{} — {mark}{summary}", entry.id),
        (_, Some(signature)) => format!("{}({signature}) — {mark}{summary}", entry.id),
    }
}

/// What the tool does in at most ten words: never its bare name, never half a word.
pub fn summary(entry: &Entry) -> String {
    lines(entry).summary.to_string()
}

/// The same with the mark of what destroys something or shows it to everybody.
pub fn marked_summary(entry: &Entry) -> String {
    let Lines { summary, grave, .. } = lines(entry);
    if *grave { format!("{GRAVE}{summary}") } else { summary.to_string() }
}
