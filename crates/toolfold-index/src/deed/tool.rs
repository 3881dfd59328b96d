//! The deeds that a tool does: out of its name, of the sentence it is described with, and of the choices it offers
//! (`choices`).

use serde_json::Value;
use toolfold_core::{Entry, words};

use super::choices::Choices;
use super::lexicon::{Acts, Effect, Sense, lexicon};
use super::object::{self, Thing, is_preposition};
use super::risk::publishes;
use crate::analyse::first_sentence;
use crate::ask::says_something;

/// Words of a sentence among which its verbs are looked for.
const READ: usize = 12;
/// Things in the name of a server that are kept.
const MOST_THINGS: usize = 4;
/// Words of a sentence that are read, and things in it that are kept.
const MOST_WORDS: usize = 30;
const MOST_SUBJECTS: usize = 16;
const LONGEST_HEADING: usize = 40;
/// Words of a thing and of what is said about it.
const LONGEST_THING: usize = 5;
/// What may stand before the verb of a description.
const BEFORE: [&str; 24] = [
    "a",
    "allows",
    "an",
    "api",
    "can",
    "endpoint",
    "for",
    "function",
    "helps",
    "lets",
    "one",
    "operation",
    "performs",
    "simple",
    "the",
    "this",
    "to",
    "tool",
    "use",
    "used",
    "useful",
    "will",
    "you",
    "your",
];

/// What a tool does, and to what.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Done {
    /// By its name.
    pub(crate) named: Acts,
    /// By the sentence that describes it.
    pub(crate) told: Acts,
    /// By the choices that it offers.
    pub(crate) offered: Acts,
    /// By choices that only prose names. Enough to be careful, too little to be found by.
    pub(crate) mentioned: Acts,
    /// What it could do by its choices and the further verbs of its name, if all that is known of it were that it looks.
    pub(crate) commands: Acts,
    /// Whether everybody sees something afterwards.
    pub(crate) public: bool,
    /// What its name does it to.
    pub(crate) head: Option<Thing>,
    /// What its server is called.
    pub(crate) server: Box<[Thing]>,
    /// What the sentence that describes it names.
    pub(crate) subject: Box<[Thing]>,
}

impl Done {
    /// `description` is the entry's, or what is to be read of it.
    pub(crate) fn read(entry: &Entry, description: &str, schema: &Value) -> Done {
        let Choices { offered, mentioned, commands } = Choices::read(schema, description);
        let mut done = Done { offered, mentioned, commands, ..Done::default() };
        done.read_sentence(description);
        done.read_name(entry);
        done.public = publishes(entry, description, &done);
        done
    }

    /// What is known of its deeds: the name, or else what is told.
    pub(crate) fn acts(&self) -> Acts {
        if self.named.is_empty() { self.told } else { self.named }
    }

    /// The verbs of a name. Where one begins it and another ends it, the sentence says which is meant: `compute_vm_delete`.
    fn settled(&self, words: &[String]) -> (Acts, Vec<usize>) {
        let (acts, places) = verbs(words);
        let ends = words.last().and_then(|word| lexicon().exactly(word)).filter(|sense| !sense.noun);
        let meant = ends.filter(|sense| sense.acts.meets(self.told) && !acts.meets(self.told));
        meant.map_or((acts, places), |sense| (sense.acts, vec![words.len() - 1]))
    }

    fn read_sentence(&mut self, description: &str) {
        let sentence = first_sentence(description.trim()).0;
        // What comes before a colon is a heading.
        let heading = sentence.split_once(": ").filter(|(heading, _)| heading.len() < LONGEST_HEADING);
        let words = words::split(heading.map_or(sentence, |(_, rest)| rest));
        self.told = told(&words) | of_result(thing_of(&words), told(&words), &[]);
        let texts: Vec<&str> = words.iter().take(MOST_WORDS).map(String::as_str).collect();
        let texts: Vec<&str> = texts.into_iter().filter(|word| says_something(word) && !is_preposition(word)).collect();
        self.subject = object::read(&texts).into_iter().map(|(thing, _)| thing).take(MOST_SUBJECTS).collect();
    }

