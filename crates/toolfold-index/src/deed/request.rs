//! The deed that a request wants: its verb, and the things it is to be done to. Read from the order of the words, which
//! likeness of words or vectors throws away.

use toolfold_core::words;

use super::lexicon::{Acts, Effect, lexicon};
use super::object::{self, RIGHT, Thing, asks_rights, is_preposition};
use crate::ask::says_something;

/// Words of a request that are looked at: what is wanted is said early.
const READ: usize = 40;
/// A request of up to so many words is an order rather than a story.
const SHORT: usize = 14;
/// Verbs that are said plainly: more would say too many things.
const MOST_PLAIN: usize = 3;
/// How sure a verb is that does not stand at the beginning of a short request.
const SOMEWHERE: f32 = 0.2;

/// What comes before a verb without being one. In their order.
const BEFORE: [&str; 44] = [
    "a", "am", "an", "and", "are", "be", "can", "could", "d", "going", "help", "hey", "hi", "how", "i", "id", "just",
    "kindly", "ll", "looking", "m", "me", "must", "my", "need", "now", "please", "quickly", "should", "that", "the",
    "then", "to", "tool", "try", "trying", "us", "want", "wanted", "we", "will", "would", "you", "your",
];
/// What a question begins with; who asks wants to see something.
const QUESTIONS: [&str; 15] =
    ["are", "did", "do", "does", "has", "have", "how", "is", "was", "what", "when", "where", "which", "who", "why"];
/// What stands before a thing and says nothing about which. In their order.
const DETERMINERS: [&str; 37] = [
    "a", "again", "all", "an", "another", "any", "anybody", "every", "everyone", "few", "first", "give", "her", "his",
    "it", "its", "last", "latest", "me", "my", "new", "next", "old", "one", "our", "own", "recent", "some", "somebody",
    "someone", "that", "the", "their", "them", "these", "this", "your",
];

/// Those of them before something that is there already. In their order.
const DEFINITE: [&str; 15] = [
    "all", "every", "her", "his", "its", "last", "latest", "my", "our", "that", "the", "their", "these", "this", "your",
];

/// What stands before one of many. In their order.
const ARTICLES: [&str; 6] = ["a", "an", "another", "any", "new", "some"];

/// What a request wants done.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Wanted {
    /// What its verb may mean. None where no verb was recognised.
    pub(crate) acts: Acts,
    /// What may well be meant by the same verb, and what would be the opposite.
    pub(crate) near: Acts,
    pub(crate) opposite: Acts,
    /// How sure it is that this is the verb, 0 to 1.
    pub(crate) clear: f32,
    /// What it is done to.
    pub(crate) head: Option<Thing>,
    /// All things that are named, the head among them, and how much each tells.
    pub(crate) things: Vec<(Thing, f32)>,
    /// The words that say what kind of things they are. What somebody or something is called is none of them.
    pub(crate) common: Vec<String>,
    /// Whether it asks who may do something.
    pub(crate) asks_rights: bool,
}

impl Wanted {
    /// The plain verbs for what is wanted, where it was said otherwise: "get rid of" is to delete.
    pub(crate) fn plainly(&self) -> Vec<&'static str> {
        if self.asks_rights {
            return vec![RIGHT];
        }
        let names: Vec<&str> = if self.clear < 1.0 { Vec::new() } else { lexicon().names(self.acts).collect() };
        if names.len() > MOST_PLAIN || lexicon().any(self.acts, Effect::Look) { Vec::new() } else { names }
    }

    /// `tells` is how much a word tells apart in a catalog.
    pub(crate) fn read(text: &str, tells: impl Fn(&str) -> f32) -> Wanted {
        let mut words = words::split(text);
        words.truncate(READ);
        let short = words.len() <= SHORT;
        let verb = verb(&words);
        let places = verb.as_ref().map_or(&[][..], |verb| &verb.places);
        let named = things(&words, places);
        let weighed = |thing: &Mention| {
            let weight = words[thing.begin..thing.end].iter().map(|word| tells(word)).fold(0.0, f32::max);
            (thing.thing, weight)
        };
        let things = named.iter().map(weighed).collect();
        let common = common(&words, &named, |word| tells(word) > f32::MIN_POSITIVE);
        let Some(Verb { acts, places, first }) = verb else { return Wanted { things, common, ..Wanted::default() } };
        let asks_rights = asks_rights(&words);
        let after = places.first().copied().unwrap_or(0);
        let clear = if first && short { 1.0 } else { SOMEWHERE };
        let (near, opposite) = (lexicon().near(acts), lexicon().opposite(acts));
        let head = if asks_rights { object::right() } else { head(&words, &places, after, &named) };
        Wanted { acts, near, opposite, clear, head, things, common, asks_rights }
    }
}

