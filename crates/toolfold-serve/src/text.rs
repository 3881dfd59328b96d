//! What a stranger sent, where it is said back: never more of it than helps.

use std::borrow::Cow;

/// Characters of a stranger's text that an answer repeats.
const MOST: usize = 120;

/// The beginning of a text, marked where it was cut.
pub(crate) fn shown(text: &str) -> Cow<'_, str> {
    match text.char_indices().nth(MOST) {
        Some((end, _)) => Cow::Owned(format!("{}…", &text[..end])),
        None => Cow::Borrowed(text),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_long_text_is_cut_between_characters() {
        assert_eq!(shown("short"), "short");
        assert_eq!(shown(&"é".repeat(1_000_000)).chars().count(), MOST + 1);
    }
}
