//! A configuration file as a tree of values, each with its place: the same for TOML and JSON, so that everything after
//! parsing is written once.

use serde::Deserialize;
use serde::de::{MapAccess, Visitor};
use serde_json::value::RawValue;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::report::{Place, Report};

/// Deeper than any schema that somebody writes by hand. What lies below is kept as "something nested", so that no input can exhaust the stack.
const DEEPEST: usize = 32;

const MOST_ERRORS: usize = 200;

#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) offset: usize,
    pub(crate) value: Value,
}

#[derive(Debug)]
pub(crate) enum Value {
    Text(String),
    Integer(i64),
    Float(f64),
    Bool(bool),
    List(Vec<Node>),
    Table(Vec<Member>),
    /// Something no key takes; what to call it in a message.
    Other(&'static str),
}

#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    /// Where a problem with this key is shown.
    pub(crate) offset: usize,
    pub(crate) node: Node,
}

impl Value {
    pub(crate) fn describe(&self) -> &'static str {
        match self {
            Value::Text(_) => "a string",
            Value::Integer(_) => "an integer",
            Value::Float(_) => "a number with a fraction",
            Value::Bool(_) => "a boolean",
            Value::List(_) => "a list",
            Value::Table(_) => "a table",
            Value::Other(what) => what,
        }
    }
}

/// The tree, or `None` after every syntax error has been reported.
pub(crate) fn from_toml(text: &str, report: &mut Report) -> Option<Node> {
    let (document, mut errors) = DeTable::parse_recoverable(text);
    // A file that is no TOML at all has as many mistakes as it has characters.
    errors.truncate(MOST_ERRORS);
    // One mistake often makes the parser stumble several times on the same line: the first is the one to mend.
    errors.dedup_by_key(|error| error.span().map(|span| line_start(text, span.start)));
    for error in &errors {
        let place = Place::new(error.span().map(|span| span.start), "");
        report.error(&place, error.message(), None);
    }
    errors.is_empty().then(|| toml_table(document.span().start, document.get_ref(), 0))
}

fn line_start(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset.min(text.len())].iter().rposition(|byte| *byte == b'\n').map_or(0, |at| at + 1)
}

fn toml_table(offset: usize, table: &DeTable<'_>, depth: usize) -> Node {
    let members = table.iter().map(|(name, value)| Member {
        name: name.get_ref().to_string(),
        offset: name.span().start,
        node: toml_node(value, depth + 1),
    });
    Node { offset, value: Value::Table(members.collect()) }
}

fn toml_node(value: &Spanned<DeValue<'_>>, depth: usize) -> Node {
    let offset = value.span().start;
    let value = match value.get_ref() {
        DeValue::Table(_) | DeValue::Array(_) if depth > DEEPEST => Value::Other("something nested"),
        DeValue::Table(table) => return toml_table(offset, table, depth),
        DeValue::Array(items) => Value::List(items.iter().map(|item| toml_node(item, depth + 1)).collect()),
        DeValue::String(text) => Value::Text(text.to_string()),
        DeValue::Boolean(flag) => Value::Bool(*flag),
        DeValue::Datetime(_) => Value::Other("a date"),
        DeValue::Integer(number) => i64::from_str_radix(number.as_str(), number.radix())
            .map_or(Value::Other("an integer beyond all bounds"), Value::Integer),
        DeValue::Float(number) => number.as_str().parse().map_or(Value::Other("a number"), Value::Float),
    };
    Node { offset, value }
}

pub(crate) fn from_json(text: &str, report: &mut Report) -> Option<Node> {
    report.speaks_json = true;
    match serde_json::from_str::<&RawValue>(text) {
        Ok(raw) => Some(json_node(text, raw, 0)),
        Err(error) => {
            let offset = offset_of(text, error.line(), error.column());
            // serde_json ends its sentence with the place, which is already in front of it.
            let message = error.to_string();
            let message = message.split(" at line ").next().unwrap_or("is not JSON").to_owned();
            let hint = "check the quotes, commas and brackets there";
            report.error(&Place::new(Some(offset), ""), message, hint.to_owned());
            None
        }
    }
}

fn json_node(text: &str, raw: &RawValue, depth: usize) -> Node {
    let json = raw.get();
    // A borrowed `RawValue` is a part of the text it was parsed from: the distance is its place.
    let offset = json.as_ptr().addr() - text.as_ptr().addr();
    let value = match json.as_bytes().first() {
        Some(b'{' | b'[') if depth > DEEPEST => Ok(Value::Other("something nested")),
        Some(b'{') => serde_json::from_str(json).map(|members| json_table(text, members, depth)),
        Some(b'[') => serde_json::from_str(json).map(|items| json_list(text, items, depth)),
        Some(b'"') => serde_json::from_str(json).map(Value::Text),
        Some(b't' | b'f') => serde_json::from_str(json).map(Value::Bool),
        Some(b'n') => Ok(Value::Other("null")),
        _ => serde_json::from_str(json).map(Value::Integer).or_else(|_| serde_json::from_str(json).map(Value::Float)),
    };
    // Half of a surrogate pair and a number beyond all bounds pass the grammar and still cannot be read.
    Node { offset, value: value.unwrap_or(Value::Other("broken Unicode or a number out of range")) }
}

fn json_table(text: &str, members: Members<'_>, depth: usize) -> Value {
    let members = members.0.into_iter().map(|(name, raw)| {
        let node = json_node(text, raw, depth + 1);
        Member { name, offset: node.offset, node }
    });
    Value::Table(members.collect())
}

fn json_list(text: &str, items: Vec<&RawValue>, depth: usize) -> Value {
    Value::List(items.into_iter().map(|raw| json_node(text, raw, depth + 1)).collect())
}

fn offset_of(text: &str, line: usize, column: usize) -> usize {
    let start: usize = text.split_inclusive('\n').take(line.saturating_sub(1)).map(str::len).sum();
    (start + column.saturating_sub(1)).min(text.len())
}

/// The members of an object in the order of the file, a name given twice included: a map would hide it.
struct Members<'a>(Vec<(String, &'a RawValue)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
                let mut members = Vec::new();
                while let Some(member) = map.next_entry()? {
                    members.push(member);
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}
