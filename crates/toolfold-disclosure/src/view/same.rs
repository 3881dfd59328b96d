//! Which tools of several servers do the same, as far as their names, summaries, deeds and homes say.
//!
//! What a reader would get wrong: there are two questions. Whether a tool may come before another because its server is
//! preferred: then it is enough that it does the same deed to the same kind of thing, an issue here or an issue there. And
//! whether one line may stand for both: then it must not matter which of them is called, and what one of them must be told the other must
//! be able to take. Two servers both list users, each its own.

use std::cell::OnceCell;
use std::collections::BTreeSet;
use std::sync::Arc;

use toolfold_core::{Entry, beginning, words};
use toolfold_index::{Deeds, OTHER, is_deed, is_same_thing, names_something, without_verbs};

use super::View;
use crate::level::lines;
use crate::schema::{Parameter, parameters};

/// The share of the words of two summaries that both must have: where nothing else says that they are of one service, where
/// one of the names has a word in front that may be a service's, or the two are at home in different nodes, and where their
/// servers are called alike.
const SAME_WORDS: f32 = 0.5;
const NEARLY_ALL_WORDS: f32 = 0.8;
const SOME_WORDS: f32 = 0.2;
/// Bytes of a definition whose parameters are compared, and parameters.
const LARGEST_COMPARED: usize = 256 * 1024;
const MOST_COMPARED: usize = 100;
/// Words of a name that is compared, and letters of a description that is read.
const MOST_WORDS: usize = 24;
const LONGEST_READ: usize = 4 * 1024;
/// Tools of a server that are looked at for a word that its names begin with.
const MOST_FILED: usize = 200;
const FEWEST_FILED: usize = 3;
/// Words of servers' names that name no service, and words that say nothing about what is done.
const SAID_OF_SERVERS: [&str; 4] = ["api", "mcp", "server", "tool"];
const SAID_OF_ANY: [&str; 13] =
    ["all", "an", "and", "for", "from", "given", "in", "new", "of", "single", "specific", "the", "with"];
/// With one of these in a name the order of its words matters.
const DIRECTIONS: [&str; 4] = ["to", "from", "into", "as"];
/// What a summary says that something is done to comes before these.
const PREPOSITIONS: [&str; 21] = [
    "about", "across", "after", "as", "at", "before", "by", "for", "from", "if", "in", "into", "on", "that", "through",
    "to", "under", "using", "via", "when", "with",
];
/// Parameters of such names mean something that a server keeps.
const KEPT: [&str; 8] = ["id", "ids", "key", "name", "names", "number", "uid", "uuid"];

/// What a tool does. What costs something is read when it is needed, which is seldom: every hit of a search is compared
/// with every other.
pub(crate) struct Deed<'a> {
    view: View<'a>,
    position: usize,
    /// The words of the name without those of the server's, in their order.
    name: Vec<String>,
    /// The same, each once and in order.
    sorted: Vec<String>,
    /// The word that most names of the server begin with.
    filed: Option<String>,
    server: BTreeSet<String>,
    summary: OnceCell<BTreeSet<String>>,
    /// What the summary says first: as it is written.
    clause: OnceCell<BTreeSet<String>>,
    /// The words of each parameter's name, and whether it is required.
    parameters: OnceCell<Vec<(Vec<String>, bool)>>,
}

/// Whether it is done to one thing, and whether to many.
#[derive(Clone, Copy)]
struct Number {
    one: bool,
    many: bool,
}

impl<'a> Deed<'a> {
    pub(crate) fn of(view: &View<'a>, position: usize) -> Self {
        let entry = view.entry(position);
        let server = plain(whole_words(entry.server().as_str()));
        let server: BTreeSet<String> = server.filter(|word| !SAID_OF_SERVERS.contains(&word.as_str())).collect();
        let words = if entry.is_tool() { words::split(entry.name()) } else { Vec::new() };
        let filed = words.first().filter(|first| words.len() > 1 && begins_most(view, entry, first)).cloned();
        let filed = filed.and_then(|word| plain(std::iter::once(word)).next());
        let all: Vec<String> = plain(words.into_iter()).collect();
        let is_own =
            |(place, word): &(usize, &String)| !server.contains(*word) && (*place > 0 || filed.as_ref() != Some(*word));
        let own: Vec<String> = all.iter().enumerate().filter(is_own).map(|(_, word)| word.clone()).collect();
        let mut name = if own.is_empty() { all } else { own };
        // Nobody calls a tool so. Like nothing, because words are compared with each other.
        if name.len() > MOST_WORDS {
            name.clear();
        }
        let mut sorted = name.clone();
        sorted.sort_unstable();
        sorted.dedup();
        let (summary, clause, parameters) = Default::default();
        Deed { view: *view, position, name, sorted, filed, server, summary, clause, parameters }
    }

