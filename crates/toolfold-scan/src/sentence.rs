//! Sentences, and shapes in them: which concepts have to stand together, or one after the other, for a rule to speak.

use std::ops::Range;

use crate::concept::{Concepts, DESCRIBED, Hit, hits};
use crate::fold::Folded;

/// Bytes. What has no end by then is cut: a rule is about what is said in one breath, and its work stays bounded.
const LONGEST: usize = 700;
/// Bytes between a word such as "detects" and what it speaks of.
const REACH: usize = 90;

/// How concepts stand to each other. A slot is a set of concepts, any of which fills it.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Shape {
    /// In this order, each at most so many bytes behind the one before.
    Then(&'static [Concepts], usize),
    /// In any order.
    Together(&'static [Concepts]),
}

/// A folded text, cut into sentences, with all that it speaks of.
pub(crate) struct Passage {
    pub(crate) folded: Folded,
    hits: Vec<Hit>,
    /// Ends of sentences.
    ends: Vec<usize>,
}

/// Hits of one or two sentences.
#[derive(Clone, Copy)]
pub(crate) struct Span<'a> {
    pub(crate) start: usize,
    pub(crate) end: usize,
    hits: &'a [Hit],
    text: &'a str,
}

impl Passage {
    /// `counts` tells whether a hit of a concept in the folded text counts: a tool that is named may be one of this server's.
    pub(crate) fn read(text: &str, counts: impl Fn(&Hit, &str) -> bool, work: &mut u64) -> Passage {
        let folded = Folded::of(text);
        *work += text.len() as u64;
        let mut hits = hits(&folded, work);
        hits.retain(|hit| counts(hit, &folded.text));
        let ends = ends(&folded.text);
        Passage { folded, hits, ends }
    }

    /// Everything that is spoken of anywhere.
    pub(crate) fn concepts(&self) -> Concepts {
        self.hits.iter().fold(0, |all, hit| all | hit.concept)
    }

    /// What is spoken of between two places.
    pub(crate) fn concepts_in(&self, place: Range<usize>) -> Concepts {
        let first = self.hits.partition_point(|hit| hit.start < place.start);
        let within = self.hits[first..].iter().take_while(|hit| hit.start < place.end);
        within.fold(0, |all, hit| all | hit.concept)
    }

    /// Whether what stands there is spoken of and not said.
    pub(crate) fn is_described(&self, place: &Range<usize>) -> bool {
        let sentence = self.ends.partition_point(|end| *end <= place.start);
        self.spans(1).nth(sentence).is_some_and(|span| span.is_described(place.start, place.end))
    }

    /// Each run of so many sentences.
    pub(crate) fn spans(&self, sentences: usize) -> impl Iterator<Item = Span<'_>> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        let last = self.ends.last().copied().unwrap_or(0);
        starts.zip(0..self.ends.len()).map(move |(start, place)| {
            let end = self.ends.get(place + sentences - 1).copied().unwrap_or(last);
            let first = self.hits.partition_point(|hit| hit.start < start);
            let behind = self.hits.partition_point(|hit| hit.start < end);
            Span { start, end, hits: &self.hits[first..behind], text: &self.folded.text }
        })
    }
}

impl Span<'_> {
    pub(crate) fn concepts(&self) -> Concepts {
        self.hits.iter().fold(0, |all, hit| all | hit.concept)
    }

    /// What finding a shape costs.
    pub(crate) fn work(&self) -> u64 {
        self.hits.len() as u64
    }

    /// Where a shape begins and ends, if it is there.
    pub(crate) fn find(&self, shape: Shape) -> Option<(usize, usize)> {
        match shape {
            Shape::Then(slots, gap) => self.find_then(slots, gap),
            Shape::Together(slots) => self.find_together(slots),
        }
    }

    fn find_then(&self, slots: &[Concepts], gap: usize) -> Option<(usize, usize)> {
        let (first, rest) = slots.split_first()?;
        // Where each way that is still open began, and where it stands.
        let mut ways: Vec<(usize, usize)> = self.of(*first).map(|hit| (hit.start, hit.end)).collect();
        for slot in rest {
            ways.sort_unstable_by_key(|way| way.1);
            let next = self.of(*slot).filter_map(|hit| {
                // The way that ends last before the hit is the nearest: where that is too far, all are.
                let near = ways.partition_point(|way| way.1 <= hit.start).checked_sub(1)?;
                let (start, end) = ways[near];
                (hit.start - end <= gap).then_some((start, hit.end))
            });
            ways = next.collect();
        }
        ways.first().copied()
    }

    fn find_together(&self, slots: &[Concepts]) -> Option<(usize, usize)> {
        let mut taken: Vec<Hit> = Vec::with_capacity(slots.len());
        for slot in slots {
            let free = |hit: &&Hit| taken.iter().all(|other| hit.end <= other.start || other.end <= hit.start);
            let hit = *self.of(*slot).find(free)?;
            taken.push(hit);
        }
        let start = taken.iter().map(|hit| hit.start).min()?;
        let end = taken.iter().map(|hit| hit.end).max()?;
        Some((start, end))
    }

    fn of(&self, slot: Concepts) -> impl Iterator<Item = &Hit> {
        self.hits.iter().filter(move |hit| hit.concept & slot != 0)
    }

    /// Whether what is found there is spoken of and not said: behind "detects" or "for example", or between quotation
    /// marks in a sentence that says so elsewhere.
    pub(crate) fn is_described(&self, start: usize, end: usize) -> bool {
        let mut described = self.of(DESCRIBED).filter(|hit| hit.end <= start || hit.start >= end);
        let quoted = self.is_quoted(start);
        described.any(|hit| quoted || (hit.end <= start && start - hit.end <= REACH))
    }

    fn is_quoted(&self, at: usize) -> bool {
        let before = &self.text[self.start..at];
        let open = |mark: char| before.matches(mark).count() % 2 == 1;
        open('"') || (open('\'') && before.rfind('\'').is_some_and(|mark| at - self.start - mark < REACH))
    }
}

