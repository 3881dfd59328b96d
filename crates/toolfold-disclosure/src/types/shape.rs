//! A JSON Schema as a type of TypeScript. Whatever the schema is, what comes out is a type: what cannot be said is
//! something that takes anything.

use serde_json::{Map, Value};

use super::comment;
use crate::schema::resolve;

/// Types within types that are still written out.
const DEEPEST: usize = 12;
/// Characters of one type: alternatives of alternatives multiply.
const LONGEST: usize = 40_000;
const MOST_CHOICES: usize = 200;

/// What is written where nothing is known: of what is given, and of what is got.
#[derive(Clone, Copy)]
pub(super) enum Loose {
    Unknown,
    Any,
}

pub(super) fn shape(schema: &Value, loose: Loose) -> String {
    let mut writer = Writer { root: schema, loose, left: LONGEST };
    let text = writer.of(schema, 0);
    if text.len() > LONGEST { loose.text().to_owned() } else { text }
}

impl Loose {
    fn text(self) -> &'static str {
        match self {
            Loose::Unknown => "unknown",
            Loose::Any => "any",
        }
    }
}

struct Writer<'a> {
    root: &'a Value,
    loose: Loose,
    left: usize,
}

impl Writer<'_> {
    fn of(&mut self, schema: &Value, depth: usize) -> String {
        let root = self.root;
        let text = match resolve(root, schema) {
            Value::Object(members) if depth < DEEPEST && self.left > 0 => self.of_members(members, depth),
            _ => self.loose.text().to_owned(),
        };
        self.left = self.left.saturating_sub(text.len());
        text
    }

    fn of_members(&mut self, members: &Map<String, Value>, depth: usize) -> String {
        let mut parts: Vec<String> = Vec::new();
        if let Some(value) = members.get("const") {
            parts.push(self.literal(value));
        } else if let Some(Value::Array(values)) = members.get("enum").filter(|values| !is_empty(values)) {
            let literals = values.iter().take(MOST_CHOICES).map(|value| self.literal(value)).collect();
            parts.push(self.union(literals));
        } else {
            parts.extend(self.by_type(members, depth));
        }
        for key in ["anyOf", "oneOf"] {
            if let Some(Value::Array(choices)) = members.get(key).filter(|choices| !is_empty(choices)) {
                let choices = choices.iter().take(MOST_CHOICES).map(|choice| self.of(choice, depth + 1)).collect();
                parts.push(self.union(choices));
            }
        }
        if let Some(Value::Array(all)) = members.get("allOf") {
            parts.extend(all.iter().take(MOST_CHOICES).map(|part| self.of(part, depth + 1)).collect::<Vec<_>>());
        }
        // What takes anything says nothing beside what does not.
        let loose = self.loose.text();
        parts.retain(|part| part != loose);
        let whole = match parts.as_slice() {
            [] => loose.to_owned(),
            [only] => only.clone(),
            several => several.iter().map(|part| format!("({part})")).collect::<Vec<_>>().join(" & "),
        };
        match members.get("nullable") {
            Some(Value::Bool(true)) => self.union(vec![whole, "null".to_owned()]),
            _ => whole,
        }
    }

    fn by_type(&mut self, members: &Map<String, Value>, depth: usize) -> Option<String> {
        match members.get("type") {
            Some(Value::String(kind)) => Some(self.of_type(kind, members, depth)),
            Some(Value::Array(kinds)) => {
                let kinds = kinds.iter().take(MOST_CHOICES).filter_map(Value::as_str);
                let choices = kinds.map(|kind| self.of_type(kind, members, depth)).collect();
                Some(self.union(choices))
            }
            _ if members.contains_key("properties") || members.contains_key("required") => {
                Some(self.object(members, depth))
            }
            _ if members.contains_key("items") => Some(self.array(members, depth)),
            _ => None,
        }
    }

    fn of_type(&mut self, kind: &str, members: &Map<String, Value>, depth: usize) -> String {
        match kind {
            "string" => "string".to_owned(),
            "number" | "integer" => "number".to_owned(),
            "boolean" => "boolean".to_owned(),
            "null" => "null".to_owned(),
            "array" => self.array(members, depth),
            "object" => self.object(members, depth),
            _ => self.loose.text().to_owned(),
        }
    }

    fn array(&mut self, members: &Map<String, Value>, depth: usize) -> String {
        let item = match (members.get("prefixItems"), members.get("items")) {
            (Some(Value::Array(items)), rest) => {
                let all = items.iter().chain(rest.filter(|rest| rest.is_object())).take(MOST_CHOICES);
                let choices = all.map(|item| self.of(item, depth + 1)).collect();
                self.union(choices)
            }
            (_, Some(Value::Array(items))) => {
                let choices = items.iter().take(MOST_CHOICES).map(|item| self.of(item, depth + 1)).collect();
                self.union(choices)
            }
            (_, Some(item)) => self.of(item, depth + 1),
            _ => self.loose.text().to_owned(),
        };
        format!("Array<{item}>")
    }

    fn object(&mut self, members: &Map<String, Value>, depth: usize) -> String {
        let empty = Map::new();
        let properties = members.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        let required: Vec<&str> = match members.get("required") {
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let more = members.get("additionalProperties");
        if properties.is_empty() && required.is_empty() {
            let value = more.filter(|more| more.is_object()).map(|more| self.of(more, depth + 1));
            let value = value.unwrap_or_else(|| self.loose.text().to_owned());
            return format!("{{ [key: string]: {value} }}");
        }
        let mut lines: Vec<String> = Vec::new();
        for (name, schema) in properties {
            let optional = if required.contains(&name.as_str()) { "" } else { "?" };
            let about = schema["description"].as_str().map(comment).filter(|about| !about.is_empty());
            let about = about.map_or_else(String::new, |about| format!("/** {about} */ "));
            lines.push(format!("{about}{}{optional}: {}", key(name), self.of(schema, depth + 1)));
        }
        for name in required.iter().filter(|name| !properties.contains_key(**name)) {
            let line = format!("{}: {}", key(name), self.loose.text());
            if !lines.contains(&line) {
                lines.push(line);
            }
        }
        // Beside members of other types there is only one type that an index can have.
        if more.is_some_and(|more| *more != Value::Bool(false)) {
            lines.push(format!("[key: string]: {}", self.loose.text()));
        }
        format!("{{ {} }}", lines.join("; "))
    }

    /// Each type once; one that takes anything is all of them.
    fn union(&self, choices: Vec<String>) -> String {
        let loose = self.loose.text();
        let mut each: Vec<String> = Vec::new();
        for choice in choices {
            if choice == loose {
                return choice;
            }
            if !each.contains(&choice) {
                each.push(choice);
            }
        }
        match each.as_slice() {
            [] => loose.to_owned(),
            [only] => only.clone(),
            several => several.iter().map(|part| bracketed(part)).collect::<Vec<_>>().join(" | "),
        }
    }

    fn literal(&self, value: &Value) -> String {
        match value {
            Value::String(_) | Value::Bool(_) | Value::Null => value.to_string(),
            // Others may be beyond what a number of JavaScript can say.
            Value::Number(number) if number.is_i64() || number.is_f64() => value.to_string(),
            Value::Number(_) => "number".to_owned(),
            Value::Array(_) | Value::Object(_) => self.loose.text().to_owned(),
        }
    }
}

fn bracketed(part: &str) -> String {
    if part.contains(" & ") { format!("({part})") } else { part.to_owned() }
}

fn key(name: &str) -> String {
    let fits = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '$';
    let plain = !name.is_empty() && name.chars().all(fits) && !name.starts_with(|c: char| c.is_ascii_digit());
    if plain { name.to_owned() } else { Value::from(name).to_string() }
}

fn is_empty(list: &Value) -> bool {
    list.as_array().is_none_or(Vec::is_empty)
}