    fn entry(&self) -> &'a Entry {
        self.view.entry(self.position)
    }

    fn deeds(&self, other: &Deed<'_>) -> Deeds {
        self.view.index.deeds(self.position, other.position)
    }

    /// Whether this tool may come before the other, whatever fits better: it does the same to the same kind of thing, and
    /// does nothing grave that the other does not.
    pub(crate) fn may_lead(&self, other: &Deed<'a>) -> bool {
        let grave = |deed: &Deed<'_>| lines(deed.entry()).grave;
        self.is_like(other) && self.deeds(other).does_as_much && (grave(other) || !grave(self))
    }

    /// Whether one line may stand for both.
    pub(crate) fn is_same(&self, other: &Deed<'a>) -> bool {
        self.is_like(other)
            && !self.is_of_another(other)
            && !other.is_of_another(self)
            && self.takes_what(other)
            && self.deeds(other).does_as_much
            && other.deeds(self).does_as_much
            && self.shares_words(other, if self.is_of_one_service(other) { SOME_WORDS } else { SAME_WORDS })
            && (self.is_of_one_service(other) || self.is_free(other))
    }

    /// Whether both do the same deed to the same kind of thing.
    fn is_like(&self, other: &Deed<'a>) -> bool {
        if self.name.is_empty() || other.name.is_empty() || !self.names_agree(other) {
            return false;
        }
        let deeds = self.deeds(other);
        let directed = |deed: &Deed<'_>| deed.name.iter().any(|word| DIRECTIONS.contains(&word.as_str()));
        let agree = deeds.may_be_one
            && self.is_as_many(other, deeds.look)
            && (!(directed(self) || directed(other)) || self.name == other.name);
        agree && (self.is_at_home_with(other) || self.shares_words(other, NEARLY_ALL_WORDS))
    }

    /// Whether the names have the same words, or the same things behind verbs that mean the same. What only one of them
    /// says, the server or the summary of the other one must say.
    fn names_agree(&self, other: &Deed<'a>) -> bool {
        if self.sorted == other.sorted {
            return true;
        }
        if !self.name.iter().any(|word| other.name.contains(word)) {
            return false;
        }
        if self.is_but_one_before(other) || self.covers_each_other(other, &texts(&self.name), &texts(&other.name)) {
            return true;
        }
        let (own, others) = (without_verbs(&self.name), without_verbs(&other.name));
        let said = |head: Option<&&str>| head.is_some_and(|head| self.clause_says(head) && other.clause_says(head));
        self.covers_each_other(other, &own, &others)
            && said(own.last())
            && said(others.last())
            && self.deeds(other).same_verb
    }

    /// Whether one of the names has a word in front that the other has not, and all else is nearly the same: it may be a service's.
    fn is_but_one_before(&self, other: &Deed<'a>) -> bool {
        let (short, long) = if self.name.len() < other.name.len() { (self, other) } else { (other, self) };
        long.name.len() == short.name.len() + 1
            && long.name.ends_with(&short.name)
            && self.shares_words(other, NEARLY_ALL_WORDS)
    }

    fn covers_each_other(&self, other: &Deed<'a>, own: &[&str], others: &[&str]) -> bool {
        own.iter().any(|word| others.contains(word)) && self.covers(others, own) && other.covers(own, others)
    }

    /// Whether this tool says the words of another that are none of its own.
    fn covers(&self, words: &[&str], own: &[&str]) -> bool {
        let has = |word: &str| own.iter().any(|own| is_same_thing(own, word));
        words.iter().all(|word| has(word) || self.is_filed(word) || self.clause_says(word))
    }

    fn is_filed(&self, word: &str) -> bool {
        self.server.contains(word) || self.filed.as_deref() == Some(word)
    }

    fn clause_says(&self, word: &str) -> bool {
        plain(self.clause().iter().cloned()).any(|said| is_same_thing(&said, word))
    }

    /// Whether both do it to one thing, or both to many. To get them all is to list them, so what only looks is read closely;
    /// what uploads a file may take several.
    fn is_as_many(&self, other: &Deed<'a>, look: bool) -> bool {
        let (own, others) = (self.number(look), other.number(look));
        let within = (own.one || !others.one) && (own.many || !others.many);
        if look { within } else { own.one && others.one || own.many && others.many }
    }

    /// What the name says of how many; where that matters, what the summary says instead.
    fn number(&self, look: bool) -> Number {
        let lists = |mut words: std::slice::Iter<'_, String>| words.any(|word| word == "list");
        let words = words::split(self.entry().name());
        if lists(words.iter()) {
            return Number { one: false, many: true };
        }
        let things = without_verbs(&words);
        let (Some(head), false) = (things.last(), self.name.iter().all(|word| is_deed(word))) else {
            return Number { one: true, many: true };
        };
        let stem = singular((*head).to_owned());
        let named = Number { one: stem == *head, many: stem != *head };
        let said =
            |many: bool| self.clause().iter().any(|said| singular(said.clone()) == stem && (*said != stem) == many);
        let told = Number { one: said(false), many: said(true) };
        match (told.one || told.many, look) {
            (false, true) => named,
            (false, false) => Number { one: true, many: true },
            (true, true) => told,
            (true, false) => Number { one: named.one || told.one, many: named.many || told.many },
        }
    }

    /// A catalog may have no tree at all.
    fn is_at_home_with(&self, other: &Deed<'a>) -> bool {
        let (own, others) = (self.view.home(self.position), other.view.home(other.position));
        own == others && own.is_none_or(|path| path.first().is_some_and(|root| root != OTHER))
    }

    fn shares_words(&self, other: &Deed<'_>, least: f32) -> bool {
        let shared = self.summary().intersection(other.summary()).count() as f32;
        let all = self.summary().union(other.summary()).count().max(1) as f32;
        shared >= least * all
    }

    /// Whether the summary names a service that the other one is not of.
    fn is_of_another(&self, other: &Deed<'_>) -> bool {
        let mut own = self.server.iter().chain(&self.filed).filter(|word| self.summary().contains(*word));
        own.any(|word| !other.is_filed(word) && !other.summary().contains(word))
    }

    /// Whether their servers are called alike: two ways to the same service.
    fn is_of_one_service(&self, other: &Deed<'_>) -> bool {
        let mut own = self.server.iter().chain(&self.filed);
        own.any(|word| word.len() > 2 && !word.contains(char::is_numeric) && other.is_filed(word))
    }

    /// Whether it does not matter whose place it is done in: nothing is kept there, and what has to be said is nothing that
    /// only one of them knows.
    fn is_free(&self, other: &Deed<'a>) -> bool {
        let required = || self.parameters().iter().chain(other.parameters()).filter(|(_, required)| *required);
        let is_kept = |name: &[String]| name.last().is_some_and(|last| KEPT.contains(&last.as_str()));
        !self.deeds(other).keep && required().next().is_some() && !required().any(|(name, _)| is_kept(name))
    }

    /// Whether a request names the other tool and not this one: by its name as it is written, by its service, or by
    /// something that only the other one is about.
    pub(crate) fn is_passed_over(&self, other: &Deed<'_>, request: &str) -> bool {
        let letters = |text: &str| words::split(text).concat();
        let means = |deed: &Deed<'_>| {
            let (entry, asked) = (deed.entry(), letters(request));
            [entry.name(), &entry.id.to_string()].iter().any(|name| letters(name) == asked)
        };
        let is_name = !request.trim().contains(char::is_whitespace);
        if is_name && means(other) && !means(self) {
            return true;
        }
        let asked: BTreeSet<String> = plain(whole_words(request)).filter(|word| word.len() > 2).collect();
        let says = |word: &String| self.is_filed(word) || self.name.contains(word) || self.summary().contains(word);
        let unnamed = |word: &&String| other.server.contains(*word) && !says(word);
        let about = |word: &&String| {
            let told = other.name.contains(word) || other.is_filed(word) || other.summary().contains(*word);
            told && names_something(word) && !self.is_about(word)
        };
        asked.iter().any(|word| unnamed(&word) || about(&word))
    }

    /// Whether a word is said anywhere about it.
    fn is_about(&self, word: &str) -> bool {
        let home = self.view.home(self.position).unwrap_or_default();
        let described = beginning(&self.entry().description, LONGEST_READ);
        let texts = home.iter().map(String::as_str).chain([&*described, self.entry().name()]);
        self.is_filed(word)
            || texts.flat_map(|text| plain(words::split(text).into_iter())).any(|said| said == word)
            || self.parameters().iter().any(|(name, _)| name.iter().any(|said| said == word))
    }

    fn clause(&self) -> &BTreeSet<String> {
        self.clause.get_or_init(|| {
            let summary = &lines(self.entry()).summary;
            let first = summary.split(['.', ',', ':', ';', '(', '—']).next().unwrap_or_default();
            let ends = |word: &String| PREPOSITIONS.contains(&word.as_str());
            whole_words(first).take_while(|word| !ends(word)).collect()
        })
    }

    fn summary(&self) -> &BTreeSet<String> {
        let long = |word: &String| word.chars().count() > 2;
        self.summary.get_or_init(|| plain(whole_words(&lines(self.entry()).summary)).filter(long).collect())
    }

    fn parameters(&self) -> &[(Vec<String>, bool)] {
        self.parameters.get_or_init(|| {
            if self.entry().definition.get().len() > LARGEST_COMPARED {
                return Vec::new();
            }
            let schema = self.entry().input_schema();
            let all = parameters(&schema, &schema);
            let named = |parameter: &Parameter<'_>| (plain_name(parameter.name), parameter.required);
            all.list.iter().take(MOST_COMPARED).map(named).collect()
        })
    }

    /// Whether each takes what the other cannot do without. Of one that takes nothing at all nobody knows.
    fn takes_what(&self, other: &Deed<'_>) -> bool {
        let (own, others) = (self.parameters(), other.parameters());
        own.is_empty() || others.is_empty() || (met(own, others) && met(others, own))
    }
}

