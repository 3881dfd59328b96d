//! What a sentence about a tool begins with: words that say nothing, or only when the tool is to be used.

/// Beginnings that say nothing. What they begin with is taken off again and again.
const EMPTY_BEGINNINGS: [&str; 34] = [
    "this tool allows you to ",
    "this tool allows to ",
    "this tool lets you ",
    "this tool is used to ",
    "this tool is used for ",
    "this tool can be used to ",
    "this tool is designed to ",
    "this tool provides ",
    "this tool will ",
    "this tool ",
    "this function ",
    "this endpoint ",
    "this operation ",
    "this method ",
    "this api ",
    "this action ",
    "this command ",
    "use this tool to ",
    "use this tool when you need to ",
    "use this when you need to ",
    "use this to ",
    "use it to ",
    "use when you need to ",
    "use to ",
    "a tool to ",
    "a tool that ",
    "a tool for ",
    "tool to ",
    "tool for ",
    "tool that ",
    "allows you to ",
    "will ",
    "used to ",
    "purpose: ",
];

/// What a tool does for somebody is said after these and "to".
const ALLOWS: [&str; 6] = ["allow", "allows", "enable", "enables", "permit", "permits"];
/// Words before "tool for" that only praise it, and words between "allows" and "to".
const PRAISE: usize = 4;
const ALLOWED: usize = 10;
/// Beginnings of sentences that only say when something is to be done, or what to mind.
const WHEN: [&str; 12] = [
    "when ",
    "if ",
    "once ",
    "before ",
    "after ",
    "use when",
    "use this when",
    "use this tool when",
    "use it when",
    "use this tool if",
    "this is a sub tool",
    "do not ",
];
/// Words of a warning, where they begin a sentence.
const WARNING: [&str; 8] =
    ["important", "mandatory", "critical", "warning", "caution", "note", "prerequisite", "deprecated"];
/// First words of what was said of the tool itself, which is no longer there.
const OF_ITSELF: [&str; 12] =
    ["is", "are", "was", "has", "should", "must", "can", "cannot", "may", "only", "requires", "this"];

/// Whether a sentence says when a tool is to be used, or what to mind, and not what it does.
pub(super) fn only_says_when(sentence: &str) -> bool {
    let bare = sentence.trim_start_matches(|c: char| !c.is_alphanumeric());
    let lower = bare.to_lowercase();
    let first = lower.split(|c: char| !c.is_alphanumeric()).next().unwrap_or_default();
    let warns = WARNING.contains(&first)
        && (lower[first.len()..].starts_with([':', '!', '.']) || bare.starts_with(&first.to_uppercase()));
    warns || WHEN.iter().any(|when| lower.starts_with(when))
}

/// What a sentence that begins with when something is done says that is done: the words behind its first comma.
pub(super) fn behind_when(sentence: &str) -> Option<&str> {
    let (_, rest) = sentence.split_once(", ")?;
    only_says_when(sentence).then_some(rest)
}

/// "This tool is deprecated" without "this tool": nothing that the tool does.
pub(super) fn is_of_itself(sentence: &str, rest: &str) -> bool {
    let first = rest.split_whitespace().next().unwrap_or_default().to_lowercase();
    let cut = rest.len() < sentence.len() && !sentence.starts_with(rest);
    (cut && OF_ITSELF.contains(&first.as_str())) || rest.to_lowercase().starts_with("this is a")
}

pub(super) fn without_beginnings(sentence: &str) -> &str {
    let mut rest = sentence;
    loop {
        rest = without_use(rest);
        let lower = rest.to_lowercase();
        let empty = EMPTY_BEGINNINGS.iter().find(|beginning| lower.starts_with(*beginning));
        match empty.and_then(|beginning| rest.get(beginning.len()..)) {
            Some(shorter) if shorter.split_whitespace().count() > 1 => rest = shorter,
            _ => return without_tool(rest),
        }
    }
}

/// "Use this API to create a folder" creates one.
fn without_use(sentence: &str) -> &str {
    let words: Vec<&str> = sentence.split(' ').take(5).collect();
    let [first, second, ..] = words[..] else { return sentence };
    if !first.eq_ignore_ascii_case("use") || !["this", "the", "it"].contains(&second.to_lowercase().as_str()) {
        return sentence;
    }
    let rest = words.iter().position(|word| *word == "to").and_then(|to| sentence.splitn(to + 2, ' ').nth(to + 1));
    rest.filter(|rest| rest.split_whitespace().nth(1).is_some()).unwrap_or(sentence)
}

/// "Unified tool for managing files" manages files, and what "allows the owner of a page to share it" shares it.
fn without_tool(sentence: &str) -> &str {
    let words: Vec<&str> = sentence.split(' ').take(ALLOWED + 2).collect();
    let behind = |place: usize| {
        let rest = sentence.splitn(place + 1, ' ').nth(place);
        rest.filter(|rest| rest.split_whitespace().nth(1).is_some()).unwrap_or(sentence)
    };
    let tool = words.iter().take(PRAISE).position(|word| word.eq_ignore_ascii_case("tool"));
    if let Some(tool) = tool.filter(|tool| words.get(tool + 1).is_some_and(|word| ["for", "to", "that"].contains(word)))
    {
        return behind(tool + 2);
    }
    if words.first().is_some_and(|first| ALLOWS.contains(&first.to_lowercase().as_str())) {
        return words.iter().position(|word| *word == "to").map_or(sentence, |to| behind(to + 1));
    }
    sentence
}

#[cfg(test)]
mod tests {
    use super::{is_of_itself, only_says_when, without_beginnings};

    #[test]
    fn what_only_says_when_is_known() {
        for sentence in [
            "When you receive a dispute, contact your customer.",
            "If a browser dialog was opened, use this command to handle it",
            "Use this tool when the user asks for it",
            "IMPORTANT: Run this tool first",
            "⚠️ MANDATORY: The handler will reject any call",
            "This is a sub tool of the other one",
        ] {
            assert!(only_says_when(sentence), "{sentence}");
        }
        for sentence in ["Note the time of a call", "Import a file", "Critical path of a project"] {
            assert!(!only_says_when(sentence), "{sentence}");
        }
        let of_itself = |sentence| is_of_itself(sentence, without_beginnings(sentence));
        assert!(of_itself("This tool is deprecated."));
        assert!(!of_itself("Is a file open?"));
    }
}