/// A thing and the words that name it.
struct Mention {
    thing: Thing,
    begin: usize,
    end: usize,
}

struct Verb {
    acts: Acts,
    /// Where its words stand.
    places: Vec<usize>,
    /// Whether nothing but politeness comes before it.
    first: bool,
}

fn is_one_of(words: &[&str], word: &str) -> bool {
    words.binary_search(&word).is_ok()
}

fn verb(words: &[String]) -> Option<Verb> {
    let mut start = words.iter().position(|word| !is_one_of(&BEFORE, word)).unwrap_or(0);
    // "let me see" lets nobody do anything.
    if words[start..].starts_with(&["let".to_owned(), "me".to_owned()]) {
        start += 2;
    }
    let asks = words.first().is_some_and(|word| is_one_of(&QUESTIONS, word))
        && !words.get(1).is_some_and(|word| word == "to" || word == "do" || word == "can");
    if asks {
        let acts = ["get", "list", "find", "check"].iter().filter_map(|verb| lexicon().word(verb));
        let acts = acts.fold(Acts::NONE, |all, word| all | word.acts);
        // Who is asked for is a person, so the word stays one of the things.
        let places = if words[0] == "who" { Vec::new() } else { vec![0] };
        return Some(Verb { acts, places, first: true });
    }
    (start..words.len()).find_map(|at| {
        let (acts, places) = deed(words, at)?;
        Some(Verb { acts, places, first: at == start && !may_be_thing(&words[at..]) })
    })
}

/// Whether the first of some words is as likely a thing: "order status" orders nothing, "order a pizza" does.
fn may_be_thing(words: &[String]) -> bool {
    let noun = lexicon().exactly(&words[0]).is_some_and(|sense| sense.noun);
    // "commit staged changes": what is done with them comes first.
    let participle = |next: &String| words.len() > 2 && next.len() > 4 && next.ends_with("ed");
    let follows = |next: &String| is_one_of(&DETERMINERS, next) || is_preposition(next) || participle(next);
    let followed = words.get(1).is_some_and(follows);
    noun && !followed && !is_one_of(&ORDERS, &words[0])
}

