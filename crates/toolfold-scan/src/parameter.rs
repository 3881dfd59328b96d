//! Parameters that ask for more than a tool needs. Their names are read as words: what a description may not say, a key
//! can.

use std::sync::LazyLock;

use regex::Regex;

use crate::characters::finding;
use crate::concept::{MODEL, SECRET, SECRET_PATH, SYSTEM_PROMPT, TALK, USER, WHOLE};
use crate::finding::{Family, Report, Severity};
use crate::piece::{Piece, Role};
use crate::sentence::Passage;
use crate::visible::excerpt;

/// Names of parameters that carry what was said, or what the model thinks, whatever the tool does.
static TALKING: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"^(?:(?:full |entire |complete |raw |current |user |previous |prior |recent |llm |model |ai |agent |assistant |original |all ){0,3}",
        r"(?:conversation|chat|dialogue?|session|message|prompt|system|user|context|thought|reasoning|tool|interaction)s? ",
        r"(?:histor(?:y|ies)|logs?|transcripts?|context|prompts?|window|dump|messages?|instructions|chain|trace|process|list|calls|so far|snapshot)",
        r"|(?:openai|anthropic|claude|gemini|gpt|llm|model|assistant) (?:api )?(?:keys?|tokens?)|(?:api )?(?:keys?|tokens?) (?:of )?(?:the )?(?:openai|anthropic|claude|gemini|gpt|llm|model|assistant)",
        r"|chain of thought|side ?notes?|internal (?:monologue|reasoning)|previous messages|prior messages|model (?:thoughts|reasoning)|all context|full context|original (?:user )?(?:message|prompt|request|query)|user (?:message|prompt|query|question|utterance|intent)|verbatim (?:user )?(?:request|query|prompt|message))$"
    ))
    .ok()
});

/// Looks at a parameter's name, or at what is said of it. `talks`: conversations are what the tool is for.
pub(crate) fn look(piece: &Piece<'_>, passage: &Passage, off_purpose: bool, talks: bool, report: &mut Report) {
    match piece.role {
        Role::Key => key(piece, off_purpose, talks, report),
        Role::About => about(piece, passage, report),
        Role::Name | Role::Prose => {}
    }
}

fn key(piece: &Piece<'_>, off_purpose: bool, talks: bool, report: &mut Report) {
    let spelled = spelled(piece.text);
    let passage = Passage::read(&spelled, |_, _| true, &mut report.work);
    let concepts = passage.concepts();
    let words = spelled.split(' ').count();
    if concepts & SECRET_PATH != 0 && off_purpose && words > 3 {
        let reason = "names in its key a secret that it wants filled in".to_owned();
        report.add(finding(
            piece,
            Family::ExfiltrationParameter,
            "secret-key",
            Severity::Hard,
            excerpt(piece.text),
            reason,
        ));
    } else if words > 5 && concepts & (SECRET | TALK | SYSTEM_PROMPT) != 0 {
        let reason = "is a key that is a sentence, and asks for something private".to_owned();
        report.add(finding(
            piece,
            Family::ExfiltrationParameter,
            "speaking-key",
            Severity::Hard,
            excerpt(piece.text),
            reason,
        ));
    } else if !talks && is_argument(&piece.place) && TALKING.as_ref().is_some_and(|talking| talking.is_match(&spelled))
    {
        let reason = "is a parameter for what was said, or thought, outside of the call".to_owned();
        report.add(finding(
            piece,
            Family::ExfiltrationParameter,
            "talking-key",
            Severity::Review,
            excerpt(piece.text),
            reason,
        ));
    }
}

/// A parameter of the tool itself. What is deeper is the shape of somebody's data.
fn is_argument(place: &str) -> bool {
    place
        .strip_prefix("/inputSchema/properties/")
        .or(place.strip_prefix("/arguments/"))
        .is_some_and(|key| !key.contains('/'))
}

fn about(piece: &Piece<'_>, passage: &Passage, report: &mut Report) {
    for span in passage.spans(1) {
        let concepts = span.concepts();
        let asks = concepts & SYSTEM_PROMPT != 0 || (concepts & TALK != 0 && concepts & (WHOLE | MODEL | USER) != 0);
        if asks && concepts & WHOLE != 0 {
            let text = passage.folded.original(piece.text, span.start, span.end);
            let reason = "asks for what was said outside of the call".to_owned();
            report.add(finding(
                piece,
                Family::ExfiltrationParameter,
                "asks-for-talk",
                Severity::Review,
                excerpt(text),
                reason,
            ));
        }
    }
}

/// A key as words: `userPrompt` and `user_prompt` are `user prompt`.
pub(crate) fn spelled(key: &str) -> String {
    let mut words = String::with_capacity(key.len() + 8);
    let mut before = ' ';
    for c in key.chars().take(400) {
        if c.is_uppercase() && before.is_lowercase() {
            words.push(' ');
        }
        words.push(if matches!(c, '_' | '-' | '.' | '/') { ' ' } else { c.to_ascii_lowercase() });
        before = c;
    }
    words
}