    fn read_name(&mut self, entry: &Entry) {
        let server = words::split(entry.server().as_str());
        let words = words::split(inner_name(entry.name()));
        let lead = words.iter().take_while(|word| server.contains(word)).count();
        let words = &words[if lead < words.len() { lead } else { 0 }..];
        let (acts, places) = self.settled(words);
        let comes_to = of_result(words, acts, &places);
        self.named = acts | comes_to;
        // Who manages or sets permissions may grant some; who changes a note does not leave one.
        if acts.meets(lexicon().general()) {
            self.offered |= lexicon().of(left_by(words, &places), Effect::Change);
        }
        // A verb that is part of what is done is something that it can be used for ("start message move task").
        let further = words.iter().enumerate().filter(|(place, _)| !places.contains(place));
        let further = further.filter_map(|(_, word)| lexicon().exactly(word)).filter(|sense| !sense.noun);
        let further = further.fold(Acts::NONE, |all, sense| all | sense.acts);
        (self.offered, self.commands) = (self.offered | further, self.commands | further);
        let last = places.iter().max().copied();
        // What follows the verb up to a preposition, or what comes before it where nothing follows.
        let after = last.map_or(0, |last| last + 1);
        let after = after + words[after..].iter().take_while(|word| is_preposition(word)).count();
        let end = words[after..].iter().position(|word| is_preposition(word)).map_or(words.len(), |end| after + end);
        let range = if after < end { after..end } else { 0..places.iter().min().copied().unwrap_or(0) };
        let kept = range.filter(|place| !places.contains(place) && !is_preposition(&words[*place]));
        let mut texts: Vec<&str> = kept.map(|place| words[place].as_str()).collect();
        // To create an issue's link is something that is done to issues.
        let is_result = |word: &&str| !comes_to.is_empty() && !lexicon().leaving(word).is_empty();
        if !texts.iter().all(is_result) {
            texts.retain(|word| !is_result(word));
        }
        self.head = object::read(&texts).last().map(|(thing, _)| *thing);
        let server: Vec<&str> = server.iter().map(String::as_str).collect();
        self.server = object::read(&server).into_iter().map(|(thing, _)| thing).take(MOST_THINGS).collect();
    }
}

/// The word that a name begins with where that is no verb: `volume-attach` and `volume-action-get` are filed under volume.
pub(crate) fn filed_under(entry: &Entry) -> Option<String> {
    let first = words::split(entry.name()).into_iter().next()?;
    lexicon().exactly(&first).is_none().then_some(first)
}

/// What a name is filed under in so many words: `VideoV1--ListRooms` is of the product `VideoV1`.
pub(crate) fn product(name: &str) -> Option<&str> {
    let begins = ["--", "__", ".", "/", ":"].iter().filter_map(|between| name.find(between));
    begins.min().map(|end| &name[..end]).filter(|product| !product.is_empty())
}

/// A name without what it is filed under: `billing--create_invoice`.
fn inner_name(name: &str) -> &str {
    let ends = ["--", "__", ".", "/", ":"].iter().filter_map(|between| Some(name.rfind(between)? + between.len()));
    let inner = &name[ends.max().unwrap_or(0)..];
    if verbs(&words::split(inner)).1.is_empty() { name } else { inner }
}

