//! A cursor as the words that were asked: `refund_a_payment_50123` goes on behind the fifth hit for "refund a payment".
//!
//! It is one word of letters that survive in JSON, in quotes and in a sentence; blanks are another letter, which the query has not. Behind
//! the last of these stand the place, a check, and what is not as usual. Counting from the end makes the first word cost nothing extra.

use toolfold_core::Kind;

use super::{Cursor, FARTHEST};
use crate::level::Level;

/// What stands for a blank: the first that the question does not have itself.
const BLANKS: [char; 4] = ['_', '-', '+', '='];
/// Beside letters and digits.
const ALLOWED: &str = ".,:;!?'@#$%+-_=";
/// Letters of a question. What is longer is rare.
const LONGEST: usize = 200;
/// The largest prime of as many digits as the check has: whatever one letter or two neighbours are taken for, it changes.
const PRIME: u64 = 9_973;
const CHECK_DIGITS: usize = 4;
const WEIGHT: u64 = 11;

const KINDS: [(Kind, char); 5] =
    [(Kind::Tool, 't'), (Kind::Agent, 'a'), (Kind::Skill, 'k'), (Kind::Prompt, 'p'), (Kind::Resource, 'r')];
const LEVELS: [char; 5] = ['n', 's', 'g', 'd', 'f'];
/// In front of a limit.
const LIMIT: char = 'x';

/// `None` where the question has what would not survive.
pub(super) fn encode(cursor: &Cursor) -> Option<String> {
    if !cursor.tags.is_empty() || cursor.offset > FARTHEST {
        return None;
    }
    // The path stands behind the query, each step behind a slash; neither has one itself.
    let mut words = cursor.query.clone();
    for step in &cursor.path {
        words.push('/');
        words.push_str(step);
    }
    let steps = std::iter::once(&cursor.query).filter(|query| !query.is_empty()).chain(&cursor.path);
    if words.chars().count() > LONGEST || !steps.into_iter().all(|step| is_plain(step)) {
        return None;
    }
    let blank = BLANKS.into_iter().find(|blank| !words.contains(*blank))?;
    let words = words.replace(' ', &blank.to_string());
    let unusual = unusual(cursor);
    let check = check(&format!("{words}{blank}{}{unusual}", cursor.offset));
    Some(format!("{words}{blank}{}{check:0digits$}{unusual}", cursor.offset, digits = CHECK_DIGITS))
}

pub(super) fn decode(text: &str) -> Option<Cursor> {
    let behind = text.rfind(|c: char| !c.is_ascii_alphanumeric())?;
    let (words, rest) = text.split_at(behind);
    let blank = rest.chars().next().filter(|blank| BLANKS.contains(blank))?;
    let rest = &rest[1..];
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let (offset, _) = rest[..digits].split_at_checked(digits.checked_sub(CHECK_DIGITS)?)?;
    let words = words.replace(blank, " ");
    let mut steps = words.split('/');
    let query = steps.next()?.to_owned();
    let path = steps.map(str::to_owned).collect();
    let (detail, limit) = usual(&query);
    let mut cursor = Cursor { query, path, kind: None, detail, limit, offset: offset.parse().ok()?, tags: Vec::new() };
    read(&rest[digits..], &mut cursor)?;
    // What would be written otherwise was changed.
    encode(&cursor).filter(|again| again == text).map(|_| cursor)
}

/// Whether a part of a question is as it was when it comes back.
fn is_plain(text: &str) -> bool {
    let known = |c: char| c.is_alphanumeric() || c == ' ' || ALLOWED.contains(c);
    text.starts_with(char::is_alphanumeric) && !text.ends_with(' ') && !text.contains("  ") && text.chars().all(known)
}

/// The level and the number of hits where nobody said any: of a search, or of a node.
fn usual(query: &str) -> (Level, usize) {
    if query.is_empty() { (Level::Summary, 50) } else { (Level::Signature, 10) }
}

/// A letter for each thing that is not as usual.
fn unusual(cursor: &Cursor) -> String {
    let (detail, limit) = usual(&cursor.query);
    let mut letters = String::new();
    letters.extend((cursor.detail != detail).then(|| LEVELS[cursor.detail as usize]));
    letters.extend(KINDS.iter().filter(|(kind, _)| cursor.kind == Some(*kind)).map(|(_, letter)| letter));
    if cursor.limit != limit {
        letters.push(LIMIT);
        letters.push_str(&cursor.limit.to_string());
    }
    letters
}

fn read(letters: &str, cursor: &mut Cursor) -> Option<()> {
    let (letters, limit) = letters.split_once(LIMIT).map_or((letters, None), |(letters, limit)| (letters, Some(limit)));
    for letter in letters.chars() {
        if let Some(level) = LEVELS.iter().position(|level| *level == letter) {
            cursor.detail = Level::ALL[level];
        } else {
            cursor.kind = Some(KINDS.iter().find(|(_, kind)| *kind == letter)?.0);
        }
    }
    if let Some(limit) = limit {
        cursor.limit = limit.parse().ok().filter(|limit| (1..=50).contains(limit))?;
    }
    Some(())
}

fn check(text: &str) -> u64 {
    text.chars().fold(1, |sum, c| (sum * WEIGHT + u64::from(u32::from(c))) % PRIME)
}
