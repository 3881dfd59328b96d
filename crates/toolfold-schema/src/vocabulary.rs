//! The words of JSON Schema, for those who copy or show schemas rather than check against them.

/// Kinds of values that a schema can ask for.
pub const TYPES: [&str; 7] = ["array", "boolean", "integer", "null", "number", "object", "string"];

/// What a keyword must hold to mean something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Holds {
    Number,
    Text,
    Flag,
}

/// Keywords that narrow what a value of its kind may be, in the order that people are shown them.
pub const RESTRICTIONS: [(&str, Holds); 16] = [
    ("minimum", Holds::Number),
    ("maximum", Holds::Number),
    ("exclusiveMinimum", Holds::Number),
    ("exclusiveMaximum", Holds::Number),
    ("multipleOf", Holds::Number),
    ("minLength", Holds::Number),
    ("maxLength", Holds::Number),
    ("pattern", Holds::Text),
    ("format", Holds::Text),
    ("minItems", Holds::Number),
    ("maxItems", Holds::Number),
    ("uniqueItems", Holds::Flag),
    ("minContains", Holds::Number),
    ("maxContains", Holds::Number),
    ("minProperties", Holds::Number),
    ("maxProperties", Holds::Number),
];

/// The restrictions that hold this.
pub fn restrictions(holds: Holds) -> impl Iterator<Item = &'static str> {
    RESTRICTIONS.into_iter().filter(move |(_, held)| *held == holds).map(|(key, _)| key)
}

/// Keywords that hold one schema.
pub const ONE: [&str; 12] = [
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "items",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];
/// Keywords that hold a list of schemas.
pub const LIST: [&str; 5] = ["allOf", "anyOf", "items", "oneOf", "prefixItems"];
/// Keywords that hold schemas by name.
pub const NAMED: [&str; 6] =
    ["$defs", "definitions", "dependencies", "dependentSchemas", "patternProperties", "properties"];
