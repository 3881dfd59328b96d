//! Chosen tools in detail, as JSON. The first one is always shown, the whole of it as far as the budget goes; of a list,
//! what does not fit is named instead.

use std::sync::Arc;

use toolfold_core::{Code, Entry, Next, Refusal, Surface, beginning};
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
                    missing.push((name, not_found(view, name, unresolved)));
                    continue;
                }
            },
        };
        if !tools.iter().any(|entry: &&Arc<Entry>| entry.id == found.id) {
            tools.push(found);
        }
    }
    if tools.is_empty()
        && let [(_, alone)] = missing.as_slice()
    {
        return Err(alone.clone());
    }
    // A tool that is shown first leaves room for the names of the others.
    let names: usize = describe.names.iter().map(|name| named(name)).sum();
    let others = if describe.names.len() > 1 { SAID_OF_LEFT_OUT + names } else { 0 };
    let most = view.budget() - others.min(view.budget() / 2);
    let mut all: Vec<Told<Raw>> = Vec::with_capacity(describe.names.len());
    for entry in tools {
        let parts = parts(entry, describe, most)?;
        let cost = parts.iter().map(|part| count(part.get())).sum();
        all.push(Told { id: entry.id.to_string(), refused: false, parts, cost });
    }
    all.extend(missing.into_iter().map(|(name, refusal)| {
        let refusal = told(&refusal);
        let cost = count(refusal.get());
        Told { id: said_again(name), refused: true, parts: vec![refusal], cost }
    }));
    let (mut shown, left_out) = fitting(all, view.budget());
    shown.extend(said_of(&left_out));
    Ok(text_result(&match shown.as_slice() {
        [only] => only.get().to_owned(),
        several => several.iter().map(|raw| raw.get()).collect::<Vec<_>>().join("\n"),
    }))
}

pub(crate) const LEFT_OUT: &str = "did not fit: ask for these again, fewer at a time";
/// Tokens of saying that something is left out, beside the names.
const SAID_OF_LEFT_OUT: usize = 25;
/// Letters of a name that was asked for and is said again.
const LONGEST_NAME: usize = 100;

/// What is told of one of several things that were asked for.
struct Told<T> {
    id: String,
    refused: bool,
    parts: Vec<T>,
    cost: usize,
}

/// A name that was asked for, as far as it is said again.
fn said_again(name: &str) -> String {
    beginning(name, LONGEST_NAME).into_owned()
}

/// What it costs to name what is left out.
fn named(name: &str) -> usize {
    count(&said_again(name)) + 2
}

/// What is shown, and the names of what is not: naming those costs something too. What is not there makes room for what is.
fn fitting<T>(mut all: Vec<Told<T>>, budget: usize) -> (Vec<T>, Vec<String>) {
    let whole: usize = all.iter().map(|one| one.cost).sum();
    let names: usize = all.iter().map(|one| named(&one.id)).sum();
    let reserved = if whole <= budget { 0 } else { SAID_OF_LEFT_OUT + names };
    if reserved > 0 {
        all.sort_by_key(|one| one.refused);
    }
    let mut left = budget.saturating_sub(reserved);
    let (mut shown, mut left_out) = (Vec::new(), Vec::new());
    for one in all {
        let more = if reserved > 0 { one.cost.saturating_sub(named(&one.id)) } else { one.cost };
        if shown.is_empty() || more <= left {
            left = left.saturating_sub(more);
            shown.extend(one.parts);
        } else {
            left_out.push(one.id);
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
    let part = |path: &str, most: usize| parameter(entry, path, most, paths.len() == 1);
    let (mut shown, left_out) = several(paths, budget, part, told, |part| count(part.get()))?;
    shown.extend(said_of(&left_out));
    Ok(shown)
}

/// Several parts of one tool within one budget, and the names of those that did not fit. One that is not there is no reason to
/// say nothing of the others, nor to say less of them.
pub(crate) fn several<T>(
    paths: &[String],
    budget: usize,
    make: impl Fn(&str, usize) -> Result<T, Refusal>,
    told: impl Fn(&Refusal) -> T,
    cost: impl Fn(&T) -> usize,
) -> Result<(Vec<T>, Vec<String>), Refusal> {
    let missing: usize = paths.iter().filter(|path| make(path, budget).is_err()).map(|path| named(path)).sum();
    let others = if missing > 0 { (SAID_OF_LEFT_OUT + missing).min(budget / 2) } else { 0 };
    let parts = shared(paths.len(), budget - others, |place, most| {
        let part = make(&paths[place], most);
        let cost = part.as_ref().map_or(0, &cost);
        (part, cost)
    });
    if parts.iter().all(|(part, _)| part.is_err()) {
        return parts.into_iter().map(|(part, _)| part).collect::<Result<_, _>>().map(|parts| (parts, Vec::new()));
    }
    let all = paths.iter().zip(parts).map(|(path, (part, _))| {
        let (id, refused) = (said_again(path), part.is_err());
        let part = part.unwrap_or_else(|refusal| told(&refusal));
        Told { id, refused, cost: cost(&part), parts: vec![part] }
    });
    Ok(fitting(all.collect(), budget))
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
    level::parameter_within(entry, path, budget, alone).map_err(|nearest| no_parameter(entry, path, nearest))
}

pub(crate) fn no_parameter(entry: &Entry, path: &str, nearest: Vec<String>) -> Refusal {
    Refusal::new(Code::InvalidRequest, format!("{} has no parameter {:?}.", entry.id, said_again(path)))
        .hints(nearest)
        .next(Next::Describe { tool: entry.id.to_string(), full: false })
}
