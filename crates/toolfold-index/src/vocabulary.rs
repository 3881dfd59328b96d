//! Every word of the catalog, once, sorted: a term's number is its place. One string holds them all.

use toolfold_core::words;

#[derive(Debug, Default, Clone)]
pub(crate) struct Vocabulary {
    text: String,
    /// Where each term ends in `text`.
    ends: Vec<u32>,
    /// Which letters each term has: a cheap way to see that two words cannot be near.
    letters: Vec<u32>,
}

impl Vocabulary {
    /// From sorted, different terms.
    pub(crate) fn new<'a>(sorted: impl IntoIterator<Item = &'a str>) -> Vocabulary {
        let mut vocabulary = Vocabulary::default();
        for term in sorted {
            vocabulary.text.push_str(term);
            vocabulary.ends.push(vocabulary.text.len() as u32);
            vocabulary.letters.push(letters(term));
        }
        vocabulary.text.shrink_to_fit();
        vocabulary.ends.shrink_to_fit();
        vocabulary.letters.shrink_to_fit();
        vocabulary
    }

    pub(crate) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(crate) fn term(&self, number: u32) -> &str {
        let number = number as usize;
        let start = if number == 0 { 0 } else { self.ends[number - 1] as usize };
        &self.text[start..self.ends[number] as usize]
    }

    pub(crate) fn number(&self, term: &str) -> Option<u32> {
        let (mut low, mut high) = (0, self.len() as u32);
        while low < high {
            let middle = low + (high - low) / 2;
            match self.term(middle).cmp(term) {
                std::cmp::Ordering::Less => low = middle + 1,
                std::cmp::Ordering::Greater => high = middle,
                std::cmp::Ordering::Equal => return Some(middle),
            }
        }
        None
    }

    /// The term a misspelt word was meant to be: one slip from four letters on, two from eight. The common one of
    /// several equally near. Numbers are no slips of other numbers.
    pub(crate) fn nearest(&self, word: &str, frequency: impl Fn(u32) -> usize) -> Option<u32> {
        let length = word.chars().count();
        let slips = match length {
            0..4 => return None,
            4..8 => 1,
            _ => 2,
        };
        if word.contains(char::is_numeric) {
            return None;
        }
        let wanted = letters(word);
        // One slip adds at most one letter and drops at most one.
        let possible = |number: u32| {
            let term_length = self.term(number).len();
            (self.letters[number as usize] ^ wanted).count_ones() <= 2 * slips
                && term_length.abs_diff(word.len()) <= 4 * slips as usize
        };
        (0..self.len() as u32)
            .filter(|&number| possible(number))
            .map(|number| (words::distance(word, self.term(number)), usize::MAX - frequency(number), number))
            .filter(|(distance, _, _)| *distance <= slips as usize)
            .min()
            .map(|(_, _, number)| number)
    }

    pub(crate) fn bytes(&self) -> usize {
        self.text.capacity() + 4 * (self.ends.capacity() + self.letters.capacity())
    }
}

fn letters(word: &str) -> u32 {
    word.chars().fold(0, |mask, c| mask | 1 << (c as u32 % 32))
}
