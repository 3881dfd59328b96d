//! Tools for JSON. A value is given as itself or as text that holds it: models do both.

use serde_json::{Value, json};

use toolfold_core::Fuel;
use toolfold_schema::{Schema, Undecided, Unusable};

use crate::arguments::Arguments;
use crate::page::{Limited, cut};
use crate::problem::{LARGEST, Problem, told};
use crate::tool::{Replied, Reply, Tool, flag, integer, text};

/// How many differences or errors are worth reading.
const MOST_FINDINGS: usize = 200;
/// Of a value that is quoted in an error.
const LONGEST_VALUE: usize = 200;
const LESS: &str = "Take a smaller part of it.";

pub(crate) fn tools() -> Vec<Tool> {
    let value = |about: &str| json!({"description": about});
    let count = json!({"type": "integer"});
    vec![
        Tool::new(
            "json_query",
            "Query JSON",
            "Take values out of JSON by a path: a JSON pointer such as /items/0/name, or a dotted path such as \
             items[0].name, where [*] stands for every element.",
            query,
        )
        .needs("json", value("The JSON, as a value or as text"))
        .needs("path", text("The path; empty for the whole value"))
        .gives(json!({"matches": {"type": "array"}, "count": count})),
        Tool::new(
            "json_format",
            "Format JSON",
            "Write JSON anew: indented for reading, compact, or with sorted keys. Says where it is invalid.",
            format,
        )
        .needs("json", value("The JSON, as a value or as text"))
        .takes("indent", integer("Spaces per level; 0 writes one line", 2, 0, 8))
        .takes("sort_keys", flag("Sort the keys of objects")),
        Tool::new(
            "json_diff",
            "Compare JSON",
            "Compare two JSON values and list what was added, removed and changed, each with its path.",
            diff,
        )
        .needs("before", value("The old JSON, as a value or as text"))
        .needs("after", value("The new JSON, as a value or as text"))
        .gives(json!({"equal": {"type": "boolean"}, "differences": {"type": "array", "items": {"type": "object"}}})),
        Tool::new(
            "json_validate",
            "Validate JSON",
            "Check JSON against a JSON Schema and list every error with its place.",
            validate,
        )
        .needs("json", value("The JSON to check, as a value or as text"))
        .needs("schema", value("The JSON Schema, as an object or as text"))
        .gives(json!({"valid": {"type": "boolean"}, "errors": {"type": "array", "items": {"type": "object"}}})),
    ]
}

fn query(arguments: &Arguments<'_>) -> Replied {
    let (value, path) = (arguments.json("json")?, arguments.word("path")?);
    let matches: Vec<&Value> = if path.is_empty() || path.starts_with('/') {
        value.pointer(path).into_iter().collect()
    } else {
        let steps = steps(path)?;
        let mut found = vec![value.as_ref()];
        for step in &steps {
            arguments.fuel.burn_for(found.len(), 1)?;
            found = found.into_iter().flat_map(|value| step.of(value)).collect();
        }
        found
    };
    Ok(Reply::Json(json!({"count": matches.len(), "matches": matches})))
}

enum Step<'a> {
    Key(&'a str),
    Index(usize),
    Every,
}

impl Step<'_> {
    fn of<'v>(&self, value: &'v Value) -> Vec<&'v Value> {
        match (self, value) {
            (Step::Key(key), value) => value.get(*key).into_iter().collect(),
            (Step::Index(index), value) => value.get(*index).into_iter().collect(),
            (Step::Every, Value::Array(items)) => items.iter().collect(),
            (Step::Every, Value::Object(members)) => members.values().collect(),
            (Step::Every, _) => Vec::new(),
        }
    }
}

fn steps(path: &str) -> Result<Vec<Step<'_>>, Problem> {
    let wrong = || told!("`path` {path:?} cannot be read. Write it like items[0].name or /items/0/name.");
    let mut steps = Vec::new();
    for part in path.trim_start_matches('$').split('.').filter(|part| !part.is_empty()) {
        let (key, mut rest) = part.split_at(part.find('[').unwrap_or(part.len()));
        match key {
            "" => {}
            "*" => steps.push(Step::Every),
            key => steps.push(Step::Key(key)),
        }
        while let Some(inner) = rest.strip_prefix('[') {
            let (index, after) = inner.split_once(']').ok_or_else(wrong)?;
            steps.push(match index.trim_matches(['"', '\'']) {
                "*" => Step::Every,
                key if key.len() < index.len() => Step::Key(key),
                index => Step::Index(index.parse().map_err(|_| wrong())?),
            });
            rest = after;
        }
        if !rest.is_empty() {
            return Err(wrong());
        }
    }
    Ok(steps)
}

fn format(arguments: &Arguments<'_>) -> Replied {
    let mut value = arguments.json("json")?;
    if arguments.flag("sort_keys")? {
        value.to_mut().sort_all_objects();
    }
    let indent = arguments.integer("indent", 2, (0, 8))?;
    let mut limited = Limited { written: Vec::new(), left: LARGEST, keep: true };
    let written = if indent == 0 {
        serde_json::to_writer(&mut limited, &value)
    } else {
        let indent = " ".repeat(usize::try_from(indent).unwrap_or(2));
        let formatter = serde_json::ser::PrettyFormatter::with_indent(indent.as_bytes());
        let mut serializer = serde_json::Serializer::with_formatter(&mut limited, formatter);
        serde::Serialize::serialize(&value, &mut serializer)
    };
    written.map_err(|_| Problem::TooLarge(LESS))?;
    Ok(Reply::Text(String::from_utf8_lossy(&limited.written).into_owned()))
}

