//! An answer of a server, followed while it comes in: where its long texts are, and what it is without them.
//!
//! What a reader would get wrong: only what a model reads of a tool's result is left out (its texts, its structured content).
//! Everything else, known or not, stays as it came, because others look at it: links, pictures, `_meta`.

use std::ops::Range;

use crate::excerpt::{characters, is_inner};
use crate::lexer::{JsonKind, Lexer, Listener, NotJson};
use crate::piece::Piece;

/// Bytes of an answer beside its texts: what has more is no long text.
const MOST_ELSE: usize = 1 << 20;
/// Bytes of a name that are looked at: all that matter are shorter.
const LONGEST_NAME: usize = 32;

pub(crate) struct Walk {
    lexer: Lexer,
    trail: Trail,
    at: u64,
}

impl Walk {
    /// `shown`: how many bytes of the long texts stay in what is left.
    pub(crate) fn showing(shown: usize) -> Self {
        let trail = Trail {
            open: Vec::new(),
            name: Vec::new(),
            in_name: false,
            short: Vec::new(),
            copied: 0,
            gap: None,
            left: shown,
            most: shown + MOST_ELSE,
            shown: shown as u64,
            items: 0,
            texts: Vec::new(),
            structured: Vec::new(),
            told: 0,
            structured_characters: 0,
            is_odd: false,
        };
        Walk { lexer: Lexer::new(), trail, at: 0 }
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) -> Result<(), NotJson> {
        let (trail, piece) = (&mut self.trail, Piece::at(self.at, bytes));
        self.lexer.feed(bytes, &mut Ear { trail, piece })?;
        self.at = piece.end();
        self.trail.end_piece(piece);
        if self.trail.is_odd || self.trail.short.len() > self.trail.most { Err(NotJson) } else { Ok(()) }
    }

    pub(crate) fn finish(mut self) -> Result<Walked, NotJson> {
        let (trail, piece) = (&mut self.trail, Piece::at(self.at, &[]));
        self.lexer.finish(&mut Ear { trail, piece })?;
        let Trail { short, texts, structured, told, structured_characters, .. } = self.trail;
        // They are joined by line breaks.
        let told = told + texts.len().saturating_sub(1);
        let characters = if structured.is_empty() { told } else { told.max(structured_characters) };
        Ok(Walked { short, texts, structured, characters })
    }
}

/// What was found.
pub(crate) struct Walked {
    /// The message without what is long in it.
    pub(crate) short: Vec<u8>,
    /// Where the texts are, without their quotes, and which item of the content each is of.
    pub(crate) texts: Vec<(usize, Range<u64>)>,
    /// Where the structured content is.
    pub(crate) structured: Vec<Range<u64>>,
    /// Characters that there are to be read, in the longer of the two.
    pub(crate) characters: usize,
}

/// What a value is in an answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Role {
    Message,
    Result,
    Content,
    Item(usize),
    Text(usize),
    Structured,
    InStructured,
    Else,
}

/// What is being left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Gap {
    /// The rest of a text.
    Text,
    /// The rest of the structured content.
    Structured,
}

struct Trail {
    open: Vec<(Role, JsonKind, u64)>,
    name: Vec<u8>,
    in_name: bool,
    short: Vec<u8>,
    /// Up to where the message is in `short`.
    copied: u64,
    gap: Option<Gap>,
    /// Bytes of long texts that may still be shown.
    left: usize,
    most: usize,
    shown: u64,
    items: usize,
    texts: Vec<(usize, Range<u64>)>,
    structured: Vec<Range<u64>>,
    told: usize,
    structured_characters: usize,
    is_odd: bool,
}

impl Trail {
    fn role_of(&mut self, kind: JsonKind) -> Role {
        let is_nested = matches!(kind, JsonKind::Object | JsonKind::List);
        match (self.open.last().map(|(role, ..)| *role), &self.name[..], kind) {
            (None, _, JsonKind::Object) => Role::Message,
            (Some(Role::Message), b"result", JsonKind::Object) => Role::Result,
            (Some(Role::Result), b"content", JsonKind::List) => Role::Content,
            (Some(Role::Result), b"structuredContent", _) if is_nested => Role::Structured,
            (Some(Role::Content), _, _) => {
                self.items += 1;
                if kind == JsonKind::Object { Role::Item(self.items - 1) } else { Role::Else }
            }
            (Some(Role::Item(item)), b"text", JsonKind::Text) => Role::Text(item),
            (Some(Role::Structured | Role::InStructured), ..) => Role::InStructured,
            _ => Role::Else,
        }
    }

