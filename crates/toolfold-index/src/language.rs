//! Requests in other languages, word by word into English: a list of common words (`data/languages.txt`), endings ignored.
//!
//! What a reader would get wrong: this is no translation, and it is not for models, which are told to ask in English. It is so
//! that a person who asks in German, French, Spanish, Chinese or Japanese finds something. What the list does not have
//! stays as it is, and makes the answer less sure.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::OnceLock;

use rust_stemmers::{Algorithm, Stemmer};
use toolfold_core::words;

use crate::ask::says_something;
use crate::semantic::model;

/// Words of the longest phrase in the list.
const LONGEST_PHRASE: usize = 3;
/// Characters of the longest word that is not divided by spaces.
const LONGEST_RUN: usize = 12;
/// Letters of a German word that may be two, and of the shorter half.
const LONG: usize = 9;
const HALF: usize = 4;
/// What it takes to be of another language.
const ENOUGH: usize = 2;
/// Words of a request that are looked at.
const MOST: usize = 60;

const LANGUAGES: [Algorithm; 3] = [Algorithm::German, Algorithm::French, Algorithm::Spanish];
const GERMAN: usize = 0;

/// One word of the list in English.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Meant {
    /// Empty where it says nothing.
    english: &'static str,
    verb: bool,
}

struct Lists {
    stemmers: [Stemmer; 3],
    /// By the stems of a word or a phrase.
    divided: [HashMap<String, Meant>; 3],
    /// Words and stems with which phrases begin.
    begins: [HashSet<String>; 3],
    /// Those of Chinese and Japanese.
    runs: HashMap<&'static str, Meant>,
    /// What counts at the end of a German request.
    ends: HashMap<&'static str, &'static str>,
}

/// The request in English, or as it is where it is in none of the languages. `is_known` tells the words of the catalog.
pub(crate) fn in_english<'a>(text: &'a str, is_known: impl Fn(&str) -> bool) -> Cow<'a, str> {
    if text.chars().any(is_undivided) {
        let words = undivided(text);
        return if words.is_empty() { Cow::Borrowed(text) } else { Cow::Owned(joined(words)) };
    }
    let said: Vec<String> = words::split(text).into_iter().take(MOST).collect();
    let lists = lists();
    let read = (0..LANGUAGES.len()).map(|language| lists.read(language, &said, &is_known));
    let Some(best) = read.max_by_key(|read| read.evidence) else { return Cow::Borrowed(text) };
    let is_foreign = best.evidence >= ENOUGH && best.evidence > best.english && best.evidence * 2 >= said.len();
    if is_foreign && !best.words.is_empty() { Cow::Owned(joined(best.words)) } else { Cow::Borrowed(text) }
}

/// A request as one language has it.
struct Read<'a> {
    words: Vec<(Cow<'a, str>, bool)>,
    /// Words that are this language's and no English, twice where that is certain.
    evidence: usize,
    /// Words of English grammar that are not this language's.
    english: usize,
}

