//! Lines of bounded length from a stream nobody controls. A line that is too long is skipped in bounded memory; what
//! is kept of it is its beginning and its end, because one of the two usually says which request it answers.

use bytes::Bytes;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use toolfold_wire::Memory;

use crate::buffer::{Buffer, Offer, Overflow};

const EDGE: usize = 4096;

#[derive(Debug, PartialEq)]
pub(crate) enum Line {
    Whole(Bytes),
    /// It was passed over. The id of the response it was, where it could be read.
    Lost {
        id: Option<u64>,
        why: Overflow,
    },
}

pub(crate) struct LineReader<R> {
    source: BufReader<R>,
    /// The beginning of a line whose end is not there yet.
    begun: Buffer,
    /// The line has no room: only its beginning and its end are kept.
    lost: Option<Edges>,
}

struct Edges {
    id: Option<u64>,
    head: Vec<u8>,
    tail: Vec<u8>,
    why: Overflow,
}

impl<R: AsyncRead + Unpin> LineReader<R> {
    /// Lines of at most so many bytes, taken from this budget, if there is one.
    pub(crate) fn new(source: R, limit: usize, memory: Option<Memory>) -> Self {
        let source = BufReader::with_capacity(64 * 1024, source);
        LineReader { source, begun: Buffer::new(limit, memory), lost: None }
    }

    /// Long lines go where there is a place for them.
    pub(crate) fn offering(self, offer: Offer) -> Self {
        LineReader { begun: self.begun.offering(offer), ..self }
    }

    /// The next line without its newline; `None` at the end. Safe to cancel, but for a line that is put elsewhere: it is lost.
    pub(crate) async fn next(&mut self) -> std::io::Result<Option<Line>> {
        loop {
            let chunk = self.source.fill_buf().await?;
            let at_end = chunk.is_empty();
            let newline = chunk.iter().position(|byte| *byte == b'\n');
            let part = &chunk[..newline.unwrap_or(chunk.len())];
            match &mut self.lost {
                Some(edges) => edges.keep(part),
                None => {
                    if let Err(why) = self.begun.extend(part) {
                        let mut edges = Edges::of(&mut self.begun, why);
                        edges.keep(part);
                        self.lost = Some(edges);
                    }
                }
            }
            let used = part.len() + usize::from(newline.is_some());
            self.source.consume(used);
            if self.begun.is_due()
                && let Err(why) = self.begun.settle().await
            {
                self.lost = Some(Edges::of(&mut self.begun, why));
            }
            if newline.is_some() || at_end {
                if let Some(edges) = self.lost.take() {
                    return Ok(Some(Line::Lost { id: edges.id(), why: edges.why }));
                }
                let id = self.begun.answers();
                return Ok(match self.begun.take_message().await {
                    Ok(line) => (!at_end || !line.is_empty()).then_some(Line::Whole(line)),
                    Err(why) => {
                        self.begun.clear();
                        Some(Line::Lost { id, why })
                    }
                });
            }
        }
    }
}

impl Edges {
    /// Of what was read until now, which is let go of.
    fn of(begun: &mut Buffer, why: Overflow) -> Self {
        let mut edges = Edges { id: begun.answers(), head: Vec::new(), tail: Vec::new(), why };
        edges.keep(begun.bytes());
        begun.clear();
        edges
    }

    fn keep(&mut self, part: &[u8]) {
        self.head.extend_from_slice(&part[..part.len().min(EDGE.saturating_sub(self.head.len()))]);
        self.tail.extend_from_slice(&part[part.len().saturating_sub(EDGE)..]);
        self.tail.drain(..self.tail.len().saturating_sub(EDGE));
    }

    fn id(&self) -> Option<u64> {
        self.id.or_else(|| id_in_head(&self.head)).or_else(|| id_in_tail(&self.tail))
    }
}

/// The request that a line answers, where its beginning says so.
pub(crate) fn answered(line: &[u8]) -> Option<u64> {
    id_in_head(&line[..line.len().min(EDGE)])
}

/// The number after `"id":` among the members of the outermost object.
fn id_in_head(text: &[u8]) -> Option<u64> {
    let mut depth = 0usize;
    let mut at = 0;
    while at < text.len() {
        match text[at] {
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.checked_sub(1)?,
            b'"' => {
                let end = end_of_string(text, at)?;
                if depth == 1 && &text[at..=end] == b"\"id\"" {
                    return number_after_colon(&text[end + 1..]);
                }
                at = end;
            }
            _ => {}
        }
        at += 1;
    }
    None
}

