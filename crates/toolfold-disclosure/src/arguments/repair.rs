//! What a model meant: JSON that it wrote into a string where an object or a list is wanted, and `null` for a parameter
//! that it did not want to give. Nothing else is changed, and nothing at all while the arguments are valid as they are.

use serde_json::Value;
use toolfold_core::{Fuel, Spent};
use toolfold_wire::{Object, Raw, raw_of};

use crate::schema::{choices, parameters, resolve, types};

/// No arguments.
pub(super) fn none() -> Raw {
    Object::new().to_raw()
}

/// The arguments as JSON that is an object, if they can be read as one.
pub(super) fn as_object(arguments: Option<Raw>, fuel: &Fuel) -> Result<Raw, Spent> {
    let Some(given) = arguments.filter(|given| !given.is_null()) else { return Ok(none()) };
    Ok(match text(&given, fuel)? {
        Some(inner) if inner.trim().is_empty() => none(),
        Some(inner) => structure(&inner).filter(|raw| raw.get().starts_with('{')).unwrap_or(given),
        None => given,
    })
}

/// The arguments with JSON read out of strings where the schema wants a structure and takes no string, and without the
/// optional ones that are `null` and may not be; `None` where there is nothing to repair.
pub(super) fn members(schema: &Value, arguments: &Raw, fuel: &Fuel) -> Result<Option<Raw>, Spent> {
    let Some(mut object) = Object::parse(arguments) else { return Ok(None) };
    let mut changed = false;
    for parameter in parameters(schema, schema).list {
        fuel.burn(8)?;
        let Some(given) = object.get(parameter.name) else { continue };
        if given.is_null() {
            if !parameter.required && !takes_null(schema, parameter.schema, 0, fuel)? {
                object.remove(parameter.name);
                changed = true;
            }
            continue;
        }
        if !given.get().starts_with('"') || !wants_structure(schema, parameter.schema, 0, fuel)? {
            continue;
        }
        let inner = text(given, fuel)?.and_then(|text| structure(&text));
        if let Some(inner) = inner {
            object.set_raw(parameter.name, inner);
            changed = true;
        }
    }
    Ok(changed.then(|| object.to_raw()))
}

fn text(raw: &Raw, fuel: &Fuel) -> Result<Option<String>, Spent> {
    if !raw.get().starts_with('"') {
        return Ok(None);
    }
    fuel.burn_for(raw.get().len(), super::size::BYTES_IN_A_STEP)?;
    Ok(serde_json::from_str(raw.get()).ok())
}

/// JSON that is an object or a list.
fn structure(text: &str) -> Option<Raw> {
    let text = text.trim();
    text.starts_with(['{', '[']).then(|| raw_of(text).ok()).flatten()
}

fn wants_structure(root: &Value, schema: &Value, depth: usize, fuel: &Fuel) -> Result<bool, Spent> {
    fuel.burn(8)?;
    let schema = resolve(root, schema);
    let choices = choices(schema);
    if !choices.is_empty() && depth < 4 {
        for choice in choices {
            if !wants_structure(root, choice, depth + 1, fuel)? {
                return Ok(false);
            }
        }
        return Ok(true);
    }
    let types = types(schema);
    Ok(!types.is_empty() && types.iter().all(|name| matches!(*name, "object" | "array")))
}

/// Whether `null` may be what the schema wants; in doubt it may.
fn takes_null(root: &Value, schema: &Value, depth: usize, fuel: &Fuel) -> Result<bool, Spent> {
    fuel.burn(8)?;
    let schema = resolve(root, schema);
    let choices = choices(schema);
    if !choices.is_empty() && depth < 4 {
        for choice in choices {
            if takes_null(root, choice, depth + 1, fuel)? {
                return Ok(true);
            }
        }
        return Ok(false);
    }
    let types = types(schema);
    Ok(types.is_empty() || types.contains(&"null"))
}
