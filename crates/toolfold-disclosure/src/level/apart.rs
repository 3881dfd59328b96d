//! What tells a tool from others of its server that begin alike: where a summary would be the same for all of them, the phrase in
//! which they begin to differ.

use super::phrase::{DETERMINERS, HINGES, JOINTS, shortened};

/// What refers to something that comes, where it begins nothing.
const POINTING: &str = "following";
/// First words of what goes on about a phrase behind a comma.
const GOES_ON: [&str; 4] = ["so", "where", "which", "who"];

/// Whether all that a summary says is said in what others begin with too: before its end, or up to it where they may end there.
pub(super) fn is_shared(summary: &str, alike: &str, is_phrase: bool) -> bool {
    let mut rest = alike.split_whitespace().map(bare);
    let within = summary.split_whitespace().map(bare).all(|word| rest.any(|other| other == word));
    within && (is_phrase || rest.next().is_some())
}

/// What a sentence says that begins as others do.
#[derive(Debug, PartialEq)]
pub(super) enum Differing {
    /// No more than they do, and none of them says it as well.
    Nothing,
    Phrase(String),
    /// Something that is no phrase.
    Other,
}

/// `alike` is the beginning that others have too.
pub(super) fn differing(sentence: &str, alike: &str) -> Differing {
    let Some(rest) = sentence.strip_prefix(alike) else { return Differing::Other };
    if !rest.chars().any(char::is_alphanumeric) {
        return if rest.is_empty() { Differing::Other } else { Differing::Nothing };
    }
    let words: Vec<&str> = sentence.split_whitespace().collect();
    let shared = alike.split_whitespace().count();
    let joins = |place: &usize| is_one(words[*place], &JOINTS) || is_one(words[*place], &HINGES);
    let begins = |place: &usize| !is_one(words[*place], &DETERMINERS) && bare(words[*place]) != POINTING;
    let Some(first) = (shared..words.len()).find(|place| begins(place) && !joins(place)) else {
        return Differing::Other;
    };
    let end = (first + 1..words.len()).find(|place| words[place - 1].ends_with(',') && goes_on(words[*place]));
    let behind = |joint: usize| {
        // What something is for is not what is done: "to reply to the sender" stays as it is.
        let is_purpose = bare(words[joint]) == "to" && begins(&(joint + 1));
        let start = if is_purpose { joint } else { (joint + 1..=first).find(|place| begins(place))? };
        let phrase = shortened(&words[start..end.unwrap_or(words.len())].join(" "))?;
        let told = phrase.split_whitespace().skip(first - start).map(bare).any(|word| word == bare(words[first]));
        told.then_some(phrase)
    };
    // The longest phrase that has what differs; what "and" begins goes on about something.
    let phrase = (1..shared).filter(|place| joins(place) && !is_one(words[*place], &JOINTS[..2])).find_map(behind);
    phrase.map_or(Differing::Other, Differing::Phrase)
}

fn is_one(word: &str, some: &[&str]) -> bool {
    some.contains(&bare(word).as_str())
}

/// Whether a word behind a comma begins something about what is before it.
fn goes_on(word: &str) -> bool {
    let word = bare(word);
    GOES_ON.contains(&word.as_str()) || word.len() > 4 && word.ends_with("ing")
}

fn bare(word: &str) -> String {
    word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::{Differing, differing, is_shared};

    #[test]
    fn a_phrase_begins_behind_what_joins_it() {
        for (sentence, alike, phrase) in [
            (
                "Creates a jump host instance to reach a cache cluster via a tunnel.",
                "Creates a jump host instance to reach a cache",
                "To reach a cache cluster via a tunnel",
            ),
            (
                "Select and run one of the following write operations deploy-site",
                "Select and run one of the following write operations",
                "Write operations deploy-site",
            ),
            (
                "Create a draft to reply to the sender and all recipients of a message in JSON.",
                "Create a draft to reply to the sender",
                "To reply to the sender and all recipients",
            ),
            (
                "Provides a comprehensive documentation for the NFC service, laying the foundation for more.",
                "Provides a comprehensive documentation for the",
                "NFC service",
            ),
        ] {
            assert_eq!(differing(sentence, alike), Differing::Phrase(phrase.to_owned()));
        }
        assert_eq!(differing("Get an article of the day.", "Get an article of the day"), Differing::Nothing);
        assert_eq!(differing("Get an article of the day.", "Get an article of the day."), Differing::Other);
        assert_eq!(differing("Reboot everything twice a day", "Reboot everything"), Differing::Other);
        assert_eq!(differing("Reboot", "Start"), Differing::Other);
    }

    #[test]
    fn a_summary_is_shared_where_nothing_in_it_is_its_own() {
        let alike = "Create a (large) host to reach";
        assert!(is_shared("Create a (large) host", alike, false));
        assert!(is_shared("Create a host", alike, false));
        assert!(!is_shared("Create a host to reach a cluster", alike, true));
        // Who has the same beginning and more says more.
        assert!(!is_shared("Create a host to reach", alike, false));
        assert!(is_shared("Create a host to reach", alike, true));
    }
}
