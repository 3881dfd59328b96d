//! Examples that a definition gives in its prose: `Body: { fields: { Title: 'new value' } }`, `Example: {"id": 7}`. Written by people
//! for people, so names may stand without quotation marks and dots for more of the same.
//!
//! What a reader would get wrong: an example is a proposal. Whoever shows one has it checked against the schema first.

use serde_json::{Map, Number, Value};

/// Letters of a text in which examples are looked for, and of one example.
const LOOKED_AT: usize = 8_000;
const LONGEST: usize = 300;
/// Letters in front of an example that say of what it is one.
const LABEL: usize = 48;
const MOST: usize = 4;
const DEEPEST: usize = 6;
/// What members follow that an object must have.
const MUST: [&str; 3] = ["must include", "must have", "must contain"];
const BODY: [&str; 2] = ["body: {", "body:{"];
const MOST_DEMANDED: usize = 6;

/// The objects that are introduced as an example of what is called so, or as an example at all.
pub(super) fn objects(text: &str, name: &str) -> Vec<Value> {
    let end = text.char_indices().map(|(at, _)| at).nth(LOOKED_AT).unwrap_or(text.len());
    let (text, name) = (&text[..end], name.to_ascii_lowercase());
    let mut found = Vec::new();
    let mut from = 0;
    while let Some(at) = text[from..].find('{').map(|at| from + at) {
        from = at + 1;
        if !introduces(&text[..at], &name) {
            continue;
        }
        let mut reader = Reader { rest: &text[at..], depth: 0 };
        if let Some(value) = reader.value() {
            let length = text.len() - at - reader.rest.len();
            from = at + length;
            if length <= LONGEST {
                found.push(value);
            }
        }
        if found.len() == MOST {
            break;
        }
    }
    found
}

/// Whether the end of a text announces an example of this, or of anything.
fn introduces(before: &str, name: &str) -> bool {
    let start = before.char_indices().rev().nth(LABEL - 1).map_or(0, |(at, _)| at);
    let label = before[start..].trim_end_matches(['`', ' ', '\n', '\'', '"']).trim_end_matches("json");
    let Some(label) = label.trim_end_matches(['`', ' ', '\n']).strip_suffix([':', '=']) else { return false };
    let lower = label.to_ascii_lowercase();
    let line = lower.rsplit(['\n', '.']).next().unwrap_or_default();
    let own = || !name.is_empty() && line.trim_end().ends_with(name);
    own() || line.contains("example") || line.contains("e.g")
}

/// What a text says must be in an object, as far as it is a name of a member: words behind "must include", or in front of each comma in
/// `Body: { name (unique), color }`.
pub(super) fn demanded<'n>(text: &str, names: impl Iterator<Item = &'n str>) -> Vec<&'n str> {
    let lower = text.to_ascii_lowercase();
    let behind = |openings: &[&str]| openings.iter().filter_map(|open| Some(lower.find(open)? + open.len())).min();
    let sentence = |at: usize| text.get(at..).unwrap_or_default().split(['.', '\n']).next().unwrap_or_default();
    let words = |at| sentence(at).split(|c: char| !c.is_alphanumeric() && c != '_').take(MOST * 8).collect();
    let listed = |at| parts(text.get(at..).unwrap_or_default());
    let names: Vec<&str> = names.collect();
    let known = |said: Vec<&str>| -> Vec<&'n str> {
        names.iter().copied().filter(|name| said.contains(name)).take(MOST_DEMANDED).collect()
    };
    // "Must have" may be said of somebody's rights: what names no member is not about the object.
    let said = [behind(&MUST).map(words), behind(&BODY).map(listed)];
    said.into_iter().flatten().map(known).find(|known| !known.is_empty()).unwrap_or_default()
}

/// The first word of each part of what stands before the brace is closed.
fn parts(text: &str) -> Vec<&str> {
    let (mut depth, mut start, mut parts) = (0usize, 0, Vec::new());
    let first = |part: &'_ str| part.len() - part.trim_start().len();
    let word = |part: &'_ str| part.find(|c: char| !c.is_alphanumeric() && !"_@.".contains(c)).unwrap_or(part.len());
    for (at, c) in text.char_indices().take(LOOKED_AT) {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' if depth > 0 => depth -= 1,
            ',' | '}' if depth == 0 => {
                let part = &text[start..at];
                let part = &part[first(part)..];
                parts.push(&part[..word(part)]);
                start = at + 1;
                if c == '}' {
                    return parts;
                }
            }
            _ => {}
        }
    }
    Vec::new()
}

struct Reader<'a> {
    rest: &'a str,
    depth: usize,
}

