//! One parameter, whole. A path with dots reaches what is nested: `filter.status`, through lists and references alike.

use serde_json::{Map, Value};
use toolfold_core::{Entry, words};
use toolfold_wire::{Object, Raw};

use super::details::counted;
use super::shape::shape;
use crate::schema::{choices, parameters, resolve};

const DEEPEST: usize = 5;
pub(super) const VALIDATION: [&str; 14] = [
    "minimum",
    "maximum",
    "exclusiveMinimum",
    "exclusiveMaximum",
    "multipleOf",
    "minLength",
    "maxLength",
    "pattern",
    "format",
    "minItems",
    "maxItems",
    "uniqueItems",
    "minProperties",
    "maxProperties",
];

/// The parameter at a path; where there is none, the names that were meant, or all there are.
pub fn parameter(entry: &Entry, path: &str) -> Result<Raw, Vec<String>> {
    let root = entry.input_schema();
    let Some((schema, required)) = find(&root, &root, &path.replace("[]", ""), 0) else {
        return Err(nearest(&root, path));
    };
    let target = resolve(&root, schema);
    let description = schema.get("description").or_else(|| target.get("description"));
    let mut object = Object::new()
        .with("tool", &entry.id.to_string())
        .with("parameter", path)
        .with("type", &shape(&root, schema))
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
        VALIDATION.iter().filter_map(|key| Some(((*key).to_owned(), target.get(*key)?.clone()))).collect();
    if !validation.is_empty() {
        object.set("validation", &validation);
    }
    Ok(counted(object.with("schema", target)))
}

/// Names may have dots themselves, so the whole path is tried as a name first, then every way to split it.
pub(super) fn find<'a>(root: &'a Value, schema: &'a Value, path: &str, depth: usize) -> Option<(&'a Value, bool)> {
    if depth > DEEPEST {
        return None;
    }
    let here = parameters(root, schema).list;
    if let Some(parameter) = here.iter().find(|parameter| parameter.name == path) {
        return Some((parameter.schema, parameter.required));
    }
    let splits = path.match_indices('.').find_map(|(dot, _)| {
        let parameter = here.iter().find(|parameter| parameter.name == &path[..dot])?;
        find(root, parameter.schema, &path[dot + 1..], depth + 1)
    });
    splits.or_else(|| inner(root, schema).into_iter().find_map(|inner| find(root, inner, path, depth + 1)))
}

/// What a path passes through without naming it: items of a list, alternatives.
fn inner<'a>(root: &'a Value, schema: &'a Value) -> Vec<&'a Value> {
    let schema = resolve(root, schema);
    let items = schema.get("items").into_iter();
    items.chain(choices(schema)).filter(|inner| inner.is_object()).take(4).collect()
}

pub(super) fn nearest(root: &Value, path: &str) -> Vec<String> {
    let names: Vec<&str> = parameters(root, root).list.iter().map(|parameter| parameter.name).take(200).collect();
    let first = path.split('.').next().unwrap_or_default();
    match words::nearest(first, names.iter().copied()) {
        Some(near) => vec![near.to_owned()],
        None => names.into_iter().take(10).map(str::to_owned).collect(),
    }
}