fn end_of_string(text: &[u8], start: usize) -> Option<usize> {
    let mut at = start + 1;
    while *text.get(at)? != b'"' {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    Some(at)
}

fn number_after_colon(text: &[u8]) -> Option<u64> {
    let text = text.trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
    let digits = text.iter().take_while(|byte| byte.is_ascii_digit()).count();
    // The text may break off within the number.
    (digits < text.len()).then(|| std::str::from_utf8(&text[..digits]).ok()?.parse().ok())?
}

/// `…"id":7}` at the very end: the last brace closes the outermost object, so this id is the message's.
fn id_in_tail(text: &[u8]) -> Option<u64> {
    let text = text.trim_ascii_end().strip_suffix(b"}")?.trim_ascii_end();
    let digits = text.iter().rev().take_while(|byte| byte.is_ascii_digit()).count();
    let (before, number) = text.split_at(text.len() - digits);
    let before = before.trim_ascii_end().strip_suffix(b":")?.trim_ascii_end().strip_suffix(b"\"id\"")?;
    before.trim_ascii_end().ends_with(b",").then(|| std::str::from_utf8(number).ok()?.parse().ok())?
}

#[cfg(test)]
mod tests {
    use toolfold_wire::{Intake, Taken};

    use super::*;
    use crate::intake::{SPOOLED_OVER, Spooling};

    async fn all(text: &[u8], limit: usize) -> Vec<Line> {
        let mut lines = LineReader::new(text, limit, None);
        let mut found = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            found.push(line);
        }
        found
    }

    #[tokio::test]
    async fn a_long_line_is_skipped_and_the_next_one_is_read() {
        let long =
            format!("{{\"jsonrpc\":\"2.0\",\"id\":7,\"result\":{{\"text\":\"{}\"}}}}\nnext\nlast", "x".repeat(200_000));
        let lines = all(long.as_bytes(), 1000).await;
        assert_eq!(
            lines,
            [
                Line::Lost { id: Some(7), why: Overflow::TooLarge },
                Line::Whole("next".into()),
                Line::Whole("last".into())
            ]
        );
        let late =
            format!("{{\"result\":{{\"id\":3,\"text\":\"{}\"}},\"jsonrpc\":\"2.0\",\"id\":8}}\n", "x".repeat(200_000));
        assert_eq!(all(late.as_bytes(), 1000).await, [Line::Lost { id: Some(8), why: Overflow::TooLarge }]);
        let unclear = format!("{{\"result\":{{\"text\":\"{}\",\"id\":9}}}}\n", "x".repeat(200_000));
        assert_eq!(all(unclear.as_bytes(), 1000).await, [Line::Lost { id: None, why: Overflow::TooLarge }]);
    }

    /// Takes so much, and makes a short message of it.
    struct Place {
        taken: Vec<u8>,
        room: usize,
    }

    impl Intake for Place {
        fn take(&mut self, bytes: &[u8]) -> bool {
            let fits = self.taken.len() + bytes.len() <= self.room;
            if fits {
                self.taken.extend_from_slice(bytes);
            }
            fits
        }

        fn give_back(self: Box<Self>) -> Option<Vec<u8>> {
            Some(self.taken)
        }

        fn end(self: Box<Self>) -> Option<Taken> {
            Some(Taken::Short(format!("{} bytes", self.taken.len()).into()))
        }
    }

    async fn offered(text: &[u8], limit: usize, room: usize) -> Vec<Line> {
        let place = move |_: &[u8]| Some(Spooling::new(7, Box::new(Place { taken: Vec::new(), room })));
        let mut lines = LineReader::new(text, limit, None).offering(Box::new(place));
        let mut found = Vec::new();
        while let Some(line) = lines.next().await.unwrap() {
            found.push(line);
        }
        found
    }

    #[tokio::test]
    async fn a_long_line_goes_where_there_is_a_place_for_it() {
        const LONG: usize = 3 * SPOOLED_OVER + 17;
        let text = [vec![b'a'; LONG], b"next".to_vec(), vec![b'b'; LONG]].join(&b'\n');
        let long = || Line::Whole(format!("{LONG} bytes").into());
        assert_eq!(offered(&text, usize::MAX, usize::MAX).await, [long(), Line::Whole("next".into()), long()]);
        // What there is no room for comes back, and is a line like any other.
        let lines = offered(&text, usize::MAX, 2 * SPOOLED_OVER).await;
        assert!(
            lines
                == [
                    Line::Whole(vec![b'a'; LONG].into()),
                    Line::Whole("next".into()),
                    Line::Whole(vec![b'b'; LONG].into())
                ]
        );
        // What is longer than a message may be is lost, wherever it is.
        let lost = || Line::Lost { id: Some(7), why: Overflow::TooLarge };
        assert_eq!(offered(&text, LONG - 1, usize::MAX).await, [lost(), Line::Whole("next".into()), lost()]);
    }

    #[test]
    fn ids_inside_strings_and_deeper_objects_are_not_the_messages() {
        assert_eq!(id_in_head(br#"{"result":{"id":1},"x":"\"id\":2","id": 3 ,"#), Some(3));
        assert_eq!(id_in_head(br#"{"id":12"#), None);
        assert_eq!(id_in_head(br#"{"id":"12","#), None);
        assert_eq!(id_in_tail(br#"[1],"id":4}"#), Some(4));
        assert_eq!(id_in_tail(br#"{"a":{"id":4}}"#), None);
    }
}
