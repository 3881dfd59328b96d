//! Reading in a kept result that is too large to be taken down: it passes by once, and what is asked for is held.
//!
//! What a reader would get wrong: that work is not counted as a query's is. It is one pass over at most what may be kept,
//! at the pace of a disk, and it ends when nobody waits for it any more.

use std::ops::ControlFlow;

use regex::Regex;
use toolfold_core::{Fuel, Stop};

use crate::body::Notation;
use crate::excerpt::{LineSplit, Parts, characters};
use crate::items::Sort;
use crate::lexer::{JsonKind, Lexer, Listener};
use crate::piece::Piece;
use crate::query::{LARGEST, QueryError};
use crate::read::{Page, Reading, WrongReading, pattern, read};
use crate::shelf::KeptResult;

/// What is asked of a kept result, in at most about `within` characters; `None` where it cannot be read any more. `fuel` is
/// for queries, and for what fits into memory.
pub fn read_kept(
    kept: &KeptResult,
    reading: &Reading,
    within: usize,
    (fuel, stop): (&Fuel, &Stop),
) -> Option<Result<String, WrongReading>> {
    if kept.bytes() > LARGEST as u64 {
        return read_long(kept, reading, within, stop);
    }
    let whole = kept.take_down()?;
    Some(read(whole.format, &whole.text, reading, within, fuel))
}

fn read_long(kept: &KeptResult, reading: &Reading, within: usize, stop: &Stop) -> Option<Result<String, WrongReading>> {
    let refused = match &reading.query {
        None => None,
        Some(_) if kept.format() == Notation::Text => Some(WrongReading::NotJson),
        Some(_) => Some(QueryError::TooLarge.into()),
    };
    if let Some(refused) = refused {
        return Some(Err(refused));
    }
    let pattern = match reading.grep.as_deref().map(pattern).transpose() {
        Ok(pattern) => pattern,
        Err(wrong) => return Some(Err(wrong)),
    };
    let within_name = kept.layout.within.as_ref().map(|(name, _)| name.as_str());
    let page = Page::new(reading, kept.layout.sort, within_name, within);
    let mut reader = Reader { page, pattern, part: Vec::new(), characters: 0, place: 0, within };
    let span = kept.layout.within.as_ref().map_or(0..kept.bytes(), |(_, span)| span.clone());
    let mut split = Split::of(kept.layout.sort);
    let mut is_stopped = false;
    kept.file.read(span, |piece| {
        is_stopped = stop.is_set() || split.feed(piece, &mut reader).is_break();
        !is_stopped
    })?;
    if is_stopped {
        return Some(Err(WrongReading::TooMuch));
    }
    if let Split::Lines(lines) = &mut split {
        lines.finish(&mut reader);
    }
    Some(Ok(reader.page.said()))
}

/// Cuts a text into the parts that it is paged by.
enum Split {
    Lines(LineSplit),
    Json(Box<(Lexer, Nest)>),
}

impl Split {
    fn of(sort: Sort) -> Self {
        match sort {
            Sort::Line => Split::Lines(LineSplit::default()),
            Sort::Element | Sort::Member => Split::Json(Box::new((
                Lexer::new(),
                Nest { depth: 0, from: None, at: 0, members: sort == Sort::Member },
            ))),
        }
    }

    fn feed(&mut self, bytes: &[u8], to: &mut Reader<'_>) -> ControlFlow<()> {
        match self {
            Split::Lines(lines) => lines.feed(bytes, to),
            Split::Json(inside) => {
                let (lexer, nest) = &mut **inside;
                let piece = Piece::at(nest.at, bytes);
                let fed = lexer.feed(bytes, &mut Ear { nest: &mut *nest, to: &mut *to, piece });
                if fed.is_err() {
                    return ControlFlow::Break(());
                }
                nest.at = piece.end();
                if let Some(from) = &mut nest.from {
                    to.add(piece.part(*from..nest.at));
                    *from = nest.at;
                }
            }
        }
        ControlFlow::Continue(())
    }
}

struct Nest {
    depth: usize,
    /// From where on the part that is open is to be read.
    from: Option<u64>,
    at: u64,
    /// Parts begin with their names.
    members: bool,
}

struct Ear<'a, 'r> {
    nest: &'a mut Nest,
    to: &'a mut Reader<'r>,
    piece: Piece<'a>,
}

impl Listener for Ear<'_, '_> {
    fn begin(&mut self, at: u64, _: JsonKind) {
        if self.nest.depth == 1 && !self.nest.members {
            self.nest.from = Some(at);
        }
        self.nest.depth += 1;
    }

    fn end(&mut self, at: u64) {
        self.nest.depth -= 1;
        if self.nest.depth == 1
            && let Some(from) = self.nest.from.take()
        {
            self.to.add(self.piece.part(from..at));
            self.to.close();
        }
    }

    fn name(&mut self, at: u64) {
        if self.nest.depth == 1 && self.nest.members {
            self.nest.from = Some(at);
        }
    }
}

/// Hears the parts, and puts those on the page that belong there.
struct Reader<'a> {
    page: Page<'a>,
    pattern: Option<Regex>,
    part: Vec<u8>,
    characters: usize,
    place: usize,
    within: usize,
}

impl Parts for Reader<'_> {
    fn add(&mut self, bytes: &[u8]) {
        self.characters += characters(bytes);
        // A pattern may be found anywhere; what is only shown is shown as far as a page goes.
        let room = match &self.pattern {
            Some(_) => bytes.len(),
            None => ((self.within + 1) * 4).saturating_sub(self.part.len()),
        };
        self.part.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    fn close(&mut self) {
        let text = String::from_utf8_lossy(&self.part);
        if self.pattern.as_ref().is_none_or(|pattern| pattern.is_match(&text)) {
            self.page.add(self.place, &text, self.characters);
        }
        self.place += 1;
        self.characters = 0;
        self.part.clear();
    }
}
