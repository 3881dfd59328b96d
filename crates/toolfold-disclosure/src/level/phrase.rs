//! A sentence cut to a phrase: at most ten words, without beginnings that say nothing, and over where it ends.

/// Words of a summary, and characters.
pub(super) const SUMMARY_WORDS: usize = 10;
pub(super) const LONGEST_SUMMARY: usize = 90;

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

/// Words no phrase ends with.
const LOOSE_ENDS: &str = "a about across after against all also an anchored and any are as associated at based be before belonging \
    between both but by can contained containing displaying during e.g each either etc every first for from \
    given had has have how identified if in including into is it its last like located matching may needed no \
    not of on one only optionally or over per potentially recorded related showing so specified stored such than \
    that the their them then they this through to two under until used using via was were what when where which \
    while who whom whose why will with within without your";

/// Words that a phrase may end before: what follows adds to it, and it stands without. The first two join what belongs
/// together, and end none.
const JOINTS: [&str; 25] = [
    "and",
    "or",
    "but",
    "with",
    "without",
    "for",
    "from",
    "in",
    "into",
    "on",
    "by",
    "via",
    "using",
    "including",
    "such",
    "that",
    "which",
    "who",
    "when",
    "where",
    "if",
    "so",
    "based",
    "displaying",
    "showing",
];
/// Words after which what they belong to is still to come.
const DETERMINERS: [&str; 16] = [
    "a", "all", "an", "any", "both", "each", "either", "every", "its", "no", "one", "that", "the", "their", "this",
    "your",
];
/// Words that stand for something that was named, and begin nothing.
const PRONOUNS: [&str; 3] = ["it", "them", "they"];
/// Words that something hangs on, which a phrase is cut before where it would be cut in the middle of that.
const HINGES: [&str; 10] = ["of", "to", "at", "as", "about", "across", "between", "per", "and", "or"];
/// What a tool does for somebody is said after these and "to".
const ALLOWS: [&str; 6] = ["allow", "allows", "enable", "enables", "permit", "permits"];
/// Words before "tool for" that only praise it, and words between "allows" and "to".
const PRAISE: usize = 4;
const ALLOWED: usize = 10;
/// Words of a phrase that is cut at such a word, at least.
const FEWEST_WORDS: usize = 4;
/// The same where it is that or the middle of something.
const FEWER_WORDS: usize = 3;
/// Words at the end of what was cut among which "and" and "or" begin nothing that can be understood.
const BEGUN: usize = 3;

/// A sentence in at most ten words; `None` where nothing is left of it.
pub(super) fn shortened(sentence: &str) -> Option<String> {
    let rest = &without_asides(without_beginnings(sentence));
    let mut kept: Vec<&str> = Vec::new();
    let mut length = 0;
    for word in rest.split_whitespace() {
        length += word.chars().count() + 1;
        if kept.len() == SUMMARY_WORDS || (length > LONGEST_SUMMARY && !kept.is_empty()) {
            to_phrase(&mut kept, word);
            break;
        }
        kept.push(word);
    }
    while kept.len() > 2 && kept.last().is_some_and(|word| is_status(word)) {
        kept.pop();
    }
    let text = kept.join(" ");
    let text = text.trim_end_matches(['.', ',', ':', ';', '-', '–', '—', '(', ' ', '。']);
    let says = text.chars().any(char::is_alphanumeric) && text.chars().count() <= 2 * LONGEST_SUMMARY;
    says.then(|| capitalised(&closed(text)))
}