fn diff(arguments: &Arguments<'_>) -> Replied {
    let (before, after) = (arguments.json("before")?, arguments.json("after")?);
    let mut differences = Differences { found: Vec::new(), size: 0, fuel: arguments.fuel };
    differences.compare(&Place::Whole, &before, &after)?;
    let found = differences.found;
    Ok(Reply::Json(json!({"equal": found.is_empty(), "differences": found})))
}

/// Where in a value: text only where there is a difference to tell of.
enum Place<'p> {
    Whole,
    Member(&'p Place<'p>, &'p str),
    Item(&'p Place<'p>, usize),
}

impl Place<'_> {
    fn length(&self) -> usize {
        match self {
            Place::Whole => 0,
            Place::Member(above, key) => above.length() + 1 + key.len(),
            Place::Item(above, _) => above.length() + 8,
        }
    }

    fn pointer(&self) -> String {
        match self {
            Place::Whole => String::new(),
            Place::Member(above, key) => format!("{}/{}", above.pointer(), escape(key)),
            Place::Item(above, n) => format!("{}/{n}", above.pointer()),
        }
    }
}

struct Differences<'f> {
    found: Vec<Value>,
    size: usize,
    fuel: &'f Fuel,
}

impl Differences<'_> {
    fn compare(&mut self, place: &Place<'_>, before: &Value, after: &Value) -> Result<(), Problem> {
        self.fuel.burn(4)?;
        if self.found.len() >= MOST_FINDINGS {
            return Ok(());
        }
        match (before, after) {
            (Value::Object(old), Value::Object(new)) => {
                for (key, value) in old {
                    self.fuel.burn_for(key.len(), 16)?;
                    let place = Place::Member(place, key);
                    match new.get(key) {
                        Some(other) => self.compare(&place, value, other)?,
                        None => self.add(&place, "removed", Some(value), None)?,
                    }
                }
                for (key, value) in new.iter().filter(|(key, _)| !old.contains_key(*key)) {
                    self.add(&Place::Member(place, key), "added", None, Some(value))?;
                }
            }
            (Value::Array(old), Value::Array(new)) => {
                for n in 0..old.len().max(new.len()) {
                    let place = Place::Item(place, n);
                    match (old.get(n), new.get(n)) {
                        (Some(a), Some(b)) => self.compare(&place, a, b)?,
                        (Some(a), None) => self.add(&place, "removed", Some(a), None)?,
                        (None, b) => self.add(&place, "added", None, b)?,
                    }
                }
            }
            (Value::String(a), Value::String(b)) if a.len() == b.len() => {
                self.fuel.burn_for(a.len(), 64)?;
                if a != b {
                    self.add(place, "changed", Some(before), Some(after))?;
                }
            }
            _ if before == after => {}
            _ => self.add(place, "changed", Some(before), Some(after))?,
        }
        Ok(())
    }

    fn add(
        &mut self,
        place: &Place<'_>,
        change: &str,
        before: Option<&Value>,
        after: Option<&Value>,
    ) -> Result<(), Problem> {
        self.fuel.burn(4)?;
        if self.found.len() >= MOST_FINDINGS {
            return Ok(());
        }
        self.size += place.length();
        if self.size > LARGEST {
            return Err(Problem::TooLarge(LESS));
        }
        let mut found = json!({"path": place.pointer(), "change": change});
        for (key, value) in [("before", before), ("after", after)] {
            if let Some(value) = value {
                found[key] = value.clone();
            }
        }
        self.found.push(found);
        Ok(())
    }
}

/// A key as a step of a JSON pointer.
fn escape(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

fn validate(arguments: &Arguments<'_>) -> Replied {
    let (value, schema) = (arguments.json("json")?, arguments.json("schema")?);
    let unusable = |why: &str| told!("`schema` is not a JSON Schema that can be used: {why}.");
    let schema = Schema::prepare(schema.into_owned(), arguments.fuel).map_err(|error| match error {
        Unusable::Malformed(why) => unusable(&why),
        Unusable::Spent(spent) => spent.into(),
    })?;
    if let Some(note) = schema.notes().first() {
        return Err(unusable(note));
    }
    let problems = schema.problems(&value, MOST_FINDINGS, arguments.fuel).map_err(|unknown| match unknown {
        Undecided::Spent(spent) => spent.into(),
        other => told!("The JSON cannot be checked: {other}."),
    })?;
    let mut errors: Vec<(String, String)> = Vec::new();
    let mut size = 0;
    for problem in problems {
        let part = value.pointer(&problem.at).map_or_else(String::new, |part| cut(part, LONGEST_VALUE));
        let text: String = problem.text(&part).chars().take(2 * LONGEST_VALUE).collect();
        size += problem.at.len() + text.len();
        if size > LARGEST {
            return Err(Problem::TooLarge(LESS));
        }
        errors.push((problem.at, text));
    }
    errors.sort();
    let errors: Vec<Value> =
        errors.into_iter().map(|(path, message)| json!({"path": path, "message": message})).collect();
    Ok(Reply::Json(json!({"valid": errors.is_empty(), "errors": errors})))
}
