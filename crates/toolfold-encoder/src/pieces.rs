//! Text to wordpieces, the way BERT's uncased models were trained: lower case, no accents, every punctuation mark and every
//! CJK character a word of its own, then the longest pieces of the vocabulary from the left.
//!
//! Nothing in a text is special: `[SEP]` written in a description is three words, not the end.

use std::collections::HashMap;

use unicode_general_category::{GeneralCategory, get_general_category};
use unicode_normalization::UnicodeNormalization;

use crate::error::Problem;

/// A longer word is not a word.
const LONGEST_WORD: usize = 100;
/// How much of a text is looked at, in characters. Far more than fills the pieces there is room for, unless most of it is
/// white space or marks.
const LOOKED_AT: usize = 16_384;

#[derive(Debug)]
pub(crate) struct Pieces {
    beginnings: HashMap<Box<str>, u32>,
    /// Pieces that go on within a word, without their `##`.
    continuations: HashMap<Box<str>, u32>,
    unknown: u32,
    begin: u32,
    end: u32,
}

impl Pieces {
    pub(crate) fn new(vocabulary: &str, expected: usize) -> Result<Pieces, Problem> {
        let wrong = |why: String| Problem::Vocabulary { why };
        let found = vocabulary.split('\n').count();
        if found != expected {
            return Err(wrong(format!("has {found} wordpieces where {expected} were announced")));
        }
        let (mut beginnings, mut continuations) = (HashMap::new(), HashMap::new());
        for (piece, number) in vocabulary.split('\n').zip(0..) {
            match piece.strip_prefix("##") {
                Some(rest) if !rest.is_empty() => continuations.insert(rest.into(), number),
                _ => beginnings.insert(piece.into(), number),
            };
        }
        let special = |name: &str| beginnings.get(name).copied().ok_or_else(|| wrong(format!("lacks {name}")));
        let (unknown, begin, end) = (special("[UNK]")?, special("[CLS]")?, special("[SEP]")?);
        Ok(Pieces { beginnings, continuations, unknown, begin, end })
    }

    /// At most `room` pieces, the two around them included.
    pub(crate) fn of(&self, text: &str, room: usize) -> Vec<u32> {
        let mut pieces = vec![self.begin];
        let mut word = String::new();
        for character in characters(text).chain([' ']) {
            if pieces.len() >= room {
                break;
            }
            let alone = is_punctuation(character) || is_ideograph(character);
            if alone || character == ' ' {
                self.push_word(&word, &mut pieces);
                word.clear();
            } else {
                word.push(character);
            }
            if alone {
                self.push_word(character.encode_utf8(&mut [0; 4]), &mut pieces);
            }
        }
        pieces.truncate(room - 1);
        pieces.push(self.end);
        pieces
    }

    fn push_word(&self, word: &str, pieces: &mut Vec<u32>) {
        let before = pieces.len();
        let mut rest = word;
        let mut known = &self.beginnings;
        let too_long = word.chars().nth(LONGEST_WORD).is_some();
        while !rest.is_empty() {
            let longest = if too_long { None } else { longest_in(known, rest) };
            let Some((length, piece)) = longest else {
                // One part that nobody knows makes the whole word unknown.
                pieces.truncate(before);
                return pieces.push(self.unknown);
            };
            pieces.push(piece);
            rest = &rest[length..];
            known = &self.continuations;
        }
    }
}

fn longest_in(known: &HashMap<Box<str>, u32>, text: &str) -> Option<(usize, u32)> {
    let ends = text.char_indices().map(|(at, character)| at + character.len_utf8()).rev();
    ends.into_iter().find_map(|end| known.get(&text[..end]).map(|piece| (end, *piece)))
}

/// A text's characters as the vocabulary knows them; all white space is a blank.
fn characters(text: &str) -> impl Iterator<Item = char> {
    let seen = text.chars().take(LOOKED_AT).filter_map(seen);
    seen.nfd()
        .filter(|character| get_general_category(*character) != GeneralCategory::NonspacingMark)
        .flat_map(char::to_lowercase)
}

fn seen(character: char) -> Option<char> {
    use GeneralCategory::{Control, Format, PrivateUse, Unassigned};
    if character.is_whitespace() {
        return Some(' ');
    }
    let nothing = matches!(get_general_category(character), Control | Format | PrivateUse | Unassigned);
    (!nothing && character != char::REPLACEMENT_CHARACTER).then_some(character)
}

fn is_punctuation(character: char) -> bool {
    use GeneralCategory::{
        ClosePunctuation, ConnectorPunctuation, DashPunctuation, FinalPunctuation, InitialPunctuation, OpenPunctuation,
        OtherPunctuation,
    };
    // `$`, `+`, `~` and their like are symbols to Unicode and punctuation here.
    character.is_ascii_punctuation()
        || !character.is_ascii()
            && matches!(
                get_general_category(character),
                ClosePunctuation
                    | ConnectorPunctuation
                    | DashPunctuation
                    | FinalPunctuation
                    | InitialPunctuation
                    | OpenPunctuation
                    | OtherPunctuation
            )
}

/// Written without blanks between words, so each stands alone. Japanese kana and Korean are not among them: that is how
/// the models were trained.
fn is_ideograph(character: char) -> bool {
    matches!(u32::from(character),
        0x4E00..=0x9FFF | 0x3400..=0x4DBF | 0x20000..=0x2A6DF | 0x2A700..=0x2B73F
        | 0x2B740..=0x2B81F | 0x2B920..=0x2CEAF | 0xF900..=0xFAFF | 0x2F800..=0x2FA1F)
}
