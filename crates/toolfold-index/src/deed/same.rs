//! Whether two tools do the same deed, as far as verbs and their effects tell. Of the thing that it is done to nothing is
//! known here.

use super::lexicon::{Acts, Effect, lexicon};
use super::object::{is_preposition, read};
use super::tool::Done;
use crate::ask::says_something;

/// Verbs that say nothing without what follows them: to take a screenshot is to capture something.
const LIGHT: [&str; 6] = ["do", "give", "make", "perform", "put", "take"];

/// How the deeds of two tools go together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deeds {
    /// Whether nothing speaks against both doing the same: none does the opposite, destroys or publishes alone, or looks
    /// where the other one acts.
    pub may_be_one: bool,
    /// Whether their names have verbs for the same, and both can be told to do the same besides.
    pub same_verb: bool,
    /// Whether the first does whatever the other one can be told to do: who lists branches manages none.
    pub does_as_much: bool,
    /// Whether both only look.
    pub look: bool,
    /// Whether something is made, changed, sent or taken away by one of them: in the place that its server keeps.
    pub keep: bool,
}

impl Done {
    pub(crate) fn beside(&self, other: &Done) -> Deeds {
        let lexicon = lexicon();
        let (own, others) = (self.acts(), other.acts());
        let shared = own.meets(others) || own.meets(other.told) || self.told.meets(others);
        let opposed = lexicon.opposite(own).meets(others) && !own.meets(others);
        let alike = |effect| lexicon.any(own, effect) == lexicon.any(others, effect);
        let known = !own.is_empty() && !others.is_empty();
        let looks = |acts| lexicon.all(acts, Effect::Look);
        let keeping = [Effect::Make, Effect::Change, Effect::Send, Effect::Public, Effect::Destroy];
        let grave = alike(Effect::Destroy) && alike(Effect::Public) && self.public == other.public;
        Deeds {
            may_be_one: !known || shared && !opposed && grave,
            same_verb: !self.named.is_empty() && self.named == other.named && self.choices() == other.choices(),
            does_as_much: other.choices().without(self.choices() | own | self.told).is_empty(),
            look: looks(own) && looks(others),
            keep: keeping.iter().any(|effect| lexicon.any(own | others, *effect)),
        }
    }

    fn choices(&self) -> Acts {
        self.offered | self.mentioned
    }
}

/// The words of a name but for its verbs. A word that may be a thing is one where another verb is plain, and in the midst.
pub fn without_verbs(words: &[String]) -> Vec<&str> {
    let plain =
        |word: &String| LIGHT.contains(&word.as_str()) || lexicon().exactly(word).is_some_and(|sense| !sense.noun);
    let noun = |word: Option<&String>| word.is_some_and(|word| lexicon().exactly(word).is_some());
    if words.iter().any(plain) {
        return words.iter().filter(|word| !plain(word)).map(String::as_str).collect();
    }
    let verb = if noun(words.first()) {
        Some(0)
    } else if noun(words.last()) {
        words.len().checked_sub(1)
    } else {
        None
    };
    words.iter().enumerate().filter(|(place, _)| Some(*place) != verb).map(|(_, word)| word.as_str()).collect()
}

/// Whether a word says what is done rather than to what.
pub fn is_deed(word: &str) -> bool {
    lexicon().word(word).is_some()
}

/// Whether a word names something: it is no deed, and more than grammar.
pub fn names_something(word: &str) -> bool {
    says_something(word) && !is_preposition(word) && !is_deed(word)
}

/// Whether two words are names of the same thing: a ticket is an issue.
pub fn is_same_thing(one: &str, other: &str) -> bool {
    one == other || read(&[one]) == read(&[other])
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolfold_core::{Entry, ServerName, words};
    use toolfold_wire::raw;

    use super::*;

    fn deeds(one: &str, other: &str) -> Deeds {
        let server = ServerName::new("hub").expect("a name");
        let done = |name: &str| {
            let definition = json!({"name": name, "inputSchema": {"type": "object"}});
            Done::read(&Entry::tool(&server, &raw(&definition)).expect("a tool"), "", &json!({}))
        };
        done(one).beside(&done(other))
    }

    #[test]
    fn opposites_and_what_is_grave_in_one_alone_are_not_the_same() {
        for (one, other) in [
            ("enable_flag", "disable_flag"),
            ("delete_file", "read_file"),
            ("publish_page", "update_page"),
            ("start_server", "stop_server"),
        ] {
            assert!(!deeds(one, other).may_be_one, "{one} {other}");
        }
        assert!(deeds("delete_file", "erase_file").may_be_one && deeds("get_file", "file_get").same_verb);
        assert!(deeds("get_file", "list_files").look && !deeds("get_file", "list_files").same_verb);
        assert!(deeds("create_issue", "create_issue").keep && !deeds("get_file", "read_file").keep);
    }

    #[test]
    fn the_verb_of_a_name_is_left_out_and_its_things_stay() {
        let things = |name: &str| without_verbs(&words::split(name)).join(" ");
        assert_eq!(things("pods_list"), "pods");
        assert_eq!(things("get_task_list"), "task list");
        assert_eq!(things("delete_branch"), "branch");
        assert_eq!(things("wombat_burrow"), "wombat burrow");
        assert_eq!(things("take_wombat"), "wombat");
    }

    #[test]
    fn things_have_several_names() {
        assert!(is_same_thing("email", "mail") && !is_same_thing("email", "issue"));
        assert!(names_something("branch") && !names_something("delete") && !names_something("over"));
    }
}
