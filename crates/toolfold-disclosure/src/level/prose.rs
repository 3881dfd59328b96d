//! Sentences out of descriptions. Descriptions are Markdown, doc strings, adverts or nothing; what comes out is plain text
//! in one line, cut between words.

use toolfold_core::{Entry, words};

use super::apart::{Differing, differing, is_shared};
use super::opening::{behind_when, only_says_when, without_beginnings};
use super::phrase::{LONGEST_SUMMARY, SUMMARY_WORDS, capitalised, shortened};

const SENTENCES: usize = 3;
const LONGEST_DESCRIPTION: usize = 240;
const LONGEST_PRODUCT: usize = 24;
/// What a sentence about a tool may begin with that says what it does.
const DEEDS: [&str; 36] = [
    "add", "analyze", "apply", "build", "cancel", "change", "check", "compute", "convert", "copy", "create", "delete",
    "download", "edit", "execute", "export", "fetch", "find", "generate", "get", "import", "list", "manage", "merge",
    "move", "open", "read", "remove", "retrieve", "run", "search", "send", "set", "show", "start", "update",
];
/// What a sentence begins with, where no blank is before it.
const BEGIN: [&str; 7] = ["This ", "It ", "The ", "Use ", "Returns ", "If ", "When "];
/// Characters looked at: nobody says what a tool does after this.
const LOOKED_AT: usize = 4000;

/// What the tool does in at most ten words: never its bare name, never half a phrase, and nothing that several others of its
/// server are said to do as well.
pub(super) fn summary(entry: &Entry) -> String {
    let summary = described(entry);
    let alike = entry.alike();
    if !entry.alike.is_some_and(|beginning| is_shared(&summary, alike, beginning.is_phrase)) {
        return summary;
    }
    let server = entry.server().as_str();
    let (all, shared) = (sentences(unlabelled(entry.own_description(), server)), sentences(unlabelled(alike, server)));
    let differs = match (&all[..], &shared[..]) {
        ([first, ..], [alike]) => differing(first, alike),
        _ => Differing::Other,
    };
    match differs {
        Differing::Nothing => summary,
        Differing::Phrase(phrase) => phrase,
        Differing::Other => from_name(entry),
    }
}

fn described(entry: &Entry) -> String {
    let said = unlabelled(entry.own_description(), entry.server().as_str());
    let sentences = sentences(said);
    let mut told = sentences.iter().filter(|sentence| !is_mechanics(sentence));
    let described = doing(entry, &sentences).or_else(|| match told.next() {
        Some(first) if !only_says_when(first) && shortened(first).is_some() => shortened(first),
        // What comes behind is taken where it is about a deed.
        _ => deed(entry, &sentences),
    });
    let titled = || entry.title.as_deref().and_then(shortened);
    let named = words::split(entry.name()).concat();
    let fits = |text: &String| !text.trim().is_empty() && words::split(text).concat() != named;
    described.filter(fits).or_else(|| titled().filter(fits)).unwrap_or_else(|| from_name(entry))
}

/// The first sentence, or the part of one behind its first comma, that begins with a verb: the name's, or one of many.
fn deed(entry: &Entry, sentences: &[String]) -> Option<String> {
    let verb = words::split(entry.name()).into_iter().next().unwrap_or_default();
    let does = |text: &&str| {
        let bare = without_beginnings(text);
        let mut words = bare.split(' ').map(str::to_lowercase);
        let (first, second) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        let stem = |end: &str| first.strip_suffix(end).unwrap_or(&first).to_owned();
        let is_verb = |word: &str| word == verb || DEEDS.contains(&word);
        let says = !["it", "them", "this"].contains(&second.trim_end_matches('.'));
        says && ["", "s", "es"].iter().any(|end| is_verb(&stem(end)))
    };
    let plain = sentences.iter().filter(|sentence| !only_says_when(sentence)).map(String::as_str);
    let clauses = sentences.iter().filter_map(|sentence| behind_when(sentence));
    plain.chain(clauses).filter(does).find_map(shortened)
}

/// Where a description begins with what a thing is, the sentence that says what is done with it, in the verb of the name: `get-item`,
/// "All items of the drive. Read-only. TIP: Gets the metadata of an item".
fn doing(entry: &Entry, sentences: &[String]) -> Option<String> {
    let first = sentences.first()?.split_whitespace().next()?.to_lowercase();
    if !["a", "all", "an", "collection", "represents", "the"].contains(&first.as_str()) {
        return None;
    }
    let verb = words::split(entry.name()).into_iter().next()?;
    let does = |sentence: &&str| {
        let word = sentence.split_whitespace().next().unwrap_or_default().to_lowercase();
        word.len() <= verb.len() + 2
            && word.strip_prefix(verb.as_str()).is_some_and(|end| ["", "s", "es"].contains(&end))
    };
    let bare = |sentence: &'_ String| sentence.split_once(": ").map_or(0, |(label, _)| label.len() + 2);
    let mut behind = sentences.iter().flat_map(|sentence| [sentence.as_str(), &sentence[bare(sentence)..]]);
    behind.find(does).and_then(shortened)
}

