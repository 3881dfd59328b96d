//! What a type alone does not say and a call has to keep: formats, bounds, patterns, and values or units that only the
//! description names. In parentheses behind the type: `string(date-time)`, `int(10..100)`, `number(cents)`.

use serde_json::Value;
use toolfold_schema::vocabulary::RESTRICTIONS;

use super::said::{Values, documented, unit, values};
use super::shape::{FIRST_VALUES, MARK};

/// Letters of a pattern that is shown.
const LONGEST_PATTERN: usize = 28;
/// A text of usual length is about this long: only bounds that it could break are shown.
const SHORT_TEXT: f64 = 8.0;
/// Formats whose name says how to write it.
const FORMATS: [&str; 10] =
    ["date-time", "date", "time", "duration", "email", "uri", "uuid", "hostname", "ipv4", "ipv6"];
/// Keywords that no notation here shows.
const UNSHOWN: [&str; 9] = [
    "not",
    "if",
    "dependentRequired",
    "dependentSchemas",
    "dependencies",
    "contains",
    "propertyNames",
    "patternProperties",
    "multipleOf",
];

/// Keywords beside those of restrictions that ask for something; all but alternatives.
const ASKING: [&str; 13] = [
    "enum",
    "const",
    "$ref",
    "$dynamicRef",
    "not",
    "if",
    "required",
    "properties",
    "items",
    "prefixItems",
    "additionalProperties",
    "patternProperties",
    "propertyNames",
];

/// Whether a schema asks for anything beside its type; `choices`: also by what it offers or joins.
pub(super) fn asks(schema: &Value, choices: bool) -> bool {
    let Value::Object(members) = schema else { return schema == &Value::Bool(false) };
    members.keys().any(|key| is_asking(key) || choices && joins(key))
}

/// Whether more is asked for beside a reference than by what it leads to.
pub(super) fn narrows(given: &Value) -> bool {
    let Some(members) = given.as_object().filter(|members| members.contains_key("$ref")) else { return false };
    members.keys().any(|key| key != "$ref" && (is_asking(key) || joins(key)))
}

fn is_asking(key: &str) -> bool {
    ASKING.contains(&key) || RESTRICTIONS.iter().any(|(restriction, _)| *restriction == key)
}

fn joins(key: &str) -> bool {
    ["anyOf", "oneOf", "allOf"].contains(&key)
}

/// Whether the schema asks for something that cannot be told in so few characters.
pub(super) fn unsaid(schema: &Value) -> bool {
    let pattern =
        || schema.get("pattern").and_then(Value::as_str).is_some_and(|pattern| shown_pattern(pattern).is_none());
    UNSHOWN.iter().any(|key| schema.get(*key).is_some()) || (known_format(schema).is_none() && pattern())
}

/// The type with what limits it. `given` is where the description may stand besides; `told` is what is said of all parameters.
pub(super) fn limited(name: &str, given: &Value, schema: &Value, told: &str, text: String) -> String {
    let note = match text.as_str() {
        "string" => {
            if let Some(values) = listed(name, given, schema, told) {
                return shown(&values);
            }
            let own = known_format(schema).map(str::to_owned).or_else(|| {
                let parts: Vec<String> = [pattern(schema), length(schema)].into_iter().flatten().collect();
                (!parts.is_empty()).then(|| parts.join(" "))
            });
            own.or_else(|| unit(name, description(given, schema), false).map(str::to_owned))
        }
        "int" | "number" => range(schema).or_else(|| unit(name, description(given, schema), true).map(str::to_owned)),
        text if text.ends_with("[]") => return counted(schema, text),
        _ => None,
    };
    note.map_or(text.clone(), |note| format!("{text}({note})"))
}

/// The values of a text that only prose tells: its own description, or else what is said of all parameters.
pub(super) fn listed<'a>(name: &str, given: &'a Value, schema: &'a Value, told: &'a str) -> Option<Values<'a>> {
    values(name, description(given, schema)).or_else(|| values(name, documented(told, name)?))
}

fn description<'a>(given: &'a Value, schema: &'a Value) -> &'a str {
    [given, schema].iter().find_map(|schema| schema.get("description")?.as_str()).unwrap_or_default()
}

/// Values as an `enum` would have them.
fn shown(values: &Values<'_>) -> String {
    let joined =
        |values: &[&str]| values.iter().map(|value| Value::from(*value).to_string()).collect::<Vec<_>>().join("|");
    match values {
        Values::All(values) => joined(values),
        Values::Some(values) => {
            let mut length = 0;
            let some = values.iter().take_while(|value| {
                length += value.len() + 3;
                length <= FIRST_VALUES
            });
            format!("{}|{MARK}", joined(&values[..some.count().max(1)]))
        }
        Values::Untold => format!("string{MARK}"),
    }
}

fn known_format(schema: &Value) -> Option<&str> {
    let format = schema.get("format")?.as_str()?;
    let format = if format == "url" { "uri" } else { format };
    FORMATS.contains(&format).then_some(format)
}

fn shown_pattern(pattern: &str) -> Option<String> {
    // The mark must mean what it means.
    let plain = pattern.chars().all(|c| c.is_ascii_graphic() && !"~…".contains(c));
    (pattern.len() <= LONGEST_PATTERN && plain).then(|| format!("/{pattern}/"))
}

fn pattern(schema: &Value) -> Option<String> {
    schema.get("pattern")?.as_str().and_then(shown_pattern)
}

fn length(schema: &Value) -> Option<String> {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let (low, high) =
        (bound("minLength").filter(|low| *low > 2.0), bound("maxLength").filter(|high| *high < SHORT_TEXT));
    span(low, high).map(|span| format!("{span} letters"))
}

/// Bounds that a small number would break, with what else bounds it.
fn range(schema: &Value) -> Option<String> {
    let bound = |key: &str| schema.get(key).and_then(Value::as_f64);
    let (low, high) = (bound("minimum"), bound("maximum"));
    let (above, below) = (bound("exclusiveMinimum"), bound("exclusiveMaximum"));
    let odd = low.is_some_and(|low| low > 1.0)
        || above.is_some_and(|above| above >= 1.0)
        || high.is_some_and(|high| high <= 1.0)
        || below.is_some_and(|below| below <= 1.0);
    let parts = [span(low, high), above.map(|above| format!(">{above}")), below.map(|below| format!("<{below}"))];
    odd.then(|| parts.into_iter().flatten().collect::<Vec<_>>().join(" "))
}

fn span(low: Option<f64>, high: Option<f64>) -> Option<String> {
    match (low, high) {
        (Some(low), Some(high)) if low == high => Some(low.to_string()),
        (Some(low), Some(high)) => Some(format!("{low}..{high}")),
        (Some(low), None) => Some(format!("≥{low}")),
        (None, Some(high)) => Some(format!("≤{high}")),
        (None, None) => None,
    }
}

/// `number[4]`, `string[2..]`: how many, where one would not do.
fn counted(schema: &Value, text: &str) -> String {
    let bound = |key: &str| schema.get(key).and_then(Value::as_u64);
    let head = text.strip_suffix("[]").unwrap_or(text);
    match (bound("minItems").filter(|low| *low > 1), bound("maxItems")) {
        (Some(low), Some(high)) if low == high => format!("{head}[{low}]"),
        (Some(low), _) => format!("{head}[{low}..]"),
        _ => text.to_owned(),
    }
}
