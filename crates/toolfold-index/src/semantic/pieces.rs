//! Words into pieces of the vocabulary: the longest that fits, then the longest that goes on from there.

use std::collections::HashMap;

/// A longer word is noise: a key, a hash, a run of letters.
const LONGEST_WORD: usize = 40;
/// Stands before a piece that goes on a word.
const GOES_ON: &str = "##";

/// Latin letters with marks, and the plain letters they are read as.
const MARKED: &str = "àáâãäåçèéêëìíîïñòóôõöøùúûüýÿāăąćĉċčďđēĕėęěĝğġģĥħĩīĭįıĵķĺļľłńņňōŏőŕŗřśŝşšţťŧũūŭůűųŵŷźżž";
const PLAIN: &str = "aaaaaaceeeeiiiinoooooouuuuyyaaaccccddeeeeegggghhiiiiijkllllnnnooorrrssssttt\
                     uuuuuuwyzzz";

pub(crate) struct Pieces {
    beginning: HashMap<&'static str, u16>,
    going_on: HashMap<&'static str, u16>,
}

impl Pieces {
    /// The vocabulary in the order of its numbers.
    pub(crate) fn new(vocabulary: impl Iterator<Item = &'static str>) -> Self {
        let (mut beginning, mut going_on) = (HashMap::new(), HashMap::new());
        for (number, piece) in (0..=u16::MAX).zip(vocabulary) {
            match piece.strip_prefix(GOES_ON) {
                Some(rest) if !rest.is_empty() => going_on.insert(rest, number),
                _ => beginning.insert(piece, number),
            };
        }
        Pieces { beginning, going_on }
    }

    pub(crate) fn is_whole(&self, word: &str) -> bool {
        self.beginning.contains_key(word)
    }

    /// Adds the pieces of a lower-case word; none where it cannot be spelt.
    pub(crate) fn of_word(&self, word: &str, pieces: &mut Vec<u16>) {
        if let Some(whole) = self.beginning.get(word) {
            return pieces.push(*whole);
        }
        let folded: String = word.chars().map(plain).collect();
        if folded.chars().count() > LONGEST_WORD {
            return;
        }
        let start = pieces.len();
        let mut rest = folded.as_str();
        while !rest.is_empty() {
            let table = if pieces.len() == start { &self.beginning } else { &self.going_on };
            let mut ends = rest.char_indices().map(|(at, c)| at + c.len_utf8()).rev();
            let Some((end, piece)) = ends.find_map(|end| Some((end, *table.get(&rest[..end])?))) else {
                return pieces.truncate(start);
            };
            pieces.push(piece);
            rest = &rest[end..];
        }
    }
}

fn plain(c: char) -> char {
    if c.is_ascii() {
        return c;
    }
    MARKED.chars().position(|marked| marked == c).and_then(|at| PLAIN.chars().nth(at)).unwrap_or(c)
}