/// Whether a server files most of its tools under a word: `browser_close`, `browser_resize`.
fn begins_most(view: &View<'_>, entry: &Entry, word: &str) -> bool {
    if is_deed(word) {
        return false;
    }
    let begins = |name: &str| name.get(..word.len()).is_some_and(|begin| begin.eq_ignore_ascii_case(word));
    let listed = view.catalog.server(entry.server()).into_iter().flat_map(|server| &server.entries);
    // To look up each of them takes longer than to read its name.
    let seen = listed.filter(|entry| view.scope.is_none() || view.position(&entry.id).is_some()).take(MOST_FILED);
    let count = |(filed, all): (usize, usize), entry: &Arc<Entry>| (filed + usize::from(begins(entry.name())), all + 1);
    let (filed, all) = seen.fold((0, 0), count);
    filed >= FEWEST_FILED && filed * 2 >= all
}

/// Whether everything that is required here is a parameter there, by the same name or by one with a word more.
fn met(required: &[(Vec<String>, bool)], there: &[(Vec<String>, bool)]) -> bool {
    let mut left: Vec<&Vec<String>> = there.iter().map(|(name, _)| name).collect();
    let mut loose: Vec<&Vec<String>> = Vec::new();
    for (name, _) in required.iter().filter(|(_, required)| *required) {
        match left.iter().position(|other| *other == name) {
            Some(place) => drop(left.swap_remove(place)),
            None => loose.push(name),
        }
    }
    let within = |a: &Vec<String>, b: &Vec<String>| a.iter().all(|word| b.contains(word));
    loose.into_iter().all(|name| {
        let place = left.iter().position(|other| within(name, other) || within(other, name));
        place.map(|place| left.swap_remove(place)).is_some()
    })
}

fn texts(words: &[String]) -> Vec<&str> {
    words.iter().map(String::as_str).collect()
}

fn plain_name(name: &str) -> Vec<String> {
    plain(words::split(name).into_iter()).collect()
}

/// As they are written: a service's name is one word, however many capitals it has.
fn whole_words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty()).map(str::to_lowercase)
}

/// Words in one form each, as far as an `s` at the end makes another.
fn plain(words: impl Iterator<Item = String>) -> impl Iterator<Item = String> {
    words.filter(|word| !SAID_OF_ANY.contains(&word.as_str())).map(singular)
}

fn singular(word: String) -> String {
    match word.strip_suffix('s') {
        Some(stem) if stem.len() > 2 && !stem.ends_with('s') => stem.to_owned(),
        _ => word,
    }
}
