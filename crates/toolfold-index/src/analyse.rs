//! Which texts of an entry are searched, and in which field. Servers are not trusted to be brief: every field and the
//! depth of a schema are bounded, so that an entry costs a few kilobytes at most.
//!
//! What a reader would get wrong: nothing here depends on the rest of the catalog, but for what an entry's own server says
//! of many tools, which the entry has left out already. Its words and its vector are the same whatever else stands beside
//! it, which is what makes an update as exact as a new index.

use serde_json::Value;
use toolfold_catalog::Catalog;
use toolfold_core::{Entry, words};

/// A definition above this is searched by name and description alone: its schema is not worth parsing.
const LARGEST_DEFINITION: usize = 512 * 1024;
const DEEPEST: usize = 6;
/// Characters of each field, in the order of `Field::ALL`.
const LONGEST: [usize; FIELDS] = [200, 200, 200, 200, 400, 4000, 1000, 2500];
/// Said of nearly every server, so it tells none apart.
pub(crate) const EVERY_SERVER: [&str; 3] = ["mcp", "server", "modelcontextprotocol"];

pub(crate) const FIELDS: usize = Field::ALL.len();

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Field {
    Server,
    Name,
    Title,
    /// Tags, and other names it answers to.
    Tag,
    /// The first sentence of the description.
    Summary,
    /// The rest of it.
    Description,
    Parameter,
    ParameterDescription,
}

impl Field {
    pub const ALL: [Field; 8] = [
        Field::Server,
        Field::Name,
        Field::Title,
        Field::Tag,
        Field::Summary,
        Field::Description,
        Field::Parameter,
        Field::ParameterDescription,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Field::Server => "server",
            Field::Name => "name",
            Field::Title => "title",
            Field::Tag => "tag",
            Field::Summary => "summary",
            Field::Description => "description",
            Field::Parameter => "parameter",
            Field::ParameterDescription => "parameter description",
        }
    }
}

/// The texts of one entry, by field.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Texts([String; FIELDS]);

impl Texts {
    pub(crate) fn of(entry: &Entry, server_title: Option<&str>, schema: &Value) -> Texts {
        let mut texts = Texts::default();
        for text in [entry.server().as_str(), server_title.unwrap_or_default()] {
            words::each(text, |word| {
                if !EVERY_SERVER.contains(&word) {
                    texts.add(Field::Server, word);
                }
            });
        }
        texts.add(Field::Name, entry.name());
        let title = entry.title.as_deref().unwrap_or_default();
        // A title that only spells the name out says nothing twice.
        if words::split(title) != words::split(entry.name()) {
            texts.add(Field::Title, title);
        }
        let (first, rest) = first_sentence(entry.own_description().trim());
        texts.add(Field::Summary, first);
        texts.add(Field::Description, rest);
        texts.add_schema(schema, 0);
        if entry.definition.get().len() <= LARGEST_DEFINITION {
            entry.tags().iter().for_each(|tag| texts.add(Field::Tag, tag));
        }
        entry.aliases.iter().for_each(|alias| texts.add(Field::Tag, alias));
        texts
    }

    pub(crate) fn get(&self, field: Field) -> &str {
        &self.0[field as usize]
    }

    fn add(&mut self, field: Field, text: &str) {
        let whole = &mut self.0[field as usize];
        let left = LONGEST[field as usize].saturating_sub(whole.len());
        if text.is_empty() || left < 2 {
            return;
        }
        if !whole.is_empty() {
            whole.push(' ');
        }
        whole.push_str(beginning(text, left - 1));
    }

    fn add_schema(&mut self, schema: &Value, depth: usize) {
        let Value::Object(members) = schema else { return };
        if depth > DEEPEST {
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

#[cfg(test)]
impl From<[&str; FIELDS]> for Texts {
    fn from(texts: [&str; FIELDS]) -> Self {
        Texts(texts.map(str::to_owned))
    }
}

/// The schema of an entry, as far as it is worth parsing.
pub(crate) fn schema(entry: &Entry) -> Value {
    if entry.definition.get().len() <= LARGEST_DEFINITION { entry.input_schema() } else { Value::Null }
}

pub(crate) fn server_title<'a>(catalog: &'a Catalog, entry: &Entry) -> Option<&'a str> {
    catalog.server(entry.server()).and_then(|server| server.title.as_deref())
}

/// The first sentence or line, and what comes after it.
pub(crate) fn first_sentence(text: &str) -> (&str, &str) {
    let mut before = ' ';
    for (at, c) in text.char_indices() {
        let ends = c == '\n' || (c.is_whitespace() && matches!(before, '.' | '!' | '?'));
        // A line that goes on in lower case is the same sentence, wrapped.
        let goes_on = c == '\n' && text[at..].trim_start_matches([' ', '\n']).starts_with(char::is_lowercase);
        if ends && !goes_on {
            return (&text[..at], text[at..].trim_start());
        }
        before = c;
    }
    (text, "")
}

/// At most so many bytes, cut between characters.
pub(crate) fn beginning(text: &str, longest: usize) -> &str {
    let mut end = text.len().min(longest);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

#[cfg(test)]
mod tests {
    use super::first_sentence;

    #[test]
    fn a_sentence_ends_where_a_reader_sees_it_end() {
        assert_eq!(first_sentence("Lists files. Slow."), ("Lists files.", "Slow."));
        assert_eq!(
            first_sentence("Lists files\nin a folder\n\nArgs: none"),
            ("Lists files\nin a folder", "Args: none")
        );
        assert_eq!(first_sentence("Version 2.0 of it"), ("Version 2.0 of it", ""));
        assert_eq!(first_sentence(""), ("", ""));
    }
}
