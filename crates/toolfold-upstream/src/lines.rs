//! Lines of bounded length from a stream nobody controls. A line that is too long is skipped in bounded memory; what
//! is kept of it is its beginning and its end, because one of the two usually says which request it answers.

use bytes::Bytes;
use tokio::io::{AsyncBufReadExt, AsyncRead, BufReader};
use toolfold_wire::Memory;

use crate::buffer::{Buffer, Overflow};

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

    /// The next line without its newline; `None` at the end. Safe to cancel.
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
                        let mut edges = Edges { head: Vec::new(), tail: Vec::new(), why };
                        edges.keep(self.begun.bytes());
                        edges.keep(part);
                        self.begun.clear();
                        self.lost = Some(edges);
                    }
                }
            }
            let used = part.len() + usize::from(newline.is_some());
            self.source.consume(used);
            if newline.is_some() || at_end {
                if let Some(edges) = self.lost.take() {
                    return Ok(Some(Line::Lost { id: edges.id(), why: edges.why }));
                }
                let line = self.begun.take_bytes();
                return Ok((!at_end || !line.is_empty()).then_some(Line::Whole(line)));
            }
        }
    }
}

impl Edges {
    fn keep(&mut self, part: &[u8]) {
        self.head.extend_from_slice(&part[..part.len().min(EDGE.saturating_sub(self.head.len()))]);
        self.tail.extend_from_slice(&part[part.len().saturating_sub(EDGE)..]);
        self.tail.drain(..self.tail.len().saturating_sub(EDGE));
    }

    fn id(&self) -> Option<u64> {
        id_in_head(&self.head).or_else(|| id_in_tail(&self.tail))
    }
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
    use super::*;

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

    #[test]
    fn ids_inside_strings_and_deeper_objects_are_not_the_messages() {
        assert_eq!(id_in_head(br#"{"result":{"id":1},"x":"\"id\":2","id": 3 ,"#), Some(3));
        assert_eq!(id_in_head(br#"{"id":12"#), None);
        assert_eq!(id_in_head(br#"{"id":"12","#), None);
        assert_eq!(id_in_tail(br#"[1],"id":4}"#), Some(4));
        assert_eq!(id_in_tail(br#"{"a":{"id":4}}"#), None);
    }
}