/// The acts of a verb that begins here, and where its words stand.
fn deed(words: &[String], at: usize) -> Option<(Acts, Vec<usize>)> {
    let here = &words[at..];
    let lexicon = lexicon();
    if let Some((acts, places)) = lexicon.phrase(here) {
        return Some((acts, places.into_iter().map(|place| at + place).collect()));
    }
    if let Some(acts) = named_deed(here) {
        return Some((acts, vec![at]));
    }
    // Who begins with a thing wants it made: "invoice a customer". It stays one of the things.
    if let Some(acts) =
        lexicon.asked(&here[0]).filter(|_| here.get(1).is_some_and(|next| is_one_of(&DETERMINERS, next)))
    {
        return Some((acts, Vec::new()));
    }
    // What may be a thing is one in the plural, and with nothing after it.
    let word = lexicon.word(&here[0])?;
    if word.noun && (here.len() == 1 || lexicon.exactly(&here[0]).is_none()) {
        return None;
    }
    if let Some(acts) = makes_otherwise(here) {
        return Some((acts, vec![at]));
    }
    if makes_by_opening(here) {
        return Some((lexicon.word("create").map_or(word.acts, |create| create.acts), vec![at]));
    }
    // What is there already is opened to be seen.
    if here[0] == "open" && here.get(1).is_some_and(|next| is_one_of(&DEFINITE, next)) {
        return Some((lexicon.word("view").map_or(word.acts, |view| view.acts | word.acts), vec![at]));
    }
    // A name is resolved to what it stands for, anything else to be done with it.
    if lexicon.word("settle").is_some_and(|settle| settle.acts != word.acts && here[0].starts_with("resolv")) {
        let name = here.iter().take_while(|word| !is_preposition(word)).any(|word| is_one_of(&RESOLVED, word));
        return lexicon.word(if name { "find" } else { "settle" }).map(|word| (word.acts, vec![at]));
    }
    // What is removed from nothing is to be gone.
    let removes = here[0].starts_with("remov") && !here.iter().any(|word| is_preposition(word));
    if let Some(delete) = lexicon.word("delete").filter(|_| removes) {
        return Some((word.acts | delete.acts, vec![at]));
    }
    // "stop sharing" is the opposite of sharing; "start recording" is recording.
    let next = here.get(1).filter(|next| next.ends_with("ing")).and_then(|next| lexicon.word(next));
    if let Some(next) = next {
        let ends = lexicon.word("stop").is_some_and(|stop| word.acts.meets(stop.acts));
        let begins = lexicon.word("start").is_some_and(|start| word.acts.meets(start.acts));
        if ends {
            let opposite = lexicon.opposite(next.acts);
            return Some((if opposite.is_empty() { word.acts } else { opposite }, vec![at, at + 1]));
        }
        if begins {
            return Some((next.acts | word.acts, vec![at]));
        }
    }
    Some((word.acts, vec![at]))
}

/// What is done where the verb says little and the thing everything: "run the tests" tests, "take a backup" backs up, "make a
/// copy" copies. The verb counts too.
fn named_deed(here: &[String]) -> Option<Acts> {
    let runs = is_one_of(&RUNS, &here[0]);
    if !runs && !is_one_of(&TAKES, &here[0]) && here[0] != "make" {
        return None;
    }
    let lexicon = lexicon();
    let thing =
        here[1..].iter().skip_while(|word| is_one_of(&DETERMINERS, word)).take_while(|word| !is_preposition(word));
    let thing = thing.take(OPENED_WITHIN).last()?;
    let left = lexicon.leaving(thing);
    let deed =
        lexicon.word(thing).filter(|sense| sense.noun && here[0] != "make").map_or(Acts::NONE, |sense| sense.acts);
    let deed = if runs { deed } else { deed.without(lexicon.of(deed, Effect::Look)) };
    let verb = lexicon.word(&here[0]).map_or(Acts::NONE, |verb| verb.acts);
    (!(left | deed).is_empty()).then_some(left | deed | verb)
}

/// "make bob an owner" and "make the title bold" make nothing: they change something.
fn makes_otherwise(here: &[String]) -> Option<Acts> {
    if here[0] != "make" {
        return None;
    }
    let determined = |word: &String| is_one_of(&DETERMINERS, word);
    let row: Vec<&String> = here[1..].iter().take_while(|word| !is_preposition(word)).collect();
    let of = |verbs: &[&str]| {
        verbs.iter().filter_map(|verb| lexicon().word(verb)).fold(Acts::NONE, |all, word| all | word.acts)
    };
    let first = row.first()?;
    if row.len() > 2 && !determined(first) && row[1..].iter().any(|word| determined(word)) {
        return Some(of(&["update", "assign", "add"]));
    }
    let there = !determined(first) || is_one_of(&DEFINITE, first);
    let words = row.iter().filter(|word| !determined(word)).count();
    (there && words == 2).then(|| of(&["update", "make"]))
}

/// "open a ticket" makes one, as does "open a new file"; "open the ticket" shows it, and "open a file" makes none.
fn makes_by_opening(here: &[String]) -> bool {
    let indefinite = here.get(1).is_some_and(|word| ["a", "an", "another", "new"].contains(&word.as_str()));
    if here[0] == "open" && here.iter().take(3).any(|word| word == "new") {
        return true;
    }
    let mut thing = here.iter().skip(2).take_while(|word| !is_preposition(word)).take(OPENED_WITHIN);
    here[0] == "open" && indefinite && thing.any(|word| is_one_of(&MADE_BY_OPENING, word))
}

