//! Somebody who calls a tool with nothing but its signature in hand: reads the line and gives what is required, in the
//! plainest values of the types it names. What such a call may not do is fail, unless the line says `~`.

use proptest::strategy::{Strategy, ValueTree};
use proptest::test_runner::TestRunner;
use serde_json::{Map, Value, json};
use toolfold_core::Entry;
use toolfold_disclosure::Checker;
use toolfold_disclosure::level::signature;
use toolfold_wire::raw;

/// Why a call by the signature alone goes wrong; nothing where it does not, or where the signature warns of it.
pub(crate) fn misled(checker: &Checker, entry: &Entry) -> Option<String> {
    let text = signature(entry).text;
    if text.contains('~') {
        return None;
    }
    let Some(arguments) = minimal_call(&text) else { return Some(format!("{}({text}) cannot be read", entry.id)) };
    let refusal = checker.check(entry, Some(raw(&arguments))).err()?;
    Some(format!("{}({text}) {arguments}: {:?} {:?}", entry.id, refusal.message, refusal.hints))
}

/// The required parameters of a signature, each with a value of its type.
fn minimal_call(text: &str) -> Option<Value> {
    let mut reader = Reader { rest: text };
    let members = reader.members("")?;
    reader.rest.is_empty().then_some(Value::Object(members))
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn take(&mut self, wanted: &str) -> bool {
        let after = self.rest.strip_prefix(wanted);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    /// Members up to `end`, which is read too. Of optional ones only the type is read.
    fn members(&mut self, end: &str) -> Option<Map<String, Value>> {
        let mut members = Map::new();
        while !self.rest.is_empty() && (end.is_empty() || !self.rest.starts_with(end)) {
            if !self.take("…") {
                let name = self.name()?;
                let optional = self.take("?");
                self.take(": ").then_some(())?;
                let value = self.either()?;
                if !optional {
                    members.insert(name, value);
                }
            }
            if !self.take(", ") {
                break;
            }
        }
        self.take(end).then_some(members)
    }

    fn name(&mut self) -> Option<String> {
        if self.rest.starts_with('"') {
            return self.literal()?.as_str().map(str::to_owned);
        }
        if self.take("[name]") {
            return Some("anything".to_owned());
        }
        let end = self.rest.find(['?', ':'])?;
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        Some(name.to_owned())
    }

    /// Alternatives: the first one is taken.
    fn either(&mut self) -> Option<Value> {
        let first = self.one()?;
        while self.take("|") {
            self.one()?;
        }
        Some(first)
    }

    fn one(&mut self) -> Option<Value> {
        let mut value = if self.take("{") {
            Value::Object(self.members("}")?)
        } else if self.take("(") {
            let value = self.either()?;
            self.take(")").then_some(value)?
        } else if self.take("[") {
            self.tuple()?
        } else if self.rest.starts_with(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
            self.literal()?
        } else {
            self.word()?
        };
        while let Some(count) = self.count() {
            value = Value::from((0..count).map(|place| varied(&value, place)).collect::<Vec<_>>());
        }
        Some(value)
    }

    fn tuple(&mut self) -> Option<Value> {
        let mut items = Vec::new();
        while !self.take("]") {
            items.push(self.either()?);
            self.take(", ");
        }
        Some(items.into())
    }

    fn literal(&mut self) -> Option<Value> {
        let mut values = serde_json::Deserializer::from_str(self.rest).into_iter::<Value>();
        let value = values.next()?.ok()?;
        self.rest = &self.rest[values.byte_offset()..];
        Some(value)
    }

    fn word(&mut self) -> Option<Value> {
        let end = self.rest.find(|c: char| !c.is_ascii_lowercase()).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        let note = if self.rest.starts_with('(') { Some(self.note()?) } else { None };
        Some(match word {
            "string" => json!(text(note.unwrap_or_default())?),
            "int" => json!(number(note.unwrap_or_default())?.round() as i64),
            "number" => json!(number(note.unwrap_or_default())?),
            "bool" | "true" => json!(true),
            "false" => json!(false),
            "object" => json!({}),
            "any" => json!("example"),
            "null" => Value::Null,
            _ => return None,
        })
    }

    /// What stands in parentheses behind a type; a pattern may have some of its own.
    fn note(&mut self) -> Option<&str> {
        let inside = self.rest.strip_prefix('(')?;
        let pattern = if inside.starts_with('/') {
            let ends = ["/)", "/ "].iter().filter_map(|end| inside[1..].find(end));
            ends.min()? + 2
        } else {
            0
        };
        let end = pattern + inside[pattern..].find(')')?;
        self.rest = &inside[end + 1..];
        Some(&inside[..end])
    }

    /// `[]` is a list of one, `[4]` and `[4..]` one of four.
    fn count(&mut self) -> Option<usize> {
        let inside = self.rest.strip_prefix('[')?;
        let (count, rest) = inside.split_once(']')?;
        self.rest = rest;
        Some(count.trim_end_matches("..").parse().unwrap_or(1))
    }
}

/// The same once more; of plain text not the very same, since some lists want it different.
fn varied(value: &Value, place: usize) -> Value {
    match value.as_str() {
        Some("example") if place > 0 => json!(format!("exampl{place}")),
        _ => value.clone(),
    }
}

fn text(note: &str) -> Option<String> {
    if let Some((pattern, rest)) = note.strip_prefix('/').and_then(|pattern| pattern.rsplit_once('/')) {
        let strategy = proptest::string::string_regex(pattern.trim_start_matches('^').trim_end_matches('$')).ok()?;
        let text = strategy.new_tree(&mut TestRunner::deterministic()).ok()?.current();
        let letters = rest.strip_suffix(" letters").and_then(|letters| number(letters.trim()));
        return Some(letters.map_or(text.clone(), |letters| text.chars().cycle().take(letters as usize).collect()));
    }
    if let Some(letters) = note.strip_suffix(" letters") {
        return Some("e".repeat(number(letters)? as usize));
    }
    let known = match note {
        "date-time" | "ISO 8601" | "RFC 3339" => "2026-01-31T09:00:00Z",
        "date" | "YYYY-MM-DD" => "2026-01-31",
        "time" => "09:00:00Z",
        "duration" => "P1D",
        "email" => "someone@example.org",
        "uri" => "https://example.org",
        "uuid" => "00000000-0000-4000-8000-000000000000",
        "hostname" => "example.org",
        "ipv4" => "192.0.2.1",
        "ipv6" => "2001:db8::1",
        _ => "example",
    };
    Some(known.to_owned())
}

/// One, or what is nearest to it within the bounds.
fn number(note: &str) -> Option<f64> {
    let fits = |number: f64| {
        note.split(' ').filter(|part| !part.is_empty()).all(|part| {
            let bound = |sign: &str| part.strip_prefix(sign).and_then(|bound| bound.parse::<f64>().ok());
            if let Some((low, high)) = part.split_once("..") {
                return low.parse().is_ok_and(|low: f64| number >= low)
                    && high.parse().is_ok_and(|high: f64| number <= high);
            }
            bound("≥").is_none_or(|low| number >= low)
                && bound("≤").is_none_or(|high| number <= high)
                && bound(">").is_none_or(|low| number > low)
                && bound("<").is_none_or(|high| number < high)
                && part.parse::<f64>().is_ok_and(|only| only != number).eq(&false)
        })
    };
    let said =
        note.split([' ', '≥', '≤', '>', '<']).flat_map(|part| part.split("..")).filter_map(|part| part.parse().ok());
    let near = said.flat_map(|bound: f64| [bound, bound + 1.0, bound - 1.0, bound + 0.5, bound - 0.5]);
    std::iter::once(1.0).chain(near).find(|number| fits(*number))
}
