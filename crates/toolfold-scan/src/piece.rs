//! Every text of a definition that a model can read, each with its place: a JSON pointer. Keys are texts too: the name
//! of a parameter is read as well as its description.

use toolfold_core::Written;

use crate::finding::Unread;

/// Bytes of one text that are read. Longer ones are cut, and the report says so.
pub(crate) const LONGEST_TEXT: usize = 64 * 1024;
/// Bytes and texts of one entry that are read.
const LARGEST_ENTRY: usize = 1024 * 1024;
const MOST_TEXTS: usize = 20_000;

/// What a text is in its definition: some rules are about one kind alone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The name of the entry itself.
    Name,
    /// The name of a parameter.
    Key,
    /// What is said of a parameter.
    About,
    /// Anything else.
    Prose,
}

/// A text and where it stands.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece<'a> {
    pub place: String,
    pub role: Role,
    pub text: &'a str,
}

#[derive(Debug, Default)]
pub(crate) struct Pieces<'a> {
    pub(crate) list: Vec<Piece<'a>>,
    pub(crate) unread: Vec<Unread>,
    bytes: usize,
    /// Everything after the limits, in one number.
    beyond: usize,
}

impl<'a> Pieces<'a> {
    /// All texts of a definition. It is taken apart to a depth of 127, so this recursion is bounded too.
    pub(crate) fn of(definition: &'a Written) -> Pieces<'a> {
        let mut pieces = Pieces::default();
        pieces.walk(definition, &mut String::new(), Role::Prose);
        pieces.end()
    }

    pub(crate) fn of_texts(texts: impl IntoIterator<Item = Piece<'a>>) -> Pieces<'a> {
        let mut pieces = Pieces::default();
        texts.into_iter().for_each(|piece| pieces.add(&piece.place, piece.role, piece.text));
        pieces.end()
    }

    fn end(mut self) -> Pieces<'a> {
        if self.beyond > 0 {
            self.unread.push(Unread { place: "the rest of the definition".to_owned(), bytes: self.beyond });
        }
        self
    }

    fn walk(&mut self, value: &'a Written, place: &mut String, role: Role) {
        match value {
            Written::Text(text) | Written::Unread(text) => self.add(place, role, text),
            Written::List(items) => {
                for (index, item) in items.iter().enumerate() {
                    within(place, &index.to_string(), |place| self.walk(item, place, role));
                }
            }
            Written::Members(members) => {
                let parameters = place.ends_with("/properties") || place.ends_with("/arguments");
                for (key, value) in members {
                    within(place, key, |place| {
                        if is_foreign(key) || parameters {
                            self.add(place, Role::Key, key);
                        }
                        self.walk(value, place, role_of(place, key, role));
                    });
                }
            }
            Written::Null | Written::Bool(_) | Written::Number(_) => {}
        }
    }

    fn add(&mut self, place: &str, role: Role, text: &'a str) {
        if self.list.len() >= MOST_TEXTS || self.bytes >= LARGEST_ENTRY {
            self.beyond += text.len();
            return;
        }
        let read = cut(text, LONGEST_TEXT.min(LARGEST_ENTRY - self.bytes));
        if read.len() < text.len() {
            self.unread.push(Unread { place: place.to_owned(), bytes: text.len() - read.len() });
        }
        self.bytes += read.len();
        self.list.push(Piece { place: place.to_owned(), role, text: read });
    }
}

pub(crate) fn within(place: &mut String, step: &str, work: impl FnOnce(&mut String)) {
    let length = place.len();
    place.push('/');
    // RFC 6901. A step may be as long as a server likes; a place is for people.
    place.push_str(&cut(step, 200).replace('~', "~0").replace('/', "~1"));
    work(place);
    place.truncate(length);
}

/// As much of a text as fits, never half a character.
pub(crate) fn cut(text: &str, most: usize) -> &str {
    let mut end = text.len().min(most);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    &text[..end]
}

fn role_of(place: &str, key: &str, inherited: Role) -> Role {
    match key {
        "name" if place == "/name" => Role::Name,
        // Prompts have a list of them.
        "name" if place.starts_with("/arguments/") => Role::Key,
        "description" | "title" if place.contains("/properties/") || place.contains("/arguments/") => Role::About,
        _ if inherited == Role::About => Role::About,
        _ => Role::Prose,
    }
}

/// Whether a key is a server's own word and not one of the protocol or of JSON Schema: those say nothing.
fn is_foreign(key: &str) -> bool {
    !key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'$' || byte == b'_') || key.len() > 24
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn keys_values_and_lists_have_their_places() {
        let definition = json!({
            "name": "n", "inputSchema": {"properties": {"a/b": {"description": "d", "enum": ["x"], "default": "y"}}},
        });
        let definition = Written::from(&definition);
        let pieces = Pieces::of(&definition);
        let told: Vec<(&str, Role, &str)> =
            pieces.list.iter().map(|piece| (piece.place.as_str(), piece.role, piece.text)).collect();
        assert_eq!(
            told,
            [
                ("/name", Role::Name, "n"),
                ("/inputSchema/properties/a~1b", Role::Key, "a/b"),
                ("/inputSchema/properties/a~1b/description", Role::About, "d"),
                ("/inputSchema/properties/a~1b/enum/0", Role::Prose, "x"),
                ("/inputSchema/properties/a~1b/default", Role::Prose, "y"),
            ]
        );
    }

    #[test]
    fn what_is_not_read_is_said() {
        let long = "ä".repeat(LONGEST_TEXT);
        let definition = json!({"name": "n", "description": long});
        let definition = Written::from(&definition);
        let pieces = Pieces::of(&definition);
        assert_eq!(pieces.unread, [Unread { place: "/description".to_owned(), bytes: LONGEST_TEXT }]);
    }
}