/// The things that are named outside the verb.
fn things(words: &[String], verb: &[usize]) -> Vec<Mention> {
    let telling = |(place, word): &(usize, &String)| {
        let telling = says_something(word) || (*place == 0 && *word == "who");
        telling && !verb.contains(place) && !is_one_of(&DETERMINERS, word) && !is_preposition(word)
    };
    let kept: Vec<(usize, &String)> = words.iter().enumerate().filter(telling).collect();
    let mut found = Vec::new();
    // Words that stand apart are no name of two words.
    for row in kept.chunk_by(|a, b| a.0 + 1 == b.0) {
        let texts: Vec<&str> = row.iter().map(|(_, word)| word.as_str()).collect();
        let mut begin = row[0].0;
        for (thing, length) in object::read(&texts) {
            found.push(Mention { thing, begin, end: begin + length });
            begin += length;
        }
    }
    found
}

/// The words for things that are no names, as far as English tells: what is counted has an article or an end, and "bob", "apple" or
/// "rome" has neither. `known` are words of the catalog.
fn common(words: &[String], things: &[Mention], known: impl Fn(&String) -> bool) -> Vec<String> {
    let rows = things.chunk_by(|one, next| one.end == next.begin);
    let of_row = |row: &[Mention]| {
        let (begin, end) = (row[0].begin, row[row.len() - 1].end);
        let counted = begin > 0 && (is_one_of(&DEFINITE, &words[begin - 1]) || is_one_of(&ARTICLES, &words[begin - 1]));
        let is_verb = |word: &String| lexicon().exactly(word).is_some_and(|sense| !sense.noun);
        let is_one = end - begin == 1;
        let is_common = |word: &&String| counted || !is_verb(word) && (word.ends_with('s') || (!is_one && known(word)));
        let things = row.iter().filter(|thing| Some(thing.thing) != object::anybody());
        things.flat_map(|thing| &words[thing.begin..thing.end]).filter(is_common).cloned().collect::<Vec<_>>()
    };
    rows.flat_map(of_row).collect()
}

/// The last thing after the verb and before what it belongs to: of "the comments on an issue" the comments.
fn head(words: &[String], verb: &[usize], after: usize, things: &[Mention]) -> Option<Thing> {
    let begin = things.iter().map(|thing| thing.begin).find(|begin| *begin >= after)?;
    let end = words.iter().enumerate().skip(begin).position(|(place, word)| {
        verb.contains(&place) || is_preposition(word) || place > begin && is_one_of(&JOINTS, word)
    });
    let end = end.map_or(words.len(), |end| begin + end);
    things.iter().rev().find(|thing| thing.end > begin && thing.end <= end).map(|thing| thing.thing)
}

/// What exists from the moment it is opened. In their order.
const MADE_BY_OPENING: [&str; 14] = [
    "account",
    "bug",
    "case",
    "discussion",
    "dispute",
    "incident",
    "issue",
    "mr",
    "position",
    "pr",
    "request",
    "task",
    "thread",
    "ticket",
];
/// What stands for something else. In their order.
const RESOLVED: [&str; 10] = ["address", "alias", "domain", "host", "hostname", "id", "library", "link", "name", "url"];
/// Words of a thing with what stands before it.
const OPENED_WITHIN: usize = 3;

/// Verbs that say little without the thing: of anything that can be done, and of what is there afterwards. In their order.
const RUNS: [&str; 4] = ["do", "execute", "perform", "run"];
const TAKES: [&str; 4] = ["give", "have", "place", "take"];

/// Verbs that may be things, and seldom are at the beginning of a request.
const ORDERS: [&str; 6] = ["list", "query", "run", "schedule", "search", "test"];