fn without_beginnings(sentence: &str) -> &str {
    let mut rest = sentence;
    loop {
        let lower = rest.to_lowercase();
        let empty = EMPTY_BEGINNINGS.iter().find(|beginning| lower.starts_with(*beginning));
        match empty.and_then(|beginning| rest.get(beginning.len()..)) {
            Some(shorter) if shorter.split_whitespace().count() > 1 => rest = shorter,
            _ => return without_tool(rest),
        }
    }
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

/// Takes words off the end of what was cut until a phrase is over: at the last comma or joint in its second half, or
/// where nothing hangs loose. `next` is the first word that was cut off.
fn to_phrase(kept: &mut Vec<&str>, next: &str) {
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let ends =
        |place: usize| kept[place - 1].ends_with([',', ';', ':']) || JOINTS.contains(&bare(kept[place]).as_str());
    let inside_list = |kept: &[&str], place: usize| JOINTS[..2].contains(&bare(kept[place]).as_str());
    let cut = (FEWEST_WORDS..kept.len()).rev().find(|place| ends(*place) && !inside_list(kept, *place));
    // What "and" begins near the end was hardly begun, unless something else begins where it ends.
    let begins = |word: &str| {
        let bare = bare(word);
        is_loose(word) && !DETERMINERS.contains(&bare.as_str()) && !PRONOUNS.contains(&bare.as_str())
    };
    let over = match cut {
        Some(cut) => !kept[cut - 1].ends_with([',', ';', ':']),
        None => begins(next) || kept.last().is_some_and(|word| begins(word)),
    };
    // In the middle of what something is of or to: "a section of a Wikipedia" is no section.
    let whole = |word: &str| !word.ends_with([',', ';', ':', '.', ')']);
    let torn = cut.is_none() && !is_loose(next) && kept.last().is_some_and(|last| !is_loose(last) && whole(last));
    let hinge = |place: &usize| torn && HINGES.contains(&bare(kept[*place]).as_str());
    let cut = cut.or_else(|| (FEWER_WORDS..kept.len()).rev().find(hinge));
    let next = cut.map_or(next, |cut| kept[cut]);
    kept.truncate(cut.unwrap_or(kept.len()));
    let begun =
        (FEWEST_WORDS.max(kept.len().saturating_sub(BEGUN))..kept.len()).find(|place| inside_list(kept, *place));
    if let Some(begun) = begun.filter(|_| !over) {
        kept.truncate(begun);
    }
    let hangs = |kept: &[&str]| {
        let alone = kept.len() > FEWEST_WORDS && kept[kept.len() - 2].ends_with([',', ';']);
        // "and saves it" is over where something else begins.
        let joined = kept.len() > BEGUN && inside_list(kept, kept.len() - BEGUN) && begins(next);
        let stands = |word: &str| joined && PRONOUNS.contains(&bare(word).as_str());
        alone || kept.last().is_some_and(|word| is_loose(word) && !stands(word))
    };
    while kept.len() > 2 && (hangs(kept) || tells_more(kept)) {
        kept.pop();
    }
    // What a dash begins near the end was hardly begun.
    let dash = |place: &usize| *place >= FEWEST_WORDS && ["—", "–", "-"].contains(&kept[*place]);
    if let Some(dash) = (kept.len().saturating_sub(BEGUN)..kept.len()).find(dash) {
        kept.truncate(dash);
    }
    // One of several things that follow a colon is not what it is about.
    if let [.., heading, _] = kept[..]
        && heading.ends_with(':')
    {
        kept.pop();
    }
}

/// Whether the end only begins to tell which one is meant: "an article tailored".
fn tells_more(kept: &[&str]) -> bool {
    let [.., before, last] = kept else { return false };
    let participle = last.len() > 4 && last.ends_with("ed") && !last.ends_with("eed");
    participle && kept.len() > FEWER_WORDS && !is_loose(before)
}

/// A code of HTTP that a list of errors left behind.
fn is_status(word: &str) -> bool {
    let bare = word.trim_end_matches([':', '.', ',']);
    bare.len() == 3 && bare.starts_with(['4', '5']) && bare.bytes().all(|byte| byte.is_ascii_digit())
}

fn is_loose(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    bare.is_empty() || LOOSE_ENDS.split(' ').any(|loose| loose == bare)
}

/// A sentence that is too long loses what stands in parentheses before it loses its end.
fn without_asides(sentence: &str) -> String {
    if sentence.split_whitespace().count() <= SUMMARY_WORDS {
        return sentence.to_owned();
    }
    let mut depth = 0usize;
    let mut text = String::new();
    for c in sentence.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            c if depth == 0 => text.push(c),
            _ => {}
        }
    }
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ").replace(" ,", ",").replace(" .", ".");
    if text.split_whitespace().count() < 3 { sentence.to_owned() } else { text }
}

/// Without a parenthesis that the cut left open.
fn closed(text: &str) -> String {
    match text.rfind('(') {
        Some(open) if open > 0 && !text[open..].contains(')') => {
            text[..open].trim_end_matches([' ', ',', ';', ':']).to_owned()
        }
        _ => text.to_owned(),
    }
}

pub(super) fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::shortened;

    #[test]
    fn a_phrase_is_over_where_it_ends() {
        let cases = [
            (
                "Consolidated tool for managing shared file and folder access permissions.",
                "Managing shared file and folder access permissions",
            ),
            (
                "Unified text management tool for adding, formatting, validating text, and formatting runs of text.",
                "Adding, formatting, validating text, and formatting runs of text",
            ),
            (
                "Allows the organizer or attendee of a meeting event to forward the request to a new recipient.",
                "Forward the request to a new recipient",
            ),
            (
                "Manage a virtual machine's lifecycle: start, stop, restart, pause, unpause or delete a machine",
                "Manage a virtual machine's lifecycle",
            ),
            (
                "Exports a shared document to PDF format and saves it to the given folder.",
                "Exports a shared document to PDF format and saves it",
            ),
            (
                "Get a summary of an encyclopedia article tailored to a specific query.",
                "Get a summary of an encyclopedia article",
            ),
            (
                "Get a summary of a section of an encyclopedia article.",
                "Get a summary of a section of an encyclopedia article",
            ),
            (
                "Get a short summary of a specific section of an encyclopedia article.",
                "Get a short summary of a specific section",
            ),
            (
                "Commit local changes to a release center work item's feature branch on the server.",
                "Commit local changes",
            ),
            ("Shows who changed a file and when.", "Shows who changed a file and when"),
            ("Mark a task as completed in the list of tasks that a team has.", "Mark a task as completed"),
            (
                "Creates an access request against a team — to join it, or to be given a role in it.",
                "Creates an access request against a team",
            ),
            (
                "Trigger an elicitation by address so the client can direct its user there.",
                "Trigger an elicitation by address",
            ),
            ("Read a file and return it as a base64-encoded content block with its type.", "Read a file and return it"),
            ("Tool for the job", "The job"),
        ];
        for (sentence, phrase) in cases {
            assert_eq!(shortened(sentence).as_deref(), Some(phrase), "{sentence}");
        }
    }
}