/// The acts of a name, and where its verbs stand. A word that may be a thing counts only where no plain verb is.
fn verbs(words: &[String]) -> (Acts, Vec<usize>) {
    let phrase = (0..words.len()).find_map(|at| {
        let (acts, places) = lexicon().phrase(&words[at..])?;
        // In a name a particle follows its verb.
        (places.last() == Some(&(places.len() - 1)))
            .then(|| (acts, places.into_iter().map(|place| at + place).collect()))
    });
    let known: Vec<(usize, Sense)> =
        words.iter().enumerate().filter_map(|(place, word)| Some((place, lexicon().exactly(word)?))).collect();
    let sure: Vec<(usize, Sense)> = known.iter().filter(|(_, sense)| !sense.noun).copied().collect();
    if let (Some(phrase), true) = (phrase, sure.is_empty()) {
        return phrase;
    }
    let ends = |(place, _): &&(usize, Sense)| place + 1 == words.len();
    // `list_invite`: what is listed may be called like the deed that it comes of.
    let lists = |(place, sense): &(usize, Sense)| *place == 0 && sense.noun && words[0] == "list";
    if let (Some(list), [(place, _)]) = (known.first().filter(|first| lists(first)), &sure[..])
        && !lexicon().leaving(&words[*place]).is_empty()
    {
        return (list.1.acts, vec![0]);
    }
    let chosen: Vec<(usize, Sense)> = match (sure.first(), sure.last().filter(ends)) {
        // Names of one kind end with the verb: `message_move_cancel`.
        (Some((first, _)), Some(last)) if *first > 0 => vec![*last],
        (Some(first), _) => sure.iter().filter(|verb| goes_on(words, first, verb)).copied().collect(),
        (None, _) => match (known.first(), known.last().filter(ends)) {
            (Some(first), Some(last)) if first.0 == 0 && words[last.0] == "list" => vec![*first, *last],
            (Some(first), _) if first.0 == 0 => vec![*first],
            (_, Some(last)) => vec![*last],
            (first, None) => first.copied().into_iter().collect(),
        },
    };
    (
        chosen.iter().fold(Acts::NONE, |all, (_, sense)| all | sense.acts),
        chosen.iter().map(|(place, _)| *place).collect(),
    )
}

/// What it comes to where the thing is what a deed leaves behind: to create a link is to link, to remove one is to unlink.
fn of_result(words: &[String], acts: Acts, verbs: &[usize]) -> Acts {
    let left = left_by(words, verbs);
    let makes =
        ["create", "add"].iter().any(|verb| lexicon().exactly(verb).is_some_and(|sense| sense.acts.meets(acts)));
    let ends =
        ["delete", "remove"].iter().any(|verb| lexicon().exactly(verb).is_some_and(|sense| sense.acts.meets(acts)));
    match (makes, ends) {
        (true, false) => left,
        (false, true) => lexicon().opposite(left),
        _ => Acts::NONE,
    }
}

/// The deeds that leave behind what a name has beside its verbs.
fn left_by(words: &[String], verbs: &[usize]) -> Acts {
    let rest = words.iter().enumerate().filter(|(place, _)| !verbs.contains(place)).map(|(_, word)| word);
    rest.fold(Acts::NONE, |all, word| all | lexicon().leaving(word))
}

/// Whether a verb belongs to the first: "create or update", "approve deny". Others are part of what is done ("start message
/// move task").
fn goes_on(words: &[String], first: &(usize, Sense), verb: &(usize, Sense)) -> bool {
    let joined = words.get(first.0 + 1).is_some_and(|word| word == "or" || word == "and");
    let apart = verb.0 - first.0;
    apart == 0 || (apart == 2 && joined) || (apart == 1 && lexicon().opposite(first.1.acts).meets(verb.1.acts))
}

/// The verbs at the beginning of a sentence: "Create, update or delete an event".
fn told(words: &[String]) -> Acts {
    let mut acts = Acts::NONE;
    let mut last = None;
    for (place, word) in words.iter().take(READ).enumerate() {
        let follows = |found: &Sense| last.is_some() && (found.noun || is_participle(word));
        let found = lexicon().word(word).filter(|found| !follows(found));
        match (found, last) {
            (Some(found), None) => (acts, last) = (acts | found.acts, Some(place)),
            // Verbs in a row are all meant; "remove an empty queue" empties nothing.
            (Some(found), Some(before)) if place == before + 1 || (place == before + 2 && joins(&words[place - 1])) => {
                (acts, last) = (acts | found.acts, Some(place));
            }
            // Nor does who clears completed tasks complete any.
            (Some(_), Some(_)) => break,
            (None, None) if !BEFORE.contains(&word.as_str()) && place > 3 => break,
            (None, _) => {}
        }
    }
    acts
}