/// In one line, with the verb where English has it.
fn joined(mut words: Vec<(Cow<'_, str>, bool)>) -> String {
    // Where it is last, or the only one. What comes first is where it belongs.
    let verb = words.iter().rposition(|(_, verb)| *verb);
    let only = words.iter().filter(|(_, verb)| *verb).count() == 1;
    let first_is_verb = words.first().is_some_and(|(_, verb)| *verb);
    if let Some(place) = verb.filter(|place| !first_is_verb && (only || place + 1 == words.len())) {
        words[..=place].rotate_right(1);
    }
    let words: Vec<String> = words.iter().map(|(word, _)| word.replace('_', " ")).collect();
    words.join(" ")
}

impl Lists {
    fn read<'a>(&self, language: usize, said: &'a [String], is_known: &impl Fn(&str) -> bool) -> Read<'a> {
        let stems: Vec<Cow<'_, str>> = said.iter().map(|word| self.stemmers[language].stem(word)).collect();
        let mut read = Read { words: Vec::new(), evidence: 0, english: 0 };
        let mut at = 0;
        while at < said.len() {
            let word = &said[at];
            let ends = at + 1 == said.len() && language == GERMAN;
            if let Some(english) = self.ends.get(word.as_str()).filter(|_| ends && read.lacks_verb()) {
                read.words.push((Cow::Borrowed(*english), true));
                break;
            }
            let Some((meant, length)) = self.longest(language, &said[at..], &stems[at..]) else {
                read.english += usize::from(!says_something(word));
                match self.halves(language, word) {
                    Some(halves) => {
                        read.evidence += 2;
                        read.words.extend(halves.map(|half| (Cow::Borrowed(half.english), half.verb)));
                    }
                    None => read.words.push((Cow::Borrowed(word.as_str()), false)),
                }
                at += 1;
                continue;
            };
            let first = meant.english.split('_').next().unwrap_or_default();
            let is_english = !says_something(word) || (!first.is_empty() && word.starts_with(first));
            // What the model knows may be English after all.
            let told = if model().knows(word) { length } else { 2 * length };
            read.evidence += if is_english || (length == 1 && is_known(word)) { 0 } else { told };
            if !meant.english.is_empty() {
                read.words.push((Cow::Borrowed(meant.english), meant.verb));
            }
            at += length;
        }
        read
    }

    /// What the longest phrase at the beginning means, and of how many words it is.
    fn longest(&self, language: usize, said: &[String], stems: &[Cow<'_, str>]) -> Option<(Meant, usize)> {
        let (list, begins) = (&self.divided[language], &self.begins[language]);
        let (word, stem) = (said.first()?.as_str(), stems.first()?.as_ref());
        let begins = begins.contains(word) || begins.contains(stem);
        let most = if begins { LONGEST_PHRASE.min(said.len()) } else { 1 };
        let phrase = |length: usize| {
            list.get(&said[..length].join(" ")).or_else(|| list.get(&stems[..length].join(" "))).zip(Some(length))
        };
        let known = (2..=most).rev().find_map(phrase);
        known.or_else(|| list.get(word).or_else(|| list.get(stem)).zip(Some(1))).map(|(meant, length)| (*meant, length))
    }

    /// A German word that is made of two of the list.
    fn halves(&self, language: usize, word: &str) -> Option<[Meant; 2]> {
        if language != GERMAN || word.chars().count() < LONG {
            return None;
        }
        let known = |half: &str| {
            let list = &self.divided[GERMAN];
            let known = list.get(half).or_else(|| list.get(self.stemmers[GERMAN].stem(half).as_ref()));
            known.copied().filter(|meant| !meant.english.is_empty())
        };
        let cuts = word.char_indices().map(|(at, _)| at).filter(|at| *at >= HALF && word.len() - at >= HALF);
        cuts.filter_map(|at| {
            Some([known(&word[..at]).or_else(|| known(word[..at].strip_suffix('s')?))?, known(&word[at..])?])
        })
        .next_back()
    }
}

impl Read<'_> {
    /// Whether what a verb leaves behind at the end is the verb.
    fn lacks_verb(&self) -> bool {
        !self.words.iter().any(|(word, verb)| *verb && word != "turn")
    }
}

/// The words of a text without spaces, the longest that are known first.
fn undivided(text: &str) -> Vec<(Cow<'_, str>, bool)> {
    let runs = &lists().runs;
    let mut words: Vec<(Cow<'_, str>, bool)> = Vec::new();
    let mut rest = text;
    // What nobody knows is one strange word, however long.
    let mut strange: Option<usize> = None;
    while let Some(first) = rest.chars().next() {
        let at = text.len() - rest.len();
        let ends = || rest.char_indices().map(|(at, c)| at + c.len_utf8()).take(LONGEST_RUN);
        let known = if is_undivided(first) {
            ends().filter_map(|end| Some((*runs.get(&rest[..end])?, end))).last()
        } else {
            None
        };
        let (word, length) = match known {
            Some((meant, end)) => {
                ((!meant.english.is_empty()).then_some((Cow::Borrowed(meant.english), meant.verb)), end)
            }
            None if is_undivided(first) => {
                strange.get_or_insert(at);
                rest = &rest[first.len_utf8()..];
                continue;
            }
            None if first.is_alphanumeric() => {
                let end = rest.find(|c: char| !c.is_alphanumeric() || is_undivided(c)).unwrap_or(rest.len());
                (Some((Cow::Borrowed(&rest[..end]), false)), end)
            }
            None => (None, first.len_utf8()),
        };
        words.extend(strange.take().map(|from| (Cow::Borrowed(&text[from..at]), false)));
        words.extend(word);
        rest = &rest[length..];
    }
    words.extend(strange.map(|from| (Cow::Borrowed(&text[from..]), false)));
    words.truncate(MOST);
    words
}

/// Chinese and Japanese, in any of their scripts.
fn is_undivided(c: char) -> bool {
    matches!(c, '\u{3040}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{3005}')
}

fn lists() -> &'static Lists {
    static LISTS: OnceLock<Lists> = OnceLock::new();
    LISTS.get_or_init(|| Lists::read_from(include_str!("../data/languages.txt")))
}