/// `Make a GET request to /v1/Rooms`: how it is done, not what.
fn is_mechanics(sentence: &str) -> bool {
    let lower = sentence.to_lowercase();
    lower.starts_with("make a") && lower.contains(" request to /")
}

/// Without a label in front that only says whose tool it is: `Notion | Retrieve a user`.
fn unlabelled<'a>(text: &'a str, server: &str) -> &'a str {
    let text = text.trim_start();
    let line = text.lines().next().unwrap_or_default();
    let cut = [": ", " | ", " - ", " — "].iter().filter_map(|mark| Some((line.find(mark)?, mark.len()))).min();
    match cut {
        Some((at, length)) => {
            let label = words::split(&line[..at]);
            let own = words::split(server);
            let names_server = label.iter().any(|word| word.len() > 2 && own.contains(word));
            if label.len() <= 3 && names_server { text[at + length..].trim_start() } else { text }
        }
        None => text,
    }
}

/// Two or three sentences.
pub(super) fn description(entry: &Entry) -> String {
    let mut text = String::new();
    let sentences = sentences(entry.own_description());
    let shown = sentences.iter().take(SENTENCES).filter(|sentence| !sentence.ends_with(':') || sentences.len() == 1);
    for sentence in shown.map(|sentence| plainly(sentence)) {
        if !text.is_empty() && text.len() + sentence.len() > LONGEST_DESCRIPTION {
            break;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(&sentence);
    }
    if text.is_empty() { summary(entry) } else { clipped(&text, LONGEST_DESCRIPTION) }
}

/// Without "This tool will" and the like in front.
fn plainly(sentence: &str) -> String {
    const HOLLOW: [&str; 2] = ["this tool ", "use this "];
    let lower = sentence.to_lowercase();
    let bare = without_beginnings(sentence);
    let first = bare.split(' ').next().unwrap_or_default();
    let stands =
        !["is", "are", "has", "can", "cannot", "must", "should", "only", "when", "if", "requires"].contains(&first);
    match HOLLOW.iter().any(|hollow| lower.starts_with(hollow)) && stands {
        true => capitalised(bare),
        false => sentence.to_owned(),
    }
}

/// The sentences after those.
pub(super) fn rest(entry: &Entry) -> Vec<String> {
    let shown = description(entry);
    sentences(&entry.description).into_iter().filter(|sentence| !shown.contains(plainly(sentence).as_str())).collect()
}

/// The sentence that says what comes back.
pub(super) fn returns(entry: &Entry) -> Option<String> {
    let says = |sentence: &String| {
        let lower = sentence.to_lowercase();
        lower.starts_with("returns ") || lower.starts_with("return ") || lower.starts_with("returns: ")
    };
    let shown = description(entry);
    let new = |sentence: &String| says(sentence) && !shown.contains(sentence.as_str());
    sentences(&entry.description).into_iter().skip(1).find(new).map(|sentence| clipped(&sentence, 160))
}

/// Sentences in order, each in one line, without Markdown's marks. Paragraphs and list items end sentences too.
fn sentences(text: &str) -> Vec<String> {
    let head: String = text.chars().take(LOOKED_AT).collect();
    let mut found = Vec::new();
    let mut paragraph = String::new();
    for line in head.lines() {
        let bare = line.trim().trim_start_matches(['#', '*', '-', '>', '•', '`', ' ']);
        let starts_anew = line.trim().is_empty() || line.trim().starts_with(['#', '*', '-', '•', '`', '<']);
        if starts_anew {
            split_sentences(&paragraph, &mut found);
            paragraph.clear();
        }
        // A heading says what the text is called, not what the tool does.
        if !bare.is_empty() && !bare.starts_with('<') && !line.trim().starts_with('#') {
            paragraph.push_str(bare);
            paragraph.push(' ');
        }
    }
    split_sentences(&paragraph, &mut found);
    found
}

fn split_sentences(paragraph: &str, found: &mut Vec<String>) {
    let clean = without_links(paragraph).replace("**", "").replace("\\`", "").replace('`', "");
    let clean: String = clean.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut start = 0;
    for (at, mark) in clean.match_indices(['.', '!', '?', '。']) {
        let end = at + mark.len();
        let abbreviation = ["e.g", "i.e", "etc", "vs"].iter().any(|short| clean[start..at].ends_with(short));
        let glued = mark == "." && BEGIN.iter().any(|begin| clean[end..].starts_with(begin));
        let followed = clean[end..].starts_with(' ') || mark == "。" || glued;
        if followed && !abbreviation {
            push_sentence(&clean[start..end], found);
            start = end;
        }
    }
    push_sentence(&clean[start..], found);
}

/// `[the guide](https://…)` is the guide.
fn without_links(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(middle) = rest.find("](") {
        let (Some(open), Some(length)) = (rest[..middle].rfind('['), rest[middle..].find(')')) else {
            plain.push_str(&rest[..middle + 2]);
            rest = &rest[middle + 2..];
            continue;
        };
        plain.push_str(&rest[..open]);
        plain.push_str(&rest[open + 1..middle]);
        rest = &rest[middle + length + 1..];
    }
    plain + rest
}

fn push_sentence(sentence: &str, found: &mut Vec<String>) {
    let sentence = sentence.trim();
    if sentence.chars().any(char::is_alphanumeric) {
        found.push(sentence.to_owned());
    }
}

/// Nothing is known but the name: its words, and whose it is: `TwilioTaskrouterV1--UpdateWorker` updates a worker in
/// Taskrouter.
fn from_name(entry: &Entry) -> String {
    let own = words::split(entry.server().as_str());
    let filed =
        entry.name().rsplit_once("--").filter(|(_, name)| words::split(name).iter().any(|word| !own.contains(word)));
    let (product, name) = filed.unwrap_or(("", entry.name()));
    let mut spoken: Vec<String> = words::split(name);
    if spoken.iter().any(|word| !own.contains(word)) {
        spoken.retain(|word| !own.contains(word));
    }
    spoken.truncate(SUMMARY_WORDS - 2);
    let spoken = if spoken.is_empty() { "tool".to_owned() } else { spoken.join(" ") };
    let short: String = spoken.chars().take(LONGEST_SUMMARY).collect();
    let version = |word: &String| word == "v" || word == "api" || word.bytes().all(|byte| byte.is_ascii_digit());
    let product = words::split(product).into_iter().find(|word| !own.contains(word) && !version(word));
    match product {
        Some(product) => format!("{} in {}", capitalised(&short), capitalised(&clipped(&product, LONGEST_PRODUCT))),
        None => format!("{} with {}", capitalised(&short), entry.server()),
    }
}

/// The first paragraphs of a text, in at most so many characters; `None` where the first one alone is longer.
pub(super) fn paragraphs(text: &str, most: usize) -> Option<String> {
    let text = text.trim();
    if text.len() <= most {
        return Some(text.to_owned());
    }
    let ends = text.match_indices("\n\n").map(|(at, _)| at).take_while(|at| *at <= most);
    ends.last().filter(|end| *end > 0).map(|end| text[..end].trim_end().to_owned())
}

/// The lines of a text that have a word, each with what is set in below it, in at most so many characters.
pub(super) fn mentions(text: &str, word: &str, most: usize) -> Option<String> {
    let word = word.trim();
    if word.chars().count() < 3 {
        return None;
    }
    let indent = |line: &str| line.len() - line.trim_start().len();
    let mut found = String::new();
    let mut below: Option<usize> = None;
    for line in text.lines().filter(|line| !line.trim().is_empty()) {
        let has = has_word(line, word);
        let belongs = below.is_some_and(|depth| indent(line) > depth);
        below = if has {
            Some(below.filter(|_| belongs).unwrap_or_else(|| indent(line)))
        } else {
            below.filter(|_| belongs)
        };
        if (has || belongs) && found.len() + line.len() <= most {
            found.push_str(line.trim_end());
            found.push('\n');
        }
    }
    (!found.is_empty()).then(|| found.trim_end().to_owned())
}

fn has_word(line: &str, word: &str) -> bool {
    let of_word = |c: char| c.is_alphanumeric() || c == '_';
    line.match_indices(word)
        .any(|(at, _)| !line[..at].ends_with(of_word) && !line[at + word.len()..].starts_with(of_word))
}

/// At most so many characters, cut between words.
pub(super) fn clipped(text: &str, most: usize) -> String {
    if text.chars().count() <= most {
        return text.to_owned();
    }
    let head: String = text.chars().take(most).collect();
    let cut = head.rfind(' ').filter(|cut| *cut > 0).unwrap_or(head.len());
    format!("{}…", head[..cut].trim_end_matches([',', ';', ':', ' ']))
}
