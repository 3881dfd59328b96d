//! What is in a JSON text, in two levels: kinds and counts, and of a list the shape of its first element.
//!
//! Nothing is kept of what is passed over, so that the outline of a hundred megabytes costs as much memory as that of one.

use crate::lexer::{JsonKind, Listener};

/// Levels that are looked at.
const LEVELS: usize = 3;
/// Names of members that are told.
const MOST_MEMBERS: usize = 24;
/// Characters of a name.
const LONGEST_NAME: usize = 60;

#[derive(Debug, PartialEq)]
enum Shape {
    Plain(&'static str),
    List { count: usize, first: Option<Box<Shape>> },
    Object { members: Vec<(String, Shape)>, more: usize },
}

/// Hears a JSON text.
#[derive(Default)]
pub(crate) struct Outline {
    /// What is open and told of, from the outside in, each with its name.
    open: Vec<(String, Shape)>,
    /// How many values are open that are only counted, or are within one that is.
    passed_over: usize,
    /// The name that was read last, as far as it may be told.
    name: Vec<u8>,
    in_name: bool,
    whole: Option<Shape>,
}

impl Outline {
    /// In words, for a model: `object: items: list of 1204 objects {id: number, title: string}; total: number`.
    pub(crate) fn said(&self) -> String {
        match &self.whole {
            None => String::new(),
            Some(Shape::Object { members, more }) if !members.is_empty() => {
                let parts = members.iter().map(|(name, shape)| format!("\n  {name}: {}", said(shape)));
                format!("object{}{}", parts.collect::<String>(), and_more(*more, "\n  "))
            }
            Some(other) => said(other),
        }
    }

    /// Whether the next value is told of, or only counted.
    fn tells_next(&self) -> bool {
        let within = self.open.len() <= LEVELS;
        match self.open.last() {
            None => true,
            Some((_, Shape::List { count, .. })) => within && *count == 0,
            Some((_, Shape::Object { members, .. })) => within && members.len() < MOST_MEMBERS,
            Some((_, Shape::Plain(_))) => false,
        }
    }
}

impl Listener for Outline {
    fn begin(&mut self, _: u64, kind: JsonKind) {
        if self.passed_over > 0 || !self.tells_next() {
            self.passed_over += 1;
            return;
        }
        let name = String::from_utf8_lossy(&self.name).chars().take(LONGEST_NAME).collect();
        let shape = match kind {
            JsonKind::Object => Shape::Object { members: Vec::new(), more: 0 },
            JsonKind::List => Shape::List { count: 0, first: None },
            JsonKind::Text => Shape::Plain("string"),
            JsonKind::Number => Shape::Plain("number"),
            JsonKind::Boolean => Shape::Plain("boolean"),
            JsonKind::Null => Shape::Plain("null"),
        };
        self.open.push((name, shape));
    }

    fn end(&mut self, _: u64) {
        let told = match self.passed_over {
            0 => self.open.pop(),
            _ => {
                self.passed_over -= 1;
                if self.passed_over > 0 {
                    return;
                }
                None
            }
        };
        match (self.open.last_mut(), told) {
            (None, told) => self.whole = told.map(|(_, shape)| shape),
            (Some((_, Shape::List { count, first })), told) => {
                *count += 1;
                if let Some((_, shape)) = told {
                    *first = Some(Box::new(shape));
                }
            }
            (Some((_, Shape::Object { members, .. })), Some(told)) => members.push(told),
            (Some((_, Shape::Object { more, .. })), None) => *more += 1,
            (Some((_, Shape::Plain(_))), _) => {}
        }
    }

    fn name(&mut self, _: u64) {
        self.in_name = true;
        self.name.clear();
    }

    fn named(&mut self) {
        self.in_name = false;
    }

    fn run(&mut self, _: u64, bytes: &[u8]) {
        if self.in_name && self.passed_over == 0 {
            let room = (LONGEST_NAME * 4).saturating_sub(self.name.len());
            self.name.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
    }

    fn escaped(&mut self, at: u64, character: Option<char>) {
        let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
        self.run(at, character.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

fn said(shape: &Shape) -> String {
    match shape {
        Shape::Plain(kind) => (*kind).to_owned(),
        Shape::List { count: 0, .. } => "empty list".to_owned(),
        Shape::List { count, first } => {
            let of = first.as_ref().map_or_else(String::new, |first| format!(", each like: {}", said(first)));
            format!("list of {count}{of}")
        }
        // Below the second level there are numbers alone.
        Shape::Object { members, more } if members.is_empty() => format!("object of {more} members"),
        Shape::Object { members, more } => {
            let parts: Vec<String> = members.iter().map(|(name, shape)| format!("{name}: {}", said(shape))).collect();
            format!("{{{}{}}}", parts.join(", "), and_more(*more, ", "))
        }
    }
}

fn and_more(more: usize, before: &str) -> String {
    if more == 0 { String::new() } else { format!("{before}… {more} more") }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lexer::Lexer;

    fn outline(json: &str) -> Option<String> {
        let (mut lexer, mut outline) = (Lexer::new(), Outline::default());
        json.as_bytes().chunks(5).try_for_each(|piece| lexer.feed(piece, &mut outline)).ok()?;
        lexer.finish(&mut outline).ok()?;
        Some(outline.said())
    }

    #[test]
    fn two_levels_of_what_there_is() {
        let text =
            r#"{"items": [{"id": 1, "user": {"name": "ada", "tags": []}}, {"id": 2}], "total": 2, "next": null}"#;
        assert_eq!(
            outline(text).unwrap(),
            "object\n  items: list of 2, each like: {id: number, user: object of 2 members}\n  total: number\n  next: null"
        );
        assert_eq!(outline("[[1,2],[3]]").unwrap(), "list of 2, each like: list of 2, each like: number");
        assert_eq!(outline("[]").unwrap(), "empty list");
        assert_eq!((outline("{"), outline("[1]]")), (None, None));
    }

    #[test]
    fn many_members_are_counted_and_depth_ends() {
        let many: Vec<String> = (0..100).map(|n| format!("\"m{n}\": {n}")).collect();
        let said = outline(&format!("{{{}}}", many.join(","))).unwrap();
        assert!(said.ends_with("m23: number\n  … 76 more"), "{said}");
        let deep = format!("{}{}", "[".repeat(100), "]".repeat(100));
        assert_eq!(
            outline(&deep).unwrap(),
            "list of 1, each like: list of 1, each like: list of 1, each like: list of 1"
        );
    }
}
