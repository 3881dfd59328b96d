//! What many tools of one server say word for word ("This is the public REST API of …") is not what one of them does. It
//! is left out of what is indexed, so that siblings are told apart by what differs between them.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

use toolfold_core::Entry;

use crate::analyse::{beginning, first_sentence};
use crate::names::Hash;

/// How many tools must have a sentence before it tells none of them apart.
const MANY: usize = 5;
/// How much of a description is looked at.
const LONGEST: usize = 2000;
const MOST_SENTENCES: usize = 12;
/// A shorter one is a heading, or by chance the same.
const SHORTEST: usize = 12;

/// The sentences that are common in one server's list.
#[derive(Debug, Default)]
pub(crate) struct Boilerplate(HashSet<u64>);

impl Boilerplate {
    pub(crate) fn of<'a>(entries: impl Iterator<Item = &'a Entry>) -> Boilerplate {
        let mut counts: HashMap<u64, usize> = HashMap::new();
        for entry in entries {
            let said: HashSet<u64> = sentences(&entry.description).map(hash).collect();
            said.into_iter().for_each(|sentence| *counts.entry(sentence).or_default() += 1);
        }
        Boilerplate(counts.into_iter().filter(|(_, count)| *count >= MANY).map(|(sentence, _)| sentence).collect())
    }

    /// A description without them, or as it is where nothing else is in it.
    pub(crate) fn without<'a>(&self, description: &'a str) -> Cow<'a, str> {
        if self.0.is_empty() || !sentences(description).any(|sentence| self.0.contains(&hash(sentence))) {
            return Cow::Borrowed(description);
        }
        let rest = &description[beginning(description, LONGEST).len()..];
        let own = sentences(description).filter(|sentence| !self.0.contains(&hash(sentence)));
        let own: Vec<&str> = own.chain([rest.trim()]).filter(|text| !text.is_empty()).collect();
        if own.is_empty() { Cow::Borrowed(description) } else { Cow::Owned(own.join("\n\n")) }
    }
}

fn hash(sentence: &str) -> u64 {
    Hash::new().add(sentence).0
}

/// The sentences of a description's beginning; the last one may be all that is left of it.
fn sentences(description: &str) -> impl Iterator<Item = &str> {
    let mut rest = beginning(description, LONGEST).trim();
    let mut left = MOST_SENTENCES;
    std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        left -= 1;
        let (sentence, after) = if left == 0 { (rest, "") } else { first_sentence(rest) };
        rest = after;
        Some(sentence.trim())
    })
    .filter(|sentence| sentence.len() >= SHORTEST)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolfold_core::ServerName;
    use toolfold_wire::raw;

    use super::*;

    fn entries(descriptions: &[String]) -> Vec<Entry> {
        let server = ServerName::new("hub").expect("a name");
        let tool = |(number, text): (usize, &String)| json!({"name": format!("t{number}"), "description": text, "inputSchema": {"type": "object"}});
        let definitions = descriptions.iter().enumerate().map(tool);
        definitions.map(|definition| Entry::tool(&server, &raw(&definition)).expect("a tool")).collect()
    }

    #[test]
    fn what_many_say_word_for_word_is_left_out() {
        let texts: Vec<String> = (0..6)
            .map(|n| format!("This is the public API of it. Does thing number {n}. Errors: see the manual."))
            .collect();
        let boilerplate = Boilerplate::of(entries(&texts).iter());
        assert_eq!(boilerplate.without(&texts[3]), "Does thing number 3.");
        assert_eq!(boilerplate.without("Something else."), "Something else.");
    }

    #[test]
    fn what_few_say_stays_and_nothing_is_left_empty() {
        let texts = vec!["Lists all of the files.".to_owned(); 4];
        assert_eq!(Boilerplate::of(entries(&texts).iter()).without(&texts[0]), texts[0]);
        let texts = vec!["Lists all of the files.".to_owned(); 9];
        assert_eq!(Boilerplate::of(entries(&texts).iter()).without(&texts[0]), texts[0]);
    }
}
