//! Editing TOML. An entry is a table with a header of its own, put behind its siblings or at the end; it is taken out with
//! every part that it has, wherever a program has moved it.

use std::ops::Range;

use serde_json::Value;

use super::layout::{Layout, after_eol, before_eol, line_end, line_start};
use super::toml_scan::{Kind, Statement, statements};
use super::{EditError, Shape, Slot, Splice, Traces};

pub(super) fn set(text: &str, slot: &Slot, value: &Value) -> Result<(Vec<Splice>, Traces), EditError> {
    let statements = scan(text, slot)?;
    let layout = Layout::of(text);
    let block = block(slot, value, layout.eol);
    let parts = parts(text, &statements, slot)?;
    if let Some((first, rest)) = parts.split_first() {
        let mut splices = vec![match first {
            Part::Block(range) => Splice::replace(text, range.clone(), block),
            Part::Inline(range) => Splice::replace(text, range.clone(), inline(value)),
        }];
        for part in rest {
            splices.push(without(text, part)?);
        }
        return Ok((splices, Traces::default()));
    }
    if let Some(range) = container_value(&statements, slot) {
        let entry = match slot.shape {
            Shape::Map => format!("{} = {}", key(&slot.name), inline(value)),
            _ => inline(value),
        };
        let splice = match has_others(text, &range, slot) {
            true => Splice::insert(content_end(text, &range), format!(", {entry}")),
            false => Splice::replace(text, only_content(text, &range, slot)?, entry),
        };
        return Ok((vec![splice], Traces::default()));
    }
    let last = text.trim_end().len();
    let behind = last_of_siblings(&statements, slot).unwrap_or(last);
    let splice = match line_end(text, behind) {
        _ if last == 0 && text.is_empty() => Splice::insert(0, format!("{block}{}", layout.eol)),
        end => Splice::insert(end, format!("{eol}{eol}{block}", eol = layout.eol)),
    };
    Ok((vec![splice], Traces::default()))
}

pub(super) fn remove(text: &str, slot: &Slot) -> Result<Vec<Splice>, EditError> {
    let statements = scan(text, slot)?;
    if let Some(range) = container_value(&statements, slot) {
        return Ok(vec![match has_others(text, &range, slot) {
            true => Splice::replace(text, range.clone(), without_inline(text, &range, slot)?),
            false => Splice::remove(text, only_content(text, &range, slot)?),
        }]);
    }
    parts(text, &statements, slot)?.iter().map(|part| without(text, part)).collect()
}

/// A piece of the file that is the entry's.
enum Part {
    /// Whole lines, from a header to the last value below it.
    Block(Range<usize>),
    /// The value of `name = { … }`.
    Inline(Range<usize>),
}

fn scan(text: &str, slot: &Slot) -> Result<Vec<Statement>, EditError> {
    statements(text).ok_or_else(|| unusual(slot))
}

fn unusual(slot: &Slot) -> EditError {
    EditError::Unusual(slot.container.join("."))
}

fn parts(text: &str, statements: &[Statement], slot: &Slot) -> Result<Vec<Part>, EditError> {
    let wanted: Vec<String> = match slot.shape {
        Shape::Map => slot.container.iter().chain([&slot.name]).cloned().collect(),
        Shape::List => return Ok(item_part(text, statements, slot).into_iter().collect()),
        Shape::Strings | Shape::Block => return Err(unusual(slot)),
    };
    let mut parts: Vec<Part> = Vec::new();
    let mut open: Option<Range<usize>> = None;
    for statement in statements {
        let ours = statement.path.starts_with(&wanted);
        match (&statement.kind, ours) {
            (Kind::Header { is_item: true }, true) => return Err(unusual(slot)),
            (Kind::Header { .. }, true) => {
                let start = open.take().map_or(statement.range.start, |range| range.start);
                open = Some(start..statement.range.end);
            }
            (Kind::Value(_), true) if open.is_some() => {
                open = open.map(|range| range.start..statement.range.end);
            }
            (Kind::Value(value), true) if statement.path == wanted => parts.push(Part::Inline(value.clone())),
            // `servers.name.command = …`, in a table that is not the entry's.
            (Kind::Value(_), true) => return Err(unusual(slot)),
            (_, false) => parts.extend(open.take().map(Part::Block)),
        }
    }
    parts.extend(open.map(Part::Block));
    Ok(parts)
}

/// The `[[…]]` that has the name.
fn item_part(text: &str, statements: &[Statement], slot: &Slot) -> Option<Part> {
    let name: Vec<String> = slot.container.iter().cloned().chain(["name".to_owned()]).collect();
    let is_item = |statement: &Statement| {
        statement.path == slot.container && matches!(statement.kind, Kind::Header { is_item: true })
    };
    let starts: Vec<usize> = (0..statements.len()).filter(|at| is_item(&statements[*at])).collect();
    starts.iter().find_map(|first| {
        let below = &statements[first + 1..];
        let inside = |next: &&Statement| next.path.starts_with(&slot.container) && !is_item(next);
        let body: Vec<&Statement> = below.iter().take_while(inside).collect();
        let named = body.iter().any(|next| match &next.kind {
            Kind::Value(value) => next.path == name && is_text(&text[value.clone()], &slot.name),
            Kind::Header { .. } => false,
        });
        let end = body.last().map_or(statements[*first].range.end, |last| last.range.end);
        named.then(|| Part::Block(statements[*first].range.start..end))
    })
}

