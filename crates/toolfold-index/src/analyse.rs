//! Which words of an entry are indexed, and in which field. Servers are not trusted to be brief: the text of one entry
//! and the depth of its schema are bounded, and what comes first in the list below is what survives.

use serde_json::Value;
use toolfold_catalog::Catalog;
use toolfold_core::{Entry, words};

/// Characters indexed per entry.
const LONGEST_TEXT: usize = 8 * 1024;
/// A definition above this is searched by name and description alone: its schema is not worth parsing.
const LARGEST_DEFINITION: usize = 512 * 1024;
const DEEPEST: usize = 6;
const LONGEST_WORD: usize = 40;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Field {
    Server,
    Name,
    Title,
    Description,
    Parameter,
    ParameterDescription,
}

impl Field {
    pub const ALL: [Field; 6] =
        [Field::Server, Field::Name, Field::Title, Field::Description, Field::Parameter, Field::ParameterDescription];

    pub fn as_str(self) -> &'static str {
        match self {
            Field::Server => "server",
            Field::Name => "name",
            Field::Title => "title",
            Field::Description => "description",
            Field::Parameter => "parameter",
            Field::ParameterDescription => "parameter description",
        }
    }
}

/// Calls `each` with every word of the entry and its field.
pub(crate) fn words_of(entry: &Entry, server_title: Option<&str>, each: &mut dyn FnMut(Field, &str)) {
    let mut text = Text { left: LONGEST_TEXT, each };
    text.add(Field::Server, entry.server().as_str());
    text.add(Field::Server, server_title.unwrap_or_default());
    text.add(Field::Name, entry.name());
    text.add(Field::Title, entry.title.as_deref().unwrap_or_default());
    text.add(Field::Description, &entry.description);
    if entry.definition.get().len() <= LARGEST_DEFINITION {
        text.add_schema(&entry.input_schema(), 0);
    }
}

pub(crate) fn server_title<'a>(catalog: &'a Catalog, entry: &Entry) -> Option<&'a str> {
    catalog.server(entry.server()).and_then(|server| server.title.as_deref())
}

struct Text<'a> {
    left: usize,
    each: &'a mut dyn FnMut(Field, &str),
}

impl Text<'_> {
    fn add(&mut self, field: Field, text: &str) {
        if self.left == 0 {
            return;
        }
        let mut end = text.len().min(self.left);
        while !text.is_char_boundary(end) {
            end -= 1;
        }
        self.left = self.left.saturating_sub(text.len());
        words::each(&text[..end], |word| {
            if word.len() <= LONGEST_WORD {
                (self.each)(field, word);
            }
        });
    }

    fn add_schema(&mut self, schema: &Value, depth: usize) {
        let Value::Object(members) = schema else { return };
        if depth > DEEPEST || self.left == 0 {
            return;
        }
        if let Some(Value::Object(properties)) = members.get("properties") {
            for (name, property) in properties {
                self.add(Field::Parameter, name);
                self.add_prose(property);
                self.add_schema(property, depth + 1);
            }
        }
        for key in ["items", "additionalProperties"] {
            members.get(key).into_iter().for_each(|inner| self.add_schema(inner, depth + 1));
        }
        for key in ["anyOf", "oneOf", "allOf"] {
            let Some(Value::Array(choices)) = members.get(key) else { continue };
            choices.iter().for_each(|choice| self.add_schema(choice, depth + 1));
        }
    }

    fn add_prose(&mut self, property: &Value) {
        if let Some(description) = property.get("description").and_then(Value::as_str) {
            self.add(Field::ParameterDescription, description);
        }
        if let Some(Value::Array(values)) = property.get("enum") {
            values.iter().filter_map(Value::as_str).for_each(|value| self.add(Field::ParameterDescription, value));
        }
    }
}
