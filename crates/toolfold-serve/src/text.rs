//! What a stranger sent, where it is said back.

use std::borrow::Cow;

use toolfold_core::beginning;

/// Characters of a stranger's text that an answer repeats.
const MOST: usize = 120;

/// The beginning of a text, marked where it was cut.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    beginning(text, MOST)
}

/// A whole number, however large: more than there can be is as much as there can be.
pub(crate) fn whole(text: &str) -> Option<usize> {
    let digits = !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(usize::MAX))
}