fn is_text(value: &str, wanted: &str) -> bool {
    let table = toml::from_str::<toml::Table>(&format!("v = {value}")).ok();
    table.is_some_and(|table| table.get("v").and_then(toml::Value::as_str) == Some(wanted))
}

/// `container = …`, where that is written as one value.
fn container_value(statements: &[Statement], slot: &Slot) -> Option<Range<usize>> {
    statements.iter().find_map(|statement| match &statement.kind {
        Kind::Value(value) if slot.container.starts_with(&statement.path) => Some(value.clone()),
        _ => None,
    })
}

/// What stands between the brackets of a container on one line: nothing, or the entry alone. Among others it could not be
/// told where it ends.
fn only_content(text: &str, range: &Range<usize>, slot: &Slot) -> Result<Range<usize>, EditError> {
    let inner = text.get(range.start + 1..range.end - 1).unwrap_or_default();
    let start = range.start + 1 + (inner.len() - inner.trim_start().len());
    let table = toml::from_str::<toml::Table>(&format!("v = {}", &text[range.clone()])).map_err(|_| unusual(slot))?;
    let count = match table.get("v") {
        Some(toml::Value::Table(table)) => table.len(),
        Some(toml::Value::Array(items)) => items.len(),
        _ => return Err(unusual(slot)),
    };
    match count {
        0 if inner.trim().is_empty() => Ok(range.start + 1..range.start + 1),
        1 => Ok(start..start + inner.trim().len()),
        _ => Err(unusual(slot)),
    }
}

/// Whether a table on one line, within an entry of ours, holds more than this. In a table of everybody's entries nothing is
/// touched that stands on one line with others.
fn has_others(text: &str, range: &Range<usize>, slot: &Slot) -> bool {
    let members = one_line_table(text, range);
    let within_own = slot.shape == Shape::Map && slot.container.len() > 2;
    within_own && members.is_some_and(|members| members.keys().any(|name| *name != slot.name))
}

/// Such a table, where it really is on one line: then there is no comment in it.
fn one_line_table(text: &str, range: &Range<usize>) -> Option<toml::Table> {
    let whole = text.get(range.clone()).filter(|whole| !whole.contains('\n'))?;
    match toml::from_str::<toml::Table>(&format!("v = {whole}")).ok()?.remove("v")? {
        toml::Value::Table(table) => Some(table),
        _ => None,
    }
}

fn content_end(text: &str, range: &Range<usize>) -> usize {
    range.start + text[range.start..range.end - 1].trim_end().len()
}

fn without_inline(text: &str, range: &Range<usize>, slot: &Slot) -> Result<String, EditError> {
    let mut members = one_line_table(text, range).ok_or_else(|| unusual(slot))?;
    members.remove(&slot.name);
    let rest = serde_json::to_value(members).map_err(|_| unusual(slot))?;
    Ok(inline(&rest))
}

/// Where the last table of the same container ends.
fn last_of_siblings(statements: &[Statement], slot: &Slot) -> Option<usize> {
    let mut inside = false;
    let mut end = None;
    for statement in statements {
        if statement.is_header() {
            inside = statement.path.starts_with(&slot.container);
        }
        if inside {
            end = Some(statement.range.end);
        }
    }
    end
}

fn without(text: &str, part: &Part) -> Result<Splice, EditError> {
    let range = match part {
        Part::Block(range) => range.clone(),
        Part::Inline(value) => line_start(text, value.start)..value.end,
    };
    let (start, end) = (line_start(text, range.start), line_end(text, range.end));
    if start == 0 {
        return Ok(Splice::remove(text, start..after_eol(text, end)));
    }
    let one = before_eol(text, start);
    let two = if matches!(part, Part::Block(_)) { before_eol(text, one) } else { one };
    Ok(Splice::remove(text, two..end))
}

fn block(slot: &Slot, value: &Value, eol: &str) -> String {
    let path: Vec<String> = slot.container.iter().map(|part| key(part)).collect();
    let path = path.join(".");
    let mut text = match slot.shape {
        Shape::Map => format!("[{path}.{}]", key(&slot.name)),
        _ => format!("[[{path}]]"),
    };
    for (name, value) in value.as_object().into_iter().flatten() {
        text.push_str(&format!("{eol}{} = {}", key(name), inline(value)));
    }
    text
}

fn key(name: &str) -> String {
    let bare = !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    if bare { name.to_owned() } else { one_line(name) }
}

/// A value on one line.
fn inline(value: &Value) -> String {
    match value {
        Value::String(text) => one_line(text),
        Value::Array(items) => format!("[{}]", items.iter().map(inline).collect::<Vec<_>>().join(", ")),
        Value::Object(members) if members.is_empty() => "{}".to_owned(),
        Value::Object(members) => {
            let members: Vec<String> =
                members.iter().map(|(name, value)| format!("{} = {}", key(name), inline(value))).collect();
            format!("{{ {} }}", members.join(", "))
        }
        // TOML has no nothing.
        Value::Null => "\"\"".to_owned(),
        other => other.to_string(),
    }
}

/// Always a basic string: what the library chooses for text with line ends goes over several lines.
fn one_line(text: &str) -> String {
    let mut quoted = String::from("\"");
    for c in text.chars() {
        match c {
            '"' | '\\' => quoted.extend(['\\', c]),
            '\n' => quoted.push_str("\\n"),
            '\r' => quoted.push_str("\\r"),
            '\t' => quoted.push_str("\\t"),
            c if c.is_control() => quoted.push_str(&format!("\\u{:04X}", u32::from(c))),
            c => quoted.push(c),
        }
    }
    quoted + "\""
}
