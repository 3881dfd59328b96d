//! Chosen tools in detail, as JSON. The first one is always shown, the whole of it as far as the budget goes; of a list,
//! what does not fit is named instead.

use std::sync::Arc;

use toolfold_core::{Code, Entry, Next, Refusal, Surface};
use toolfold_wire::{Object, Raw, raw};

use super::budget::shared;
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
    let missing: Vec<Raw> =
        missing.into_iter().map(|refusal| raw(&fitted(Surface::Compact, refusal).to_json())).collect();
    let budget = view.budget().saturating_sub(missing.iter().map(|refusal| count(refusal.get())).sum());
    let mut all: Vec<Described> = Vec::with_capacity(tools.len());
    for entry in tools {
        let parts = parts(entry, describe, view.budget())?;
        let cost = parts.iter().map(|part| count(part.get())).sum();
        all.push(Described { id: entry.id.to_string(), parts, cost });
    }
    let (mut shown, left_out) = fitting(all, budget);
    shown.extend(missing);
    shown.extend(said_of(&left_out));
    Ok(text_result(&match shown.as_slice() {
        [only] => only.get().to_owned(),
        several => several.iter().map(|raw| raw.get()).collect::<Vec<_>>().join("\n"),
    }))
}

pub(crate) const LEFT_OUT: &str = "did not fit: ask for these again, fewer at a time";
/// Tokens of saying that something is left out, beside the names.
const SAID_OF_LEFT_OUT: usize = 25;

struct Described {
    id: String,
    parts: Vec<Raw>,
    cost: usize,
}

/// What is shown, and the names of what is not: naming those costs something too.
fn fitting(all: Vec<Described>, budget: usize) -> (Vec<Raw>, Vec<String>) {
    let whole: usize = all.iter().map(|tool| tool.cost).sum();
    let names: Vec<usize> = all.iter().map(|tool| count(&tool.id) + 2).collect();
    let named = if whole <= budget { 0 } else { SAID_OF_LEFT_OUT + names.iter().sum::<usize>() };
    let mut left = budget.saturating_sub(named);
    let (mut shown, mut left_out) = (Vec::new(), Vec::new());
    for (tool, name) in all.into_iter().zip(names) {
        let more = if named > 0 { tool.cost.saturating_sub(name) } else { tool.cost };
        if shown.is_empty() || more <= left {
            left = left.saturating_sub(more);
            shown.extend(tool.parts);
        } else {
            left_out.push(tool.id);
        }
    }
    (shown, left_out)
}

/// A tool, or those parameters of it that are asked for: as many as fit, each within what the others leave.
fn parts(entry: &Entry, describe: &Describe, budget: usize) -> Result<Vec<Raw>, Refusal> {
    let paths = &describe.parameters;
    if paths.is_empty() {
        return Ok(vec![level::describe_within(entry, describe.detail, budget)]);
    }
    let parts = shared(paths.len(), budget, |place, most| {
        let part = parameter(entry, &paths[place], most, paths.len() == 1);
        let cost = part.as_ref().map_or_else(|refusal| count(told(refusal).get()), |part| count(part.get()));
        (part, cost)
    });
    // One that is not there is no reason to say nothing of the others.
    if parts.iter().all(|(part, _)| part.is_err()) {
        return parts.into_iter().map(|(part, _)| part).collect();
    }
    let named = paths.iter().zip(parts).map(|(path, (part, cost))| Described {
        id: path.clone(),
        parts: vec![part.unwrap_or_else(|refusal| told(&refusal))],
        cost,
    });
    let (mut shown, left_out) = fitting(named.collect(), budget);
    shown.extend(said_of(&left_out));
    Ok(shown)
}

fn told(refusal: &Refusal) -> Raw {
    raw(&fitted(Surface::Compact, refusal.clone()).to_json())
}

/// The line that names what did not fit.
fn said_of(left_out: &[String]) -> Option<Raw> {
    let line = || Object::new().with("left_out", left_out).with("note", LEFT_OUT).to_raw();
    (!left_out.is_empty()).then(line)
}

fn parameter(entry: &Entry, path: &str, budget: usize, alone: bool) -> Result<Raw, Refusal> {
    level::parameter_within(entry, path, budget, alone).map_err(|nearest| {
        let shown: String = path.chars().take(100).collect();
        let message = format!("{} has no parameter {shown:?}.", entry.id);
        Refusal::new(Code::InvalidRequest, message)
            .hints(nearest)
            .next(Next::Describe { tool: entry.id.to_string(), full: false })
    })
}
