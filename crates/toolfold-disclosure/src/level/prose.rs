//! Sentences out of descriptions. Descriptions are Markdown, doc strings, adverts or nothing; what comes out is plain text
//! in one line, cut between words.

use toolfold_core::{Entry, words};

const SUMMARY_WORDS: usize = 10;
const LONGEST_SUMMARY: usize = 90;
const SENTENCES: usize = 3;
const LONGEST_DESCRIPTION: usize = 240;
/// Characters looked at: nobody says what a tool does after this.
const LOOKED_AT: usize = 4000;

/// Beginnings that say nothing.
const EMPTY_BEGINNINGS: [&str; 14] = [
    "this tool allows you to ",
    "this tool is used to ",
    "this tool can be used to ",
    "this tool ",
    "use this tool to ",
    "use this when you need to ",
    "use this to ",
    "a tool to ",
    "a tool that ",
    "a tool for ",
    "tool to ",
    "tool for ",
    "allows you to ",
    "used to ",
];

/// Words no sentence ends with.
const LOOSE_ENDS: [&str; 34] = [
    "a",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "by",
    "for",
    "from",
    "given",
    "if",
    "in",
    "including",
    "into",
    "is",
    "its",
    "of",
    "on",
    "or",
    "such",
    "that",
    "the",
    "their",
    "this",
    "to",
    "using",
    "via",
    "when",
    "where",
    "which",
    "with",
    "your",
];

/// What the tool does in at most ten words: never its bare name, never half a word.
pub(super) fn summary(entry: &Entry) -> String {
    let described = sentences(&entry.description).into_iter().find_map(|sentence| shortened(&sentence));
    let titled = || entry.title.as_deref().and_then(shortened);
    let named = words::split(entry.name()).concat();
    let fits = |text: &String| !text.trim().is_empty() && words::split(text).concat() != named;
    described.filter(fits).or_else(|| titled().filter(fits)).unwrap_or_else(|| from_name(entry))
}

/// Two or three sentences.
pub(super) fn description(entry: &Entry) -> String {
    let mut text = String::new();
    for sentence in sentences(&entry.description).iter().take(SENTENCES) {
        if !text.is_empty() && text.len() + sentence.len() > LONGEST_DESCRIPTION {
            break;
        }
        if !text.is_empty() {
            text.push(' ');
        }
        text.push_str(sentence);
    }
    if text.is_empty() { summary(entry) } else { clipped(&text, LONGEST_DESCRIPTION) }
}

/// The sentences after those.
pub(super) fn rest(entry: &Entry) -> Vec<String> {
    let shown = description(entry);
    sentences(&entry.description).into_iter().filter(|sentence| !shown.contains(sentence.as_str())).collect()
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
    let clean: String = paragraph.replace("**", "").replace('`', "").split_whitespace().collect::<Vec<_>>().join(" ");
    let mut start = 0;
    for (at, mark) in clean.match_indices(['.', '!', '?', '。']) {
        let end = at + mark.len();
        let abbreviation = ["e.g", "i.e", "etc", "vs"].iter().any(|short| clean[start..at].ends_with(short));
        let followed = clean[end..].starts_with(' ') || mark == "。";
        if followed && !abbreviation {
            push_sentence(&clean[start..end], found);
            start = end;
        }
    }
    push_sentence(&clean[start..], found);
}

fn push_sentence(sentence: &str, found: &mut Vec<String>) {
    let sentence = sentence.trim();
    if sentence.chars().any(char::is_alphanumeric) {
        found.push(sentence.to_owned());
    }
}

/// A sentence in at most ten words; `None` where nothing is left of it.
fn shortened(sentence: &str) -> Option<String> {
    let lower = sentence.to_lowercase();
    let empty = EMPTY_BEGINNINGS.iter().find(|beginning| lower.starts_with(*beginning));
    let rest = empty.and_then(|beginning| sentence.get(beginning.len()..)).unwrap_or(sentence);
    let rest = &without_asides(rest);
    let mut kept: Vec<&str> = Vec::new();
    let mut length = 0;
    for word in rest.split_whitespace() {
        length += word.chars().count() + 1;
        if kept.len() == SUMMARY_WORDS || (length > LONGEST_SUMMARY && !kept.is_empty()) {
            break;
        }
        kept.push(word);
    }
    let whole = kept.len() == rest.split_whitespace().count();
    while !whole && kept.len() > 2 && kept.last().is_some_and(|word| is_loose(word)) {
        kept.pop();
    }
    let text = kept.join(" ");
    let text = text.trim_end_matches(['.', ',', ':', ';', '-', '–', '—', '(', ' ', '。']);
    (!text.is_empty() && text.chars().count() <= 2 * LONGEST_SUMMARY).then(|| capitalised(&closed(text)))
}

fn is_loose(word: &str) -> bool {
    let bare = word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase();
    bare.is_empty() || LOOSE_ENDS.contains(&bare.as_str())
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

fn capitalised(text: &str) -> String {
    let mut letters = text.chars();
    letters.next().map(|first| first.to_uppercase().chain(letters).collect()).unwrap_or_default()
}

/// Nothing is known but the name: its words, and whose it is.
fn from_name(entry: &Entry) -> String {
    let spoken: Vec<String> = words::split(entry.name()).into_iter().take(SUMMARY_WORDS - 2).collect();
    let spoken = if spoken.is_empty() { "tool".to_owned() } else { spoken.join(" ") };
    let short: String = spoken.chars().take(LONGEST_SUMMARY).collect();
    format!("{} with {}", capitalised(&short), entry.server())
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
