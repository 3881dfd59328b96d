//! What a text is, found out while it passes by: how long, JSON or lines, what is in it, how it begins and ends.
//!
//! What a reader would get wrong: whether a text is JSON is known at its end alone, so until then it is looked at both ways.

use std::ops::Range;

use crate::body::Notation;
use crate::excerpt::{Ends, LineSplit, Parts, characters};
use crate::items::Sort;
use crate::lexer::{JsonKind, Lexer, Listener};
use crate::outline::Outline;
use crate::piece::Piece;

/// Bytes of the name of a list that are told.
const LONGEST_NAME: usize = 1_000;

pub(crate) struct Survey {
    json: Option<(Lexer, Json)>,
    lines: LineSplit,
    line_ends: Ends,
    characters: usize,
    bytes: u64,
}

/// What was found.
pub struct Surveyed {
    pub format: Notation,
    pub characters: usize,
    pub bytes: u64,
    /// Of JSON: what is in it, in two levels.
    pub(crate) outline: Option<String>,
    pub(crate) ends: Ends,
    pub(crate) layout: Layout,
}

/// Where the parts of a text are.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Layout {
    pub(crate) sort: Sort,
    /// The member that the elements are of, and where its list is, where they are not of the whole.
    pub(crate) within: Option<(String, Range<u64>)>,
}

impl Survey {
    /// `characters`: what may be shown of the beginning and the end.
    pub(crate) fn within(characters: usize) -> Self {
        Survey {
            json: Some((Lexer::new(), Json::within(characters))),
            lines: LineSplit::default(),
            line_ends: Ends::within(characters),
            characters: 0,
            bytes: 0,
        }
    }

    pub(crate) fn feed(&mut self, bytes: &[u8]) {
        self.characters += characters(bytes);
        self.lines.feed(bytes, &mut self.line_ends);
        if let Some((lexer, json)) = &mut self.json
            && !json.feed(lexer, Piece::at(self.bytes, bytes))
        {
            self.json = None;
        }
        self.bytes += bytes.len() as u64;
    }

    pub(crate) fn finish(mut self) -> Surveyed {
        let (characters, bytes) = (self.characters, self.bytes);
        if let Some((mut lexer, mut json)) = self.json
            && lexer.finish(&mut Ear { json: &mut json, piece: Piece::at(bytes, &[]) }).is_ok()
            && let Some((ends, layout)) = json.parts.finish(bytes)
        {
            let outline = Some(json.outline.said());
            return Surveyed { format: Notation::Json, characters, bytes, outline, ends, layout };
        }
        self.lines.finish(&mut self.line_ends);
        let layout = Layout { sort: Sort::Line, within: None };
        Surveyed { format: Notation::Text, characters, bytes, outline: None, ends: self.line_ends, layout }
    }
}

struct Json {
    outline: Outline,
    parts: Nest,
}

impl Json {
    fn within(characters: usize) -> Self {
        let parts = Nest {
            within: characters,
            root: None,
            depth: 0,
            whole: Open::within(characters),
            list: None,
            from: 0,
            name: Vec::new(),
            in_name: false,
            largest: None,
        };
        Json { outline: Outline::default(), parts }
    }

    /// `false`: it is no JSON.
    fn feed(&mut self, lexer: &mut Lexer, piece: Piece<'_>) -> bool {
        let fed = lexer.feed(piece.bytes, &mut Ear { json: self, piece });
        // A number or a string of that length is read as text.
        if fed.is_err() || self.parts.root.is_some_and(|kind| !matches!(kind, JsonKind::Object | JsonKind::List)) {
            return false;
        }
        self.parts.whole.add_until(piece.end(), piece);
        if let Some(list) = &mut self.parts.list {
            list.add_until(piece.end(), piece);
        }
        true
    }
}

/// The parts of a list or an object, and of the lists that are its members.
struct Nest {
    within: usize,
    root: Option<JsonKind>,
    depth: usize,
    /// Elements, or members with their names.
    whole: Open,
    /// Elements of the member that is open, where that is a list.
    list: Option<Open>,
    /// Where that member's value begins.
    from: u64,
    name: Vec<u8>,
    in_name: bool,
    largest: Option<Member>,
}

