//! Editing YAML by its lines: a container at the top level, written as a block, its entries one step in. Flow style, or
//! anything else that is seldom seen here, is refused; reading the file again tells.

use serde_json::Value;

use super::layout::{Layout, after_eol, before_eol, leading, line_end};
use super::{EditError, Shape, Slot, Splice, Traces, is_named};

type Changes = (Vec<Splice>, Traces);

pub(super) fn set(text: &str, slot: &Slot, value: &Value, before: &Value) -> Result<Changes, EditError> {
    let lines = Lines::of(text);
    let eol = Layout::of(text).eol;
    let key = only_key(slot)?;
    let Some(at) = lines.find_key(0..lines.0.len(), 0, key) else {
        let entry = print(slot, value, "  ", eol);
        let whole = format!("{}:{eol}{entry}", plain(key));
        let splice = match lines.last_filled(0..lines.0.len()) {
            Some(last) => Splice::insert(lines.0[last].end, format!("{eol}{whole}")),
            None if text.is_empty() || text.ends_with('\n') => Splice::insert(text.len(), format!("{whole}{eol}")),
            None => Splice::insert(text.len(), format!("{eol}{whole}")),
        };
        return Ok((vec![splice], Traces { created: 1, hollow: None }));
    };
    if let Some(inside) = flow(&lines.0[at], key, before) {
        let entry = match slot.shape {
            Shape::Map => format!("{}: {value}", Value::from(slot.name.as_str())),
            _ => value.to_string(),
        };
        return Ok((vec![Splice::replace(text, inside, entry)], Traces::default()));
    }
    let children = lines.children(at, slot.shape);
    if let Some(range) = lines.entry(&children, slot, before) {
        let indent = leading(lines.0[range.start].text).to_owned();
        let (start, end) = (lines.0[range.start].start, lines.0[range.end - 1].end);
        return Ok((vec![Splice::replace(text, start..end, print(slot, value, &indent, eol))], Traces::default()));
    }
    let indent = lines.indent(&children).map_or_else(|| "  ".to_owned(), |indent| " ".repeat(indent));
    let last = lines.last_filled(children).unwrap_or(at);
    let entry = print(slot, value, &indent, eol);
    Ok((vec![Splice::insert(lines.0[last].end, format!("{eol}{entry}"))], Traces::default()))
}

pub(super) fn remove(text: &str, slot: &Slot, traces: &Traces, before: &Value) -> Result<Vec<Splice>, EditError> {
    let lines = Lines::of(text);
    let key = only_key(slot)?;
    let at = lines.find_key(0..lines.0.len(), 0, key).ok_or_else(|| unusual(slot))?;
    let children = lines.children(at, slot.shape);
    let Some(mut range) = lines.entry(&children, slot, before) else {
        let inside = flow(&lines.0[at], key, before).ok_or_else(|| unusual(slot))?;
        return Ok(vec![Splice::remove(text, inside)]);
    };
    let others = children.clone().filter(|line| !range.contains(line)).any(|line| lines.0[line].is_filled());
    if traces.created > 0 && !others {
        range.start = at;
    }
    let (start, end) = (lines.0[range.start].start, lines.0[range.end - 1].end);
    // Together with the line end before it, so that a file without one at its end stays so.
    let (start, end) = if start == 0 { (0, after_eol(text, end)) } else { (before_eol(text, start), end) };
    Ok(vec![Splice::remove(text, start..end)])
}

fn only_key(slot: &Slot) -> Result<&str, EditError> {
    match slot.container.as_slice() {
        [key] if slot.shape != Shape::Strings => Ok(key),
        _ => Err(unusual(slot)),
    }
}

fn unusual(slot: &Slot) -> EditError {
    EditError::Unusual(slot.container.join("."))
}

struct Line<'t> {
    start: usize,
    /// Its line end not included.
    end: usize,
    text: &'t str,
}

impl Line<'_> {
    fn indent(&self) -> usize {
        leading(self.text).len()
    }

    fn content(&self) -> &str {
        self.text.trim()
    }

    /// Something that counts: neither blank nor a comment.
    fn is_filled(&self) -> bool {
        !self.content().is_empty() && !self.content().starts_with('#')
    }
}

struct Lines<'t>(Vec<Line<'t>>);

type Span = std::ops::Range<usize>;

impl<'t> Lines<'t> {
    fn of(text: &'t str) -> Self {
        let mut lines = Vec::new();
        let mut start = 0;
        while start < text.len() {
            let end = line_end(text, start);
            lines.push(Line { start, end, text: &text[start..end] });
            start = after_eol(text, end).max(start + 1);
        }
        Lines(lines)
    }