    /// Whether the text that is being read is one of those that are cut short.
    fn is_in_long_text(&self) -> bool {
        !self.in_name && matches!(self.open.last(), Some((Role::Text(_) | Role::InStructured, JsonKind::Text, _)))
    }

    fn copy_until(&mut self, at: u64, piece: Piece<'_>) {
        if self.gap.is_none() {
            self.short.extend_from_slice(piece.part(self.copied..at));
            self.copied = at;
        }
    }

    fn leave_out(&mut self, gap: Gap, at: u64, piece: Piece<'_>) {
        self.copy_until(at, piece);
        self.gap = Some(gap);
    }

    fn go_on(&mut self, at: u64) {
        (self.gap, self.copied) = (None, at);
    }

    fn end_piece(&mut self, piece: Piece<'_>) {
        self.copy_until(piece.end(), piece);
        // Of what is still open in it; what has ended was counted when it did.
        if let Some((_, _, from)) = self.open.iter().find(|(role, ..)| *role == Role::Structured) {
            self.structured_characters += characters(piece.part(*from..piece.end()));
        }
    }
}

/// Hears one piece of the message.
struct Ear<'a> {
    trail: &'a mut Trail,
    piece: Piece<'a>,
}

impl Listener for Ear<'_> {
    fn begin(&mut self, at: u64, kind: JsonKind) {
        let role = self.trail.role_of(kind);
        self.trail.open.push((role, kind, at));
        self.trail.name.clear();
    }

    fn end(&mut self, at: u64) {
        let Some((role, _, from)) = self.trail.open.pop() else { return };
        if self.trail.gap == Some(Gap::Text) {
            // Its quote is copied again.
            self.trail.go_on(at - 1);
        }
        match role {
            Role::Text(item) => self.trail.texts.push((item, from + 1..at - 1)),
            Role::InStructured if self.trail.gap.is_none() => {
                let begun = self.trail.open.iter().find(|(role, ..)| *role == Role::Structured);
                let shown = begun.map_or(0, |(.., from)| at - from);
                if self.trail.left == 0 || shown > self.trail.shown {
                    self.trail.leave_out(Gap::Structured, at, self.piece);
                    let open = self.trail.open.iter().rev();
                    let open = open.take_while(|(role, ..)| matches!(role, Role::InStructured | Role::Structured));
                    let ends: Vec<u8> =
                        open.map(|(_, kind, _)| if *kind == JsonKind::Object { b'}' } else { b']' }).collect();
                    self.trail.short.extend(ends);
                }
            }
            Role::Structured => {
                if self.trail.gap == Some(Gap::Structured) {
                    self.trail.go_on(at);
                }
                self.trail.structured_characters += characters(self.piece.part(from..at));
                self.trail.structured.push(from..at);
            }
            _ => {}
        }
    }

    fn name(&mut self, _: u64) {
        self.trail.in_name = true;
        self.trail.name.clear();
    }

    fn named(&mut self) {
        self.trail.in_name = false;
    }

    fn run(&mut self, at: u64, bytes: &[u8]) {
        if self.trail.in_name {
            let room = LONGEST_NAME.saturating_sub(self.trail.name.len());
            return self.trail.name.extend_from_slice(&bytes[..bytes.len().min(room)]);
        }
        if !self.trail.is_in_long_text() {
            return;
        }
        if matches!(self.trail.open.last(), Some((Role::Text(_), ..))) {
            self.trail.told += characters(bytes);
        }
        if self.trail.gap.is_some() {
            return;
        }
        if bytes.len() <= self.trail.left {
            self.trail.left -= bytes.len();
            return;
        }
        // Not within a character.
        let from = self.trail.left;
        let Some(whole) = bytes[from..].iter().position(|byte| !is_inner(*byte)) else { return };
        self.trail.left = 0;
        self.trail.leave_out(Gap::Text, at + (from + whole) as u64, self.piece);
    }

    fn escaped(&mut self, at: u64, character: Option<char>) {
        if self.trail.in_name {
            let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
            return self.run(at, character.encode_utf8(&mut [0; 4]).as_bytes());
        }
        if !self.trail.is_in_long_text() {
            return;
        }
        if matches!(self.trail.open.last(), Some((Role::Text(_), ..))) {
            self.trail.told += 1;
            // Half a character is no text that could be kept.
            self.trail.is_odd |= character.is_none();
        }
        match self.trail.left.checked_sub(1) {
            Some(left) => self.trail.left = left,
            None if self.trail.gap.is_none() && at >= self.piece.begins => {
                self.trail.leave_out(Gap::Text, at, self.piece);
            }
            None => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    fn walked(message: &str, piece: usize, shown: usize) -> Option<Walked> {
        let mut walk = Walk::showing(shown);
        message.as_bytes().chunks(piece).try_for_each(|piece| walk.feed(piece)).ok()?;
        walk.finish().ok()
    }

    #[test]
    fn what_is_long_is_left_out_and_the_rest_stays() {
        let message = json!({"jsonrpc": "2.0", "result": {
            "content": [
                {"type": "text", "text": "one\ntwo ä three"},
                {"type": "image", "data": "AAAA", "text": {"text": "no text"}},
                {"type": "text", "text": "second"},
            ],
            "structuredContent": {"list": [{"a": "first element"}, {"a": "second element"}], "z": 1},
            "_meta": {"mine": [1, 2]},
        }, "id": 7})
        .to_string();
        for piece in [1, 2, 5, 13, 10_000] {
            let walked = walked(&message, piece, 9).unwrap();
            let short: Value = serde_json::from_slice(&walked.short).unwrap();
            assert_eq!(short["id"], 7);
            assert_eq!(short["result"]["_meta"]["mine"], json!([1, 2]));
            assert_eq!(short["result"]["content"][1]["text"]["text"], "no text");
            assert!(short["result"]["content"][0]["text"].as_str().unwrap().starts_with("one\ntwo"), "{short}");
            assert!(short.to_string().len() < message.len() - 30, "{short}");
            let text = |range: &Range<u64>| &message[range.start as usize..range.end as usize];
            let texts: Vec<(usize, &str)> = walked.texts.iter().map(|(item, range)| (*item, text(range))).collect();
            assert_eq!(texts, [(0, "one\\ntwo ä three"), (2, "second")]);
            let whole: Value = serde_json::from_str(text(&walked.structured[0])).unwrap();
            assert_eq!(whole["list"][1]["a"], "second element");
            assert_eq!(walked.characters, text(&walked.structured[0]).chars().count());
        }
    }

    #[test]
    fn half_characters_and_large_pictures_are_no_texts_to_keep() {
        let half = r#"{"id":1,"result":{"content":[{"type":"text","text":"a\ud83d b"}]}}"#;
        assert!(walked(half, 3, 1).is_none());
        let image = json!({"id": 1, "result": {"content": [{"type": "image", "data": "A".repeat(2 << 20)}]}});
        assert!(walked(&image.to_string(), 100_000, 1).is_none());
    }

    proptest! {
        /// Whatever is cut out, what is left is JSON of the same shape, and what is short is whole.
        #[test]
        fn what_is_left_is_an_answer(
            texts in proptest::collection::vec("\\PC{0,40}", 1..4),
            values in proptest::collection::vec(("[a-z]{1,5}", "\\PC{0,30}", 0i64..99), 0..6),
            piece in 1usize..40, shown in 0usize..80,
        ) {
            let content: Vec<Value> = texts.iter().map(|text| json!({"type": "text", "text": text})).collect();
            let list: Vec<Value> = values.iter().map(|(name, text, n)| json!({name.as_str(): {"t": [text, n]}})).collect();
            let message = json!({"id": 3, "result": {"content": content, "structuredContent": {"l": list}, "x": "y"}});
            let message = message.to_string();
            let walked = walked(&message, piece, shown).unwrap();
            let short: Value = serde_json::from_slice(&walked.short).unwrap();
            prop_assert_eq!(short["result"]["content"].as_array().unwrap().len(), texts.len());
            prop_assert_eq!(&short["result"]["x"], "y");
            for (place, text) in texts.iter().enumerate() {
                let cut = short["result"]["content"][place]["text"].as_str().unwrap();
                prop_assert!(text.starts_with(cut));
            }
            let told: usize = texts.iter().map(|text| text.chars().count()).sum::<usize>() + texts.len() - 1;
            let structured = &message[walked.structured[0].start as usize..walked.structured[0].end as usize];
            prop_assert_eq!(walked.characters, told.max(structured.chars().count()));
            if message.len() <= shown {
                prop_assert_eq!(String::from_utf8(walked.short).unwrap(), message);
            }
        }
    }
}