/// Where sentences end. A line end is one where a new paragraph or a point of a list begins behind it.
fn ends(text: &str) -> Vec<usize> {
    let mut ends = Vec::new();
    let mut start = 0;
    let mut characters = text.char_indices().peekable();
    while let Some((at, c)) = characters.next() {
        let behind = at + c.len_utf8();
        let next = characters.peek().map(|(_, c)| *c);
        let is_end = match c {
            '.' => next.is_none_or(char::is_whitespace) && !is_abbreviation(&text[start..at]),
            '!' | '?' => next.is_none_or(char::is_whitespace),
            '。' | '！' | '？' => true,
            '\n' => next.is_none_or(|c| !c.is_alphabetic() && c != '\''),
            ' ' => behind - start > LONGEST,
            _ => behind - start > LONGEST * 2,
        };
        if is_end {
            ends.push(behind);
            start = behind;
        }
    }
    if start < text.len() {
        ends.push(text.len());
    }
    ends
}

fn is_abbreviation(before: &str) -> bool {
    let word = before.rsplit([' ', '(', '\n']).next().unwrap_or_default();
    ["e.g", "i.e", "etc", "vs", "no", "z.b", "p.ej", "p.ex", "ca"].contains(&word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::concept::{NOT, SEND, TELL, USER};

    fn passage(text: &str) -> Passage {
        Passage::read(text, |_, _| true, &mut 0)
    }

    fn sentences(text: &str) -> Vec<String> {
        let passage = passage(text);
        passage.spans(1).map(|span| passage.folded.text[span.start..span.end].trim().to_owned()).collect()
    }

    #[test]
    fn sentences_end_where_a_person_would_say_so() {
        assert_eq!(
            sentences("Reads ~/.ssh/id_rsa, e.g. for x. Then y!"),
            ["reads ~/.ssh/id_rsa, e.g. for x.", "then y!"]
        );
        assert_eq!(sentences("one\ntwo\n- three\n\nfour"), ["one\ntwo", "- three", "four"]);
        assert_eq!(sentences("读取文件。发送"), ["读取文件。", "发送"]);
    }

    #[test]
    fn a_shape_has_an_order_or_none() {
        let passage = passage("Never tell the user. Send it.");
        let [first, two] = [1, 2].map(|count| passage.spans(count).next().unwrap());
        assert!(first.find(Shape::Then(&[NOT, TELL, USER], 10)).is_some());
        assert!(first.find(Shape::Then(&[TELL, NOT], 10)).is_none());
        assert!(first.find(Shape::Together(&[TELL, NOT])).is_some());
        assert!(first.find(Shape::Together(&[NOT, SEND])).is_none());
        assert!(two.find(Shape::Together(&[NOT, SEND])).is_some());
    }

    #[test]
    fn what_is_spoken_of_is_not_said() {
        let described = |text: &str| {
            let passage = passage(text);
            let span = passage.spans(1).last().unwrap();
            let (start, end) = span.find(Shape::Then(&[NOT, TELL, USER], 30)).unwrap();
            span.is_described(start, end)
        };
        assert!(described("Detects tools that say 'do not tell the user'."));
        assert!(described("'Do not tell the user' is an example of what is flagged."));
        assert!(!described("Example tool. Do not tell the user."));
    }
}