/// What begins another part of a sentence.
const JOINTS: [&str; 21] = [
    "and", "are", "because", "can", "did", "do", "does", "has", "have", "if", "is", "so", "that", "then", "was",
    "were", "when", "which", "who", "will", "would",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Wanted {
        Wanted::read(text, |_| 1.0)
    }

    fn acts(verb: &str) -> Acts {
        lexicon().word(verb).expect("a verb").acts
    }

    fn thing(name: &str) -> Option<Thing> {
        let words: Vec<&str> = name.split(' ').collect();
        object::read(&words).first().map(|(thing, _)| *thing)
    }

    #[test]
    fn lists_are_in_their_order() {
        assert!(
            BEFORE.is_sorted()
                && ORDERS.is_sorted()
                && MADE_BY_OPENING.is_sorted()
                && JOINTS.is_sorted()
                && QUESTIONS.is_sorted()
                && DETERMINERS.is_sorted()
                && DEFINITE.is_sorted()
                && RESOLVED.is_sorted()
                && RUNS.is_sorted()
                && TAKES.is_sorted()
        );
    }

    #[test]
    fn the_verb_is_found_behind_politeness() {
        for text in ["delete a branch", "please delete a branch", "I want to delete the branch", "can you delete it"] {
            let wanted = read(text);
            assert!(wanted.acts.meets(acts("delete")) && wanted.clear == 1.0, "{text}: {wanted:?}");
        }
        assert_eq!(read("weather in rome").acts, Acts::NONE);
        assert_eq!(read("open a pull request against main").acts, acts("create"));
        assert_eq!(read("open a new ticket for the team").acts, acts("create"));
        assert_eq!(read("open a new file").acts, acts("create"));
        assert_eq!(read("open the pull request").acts, acts("open") | acts("view"));
        assert_eq!(read("open a file").acts, acts("open"));
        assert_eq!(read("let me read the report").acts, acts("read"));
        assert_eq!(read("let bob read the report").acts, acts("let"));
        assert_eq!(read("issues").acts, Acts::NONE);
        assert!(read("order status").clear < 1.0 && read("order a pizza").clear == 1.0);
        assert!(read("list pods").clear == 1.0);
        assert!(read("who is in the team").acts.meets(acts("list")));
    }

    #[test]
    fn a_verb_that_says_little_leaves_it_to_the_thing() {
        assert!(read("run the unit tests on the phone").acts.meets(acts("verify")));
        assert!(read("take a backup of the database").acts.meets(acts("backup")));
        assert!(read("make a copy of the sheet").acts.meets(acts("copy")));
        assert!(!read("make a list of names").acts.meets(acts("ls")));
        assert_eq!(read("resolve the thread").acts, acts("settle"));
        assert_eq!(read("resolve a host name").acts, acts("find"));
        assert!(read("invoice a customer").acts.meets(acts("create")));
        assert!(!read("invoice status").acts.meets(acts("create")));
        assert!(read("make text bold in a document").acts.meets(acts("update")));
        assert!(read("make bob an owner").acts.meets(acts("assign")));
        assert_eq!(read("make a payment page").acts, acts("make"));
    }

    #[test]
    fn the_object_is_what_comes_before_what_it_belongs_to() {
        assert_eq!(read("edit the comment on a merge request").head, thing("comment"));
        assert_eq!(read("open a pull request").head, thing("pull request"));
        assert_eq!(read("turn the old flag off").head, thing("flag"));
    }

    #[test]
    fn who_may_do_something_is_told_by_permissions() {
        for text in ["who may see this page", "who can edit the file", "who is allowed to deploy"] {
            assert_eq!((read(text).head, read(text).plainly()), (thing("permission"), vec![RIGHT]), "{text}");
        }
        assert!(read("who is in the team").plainly().is_empty());
    }

    #[test]
    fn to_stop_doing_something_is_its_opposite() {
        assert!(read("stop sharing a file with bob").acts.meets(acts("revoke")));
        assert!(read("stop publishing the site").acts.meets(acts("unpublish")));
        assert!(read("stop the server").acts.meets(acts("halt")));
    }
}