impl Lists {
    fn read_from(text: &'static str) -> Lists {
        let mut lists = Lists {
            stemmers: LANGUAGES.map(Stemmer::create),
            divided: [HashMap::new(), HashMap::new(), HashMap::new()],
            begins: [HashSet::new(), HashSet::new(), HashSet::new()],
            runs: HashMap::new(),
            ends: HashMap::new(),
        };
        let mut section = "";
        for line in text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#')) {
            if let Some(name) = line.strip_prefix('[').and_then(|line| line.strip_suffix(']')) {
                section = name;
                continue;
            }
            let Some((english, foreign)) = line.split_once('=') else { continue };
            let english = english.trim().trim_start_matches('-');
            if section == "ends" {
                lists.ends.extend(foreign.split_whitespace().map(|word| (word, english)));
                continue;
            }
            let meant = Meant { english, verb: section == "verbs" };
            for (language, of_language) in foreign.split('|').enumerate() {
                of_language.split_whitespace().for_each(|word| lists.add(language, word, meant));
            }
        }
        lists
    }

    /// The first meaning of a word is the one.
    fn add(&mut self, language: usize, word: &'static str, meant: Meant) {
        let Some(list) = self.divided.get_mut(language) else {
            self.runs.entry(word).or_insert(meant);
            return;
        };
        let parts = words::split(word);
        let stems: Vec<Cow<'_, str>> = parts.iter().map(|part| self.stemmers[language].stem(part)).collect();
        if let ([first, _, ..], [stem, _, ..]) = (parts.as_slice(), stems.as_slice()) {
            self.begins[language].extend([first.clone(), stem.to_string()]);
        }
        list.entry(parts.join(" ")).or_insert(meant);
        list.entry(stems.join(" ")).or_insert(meant);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn english(text: &str) -> String {
        in_english(text, |_| false).into_owned()
    }

    #[test]
    fn requests_become_english() {
        assert_eq!(english("Lösche eine Datei"), "delete file");
        assert_eq!(english("eine Datei löschen"), "delete file");
        assert_eq!(english("schalte das Licht aus"), "turn light off");
        assert_eq!(english("lade eine Datei hoch"), "upload file");
        assert_eq!(english("mettre à jour la facture"), "update invoice");
        assert_eq!(english("enviar un mensaje al canal"), "send message channel");
        assert_eq!(english("删除文件"), "delete file");
        assert_eq!(english("ファイルを削除してください"), "delete file");
        assert_eq!(english("把文件移到回收站"), "move file trash");
    }

    #[test]
    fn english_stays_as_it_is() {
        for text in [
            "list open pull requests",
            "copy a file",
            "die roll",
            "active users",
            "set an alarm",
            "a",
            "",
            "Ticket 4711",
        ] {
            assert_eq!(english(text), text);
        }
        // What the catalog calls so is a name.
        assert_eq!(in_english("agenda correo", |_| true), "agenda correo");
    }

    #[test]
    fn what_nobody_knows_stays() {
        assert_eq!(english("显示Kubernetes的状态"), "show Kubernetes status");
        assert_eq!(english("薔薇を削除"), "delete 薔薇");
    }
}
