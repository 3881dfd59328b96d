//! What a model meant: JSON that it wrote into a string where an object or a list is wanted, and `null` for a parameter
//! that it did not want to give. Nothing else is changed, and nothing at all while the arguments are valid as they are.

use serde_json::Value;
use toolfold_wire::{Object, Raw, raw_of};

use crate::schema::{choices, parameters, resolve, types};

/// The arguments as JSON that is an object, if they can be read as one.
pub(super) fn as_object(arguments: Option<Raw>) -> Raw {
    let empty = || Object::new().to_raw();
    let Some(given) = arguments else { return empty() };
    if given.get() == "null" {
        return empty();
    }
    match text(&given) {
        Some(inner) if inner.trim().is_empty() => empty(),
        Some(inner) => structure(&inner).filter(|raw| raw.get().starts_with('{')).unwrap_or(given),
        None => given,
    }
}

/// The arguments with JSON read out of strings where the schema wants a structure and takes no string, and without the
/// optional ones that are `null` and may not be; `None` where there is nothing to repair.
pub(super) fn members(schema: &Value, arguments: &Raw) -> Option<Raw> {
    let mut object = Object::parse(arguments)?;
    let mut changed = false;
    for parameter in parameters(schema, schema).list {
        if !parameter.required
            && !takes_null(schema, parameter.schema, 0)
            && object.get(parameter.name).is_some_and(is_null)
        {
            object.remove(parameter.name);
            changed = true;
        }
        if !wants_structure(schema, parameter.schema, 0) {
            continue;
        }
        let inner = object.get(parameter.name).and_then(text).and_then(|text| structure(&text));
        if let Some(inner) = inner {
            object.set_raw(parameter.name, inner);
            changed = true;
        }
    }
    changed.then(|| object.to_raw())
}

fn text(raw: &Raw) -> Option<String> {
    raw.get().starts_with('"').then(|| serde_json::from_str(raw.get()).ok()).flatten()
}

/// JSON that is an object or a list.
fn structure(text: &str) -> Option<Raw> {
    let text = text.trim();
    text.starts_with(['{', '[']).then(|| raw_of(text).ok()).flatten()
}

fn wants_structure(root: &Value, schema: &Value, depth: usize) -> bool {
    let schema = resolve(root, schema);
    let choices = choices(schema);
    if !choices.is_empty() && depth < 4 {
        return choices.iter().all(|choice| wants_structure(root, choice, depth + 1));
    }
    let types = types(schema);
    !types.is_empty() && types.iter().all(|name| matches!(*name, "object" | "array"))
}

fn is_null(raw: &Raw) -> bool {
    raw.get() == "null"
}

/// Whether `null` may be what the schema wants; in doubt it may.
fn takes_null(root: &Value, schema: &Value, depth: usize) -> bool {
    let schema = resolve(root, schema);
    let choices = choices(schema);
    if !choices.is_empty() && depth < 4 {
        return choices.iter().any(|choice| takes_null(root, choice, depth + 1));
    }
    let types = types(schema);
    types.is_empty() || types.contains(&"null")
}