/// "completed tasks" are tasks, and nobody completes them.
fn is_participle(word: &str) -> bool {
    word.len() > 4 && word.ends_with("ed") && lexicon().exactly(word).is_none()
}

/// What a sentence says that something is done to: the words between its verb and what follows a preposition.
fn thing_of(words: &[String]) -> &[String] {
    let begin = words.iter().take(READ).position(|word| lexicon().word(word).is_some()).map_or(0, |verb| verb + 1);
    let end = words[begin..].iter().position(|word| is_preposition(word)).map_or(words.len(), |end| begin + end);
    &words[begin..end.min(begin + LONGEST_THING)]
}

fn joins(word: &str) -> bool {
    word == "and" || word == "or"
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolfold_core::ServerName;
    use toolfold_wire::raw;

    use super::*;

    fn done(name: &str, description: &str, schema: Value) -> Done {
        let server = ServerName::new("hub").expect("a name");
        let definition = json!({"name": name, "description": description, "inputSchema": schema});
        Done::read(&Entry::tool(&server, &raw(&definition)).expect("a tool"), description, &schema)
    }

    fn named(name: &str) -> Done {
        done(name, "", json!({"type": "object"}))
    }

    fn acts(verb: &str) -> Acts {
        lexicon().word(verb).expect("a verb").acts
    }

    fn thing(name: &str) -> Option<Thing> {
        object::read(&[name]).first().map(|(thing, _)| *thing)
    }

    #[test]
    fn a_product_is_what_a_name_is_filed_under_in_so_many_words() {
        assert_eq!(product("VideoV1--ListRooms"), Some("VideoV1"));
        assert_eq!(product("shop.orders/list"), Some("shop"));
        assert_eq!(product("list_rooms"), None);
        assert_eq!(product("--list"), None);
    }

    #[test]
    fn the_verb_of_a_name_is_found_wherever_it_stands() {
        for name in ["delete_branch", "hub_delete_branch", "branch-delete", "vcs_branch_delete", "deleteBranch"] {
            assert_eq!(named(name).named, acts("delete"), "{name}");
            assert_eq!(named(name).head, thing("branch"), "{name}");
        }
        assert!(named("create_or_update_file").named.meets(acts("create")));
        assert!(named("create_or_update_file").named.meets(acts("update")));
        assert_eq!(named("start_message_move_task").named, acts("start"));
        assert_eq!(named("get_build_log").named, acts("get"));
        assert_eq!(named("ListInvite").named, acts("list"));
        assert!(named("update_permission").offered.meets(acts("grant")));
        assert!(!named("update_note").offered.meets(acts("remark")));
        assert_eq!(named("add_card_to_list").head, thing("card"));
    }

    #[test]
    fn the_first_verbs_of_a_description_are_told() {
        let told = |text: &str| done("x", text, json!({"type": "object"})).told;
        assert!(told("Creates a branch.").meets(acts("create")));
        assert!(told("This tool will list all of it").meets(acts("list")));
        assert!(told("Add a new note to a page").meets(acts("remark")), "who leaves a note comments");
        assert!(!told("Create, update or clear completed tasks").meets(acts("complete")));
        let several = told("Create, update or delete an event");
        assert!(["create", "update", "delete"].iter().all(|verb| several.meets(acts(verb))));
        assert!(!told("Creates a branch that nobody can delete").meets(acts("delete")));
    }

    #[test]
    fn what_can_be_chosen_is_offered() {
        let schema = json!({"type": "object", "properties": {"action": {"enum": ["grant", "revoke"]}}});
        let done = done("manage_access", "", schema);
        assert!(done.offered.meets(acts("revoke")) && done.offered.meets(acts("grant")));
        let hard =
            json!({"type": "object", "properties": {"mode": {"description": "soft, or hard (discard all changes)"}}});
        assert!(self::done("reset", "", hard).mentioned.meets(acts("delete")));
        let told =
            json!({"type": "object", "properties": {"action": {"description": "One of \"grant\" or \"revoke\"."}}});
        assert_eq!(self::done("manage_access", "", told).offered, done.offered);
    }
}
