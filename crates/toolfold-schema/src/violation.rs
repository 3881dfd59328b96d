//! What is wrong with a value, in words. They name the value by whatever the reader calls it: it may be long, and who
//! wrote it knows it.

use serde_json::{Number, Value};

/// One broken keyword.
#[derive(Debug, Clone)]
pub struct Violation<'s> {
    pub kind: Flaw<'s>,
    /// A JSON pointer to the part of the value; empty for the whole.
    pub at: String,
    /// The schema whose keyword is broken.
    pub schema: &'s Value,
}

#[derive(Debug, Clone)]
pub enum Flaw<'s> {
    False,
    Type(&'s [String]),
    Enum(&'s [Value]),
    Const(&'s Value),
    Minimum(&'s Number),
    Maximum(&'s Number),
    ExclusiveMinimum(&'s Number),
    ExclusiveMaximum(&'s Number),
    MultipleOf(&'s Number),
    MinLength(u64),
    MaxLength(u64),
    Pattern(&'s str),
    AdditionalItems(usize),
    MinItems(u64),
    MaxItems(u64),
    UniqueItems,
    Contains,
    AdditionalProperties(Vec<String>),
    MinProperties(u64),
    MaxProperties(u64),
    /// The name, and what is wrong with it.
    PropertyName(String),
    Required(&'s str),
    AnyOf,
    OneOfNone,
    OneOfSeveral,
    Not(&'s Value),
    UnevaluatedItems(usize),
    UnevaluatedProperties(Vec<String>),
}

impl Violation<'_> {
    /// A sentence about the value, which is called `it`.
    pub fn text(&self, it: &str) -> String {
        let count =
            |count: u64, one: &str, several: &str| format!("{count} {}", if count == 1 { one } else { several });
        let characters = |limit: u64| count(limit, "character", "characters");
        let items = |limit: u64| count(limit, "item", "items");
        let properties = |limit: u64| count(limit, "property", "properties");
        match &self.kind {
            Flaw::False => format!("False schema does not allow {it}"),
            Flaw::Type([only]) => format!("{it} is not of type {only:?}"),
            Flaw::Type(names) => {
                format!("{it} is not of types {}", listed(names.iter().map(|name| format!("{name:?}"))))
            }
            Flaw::Enum(options) => format!("{it} is not one of {}", options_shown(options)),
            Flaw::Const(wanted) => format!("{wanted} was expected"),
            Flaw::Minimum(limit) => format!("{it} is less than the minimum of {limit}"),
            Flaw::Maximum(limit) => format!("{it} is greater than the maximum of {limit}"),
            Flaw::ExclusiveMinimum(limit) => format!("{it} is less than or equal to the minimum of {limit}"),
            Flaw::ExclusiveMaximum(limit) => format!("{it} is greater than or equal to the maximum of {limit}"),
            Flaw::MultipleOf(of) => format!("{it} is not a multiple of {of}"),
            Flaw::MinLength(limit) => format!("{it} is shorter than {}", characters(*limit)),
            Flaw::MaxLength(limit) => format!("{it} is longer than {}", characters(*limit)),
            Flaw::Pattern(pattern) => format!("{it} does not match \"{pattern}\""),
            Flaw::AdditionalItems(extra) => format!("Additional items are not allowed ({})", items(*extra as u64)),
            Flaw::MinItems(limit) => format!("{it} has less than {}", items(*limit)),
            Flaw::MaxItems(limit) => format!("{it} has more than {}", items(*limit)),
            Flaw::UniqueItems => format!("{it} has non-unique elements"),
            Flaw::Contains => format!("None of {it} are valid under the given schema"),
            Flaw::AdditionalProperties(names) => {
                format!("Additional properties are not allowed ({})", unexpected(names))
            }
            Flaw::MinProperties(limit) => format!("{it} has less than {}", properties(*limit)),
            Flaw::MaxProperties(limit) => format!("{it} has more than {}", properties(*limit)),
            Flaw::PropertyName(what) => what.clone(),
            Flaw::Required(name) => format!("{} is a required property", Value::from(*name)),
            Flaw::AnyOf => format!("{it} is not valid under any of the schemas listed in the 'anyOf' keyword"),
            Flaw::OneOfNone => format!("{it} is not valid under any of the schemas listed in the 'oneOf' keyword"),
            Flaw::OneOfSeveral => {
                format!("{it} is valid under more than one of the schemas listed in the 'oneOf' keyword")
            }
            Flaw::Not(schema) => format!("{schema} is not allowed for {it}"),
            Flaw::UnevaluatedItems(extra) => format!("Unevaluated items are not allowed ({})", items(*extra as u64)),
            Flaw::UnevaluatedProperties(names) => {
                format!("Unevaluated properties are not allowed ({})", unexpected(names))
            }
        }
    }
}

fn unexpected(names: &[String]) -> String {
    let were = if names.len() == 1 { "was" } else { "were" };
    format!("{} {were} unexpected", listed(names.iter().map(|name| format!("'{name}'"))))
}

fn listed(parts: impl Iterator<Item = String>) -> String {
    parts.collect::<Vec<_>>().join(", ")
}

/// Some of them: an enumeration can have thousands.
fn options_shown(options: &[Value]) -> String {
    let written = |options: &[Value]| listed(options.iter().map(Value::to_string));
    match options {
        [] => "nothing at all".to_owned(),
        [only] => only.to_string(),
        [first @ .., last] if first.len() < 3 => format!("{} or {last}", written(first)),
        [first, second, others @ ..] => format!("{first}, {second} or {} other candidates", others.len()),
    }
}
