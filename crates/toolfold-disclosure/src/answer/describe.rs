//! Chosen tools in detail, as JSON. The first one is always shown, the whole of it as far as the budget goes; of a list,
//! what does not fit is named instead.

use std::sync::Arc;

use toolfold_core::{Code, Entry, Next, Refusal, Surface};
use toolfold_wire::{Object, Raw, raw};

use crate::level;
use crate::surface::{Describe, fitted, not_found, text_result};
use crate::tokens::count;
use crate::view::View;

pub(crate) fn describe(view: &View<'_>, describe: &Describe) -> Result<Raw, Refusal> {
    let (mut tools, mut missing) = (Vec::new(), Vec::new());
    for name in &describe.names {
        let found = match view.resolve(name) {
            Ok(position) => view.entry(position),
            Err(unresolved) => match view.reader_called(name) {
                Some(reader) => reader,
                None => {
                    missing.push(not_found(view, name, unresolved));
                    continue;
                }
            },
        };
        if !tools.iter().any(|entry: &&Arc<Entry>| entry.id == found.id) {
            tools.push(found);
        }
    }
    if tools.is_empty() && missing.len() == 1 {
        return Err(missing.remove(0));
    }
    let mut shown: Vec<Raw> = Vec::new();
    let mut left_out: Vec<String> = Vec::new();
    let mut spent = 0;
    for entry in tools {
        let parts = parts(entry, describe, view.budget())?;
        let cost: usize = parts.iter().map(|part| count(part.get())).sum();
        if shown.is_empty() || spent + cost <= view.budget() {
            spent += cost;
            shown.extend(parts);
        } else {
            left_out.push(entry.id.to_string());
        }
    }
    for refusal in missing {
        shown.push(raw(&fitted(Surface::Compact, refusal).to_json()));
    }
    if !left_out.is_empty() {
        let note = "did not fit: ask for these again, fewer at a time";
        shown.push(Object::new().with("left_out", &left_out).with("note", note).to_raw());
    }
    Ok(text_result(&match shown.as_slice() {
        [only] => only.get().to_owned(),
        several => several.iter().map(|raw| raw.get()).collect::<Vec<_>>().join("\n"),
    }))
}

/// A tool, or those parameters of it that are asked for: as many as fit, each within what the others leave.
fn parts(entry: &Entry, describe: &Describe, budget: usize) -> Result<Vec<Raw>, Refusal> {
    if describe.parameters.is_empty() {
        return Ok(vec![level::describe_within(entry, describe.detail, budget)]);
    }
    let each = budget / describe.parameters.len();
    describe.parameters.iter().map(|path| parameter(entry, path, each)).collect()
}

fn parameter(entry: &Entry, path: &str, budget: usize) -> Result<Raw, Refusal> {
    level::parameter_within(entry, path, budget).map_err(|nearest| {
        let shown: String = path.chars().take(100).collect();
        let message = format!("{} has no parameter {shown:?}.", entry.id);
        Refusal::new(Code::InvalidRequest, message)
            .hints(nearest)
            .next(Next::Describe { tool: entry.id.to_string(), full: false })
    })
}
