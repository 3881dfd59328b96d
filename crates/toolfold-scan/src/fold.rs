//! A text in the form that rules are written for: compatibility forms resolved, accents off, small letters, look-alikes
//! replaced, hidden characters gone, one space where there was white space. What is a trick of spelling in the original
//! is plain here, and every byte knows where it came from, so that findings show the original.

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::lookalike;
use crate::visible::vanishes;

#[derive(Debug, Default)]
pub(crate) struct Folded {
    pub(crate) text: String,
    /// For each byte of `text`, the byte of the original that it came from.
    from: Vec<u32>,
}

impl Folded {
    pub(crate) fn of(original: &str) -> Folded {
        let mut folded = Folded::default();
        let mut start = 0;
        // Word for word: whether a letter is a look-alike depends on the others of its word.
        for (at, c) in original.char_indices().filter(|(_, c)| c.is_whitespace()) {
            folded.word(original, start, at);
            folded.space(c, at);
            start = at + c.len_utf8();
        }
        folded.word(original, start, original.len());
        folded
    }

    fn word(&mut self, original: &str, start: usize, end: usize) {
        let word = &original[start..end];
        let mixed = lookalike::is_mixed(word);
        for (at, c) in word.char_indices().filter(|(_, c)| !vanishes(*c)) {
            if c.is_ascii() {
                self.push(c.to_ascii_lowercase(), start + at);
                continue;
            }
            for part in c.nfkd().filter(|part| !is_combining_mark(*part)) {
                let part = if mixed { lookalike::skeleton(part) } else { part };
                for small in plain(part).to_lowercase() {
                    self.push(small, start + at);
                }
                if part == 'ß' {
                    self.push('s', start + at);
                }
            }
        }
    }

    /// Line ends stay, as sentences end there; a run of white space is one.
    fn space(&mut self, c: char, at: usize) {
        let is_end = matches!(c, '\n' | '\u{2028}' | '\u{2029}');
        match self.text.as_bytes().last() {
            Some(b' ') if is_end => {
                self.text.pop();
                self.text.push('\n');
            }
            Some(b'\n') if is_end && !self.text.ends_with("\n\n") => self.push('\n', at),
            Some(b' ' | b'\n') | None => {}
            Some(_) => self.push(if is_end { '\n' } else { ' ' }, at),
        }
    }

    fn push(&mut self, c: char, at: usize) {
        self.text.push(c);
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        self.from.resize(self.text.len(), at);
    }

    /// The part of the original that a part of this came from, whole words of it.
    pub(crate) fn original<'a>(&self, original: &'a str, start: usize, end: usize) -> &'a str {
        let place = |at: usize| self.from.get(at).map_or(original.len(), |at| *at as usize);
        let (mut start, mut end) = (place(start), place(end));
        while !original.is_char_boundary(start) {
            start -= 1;
        }
        while !original.is_char_boundary(end) {
            end += 1;
        }
        original[start..end.max(start)].trim()
    }
}

/// Signs that mean the same as one of ASCII.
fn plain(c: char) -> char {
    match c {
        '‘' | '’' | '‚' | '‛' | '′' | '`' | '´' => '\'',
        '“' | '”' | '„' | '‟' | '″' | '«' | '»' => '"',
        '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' => '-',
        'ß' => 's',
        'ø' | 'Ø' => 'o',
        'ł' | 'Ł' => 'l',
        'ı' => 'i',
        c => c,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn tricks_of_spelling_are_plain() {
        let fold = |text: &str| Folded::of(text).text;
        assert_eq!(fold("Ｉｇｎｏｒｅ  ALL\n prévious"), "ignore all\nprevious");
        assert_eq!(fold("ign\u{200b}ore"), "ignore");
        assert_eq!(fold("іgnоrе"), "ignore");
        assert_eq!(fold("игнорируй всё"), "игнорируи все");
        assert_eq!(fold("„Müssen“ – 𝐛𝐨𝐥𝐝"), "\"mussen\" - bold");
        assert_eq!(fold("a \n\n\n b"), "a\n\nb");
    }

    #[test]
    fn a_part_knows_where_it_came_from() {
        let original = "x ＡＢ\u{200b}Ｃ y";
        let folded = Folded::of(original);
        let at = folded.text.find("abc").unwrap();
        assert_eq!(folded.original(original, at, at + 3), "ＡＢ\u{200b}Ｃ");
    }

    proptest! {
        #[test]
        fn any_part_can_be_shown(text in any::<String>(), a in 0usize..200, b in 0usize..200) {
            let folded = Folded::of(&text);
            let (a, b) = (a.min(b).min(folded.text.len()), a.max(b).min(folded.text.len()));
            prop_assert!(text.contains(folded.original(&text, a, b)));
            prop_assert_eq!(folded.from.len(), folded.text.len());
        }
    }
}