impl Reader<'_> {
    fn skip(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn take(&mut self, wanted: &str) -> bool {
        self.skip();
        let after = self.rest.strip_prefix(wanted);
        self.rest = after.unwrap_or(self.rest);
        after.is_some()
    }

    fn value(&mut self) -> Option<Value> {
        self.skip();
        self.depth += 1;
        if self.depth > DEEPEST {
            return None;
        }
        let value = match self.rest.chars().next()? {
            '{' => self.object()?,
            '[' => self.list()?,
            quote @ ('"' | '\'') => Value::String(self.text(quote)?),
            _ => self.word()?,
        };
        self.depth -= 1;
        Some(value)
    }

    fn object(&mut self) -> Option<Value> {
        let mut members = Map::new();
        self.take("{");
        while !self.take("}") {
            if !self.more() {
                let name = self.name()?;
                self.take(":").then_some(())?;
                let value = self.value()?;
                members.insert(name, value);
            }
            if !self.take(",")
                && !{
                    self.skip();
                    self.rest.starts_with('}')
                }
            {
                return None;
            }
        }
        Some(Value::Object(members))
    }

    fn list(&mut self) -> Option<Value> {
        let mut items = Vec::new();
        self.take("[");
        while !self.take("]") {
            if !self.more() {
                items.push(self.value()?);
            }
            if !self.take(",")
                && !{
                    self.skip();
                    self.rest.starts_with(']')
                }
            {
                return None;
            }
        }
        Some(Value::Array(items))
    }

    /// Dots for more of the same.
    fn more(&mut self) -> bool {
        self.take("...") || self.take("…")
    }

    fn name(&mut self) -> Option<String> {
        self.skip();
        if let Some(quote) = self.rest.chars().next().filter(|c| matches!(c, '"' | '\'')) {
            return self.text(quote);
        }
        let end = self.rest.find(|c: char| !c.is_alphanumeric() && !"_-.@$".contains(c))?;
        let (name, rest) = self.rest.split_at(end);
        self.rest = rest;
        (!name.is_empty()).then(|| name.to_owned())
    }

    fn text(&mut self, quote: char) -> Option<String> {
        let mut text = String::new();
        let mut letters = self.rest[1..].char_indices();
        while let Some((at, c)) = letters.next() {
            match c {
                c if c == quote => {
                    self.rest = &self.rest[1 + at + c.len_utf8()..];
                    return Some(text);
                }
                '\\' => text.push(letters.next().map(|(_, c)| if c == 'n' { '\n' } else { c })?),
                c => text.push(c),
            }
            if text.len() > LONGEST {
                return None;
            }
        }
        None
    }

    fn word(&mut self) -> Option<Value> {
        let end = self.rest.find(|c: char| !c.is_ascii_alphanumeric() && !"-+.".contains(c)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        match word {
            "true" | "True" => Some(Value::Bool(true)),
            "false" | "False" => Some(Value::Bool(false)),
            word => serde_json::from_str::<Number>(word).ok().map(Value::Number),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{demanded, objects};

    #[test]
    fn an_example_in_prose_is_read_as_people_write_it() {
        let body =
            "Update it. Body: { fields: { Title: 'Item name', ColumnName: 'it\\'s', ... } }. Use the other tool.";
        assert_eq!(objects(body, "body"), [json!({"fields": {"Title": "Item name", "ColumnName": "it's"}})]);
        let listed = "Body: { values: [['a', 2], [\"b\", -1.5], ...], all: true }";
        assert_eq!(objects(listed, "body"), [json!({"values": [["a", 2], ["b", -1.5]], "all": true})]);
        assert_eq!(objects("Example usage:\n```json\n{\"id\": 7}\n```", "x"), [json!({"id": 7})]);
    }

    #[test]
    fn what_is_no_example_is_left() {
        for text in [
            "Body: { displayName, mailEnabled (bool) }",
            "Returns {\"id\": 7}",
            "The path is /things/{id}",
            "Example: {\"open\": ",
            "Example: {{{{{{{{{{",
        ] {
            assert_eq!(objects(text, "body"), [json!(null); 0], "{text}");
        }
        assert_eq!(objects(&"Example: {".repeat(10_000), ""), [json!(null); 0]);
    }

    #[test]
    fn members_that_must_be_there_are_known() {
        let names = ["id", "name", "folder"];
        assert_eq!(
            demanded("Body must include name (string) and folder ({}). An id is made.", names.into_iter()),
            ["name", "folder"]
        );
        let body = "Required body: { name (unique, {id}), folder }. Optional: id. The caller must have a right to it.";
        assert_eq!(demanded(body, names.into_iter()), ["name", "folder"]);
    }
}
