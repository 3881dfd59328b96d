//! A piece of a text that passes by, and where in the text it begins: whoever hears it counts places from the beginning of the whole.

use std::ops::Range;

#[derive(Debug, Clone, Copy)]
pub(crate) struct Piece<'a> {
    /// Where in the text it begins.
    pub(crate) begins: u64,
    pub(crate) bytes: &'a [u8],
}

impl<'a> Piece<'a> {
    pub(crate) fn at(begins: u64, bytes: &'a [u8]) -> Self {
        Piece { begins, bytes }
    }

    pub(crate) fn end(self) -> u64 {
        self.begins + self.bytes.len() as u64
    }

    /// What of a span of the text is in it.
    pub(crate) fn part(self, span: Range<u64>) -> &'a [u8] {
        let inside = |at: u64| {
            let at = usize::try_from(at.saturating_sub(self.begins));
            at.map_or(self.bytes.len(), |at| at.min(self.bytes.len()))
        };
        &self.bytes[inside(span.start)..inside(span.end.max(span.start))]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_span_is_cut_to_what_is_there_of_it() {
        let piece = Piece::at(10, b"abcdef");
        assert_eq!(piece.end(), 16);
        assert_eq!(piece.part(12..14), b"cd");
        assert_eq!(piece.part(0..12), b"ab");
        assert_eq!(piece.part(14..90), b"ef");
        assert_eq!(piece.part(90..99), b"");
        assert_eq!(piece.part(0..5), b"");
    }
}
