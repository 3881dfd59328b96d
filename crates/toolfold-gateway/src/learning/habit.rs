//! A habit as the store has it, and back: marks and occasions as bytes.

use toolfold_core::ToolId;
use toolfold_index::{Habit, Mark, Occasion};
use toolfold_store::StoredHabit;

/// Bytes of a mark: the number of the word, and its weight.
const MARK: usize = 5;

/// Those who see the same, where that is not everything.
pub(crate) type Learners = [u8; 8];

/// Which request it is: the words alone tell, however often each was said and whatever they weigh today. And whose.
pub(super) fn request(marks: &[Mark], learners: Option<Learners>) -> Vec<u8> {
    let words = words(marks);
    words.into_iter().chain(learners.into_iter().flatten()).collect()
}

/// Whose request it is.
pub(super) fn learners(request: &[u8]) -> Option<Learners> {
    request.get(8..)?.first_chunk().copied()
}

fn words(marks: &[Mark]) -> [u8; 8] {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for byte in marks.iter().flat_map(|mark| mark.word.to_le_bytes()) {
        hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
    }
    hash.to_le_bytes()
}

pub(super) fn packed(marks: &[Mark]) -> Vec<u8> {
    marks.iter().flat_map(|mark| mark.word.to_le_bytes().into_iter().chain([mark.weight])).collect()
}

/// `None` where the tool's id is none.
pub(super) fn unpacked(stored: &StoredHabit) -> Option<Habit> {
    let mark = |[a, b, c, d, weight]: &[u8; MARK]| Mark { word: u32::from_le_bytes([*a, *b, *c, *d]), weight: *weight };
    let occasion = |[a, b, c, d, e, f, g, h]: &[u8; 8]| Occasion {
        who: u32::from_le_bytes([*a, *b, *c, *d]),
        when: u32::from_le_bytes([*e, *f, *g, *h]),
    };
    let mut marks: Vec<Mark> = stored.marks.as_chunks().0.iter().map(mark).collect();
    marks.sort_unstable();
    Some(Habit {
        tool: ToolId::parse(&stored.tool)?,
        marks,
        occasions: stored.occasions.iter().map(occasion).collect(),
        times: stored.times,
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn stored(tool: &str, marks: Vec<u8>) -> StoredHabit {
        StoredHabit { request: vec![0; 8], tool: tool.to_owned(), marks, text: None, times: 1, occasions: vec![[1; 8]] }
    }

    proptest! {
        #[test]
        fn marks_come_back_as_they_went(words in proptest::collection::btree_map(any::<u32>(), any::<u8>(), 0..12)) {
            let marks: Vec<Mark> = words.into_iter().map(|(word, weight)| Mark { word, weight }).collect();
            prop_assert_eq!(unpacked(&stored("a.b", packed(&marks))).unwrap().marks, marks);
        }

        /// A file that somebody else wrote into is no reason to fall over.
        #[test]
        fn any_bytes_are_some_marks(bytes in proptest::collection::vec(any::<u8>(), 0..64)) {
            prop_assert!(unpacked(&stored("a.b", bytes.clone())).unwrap().marks.len() == bytes.len() / MARK);
        }
    }
}
