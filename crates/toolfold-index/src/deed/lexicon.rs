//! The vocabulary of deeds, out of `data/deeds.toml`: which acts a word may mean, and how acts go together.

use std::borrow::Cow;
use std::collections::HashMap;
use std::ops::{BitAnd, BitOr, BitOrAssign};
use std::sync::OnceLock;

use serde::Deserialize;

static DEEDS: &str = include_str!("../../data/deeds.toml");

/// A set of acts, a bit each.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Acts(u128);

/// What an act does to a thing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Effect {
    Look,
    Make,
    Change,
    Send,
    Act,
    Public,
    Destroy,
}

pub(crate) struct Lexicon {
    names: Vec<String>,
    words: HashMap<String, Sense>,
    /// By their first word: the words that follow, and the act.
    phrases: HashMap<String, Vec<(Vec<String>, Acts)>>,
    /// Things by the deed that leaves them behind, and by the one that a request wants which begins with them.
    results: HashMap<String, Acts>,
    asked: HashMap<String, Acts>,
    near: Vec<Acts>,
    opposite: Vec<Acts>,
    /// The acts of each effect.
    effects: [Acts; Effect::COUNT],
}

/// What a word may mean.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Sense {
    pub(crate) acts: Acts,
    /// Whether it is as often the name of a thing.
    pub(crate) noun: bool,
}

impl Effect {
    const COUNT: usize = Effect::Destroy as usize + 1;
}

impl Acts {
    pub(crate) const NONE: Acts = Acts(0);

    pub(crate) fn is_empty(self) -> bool {
        self.0 == 0
    }

    pub(crate) fn meets(self, other: Acts) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) fn without(self, other: Acts) -> Acts {
        Acts(self.0 & !other.0)
    }

    fn one(number: usize) -> Acts {
        Acts(1 << number)
    }

    fn each(self) -> impl Iterator<Item = usize> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let next = (rest != 0).then(|| rest.trailing_zeros() as usize)?;
            rest &= rest - 1;
            Some(next)
        })
    }
}

impl BitOr for Acts {
    type Output = Acts;

    fn bitor(self, other: Acts) -> Acts {
        Acts(self.0 | other.0)
    }
}

impl BitAnd for Acts {
    type Output = Acts;

    fn bitand(self, other: Acts) -> Acts {
        Acts(self.0 & other.0)
    }
}

impl BitOrAssign for Acts {
    fn bitor_assign(&mut self, other: Acts) {
        self.0 |= other.0;
    }
}

#[derive(Deserialize)]
struct Kinds {
    act: Vec<Act>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Act {
    name: String,
    effect: Effect,
    #[serde(default)]
    undoes: Vec<String>,
    #[serde(default)]
    near: Vec<String>,
    #[serde(default)]
    words: String,
    #[serde(default)]
    nouns: String,
    #[serde(default)]
    asked: String,
    #[serde(default)]
    leaves: String,
    #[serde(default)]
    phrases: Vec<String>,
}

/// The shipped vocabulary. A test reads it, so that no build with a broken one passes.
pub(crate) fn lexicon() -> &'static Lexicon {
    static LEXICON: OnceLock<Lexicon> = OnceLock::new();
    LEXICON.get_or_init(|| {
        Lexicon::new(&toml::from_str::<Kinds>(DEEDS).expect("the vocabulary in this binary is whole").act)
    })
}

impl Lexicon {
    fn new(acts: &[Act]) -> Lexicon {
        let numbers: HashMap<&str, usize> = acts.iter().enumerate().map(|(n, act)| (act.name.as_str(), n)).collect();
        let set = |names: &[String]| {
            names.iter().fold(Acts::NONE, |set, name| {
                set | Acts::one(*numbers.get(name.as_str()).unwrap_or_else(|| panic!("no act is called {name:?}")))
            })
        };
        let mut lexicon = Lexicon {
            names: acts.iter().map(|act| act.name.clone()).collect(),
            words: HashMap::new(),
            phrases: HashMap::new(),
            results: HashMap::new(),
            asked: HashMap::new(),
            near: acts.iter().map(|act| set(&act.near)).collect(),
            opposite: acts.iter().map(|act| set(&act.undoes)).collect(),
            effects: [Acts::NONE; Effect::COUNT],
        };
        for (number, act) in acts.iter().enumerate() {
            lexicon.effects[act.effect as usize] |= Acts::one(number);
            lexicon.add(Acts::one(number), act);
        }
        lexicon
    }