    fn find_key(&self, span: Span, indent: usize, key: &str) -> Option<usize> {
        span.into_iter().find(|at| {
            let line = &self.0[*at];
            line.is_filled() && line.indent() == indent && key_of(line.content()).is_some_and(|found| found == key)
        })
    }

    /// The lines below a key of the top level.
    fn children(&self, at: usize, shape: Shape) -> Span {
        let is_item = |line: &Line<'_>| {
            shape != Shape::Map && line.content().starts_with('-') && !line.content().starts_with("---")
        };
        let ends = |line: &Line<'_>| line.is_filled() && line.indent() == 0 && !is_item(line);
        let end = (at + 1..self.0.len()).find(|next| ends(&self.0[*next])).unwrap_or(self.0.len());
        at + 1..end
    }

    fn indent(&self, span: &Span) -> Option<usize> {
        span.clone().find(|at| self.0[*at].is_filled()).map(|at| self.0[at].indent())
    }

    /// The last line of a span that is not blank; of comments only those that are as deep as the entries.
    fn last_filled(&self, span: Span) -> Option<usize> {
        let depth = self.indent(&span).unwrap_or(0);
        span.rev().find(|at| {
            let line = &self.0[*at];
            line.is_filled() || (line.content().starts_with('#') && line.indent() >= depth)
        })
    }

    fn entry(&self, children: &Span, slot: &Slot, before: &Value) -> Option<Span> {
        let indent = self.indent(children)?;
        let starts: Vec<usize> =
            children.clone().filter(|at| self.0[*at].is_filled() && self.0[*at].indent() == indent).collect();
        let which = match slot.shape {
            Shape::Map => {
                starts.iter().position(|at| key_of(self.0[*at].content()).is_some_and(|key| key == slot.name))?
            }
            _ => {
                let items = before.get(slot.container.first()?)?.as_array()?;
                items.iter().position(|item| is_named(item, slot))?
            }
        };
        let start = *starts.get(which)?;
        let end = starts.get(which + 1).copied().unwrap_or(children.end);
        let deeper = |at: &usize| *at == start || (!self.0[*at].content().is_empty() && self.0[*at].indent() > indent);
        let last = (start..end).rev().find(deeper)?;
        Some(start..last + 1)
    }
}

/// The key that a line begins with, without its quotes.
fn key_of(content: &str) -> Option<&str> {
    let (quote, rest) = match content.chars().next()? {
        quote @ ('"' | '\'') => (Some(quote), &content[1..]),
        _ => (None, content),
    };
    let end = match quote {
        Some(quote) => rest.find(quote)?,
        None => rest.find(": ").or_else(|| rest.strip_suffix(':').map(str::len)).or_else(|| rest.find(":\t"))?,
    };
    Some(rest[..end].trim_end())
}

/// What is inside of `key: { … }` on one line, where that is nothing or one entry.
fn flow(line: &Line<'_>, key: &str, before: &Value) -> Option<Span> {
    let (_, value) = line.text.split_once(':').filter(|_| key_of(line.content()) == Some(key))?;
    let container = before.get(key)?;
    let members = container.as_object().map(|object| object.len()).or_else(|| container.as_array().map(Vec::len))?;
    let value = value.trim_start();
    let close = value.rfind(['}', ']']).filter(|_| members <= 1 && value.starts_with(['{', '[']))?;
    let start = line.end - value.len();
    Some(start + 1..start + close)
}

fn print(slot: &Slot, value: &Value, indent: &str, eol: &str) -> String {
    let mut lines = Vec::new();
    match (slot.shape, value) {
        (Shape::Map, _) => member(&slot.name, value, indent, &mut lines),
        (_, Value::Object(members)) => {
            for (name, value) in members {
                member(name, value, &format!("{indent}  "), &mut lines);
            }
            if let Some(first) = lines.first_mut() {
                first.replace_range(indent.len()..indent.len() + 1, "-");
            }
        }
        (_, other) => lines.push(format!("{indent}- {other}")),
    }
    lines.join(eol)
}

fn member(name: &str, value: &Value, indent: &str, lines: &mut Vec<String>) {
    match value {
        Value::Object(members) if !members.is_empty() => {
            lines.push(format!("{indent}{}:", plain(name)));
            for (name, value) in members {
                member(name, value, &format!("{indent}  "), lines);
            }
        }
        // JSON on one line is YAML.
        other => lines.push(format!("{indent}{}: {other}", plain(name))),
    }
}

fn plain(key: &str) -> String {
    let is_word = key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let is_safe = is_word && key.starts_with(|c: char| c.is_ascii_alphabetic());
    // Words that YAML takes for something else.
    let is_value = ["true", "false", "null", "yes", "no", "on", "off", "y", "n"].contains(&key.to_lowercase().as_str());
    if is_safe && !is_value { key.to_owned() } else { Value::from(key).to_string() }
}
