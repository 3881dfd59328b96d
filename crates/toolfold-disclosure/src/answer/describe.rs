//! Chosen tools in detail, as JSON. The first one is always shown whole: who asks for one tool gets it, whatever it costs.
//! Of a list, what does not fit is named instead.

use toolfold_core::{Code, Entry, Next, Refusal, Surface};
use toolfold_wire::{Object, Raw, raw};

use crate::level;
use crate::surface::{Describe, fitted, not_found, text_result};
use crate::tokens::count;
use crate::view::View;

pub(crate) fn describe(view: &View<'_>, describe: &Describe) -> Result<Raw, Refusal> {
    let (mut tools, mut missing) = (Vec::new(), Vec::new());
    for name in &describe.names {
        match view.resolve(name) {
            Ok(entry) if tools.contains(&entry) => {}
            Ok(entry) => tools.push(entry),
            Err(unresolved) => missing.push(not_found(view, name, unresolved)),
        }
    }
    if tools.is_empty() && missing.len() == 1 {
        return Err(missing.remove(0));
    }
    let mut shown: Vec<Raw> = Vec::new();
    let mut left_out: Vec<String> = Vec::new();
    let mut spent = 0;
    for position in tools {
        let entry = view.entry(position);
        let one = one(entry, describe)?;
        let cost = count(one.get());
        if shown.is_empty() || spent + cost <= view.budget() {
            spent += cost;
            shown.push(one);
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

fn one(entry: &Entry, describe: &Describe) -> Result<Raw, Refusal> {
    let Some(path) = &describe.parameter else { return Ok(level::describe(entry, describe.detail)) };
    level::parameter(entry, path).map_err(|nearest| {
        let shown: String = path.chars().take(100).collect();
        let message = format!("{} has no parameter {shown:?}.", entry.id);
        Refusal::new(Code::InvalidRequest, message)
            .hints(nearest)
            .next(Next::Describe { tool: entry.id.to_string(), full: false })
    })
}