    fn add(&mut self, one: Acts, act: &Act) {
        for (words, noun) in [(&act.words, false), (&act.nouns, true)] {
            for word in words.split_whitespace() {
                let known = self.words.entry(word.to_owned()).or_insert(Sense { acts: Acts::NONE, noun: true });
                known.acts |= one;
                known.noun &= noun;
            }
        }
        for (things, acts) in [(&act.leaves, &mut self.results), (&act.asked, &mut self.asked)] {
            for thing in things.split_whitespace() {
                *acts.entry(thing.to_owned()).or_default() |= one;
            }
        }
        for phrase in &act.phrases {
            let mut words = phrase.split_whitespace().map(str::to_owned);
            let Some(first) = words.next() else { continue };
            self.phrases.entry(first).or_default().push((words.collect(), one));
        }
    }

    /// The acts of a verb in its plain form.
    pub(crate) fn exactly(&self, word: &str) -> Option<Sense> {
        self.words.get(word).copied()
    }

    /// The acts of a verb in whatever form.
    pub(crate) fn word(&self, word: &str) -> Option<Sense> {
        plain_forms(word).find_map(|plain| self.words.get(plain.as_ref()).copied())
    }

    /// The acts of a thing that a request begins with.
    pub(crate) fn asked(&self, thing: &str) -> Option<Acts> {
        self.asked.get(thing).copied()
    }

    /// The acts that leave a thing behind.
    pub(crate) fn leaving(&self, thing: &str) -> Acts {
        let one = thing.strip_suffix('s').unwrap_or(thing);
        [thing, one].iter().find_map(|thing| self.results.get(*thing).copied()).unwrap_or_default()
    }

    /// The acts of a phrase that begins with the first of some words, and the places of the words that belong to it. A
    /// particle may stand a few words off.
    pub(crate) fn phrase(&self, words: &[String]) -> Option<(Acts, Vec<usize>)> {
        let first = words.first()?;
        let phrases = plain_forms(first).find_map(|plain| self.phrases.get(plain.as_ref()))?;
        let mut best: Option<(usize, usize, Acts, Vec<usize>)> = None;
        for (rest, act) in phrases {
            let Some(places) = places(words, rest) else { continue };
            // More words say more, and near ones rather than far ones.
            let (said, far) = (rest.len(), places.last().copied().unwrap_or(0));
            match &mut best {
                Some((most, nearest, acts, _)) if (*most, *nearest) == (said, far) => *acts |= *act,
                Some((most, nearest, ..)) if (*most, usize::MAX - *nearest) >= (said, usize::MAX - far) => {}
                _ => best = Some((said, far, *act, places)),
            }
        }
        best.map(|(_, _, acts, places)| (acts, places))
    }

    /// What the acts are called.
    pub(crate) fn names(&self, acts: Acts) -> impl Iterator<Item = &str> {
        acts.each().map(|act| self.names[act].as_str())
    }

    pub(crate) fn near(&self, acts: Acts) -> Acts {
        acts.each().fold(Acts::NONE, |set, act| set | self.near[act])
    }

    pub(crate) fn opposite(&self, acts: Acts) -> Acts {
        acts.each().fold(Acts::NONE, |set, act| set | self.opposite[act])
    }

    /// What stands for any change: to update something.
    pub(crate) fn general(&self) -> Acts {
        self.exactly("update").map_or(Acts::NONE, |sense| sense.acts)
    }

    /// Those of the acts that have the effect.
    pub(crate) fn of(&self, acts: Acts, effect: Effect) -> Acts {
        acts & self.effects[effect as usize]
    }

    /// Whether some of the acts have the effect.
    pub(crate) fn any(&self, acts: Acts, effect: Effect) -> bool {
        acts.meets(self.effects[effect as usize])
    }

    /// Whether there are acts and all have the effect.
    pub(crate) fn all(&self, acts: Acts, effect: Effect) -> bool {
        !acts.is_empty() && acts & self.effects[effect as usize] == acts
    }
}

