//! Letters of one script that look like letters of another. Only a word that mixes scripts is suspicious: a word of
//! Russian beside one of English is a text in two languages.

use unicode_normalization::UnicodeNormalization;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Script {
    Latin,
    Cyrillic,
    Greek,
    Armenian,
    Cherokee,
}

fn script(c: char) -> Option<Script> {
    match c {
        'a'..='z' | 'A'..='Z' | '\u{c0}'..='\u{24f}' => Some(Script::Latin),
        '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => Some(Script::Greek),
        '\u{400}'..='\u{52f}' => Some(Script::Cyrillic),
        '\u{531}'..='\u{58f}' => Some(Script::Armenian),
        '\u{13a0}'..='\u{13ff}' | '\u{ab70}'..='\u{abbf}' => Some(Script::Cherokee),
        _ => None,
    }
}

/// Words (runs of letters and digits) of a text.
pub(crate) fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty())
}

/// Whether a run of characters has a word in it whose letters are of several scripts, where those that are not Latin
/// look as if they were. `μs` and `Δt` are units and signs, not tricks.
pub(crate) fn is_mixed(run: &str) -> bool {
    !run.is_ascii() && words(run).any(is_mixed_word)
}

pub(crate) fn is_mixed_word(word: &str) -> bool {
    let (mut latin, mut other) = (0, 0);
    for c in word.chars() {
        match script(c) {
            Some(Script::Latin) => latin += 1,
            Some(_) if skeleton(c) != c => other += 1,
            // A letter that looks like no other shows that the word is what it seems.
            Some(_) => return false,
            None => {}
        }
    }
    latin > 0 && other > 0 && latin + other > 2
}

/// A whole word in another script that reads as if it were Latin: every letter looks like one.
pub(crate) fn is_disguised(word: &str) -> bool {
    let letters = || word.chars().filter(|c| c.is_alphabetic());
    letters().count() > 2 && letters().all(|c| !c.is_ascii() && skeleton(c).is_ascii())
}

/// Letters that are written as if they were Latin by compatibility: full width, mathematical, circled.
pub(crate) fn is_styled(c: char) -> bool {
    matches!(c, '\u{ff21}'..='\u{ff5a}' | '\u{1d400}'..='\u{1d7ff}' | '\u{24b6}'..='\u{24e9}' | '\u{1f130}'..='\u{1f189}')
}

/// The Latin letter that a letter looks like; itself where there is none.
pub(crate) fn skeleton(c: char) -> char {
    match c {
        'а' | 'α' | 'ɑ' => 'a',
        'А' | 'Α' | 'Ꭺ' => 'A',
        'В' | 'Β' | 'Ᏼ' => 'B',
        'ь' | 'Ь' => 'b',
        'с' | 'ϲ' => 'c',
        'С' | 'Ϲ' | 'Ꮯ' => 'C',
        'ԁ' => 'd',
        'е' | 'ҽ' => 'e',
        'Е' | 'Ε' | 'Ꭼ' => 'E',
        'ց' | 'ɡ' => 'g',
        'һ' | 'հ' => 'h',
        'Н' | 'Η' | 'Ꮋ' => 'H',
        'і' | 'ι' | 'ӏ' | 'ɩ' => 'i',
        'І' | 'Ι' | 'Ӏ' => 'I',
        'ј' | 'ϳ' => 'j',
        'Ј' | 'Ꭻ' => 'J',
        'к' | 'κ' => 'k',
        'К' | 'Κ' | 'Ꮶ' => 'K',
        'Ꮮ' => 'L',
        'М' | 'Μ' | 'Ꮇ' => 'M',
        'ո' | 'п' | 'η' => 'n',
        'Ν' => 'N',
        'о' | 'ο' | 'օ' | 'σ' => 'o',
        'О' | 'Ο' | 'Օ' => 'O',
        'р' | 'ρ' => 'p',
        'Р' | 'Ρ' | 'Ꮲ' => 'P',
        'ԛ' | 'զ' => 'q',
        'г' => 'r',
        'ѕ' => 's',
        'Ѕ' | 'Տ' | 'Ꮪ' => 'S',
        'т' | 'τ' => 't',
        'Т' | 'Τ' | 'Ꭲ' => 'T',
        'υ' | 'ս' => 'u',
        'Ս' => 'U',
        'ν' | 'ѵ' => 'v',
        'Ꮩ' => 'V',
        'ѡ' | 'ԝ' | 'ω' => 'w',
        'Ꮃ' | 'Ԝ' => 'W',
        'х' | 'χ' => 'x',
        'Х' | 'Χ' => 'X',
        'у' | 'γ' => 'y',
        'У' | 'Υ' => 'Y',
        'Ζ' | 'Ꮓ' => 'Z',
        c => c,
    }
}

/// A name as the eye takes it: two names with the same one are hard to tell apart.
pub(crate) fn outline(name: &str) -> String {
    let letters = name.nfkd().map(skeleton).filter(|c| c.is_alphanumeric());
    let small = letters.flat_map(char::to_lowercase);
    // 0 and o, 1 and l and i are one to the eye; m and rn nearly.
    let alike = small.map(|c| match c {
        '0' => 'o',
        '1' | 'i' => 'l',
        '5' => 's',
        c => c,
    });
    alike.collect::<String>().replace("rn", "m").replace("vv", "w")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_of_two_scripts_is_mixed_and_two_languages_are_not() {
        assert!(is_mixed("rеad_file"));
        assert!(is_mixed("pαypal"));
        for text in ["read", "читать файл read", "Δt", "5μs", "Straße", "日本語text", "naïve"] {
            assert!(!is_mixed(text), "{text}");
        }
        assert!(is_disguised("сору"));
        assert!(!is_disguised("файл"));
    }

    #[test]
    fn names_that_look_alike_have_one_outline() {
        assert_eq!(outline("read_file"), outline("rеad-Flle"));
        assert_eq!(outline("send_email"), outline("ｓｅｎｄ＿ｅｒnａｉｌ"));
        assert_ne!(outline("read_file"), outline("write_file"));
    }
}
