//! A sentence cut to a phrase: at most ten words, without beginnings that say nothing, and over where it ends.

use super::opening::{is_of_itself, without_beginnings};

/// Words of a summary, and characters.
pub(super) const SUMMARY_WORDS: usize = 10;
pub(super) const LONGEST_SUMMARY: usize = 90;

/// Words no phrase ends with.
const LOOSE_ENDS: &str = "a about across after against all also an anchored and any are as associated at based be before belonging \
    between both but by can contained containing displaying during e.g each either etc every first for from \
    given had has have how identified if in including into is it its last like located matching may needed no \
    not of on one only optionally or over per potentially recorded related showing so specified stored such than \
    that the their them then they this through to two under until used using via was were what when where which \
    while who whom whose why will with within without your";

/// Words that a phrase may end before: what follows adds to it, and it stands without. The first two join what belongs
/// together, and end none.
pub(super) const JOINTS: [&str; 26] = [
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
    "through",
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
pub(super) const DETERMINERS: [&str; 16] = [
    "a", "all", "an", "any", "both", "each", "either", "every", "its", "no", "one", "that", "the", "their", "this",
    "your",
];
/// Words that stand for something that was named, and begin nothing.
const PRONOUNS: [&str; 3] = ["it", "them", "they"];
/// Words that something hangs on, which a phrase is cut before where it would be cut in the middle of that.
pub(super) const HINGES: [&str; 10] = ["of", "to", "at", "as", "about", "across", "between", "per", "and", "or"];
/// Words of a phrase that is cut at such a word, at least.
const FEWEST_WORDS: usize = 4;
/// The same where it is that or the middle of something.
const FEWER_WORDS: usize = 3;
/// Words of one item of a list, and of all examples in a sentence.
const LONGEST_ITEM: usize = 4;
const MOST_EXAMPLES: usize = 30;
/// Words that a list hangs on, and words that what comes behind examples begins with.
const INTRODUCING: [&str; 9] = ["with", "like", "as", "including", "via", "using", "by", "without", "e.g."];
const BEGUN_WITH: [&str; 4] = ["with", "like", "including", "without"];
/// What is done to or with something.
const RELATE: [&str; 8] =
    ["connect", "interact", "integrate", "communicate", "respond", "apply", "subscribe", "listen"];
const AFTER_EXAMPLES: [&str; 10] = ["from", "in", "for", "by", "on", "to", "when", "using", "via", "across"];
/// Words at the end of what was cut among which "and" and "or" begin nothing that can be understood.
const BEGUN: usize = 3;

/// A sentence in at most ten words; `None` where nothing is left of it.
pub(super) fn shortened(sentence: &str) -> Option<String> {
    let rest = &without_examples(&without_asides(without_beginnings(sentence)));
    if is_of_itself(sentence, rest) {
        return None;
    }
    let mut kept: Vec<&str> = Vec::new();
    let mut length = 0;
    let words: Vec<&str> = rest.split_whitespace().collect();
    for (place, word) in words.iter().enumerate() {
        length += word.chars().count() + 1;
        if kept.len() == SUMMARY_WORDS || (length > LONGEST_SUMMARY && !kept.is_empty()) {
            to_phrase(&mut kept, &words[place..]);
            break;
        }
        kept.push(word);
    }
    // What a colon announces comes elsewhere.
    if rest.trim_end().ends_with(':') {
        while kept.len() > 2 && kept.last().is_some_and(|word| is_loose(word) || *word == "following:") {
            kept.pop();
        }
    }
    while kept.len() > 2 && kept.last().is_some_and(|word| is_status(word)) {
        kept.pop();
    }
    let text = kept.join(" ");
    let text = text.trim_end_matches(['.', ',', ':', ';', '-', '–', '—', '(', ' ', '。']);
    let says = text.chars().any(char::is_alphanumeric) && text.chars().count() <= 2 * LONGEST_SUMMARY;
    says.then(|| capitalised(&closed(text)))
}

/// Takes words off the end of what was cut until a phrase is over: at the last comma or joint in its second half, or
/// where nothing hangs loose. `cut_off` is what comes behind.
fn to_phrase(kept: &mut Vec<&str>, cut_off: &[&str]) {
    let next = cut_off.first().copied().unwrap_or_default();
    let is_list = list_is_open(kept, cut_off);
    if is_list && let Some(introduced) = introduced(kept) {
        kept.truncate(introduced);
        return;
    }
    let bare = |word: &str| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    let sentence: Vec<&str> = kept.iter().chain(cut_off).copied().collect();
    let ends = |place: usize| {
        let at_comma = kept[place - 1].ends_with(',') && (is_list || !is_in_list(&sentence, place));
        at_comma || kept[place - 1].ends_with([';', ':']) || JOINTS.contains(&bare(kept[place]).as_str())
    };
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
    let lists = |begun: &usize| kept[begun - 1].ends_with(',') && is_in_list(&sentence, *begun);
    if let Some(begun) = begun.filter(|begun| !over && !lists(begun)) {
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
    // Two of several are neither all nor one.
    let commas: Vec<usize> = (0..kept.len()).filter(|place| kept[*place].ends_with(',')).collect();
    if let [comma] = commas[..]
        && comma > 1
        && comma + 1 < kept.len()
        && !kept[comma..].iter().any(|word| matches!(*word, "and" | "or"))
    {
        kept.truncate(comma + 1);
    }
    if let [.., before, last] = kept[..]
        && kept.len() > 3
        && is_begun(&bare(before), last, &bare(sentence.get(kept.len()).copied().unwrap_or_default()))
    {
        kept.truncate(kept.len() - 2);
        while kept.len() > 2 && kept.last().is_some_and(|word| is_loose(word)) {
            kept.pop();
        }
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

/// Whether the place is in the middle of a list: "Get the status, | details, and results of a run".
fn is_in_list(words: &[&str], place: usize) -> bool {
    let comma = |word: &&str| word.ends_with(',');
    let joins = |word: &&str| matches!(*word, "and" | "or");
    let ahead = &words[place..words.len().min(place + LONGEST_ITEM + 1)];
    let earlier = words[..place - 1].iter().rev().take(LONGEST_ITEM).any(comma);
    match ahead.iter().position(|word| comma(word) || joins(word)) {
        // "…, and saves it": another clause, where nothing was listed before.
        Some(0) if joins(&ahead[0]) => earlier,
        Some(_) => true,
        None => false,
    }
}

/// Whether a list was begun and is not over: all that joins its last item was cut off.
fn list_is_open(kept: &[&str], cut_off: &[&str]) -> bool {
    let Some(last) = kept.iter().rposition(|word| word.ends_with(',')) else { return false };
    let joins = |word: &&str| matches!(*word, "and" | "or");
    // The last item may go on behind its first word.
    let until = kept.len().saturating_sub(2).max(last);
    let joined = kept[last..until].iter().any(joins);
    let begun = kept[until..].iter().any(joins) && kept[..last].iter().any(|word| word.ends_with(','));
    let goes_on = cut_off.iter().take(2 * LONGEST_ITEM).any(|word| joins(word) || word.ends_with(','));
    !joined && (goes_on || begun) && kept.len() - last <= LONGEST_ITEM
}

/// Where the words begin that introduce the list at the end: a list without its end is left out with them.
fn introduced(kept: &[&str]) -> Option<usize> {
    let first = kept.iter().position(|word| word.ends_with(','))?;
    let from = first.saturating_sub(LONGEST_ITEM - 1);
    let place = (from..=first).rev().find(|place| INTRODUCING.contains(&kept[*place]))?;
    let place = if kept[place] == "as" && kept[place - 1] == "such" { place - 1 } else { place };
    (place >= FEWER_WORDS).then_some(place)
}

/// `to deploy | an application`, `with fuzzy | matching`: what was begun with two words, and goes on.
fn is_begun(before: &str, last: &str, next: &str) -> bool {
    if last.ends_with([',', ';', ':', '.', ')']) {
        return false;
    }
    let object = DETERMINERS.contains(&next) || ["when", "how", "what", "whether", "if"].contains(&next);
    match before {
        "to" => object || (["to", "with"].contains(&next) && RELATE.contains(&last)),
        before => BEGUN_WITH.contains(&before) && !next.is_empty() && !is_loose(next),
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

/// A sentence that is too long loses examples before it loses its end: "Get data like logs, metrics, or events from Grail".
fn without_examples(sentence: &str) -> String {
    let words: Vec<&str> = sentence.split_whitespace().collect();
    let begins = |place: &usize| {
        ["like", "including"].contains(&words[*place])
            || (words[*place] == "such" && words.get(place + 1) == Some(&"as"))
    };
    let Some(start) = (2..words.len()).find(begins).filter(|_| words.len() > SUMMARY_WORDS) else {
        return sentence.to_owned();
    };
    let listed = |place: &usize| words[*place].ends_with(',') || matches!(words[*place], "and" | "or");
    let Some(last) = (start + 1..words.len()).take_while(|place| *place < start + MOST_EXAMPLES).filter(listed).last()
    else {
        return sentence.to_owned();
    };
    let goes_on = |place: &usize| AFTER_EXAMPLES.contains(&words[*place]);
    let end = (last + 1..words.len()).find(goes_on).unwrap_or(words.len());
    let before = words[..start].join(" ");
    let kept = [before.trim_end_matches(','), &words[end..].join(" ")].join(" ").trim_end().to_owned();
    if kept.split(' ').count() < FEWER_WORDS { sentence.to_owned() } else { kept }
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
    fn lists_are_shown_whole_or_not() {
        let cases = [
            (
                "Respond to a calendar event invitation with Accept, Decline, Maybe (Tentative), or No Response.",
                "Respond to a calendar event invitation",
            ),
            (
                "Get data like Logs, Metrics, Spans, Events, or Entity Data from Dynatrace Grail by executing a statement.",
                "Get data from Dynatrace Grail by executing a statement",
            ),
            (
                "Get the status, details, and per-prompt results of a model evaluation run.",
                "Get the status, details, and per-prompt results",
            ),
            (
                "Show the working tree status including staged, unstaged, and otherwise untracked files.",
                "Show the working tree status",
            ),
            ("Get a summary of a specific file, including:", "Get a summary of a specific file"),
            (
                "Use this tool to determine if it is a suitable platform to deploy an application or a part of it.",
                "Determine if it is a suitable platform",
            ),
            (
                "Comprehensive entity search with fuzzy matching, domain/area filtering, and optional grouping.",
                "Comprehensive entity search",
            ),
            ("Use this API to create a new mail folder.", "Create a new mail folder"),
        ];
        for (sentence, phrase) in cases {
            assert_eq!(shortened(sentence).as_deref(), Some(phrase), "{sentence}");
        }
    }

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