struct Member {
    name: String,
    span: Range<u64>,
    elements: Option<Ends>,
}

impl Nest {
    /// The elements of the one list that is most of an object, or else what the whole is made of.
    fn finish(self, bytes: u64) -> Option<(Ends, Layout)> {
        if self.root? == JsonKind::List {
            return Some((self.whole.ends, Layout { sort: Sort::Element, within: None }));
        }
        if let Some(Member { name, span, elements: Some(elements) }) = self.largest
            && (span.end - span.start) * 2 >= bytes
            && elements.count() > 1
        {
            return Some((elements, Layout { sort: Sort::Element, within: Some((name, span)) }));
        }
        Some((self.whole.ends, Layout { sort: Sort::Member, within: None }))
    }

    fn end_member(&mut self, at: u64) {
        let (span, elements) = (self.from..at, self.list.take().map(|list| list.ends));
        let length = |span: &Range<u64>| span.end - span.start;
        if self.largest.as_ref().is_none_or(|largest| length(&largest.span) <= length(&span)) {
            let name = String::from_utf8_lossy(&self.name).into_owned();
            self.largest = Some(Member { name, span, elements });
        }
    }
}

/// Parts, one of which may be open.
struct Open {
    ends: Ends,
    /// From where on the open one is to be read.
    from: Option<u64>,
}

impl Open {
    fn within(characters: usize) -> Self {
        Open { ends: Ends::within(characters), from: None }
    }

    fn add_until(&mut self, at: u64, piece: Piece<'_>) {
        if let Some(from) = &mut self.from {
            self.ends.add(piece.part(*from..at));
            *from = at;
        }
    }

    fn close(&mut self, at: u64, piece: Piece<'_>) {
        self.add_until(at, piece);
        self.from = None;
        self.ends.close();
    }
}

/// Hears one piece of the text.
struct Ear<'a> {
    json: &'a mut Json,
    piece: Piece<'a>,
}

impl Listener for Ear<'_> {
    fn begin(&mut self, at: u64, kind: JsonKind) {
        self.json.outline.begin(at, kind);
        let parts = &mut self.json.parts;
        match (parts.depth, parts.root) {
            (0, _) => parts.root = Some(kind),
            (1, Some(JsonKind::List)) => parts.whole.from = Some(at),
            (1, _) => {
                parts.from = at;
                parts.list = (kind == JsonKind::List).then(|| Open::within(parts.within));
            }
            (2, _) => {
                if let Some(list) = &mut parts.list {
                    list.from = Some(at);
                }
            }
            _ => {}
        }
        parts.depth += 1;
    }

    fn end(&mut self, at: u64) {
        self.json.outline.end(at);
        let (parts, piece) = (&mut self.json.parts, self.piece);
        parts.depth -= 1;
        match parts.depth {
            1 => {
                parts.whole.close(at, piece);
                if parts.root == Some(JsonKind::Object) {
                    parts.end_member(at);
                }
            }
            2 => {
                if let Some(list) = &mut parts.list {
                    list.close(at, piece);
                }
            }
            _ => {}
        }
    }

    fn name(&mut self, at: u64) {
        self.json.outline.name(at);
        let parts = &mut self.json.parts;
        if parts.depth == 1 {
            parts.whole.from = Some(at);
            parts.name.clear();
            parts.in_name = true;
        }
    }

    fn named(&mut self) {
        self.json.outline.named();
        self.json.parts.in_name = false;
    }

    fn run(&mut self, at: u64, bytes: &[u8]) {
        self.json.outline.run(at, bytes);
        let parts = &mut self.json.parts;
        if parts.in_name && parts.name.len() + bytes.len() <= LONGEST_NAME {
            parts.name.extend_from_slice(bytes);
        }
    }

    fn escaped(&mut self, at: u64, character: Option<char>) {
        let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
        self.run(at, character.encode_utf8(&mut [0; 4]).as_bytes());
    }
}
