//! Words that some write in two parts and others in one: a to-do is a `todo`, and who is on-call is `oncall`.
//!
//! What a reader would get wrong: only what says nothing in parts is joined. "pull-request" is two words that are found, and
//! stays two.

use std::borrow::Cow;

use crate::ask::says_something;

/// The text with each such word as the catalog writes it. `knows` is whether the catalog has a word.
pub(crate) fn joined(text: &str, knows: impl Fn(&str) -> bool) -> Cow<'_, str> {
    if !text.contains('-') {
        return Cow::Borrowed(text);
    }
    let mut changed = false;
    let words: Vec<Cow<'_, str>> = text
        .split(' ')
        .map(|word| match one_word(word).filter(|one| knows(one)) {
            Some(one) => {
                changed = true;
                Cow::Owned(one)
            }
            None => Cow::Borrowed(word),
        })
        .collect();
    if changed { Cow::Owned(words.join(" ")) } else { Cow::Borrowed(text) }
}

/// A word of two parts as one, where one of them says nothing: "to-do", "e-mail", "re-run".
fn one_word(word: &str) -> Option<String> {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric());
    let (first, second) = bare.split_once('-')?;
    let plain = |part: &str| !part.is_empty() && part.chars().all(char::is_alphabetic);
    let empty = |part: &str| part.len() == 1 || !says_something(part);
    let (first, second) = (first.to_lowercase(), second.to_lowercase());
    (plain(&first) && plain(&second) && (empty(&first) || empty(&second))).then(|| first + &second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_says_nothing_in_parts_is_one_word_where_the_catalog_has_it() {
        let known = |word: &str| ["todo", "email", "oncall", "pullrequest"].contains(&word);
        assert_eq!(joined("create a to-do, please", known), "create a todo please");
        assert_eq!(joined("Who is On-Call?", known), "Who is oncall");
        assert_eq!(joined("open a pull-request", known), "open a pull-request");
        assert_eq!(joined("follow-up by e-mail", known), "follow-up by email");
        assert_eq!(joined("-- to- -do a-1", known), "-- to- -do a-1");
    }
}
