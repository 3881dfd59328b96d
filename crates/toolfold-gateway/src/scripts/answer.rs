//! What the caller of a script gets: what it returned, what it printed, what it showed; or why it did not get that far, and
//! what it had done by then.

use serde_json::{Value, json};
use toolfold_config::CodeSettings;
use toolfold_core::{Code, Refusal};
use toolfold_disclosure::tokens::count;
use toolfold_script::protocol::Uncaught;
use toolfold_script::{Crash, End, Ended, InnerCall, InnerOutcome, Over};
use toolfold_wire::{Raw, raw};

use crate::gate::Failed;

/// The code of an exception that is the script's own.
const SCRIPT_ERROR: &str = "SCRIPT_ERROR";
/// Calls that are named after a failure, and characters of what was printed by then.
const MOST_NAMED: usize = 50;
const MOST_REPEATED: usize = 2_000;
/// Bytes of a token beyond which a text is too long, whatever is in it.
const MOST_BYTES: usize = 16;

/// The text of what was returned, where it is more than a caller is told.
pub(super) fn too_long(ended: &Ended, budget: usize) -> Option<String> {
    let End::Returned(Some(value)) = &ended.end else { return None };
    let text = text_of(value);
    (!fits(&text, budget)).then_some(text)
}

/// `instead`: what is said of an answer that was kept.
pub(super) fn answer(ended: Ended, settings: &CodeSettings, instead: Option<String>) -> Result<Raw, Failed> {
    match &ended.end {
        End::Returned(value) => Ok(returned(value.as_ref(), &ended, settings.answer, instead)),
        End::Threw(uncaught) => Ok(threw(uncaught, &ended)),
        End::Over(over) => Err(Failed::Refused(used_up(*over, settings).details(done(&ended)))),
        End::Crashed(crash) => Err(Failed::Refused(crashed(*crash).details(done(&ended)))),
        End::Open => Err(Failed::Refused(crashed(Crash::Gone))),
    }
}

fn returned(value: Option<&Raw>, ended: &Ended, budget: usize, instead: Option<String>) -> Raw {
    let value = value.filter(|value| !value.is_null());
    let text = instead.or_else(|| value.map(|value| within(&text_of(value), budget)));
    let printed = ended.printed.trim_end();
    let mut parts: Vec<String> = Vec::new();
    match text {
        Some(text) => parts.push(text),
        None if printed.is_empty() && ended.shown.is_empty() => {
            parts.push("The script returned nothing. Use `return` for what is wanted.".to_owned());
        }
        None => {}
    }
    if !printed.is_empty() {
        let left = budget.saturating_sub(parts.iter().map(|part| count(part)).sum()).max(100);
        parts.push(format!("Printed:\n{}", within(printed, left)));
    }
    let texts = parts.iter().map(|text| raw(&json!({"type": "text", "text": text})));
    let content: Vec<Raw> = texts.chain(ended.shown.iter().cloned()).collect();
    raw(&json!({ "content": content }))
}

/// A string as itself, anything else as JSON.
fn text_of(value: &Raw) -> String {
    serde_json::from_str::<String>(value.get()).unwrap_or_else(|_| value.get().to_owned())
}

fn fits(text: &str, budget: usize) -> bool {
    // A token has a byte at the least, and rarely more than a few: most need not be counted.
    text.len() <= budget || (text.len() <= budget * MOST_BYTES && count(text) <= budget)
}

/// As much of a text as fits, and what is said of the rest.
fn within(text: &str, budget: usize) -> String {
    if fits(text, budget) {
        return text.to_owned();
    }
    // The longest beginning that fits, to within a few percent: counting is what costs.
    let (mut fits, mut too_long) = (0, text.len().min(budget * 8));
    while too_long - fits > budget / 32 + 1 {
        let middle = boundary(text, fits + (too_long - fits) / 2);
        if middle <= fits {
            break;
        }
        if count(&text[..middle]) <= budget { fits = middle } else { too_long = middle }
    }
    let (shown, all) = (text[..fits].chars().count(), text.chars().count());
    format!("{}\n… cut: {shown} of {all} characters. Return less: filter, count, or take a part.", &text[..fits])
}

