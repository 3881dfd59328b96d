//! The beginning and the end of many parts, at whole parts: what stands at the end (an error, a total) is often what matters.
//!
//! Parts come one after the other, each in pieces, and only what may be shown is held.

use std::collections::VecDeque;

/// Of the characters there are for it, so much is for the beginning.
const HEAD: f64 = 0.6;

/// Hears the parts of a text.
pub(crate) trait Parts {
    /// More of the part that is being read.
    fn add(&mut self, bytes: &[u8]);

    /// That part is whole.
    fn close(&mut self);
}

/// So many parts from the beginning and from the end, together within a number of characters.
pub(crate) struct Ends {
    head: Vec<String>,
    left_for_head: usize,
    head_is_full: bool,
    tail: VecDeque<(usize, String)>,
    for_tail: usize,
    in_tail: usize,
    count: usize,
    /// Characters of the first part.
    first: usize,
    part: Vec<u8>,
    characters: usize,
}

impl Ends {
    pub(crate) fn within(characters: usize) -> Self {
        let for_head = (characters as f64 * HEAD) as usize;
        Ends {
            head: Vec::new(),
            left_for_head: for_head,
            head_is_full: false,
            tail: VecDeque::new(),
            for_tail: characters - for_head,
            in_tail: 0,
            count: 0,
            first: 0,
            part: Vec::new(),
            characters: 0,
        }
    }

    /// How many parts there are.
    pub(crate) fn count(&self) -> usize {
        self.count
    }

    /// Characters of the first part.
    pub(crate) fn first(&self) -> usize {
        self.first
    }

    pub(crate) fn head(&self) -> &[String] {
        &self.head
    }

    pub(crate) fn tail(&self) -> impl ExactSizeIterator<Item = &str> {
        self.tail.iter().map(|(_, part)| part.as_str())
    }
}

impl Parts for Ends {
    fn add(&mut self, bytes: &[u8]) {
        self.characters += characters(bytes);
        // What can be shown nowhere is only counted.
        if self.characters < self.left_for_head.max(self.for_tail) {
            self.part.extend_from_slice(bytes);
        }
    }

    fn close(&mut self) {
        let (part, characters) = (std::mem::take(&mut self.part), std::mem::take(&mut self.characters));
        self.count += 1;
        if self.count == 1 {
            self.first = characters;
        }
        // A separator goes with each.
        let cost = characters + 1;
        let text = || String::from_utf8_lossy(&part).into_owned();
        if !self.head_is_full && cost <= self.left_for_head {
            self.left_for_head -= cost;
            return self.head.push(text());
        }
        self.head_is_full = true;
        if cost > self.for_tail {
            self.tail.clear();
            self.in_tail = 0;
            return;
        }
        self.tail.push_back((cost, text()));
        self.in_tail += cost;
        while self.in_tail > self.for_tail {
            self.in_tail -= self.tail.pop_front().map_or(0, |(cost, _)| cost);
        }
    }
}

/// How many characters begin in these bytes of a text.
pub(crate) fn characters(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| !is_inner(**byte)).count()
}

/// Whether a byte of a text is within a character.
pub(crate) fn is_inner(byte: u8) -> bool {
    byte & 0b1100_0000 == 0b1000_0000
}

/// Cuts a text into lines, as `str::lines` does.
#[derive(Default)]
pub(crate) struct LineSplit {
    /// Something of a line has been read.
    begun: bool,
    /// A return that ends the line where a new line follows.
    pending: bool,
}

impl LineSplit {
    pub(crate) fn feed(&mut self, mut bytes: &[u8], to: &mut impl Parts) {
        while !bytes.is_empty() {
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let line = &bytes[..end.unwrap_or(bytes.len())];
            if self.pending && !(line.is_empty() && end.is_some()) {
                to.add(b"\r");
                self.pending = false;
            }
            let (line, has_return) = match line.split_last() {
                Some((b'\r', before)) => (before, true),
                _ => (line, false),
            };
            to.add(line);
            self.begun = true;
            match end {
                Some(end) => {
                    to.close();
                    (self.begun, self.pending) = (false, false);
                    bytes = &bytes[end + 1..];
                }
                None => {
                    self.pending |= has_return;
                    break;
                }
            }
        }
    }

    pub(crate) fn finish(&mut self, to: &mut impl Parts) {
        if self.pending {
            to.add(b"\r");
        }
        if self.begun {
            to.close();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Default)]
    struct All(Vec<String>, Vec<u8>);

    impl Parts for All {
        fn add(&mut self, bytes: &[u8]) {
            self.1.extend_from_slice(bytes);
        }

        fn close(&mut self) {
            self.0.push(String::from_utf8(std::mem::take(&mut self.1)).unwrap());
        }
    }

    proptest! {
        #[test]
        fn lines_are_those_of_the_whole_text(text in "[ab\r\nä]{0,30}", piece in 1usize..6) {
            let (mut lines, mut all) = (LineSplit::default(), All::default());
            for piece in text.as_bytes().chunks(piece) {
                lines.feed(piece, &mut all);
            }
            lines.finish(&mut all);
            prop_assert_eq!(all.0, text.lines().map(str::to_owned).collect::<Vec<_>>());
        }

        #[test]
        fn ends_are_whole_parts_within_bounds(sizes in proptest::collection::vec(0usize..30, 0..40), most in 0usize..120) {
            let mut ends = Ends::within(most);
            for (place, size) in sizes.iter().enumerate() {
                ends.add(&vec![b'a' + (place % 26) as u8; *size]);
                ends.close();
            }
            let (head, tail) = (ends.head().len(), ends.tail().len());
            prop_assert!(head + tail <= sizes.len() && ends.count() == sizes.len());
            let shown = ends.head().iter().map(String::as_str).chain(ends.tail());
            let places = (0..head).chain(sizes.len() - tail..sizes.len());
            let mut sum = 0;
            for (part, place) in shown.zip(places) {
                prop_assert_eq!(part.len(), sizes[place]);
                prop_assert!(part.bytes().all(|byte| byte == b'a' + (place % 26) as u8));
                sum += part.len() + 1;
            }
            prop_assert!(sum <= most);
        }
    }
}
