//! One parameter, whole. A path with dots reaches what is nested: `filter.status`, through lists and references alike.

use serde_json::{Map, Value};
use toolfold_core::{Entry, Fuel, words};
use toolfold_schema::vocabulary::RESTRICTIONS;
use toolfold_wire::{Object, Raw};

use super::details::counted;
use super::shape::{FUEL as SHAPE, shape};
use crate::schema::{choices, inlined, parameters, resolve};

const DEEPEST: usize = 5;
/// Characters of a path, and members that are looked at on the way: names with dots can be split in no end of ways.
const LONGEST_PATH: usize = 500;
const FUEL: u64 = 200_000;
/// Bytes of a schema with what it refers to. One that is larger is shown as it was written.
pub(super) const LARGEST_INLINED: usize = 64 * 1024;

/// The parameter at a path; where there is none, the names that were meant, or all there are.
pub fn parameter(entry: &Entry, path: &str) -> Result<Raw, Vec<String>> {
    let root = entry.input_schema();
    let Some((schema, required)) = find(&root, path) else {
        return Err(nearest(&root, path));
    };
    let target = resolve(&root, schema);
    let description = schema.get("description").or_else(|| target.get("description"));
    let mut object = Object::new()
        .with("tool", &entry.id.to_string())
        .with("parameter", path)
        .with("type", &shape(&root, schema, &Fuel::new(SHAPE)))
        .with("required", &required);
    if let Some(description) = description {
        object.set("description", description);
    }
    for key in ["default", "enum", "examples"] {
        if let Some(value) = schema.get(key).or_else(|| target.get(key)) {
            object.set(key, value);
        }
    }
    let validation: Map<String, Value> =
        RESTRICTIONS.iter().filter_map(|(key, _)| Some(((*key).to_owned(), target.get(*key)?.clone()))).collect();
    if !validation.is_empty() {
        object.set("validation", &validation);
    }
    let mut whole = inlined(&root, target, LARGEST_INLINED);
    // It is said once.
    if let Some(Value::Object(whole)) = &mut whole
        && whole.get("description") == description
    {
        whole.remove("description");
    }
    Ok(counted(object.with("schema", whole.as_ref().unwrap_or(target))))
}

/// The schema of the parameter at a path, and whether it is required.
pub(super) fn find<'a>(root: &'a Value, path: &str) -> Option<(&'a Value, bool)> {
    let path: String = path.chars().take(LONGEST_PATH).collect();
    find_in(root, root, &path.replace("[]", ""), 0, &Fuel::new(FUEL))
}

/// Names may have dots themselves, so the whole path is tried as a name first, then every way to split it.
fn find_in<'a>(root: &'a Value, schema: &'a Value, path: &str, depth: usize, fuel: &Fuel) -> Option<(&'a Value, bool)> {
    if depth > DEEPEST || fuel.left() == 0 {
        return None;
    }
    let here = parameters(root, schema).list;
    let is_affordable = fuel.burn(1 + here.len() as u64).is_ok();
    if let Some(parameter) = here.iter().find(|parameter| parameter.name == path) {
        return Some((parameter.schema, parameter.required));
    }
    if !is_affordable {
        return None;
    }
    let splits = path.match_indices('.').find_map(|(dot, _)| {
        fuel.burn_for(here.len(), 16).ok()?;
        let parameter = here.iter().find(|parameter| parameter.name == &path[..dot])?;
        find_in(root, parameter.schema, &path[dot + 1..], depth + 1, fuel)
    });
    splits.or_else(|| inner(root, schema).into_iter().find_map(|inner| find_in(root, inner, path, depth + 1, fuel)))
}

/// What a path passes through without naming it: items of a list, alternatives.
fn inner<'a>(root: &'a Value, schema: &'a Value) -> Vec<&'a Value> {
    let schema = resolve(root, schema);
    let items = schema.get("items").into_iter();
    items.chain(choices(schema)).filter(|inner| inner.is_object()).take(4).collect()
}

pub(super) fn nearest(root: &Value, path: &str) -> Vec<String> {
    let names: Vec<&str> = parameters(root, root).list.iter().map(|parameter| parameter.name).take(200).collect();
    let first: String = path.split('.').next().unwrap_or_default().chars().take(LONGEST_PATH).collect();
    match words::nearest(&first, names.iter().copied()) {
        Some(near) => vec![near.to_owned()],
        None => names.into_iter().take(10).map(str::to_owned).collect(),
    }
}