/// The last place up to there where a character ends.
fn boundary(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

/// An exception is a tool's error, whoever made it: what a model reads looks like any refusal.
fn threw(uncaught: &Uncaught, ended: &Ended) -> Raw {
    let Uncaught { name, message, code, hints, details, line, column } = uncaught;
    let place = match (line, column) {
        (Some(line), Some(column)) => format!(" (line {line}, column {column})"),
        (Some(line), None) => format!(" (line {line})"),
        _ => String::new(),
    };
    let said = if code.is_some() { format!("{message}{place}") } else { format!("{name}: {message}{place}") };
    let mut hints = hints.clone();
    hints.extend(hint(name, message).map(str::to_owned));
    let mut told = done(ended);
    if let Some(details) = details {
        told["thrown"] = serde_json::from_str(details.get()).unwrap_or_default();
    }
    let error = json!({"error": {
        "code": code.as_deref().unwrap_or(SCRIPT_ERROR),
        "message": said,
        "hints": hints,
        "details": told,
    }});
    raw(&json!({"content": [{"type": "text", "text": error.to_string()}], "structuredContent": error, "isError": true}))
}

/// What people who write programs for other places run into.
fn hint(name: &str, message: &str) -> Option<&'static str> {
    const ELSEWHERE: [&str; 9] =
        ["fetch", "require", "process", "setTimeout", "setInterval", "XMLHttpRequest", "Deno", "fs", "Buffer"];
    match name {
        "ReferenceError" if ELSEWHERE.iter().any(|gone| message.starts_with(&format!("{gone} is not"))) => {
            Some("There are no files, no network and no timers in a script: everything is done by calling tools.")
        }
        "SyntaxError" => {
            Some("Write plain JavaScript, without types and without import: a body that returns its answer.")
        }
        _ => None,
    }
}

fn used_up(over: Over, settings: &CodeSettings) -> Refusal {
    let (message, hint) = match over {
        Over::Cpu => (
            format!("The script computed for longer than {} s and was stopped.", settings.cpu.as_secs_f32()),
            "Do less in it: let tools filter and count, and look at each thing once.",
        ),
        Over::Memory => (
            format!("The script needed more than {} bytes of memory and was stopped.", settings.memory),
            "Keep less at once: take results page by page, and keep only what is needed of each.",
        ),
        Over::Time => (
            format!("The script took longer than {} s and was stopped.", settings.time.as_secs_f32()),
            "Call fewer or quicker tools in one script; independent calls can be made at once with Promise.all.",
        ),
        Over::Size => (
            "What the script returned or showed is too large to be passed on.".to_owned(),
            "Return less: filter, count, or take a part.",
        ),
        Over::Stuck => (
            "The script waits for a promise that nothing will settle, and was stopped.".to_owned(),
            "Await calls of tools only: there are no timers and no events in a script.",
        ),
    };
    let code = if over == Over::Stuck { Code::InvalidRequest } else { Code::TooLarge };
    Refusal::new(code, message).hint(hint)
}

fn crashed(crash: Crash) -> Refusal {
    match crash {
        Crash::NotStarted => {
            Refusal::new(Code::ServerUnavailable, "No process could be started for the script. This is no fault of it.")
        }
        // No fault of a server's: one client's bad scripts must not keep others from running theirs.
        Crash::Nonsense | Crash::Gone | Crash::Forbidden => {
            let message = "The process of the script ended before the script did.";
            Refusal::new(Code::InvalidRequest, message).hint("Write it in another way, or in smaller parts.")
        }
    }
    .cause(format!("{crash:?}"))
}

/// What had been done by then: whoever repeats the script should know.
fn done(ended: &Ended) -> Value {
    let call = |call: &InnerCall| match &call.outcome {
        InnerOutcome::Done => call.tool.clone(),
        InnerOutcome::Thrown(code) => format!("{} ({code})", call.tool),
        InnerOutcome::Open => format!("{} (not known how it ended)", call.tool),
    };
    let calls: Vec<String> = ended.calls.iter().take(MOST_NAMED).map(call).collect();
    let mut told = json!({ "calls": calls });
    if !ended.printed.is_empty() {
        let end = boundary(&ended.printed, MOST_REPEATED);
        told["printed"] = json!(ended.printed[..end]);
    }
    told
}