/// The word, and what it would be without the ending of a person, a tense or a gerund.
fn plain_forms(word: &str) -> impl Iterator<Item = Cow<'_, str>> {
    let stem = |ending: &str| word.strip_suffix(ending).filter(|stem| stem.len() > 1);
    let undoubled = |stem: &'_ str| {
        let letters = stem.as_bytes();
        let doubled = stem.is_ascii() && letters.len() > 2 && letters[letters.len() - 1] == letters[letters.len() - 2];
        doubled.then(|| stem[..stem.len() - 1].to_owned())
    };
    let ends = ["ing", "ed"].into_iter().filter_map(stem);
    let ends = ends.flat_map(move |stem| [Some(stem.to_owned()), Some(format!("{stem}e")), undoubled(stem)]);
    let third = ["s", "es", "d"].into_iter().filter_map(stem).map(Cow::Borrowed);
    let in_y = ["ies", "ied"].into_iter().filter_map(stem).map(|stem| Cow::Owned(format!("{stem}y")));
    std::iter::once(Cow::Borrowed(word)).chain(in_y).chain(third).chain(ends.flatten().map(Cow::Owned))
}

/// How far a particle may stand from its verb.
const FARTHEST: usize = 5;
/// How many words may stand between two of a longer phrase.
const BETWEEN: usize = 3;

/// Where the rest of a phrase is in words whose first is its beginning: each within a few words.
fn places(words: &[String], rest: &[String]) -> Option<Vec<usize>> {
    match rest {
        [] => Some(vec![0]),
        [particle] => {
            let place = words.iter().skip(1).take(FARTHEST).position(|word| word == particle)? + 1;
            Some(vec![0, place])
        }
        several => {
            // What it is done to may stand between them: "take back my approval", "give a customer their money back".
            let mut found = vec![0];
            for wanted in several {
                let from = found.last()? + 1;
                found.push(from + words.iter().skip(from).take(BETWEEN + 1).position(|word| word == wanted)?);
            }
            Some(found)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(name: &str) -> Acts {
        let acts: Kinds = toml::from_str(DEEDS).expect("it is TOML");
        Acts::one(acts.act.iter().position(|act| act.name == name).expect("there is such an act"))
    }

    fn words(text: &str) -> Vec<String> {
        text.split(' ').map(str::to_owned).collect()
    }

    #[test]
    fn the_shipped_vocabulary_is_whole() {
        let acts: Kinds = toml::from_str(DEEDS).expect("it is TOML");
        assert!(acts.act.len() <= 128);
        assert!(lexicon().words.len() > 300, "{}", lexicon().words.len());
    }

    #[test]
    fn a_verb_is_known_in_its_forms() {
        for form in ["delete", "deletes", "deleting", "deleted"] {
            assert!(lexicon().word(form).is_some_and(|word| word.acts.meets(named("delete"))), "{form}");
        }
        for form in ["stops", "stopping", "stopped"] {
            assert!(lexicon().word(form).is_some_and(|word| word.acts.meets(named("stop"))), "{form}");
        }
        assert!(lexicon().word("xylophone").is_none());
    }

    #[test]
    fn a_particle_makes_another_verb_and_may_stand_apart() {
        for text in ["turn off the flag", "turn the flag off", "turning the old flag off"] {
            let (acts, _) = lexicon().phrase(&words(text)).expect("a phrase");
            assert!(acts.meets(named("disable")) && !acts.meets(named("enable")), "{text}");
        }
        assert!(lexicon().phrase(&words("turn the corner")).is_none());
        let (acts, places) = lexicon().phrase(&words("get rid of it")).expect("a phrase");
        assert!(acts.meets(named("delete")));
        assert_eq!(places, [0, 1, 2]);
    }

    #[test]
    fn opposites_undo_each_other() {
        for (one, other) in [("enable", "disable"), ("start", "stop"), ("grant", "revoke"), ("publish", "unpublish")] {
            assert!(lexicon().opposite(named(one)).meets(named(other)), "{one}");
            assert!(lexicon().opposite(named(other)).meets(named(one)), "{other}");
        }
    }
}
