//! How a command fails: what it says, as text or as JSON, and the exit code that goes with it. The only place that knows
//! exit codes: 1 nothing found or a check failed, 2 usage or configuration, 3 a server failed.

use std::process::ExitCode;

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use toolfold_config::{Problem, Problems};
use toolfold_core::{Code, Refusal, shown, shown_line};
use toolfold_gateway::Failed;

use super::output::{print_json, tell};

#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct Fail {
    exit: u8,
    /// For programs: a code of DESIGN's, or one of the command line's own.
    code: String,
    /// Every line of it. Foreign parts have been made fit to be shown by whoever put them in, line ends included.
    message: String,
    hints: Vec<String>,
    details: Option<Value>,
    /// `error: …`. What is no mistake of anybody is said without.
    is_error: bool,
    #[serde(default)]
    beside: bool,
}

impl Fail {
    fn new(exit: u8, code: &str, is_error: bool, message: impl Into<String>) -> Self {
        let (code, message) = (code.to_owned(), message.into());
        Fail { exit, code, message, hints: Vec::new(), details: None, is_error, beside: false }
    }

    /// What it says, without hints.
    pub(crate) fn message(&self) -> &str {
        &self.message
    }

    /// Nothing was found, or a check failed.
    pub(crate) fn nothing(message: impl Into<String>) -> Self {
        Fail::new(1, "NOTHING_FOUND", false, message)
    }

    /// The command line is wrong.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Fail::new(2, "INVALID_REQUEST", true, message)
    }

    /// The configuration is wrong.
    pub(crate) fn problems(problems: &Problems) -> Self {
        let found: Vec<Value> = problems.0.iter().map(problem_json).collect();
        let fail = Fail::new(2, "INVALID_CONFIGURATION", false, shown(&problems.to_string()));
        Fail { details: Some(json!({ "problems": found })), ..fail }
    }

    /// The machine failed us.
    pub(crate) fn machine(message: impl Into<String>) -> Self {
        Fail::new(3, "FAILED", true, message)
    }

    /// Servers that are failing, which is what was asked.
    pub(crate) fn servers(message: impl Into<String>) -> Self {
        Fail::new(3, "SERVER_UNAVAILABLE", false, message)
    }

    /// What is no failure, and has to be said beside the answer.
    pub(crate) fn note(message: impl Into<String>) -> Self {
        Fail::new(0, "", false, message)
    }

    pub(crate) fn is_note(&self) -> bool {
        self.exit == 0
    }

    /// Everything was said already.
    pub(crate) fn silent(exit: u8) -> Self {
        Fail::new(exit, "", false, "")
    }

    /// A call without a result: a server's own error, or our refusal.
    pub(crate) fn failed(failed: &Failed) -> Self {
        match failed {
            Failed::Answered(error) => Fail::new(3, "SERVER_ERROR", true, shown_line(&error.to_string())),
            Failed::Refused(refusal) => Fail::refused(refusal),
        }
    }

    pub(crate) fn refused(refusal: &Refusal) -> Self {
        let (message, is_for_models) = for_people(&refusal.message);
        let fail = Fail::new(exit_code(refusal.code), refusal.code.as_str(), true, shown_line(message));
        let mut hints: Vec<String> = refusal.hints.iter().map(|hint| shown_line(hint).into_owned()).collect();
        if is_for_models && refusal.code == Code::ServerUnavailable && hints.is_empty() {
            hints.push("`toolfold doctor` tries it and says what to do".to_owned());
        }
        Fail { hints, details: refusal.details.clone(), ..fail }
    }

    pub(crate) fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Without what was said already, as a line of a note or as a hint.
    pub(crate) fn without(mut self, is_said: impl Fn(&str) -> bool) -> Self {
        self.hints.retain(|hint| !is_said(hint));
        if self.is_note() {
            let left: Vec<&str> = self.message.lines().filter(|line| !is_said(line)).collect();
            self.message = left.join("\n");
        }
        self
    }

    pub(crate) fn report(self, json: bool) -> ExitCode {
        if !self.message.is_empty() {
            if json && !self.beside {
                // On stdout: it is the answer to whoever asked for JSON. Where that is gone there is nobody to tell.
                let _ = print_json(&self.to_json());
            } else {
                tell(&self.to_text());
            }
        }
        ExitCode::from(self.exit)
    }

    /// Data is on stdout already: the rest is said in words, whatever was asked for.
    pub(crate) fn after_data(mut self) -> Self {
        self.beside = true;
        self
    }

    fn to_text(&self) -> String {
        let mut text = if self.is_error { format!("error: {}", self.message) } else { self.message.clone() };
        for (place, hint) in self.hints.iter().enumerate() {
            let gap = if place == 0 { "\n" } else { "" };
            text.push_str(&format!("{gap}\nhint: {hint}"));
        }
        text
    }

    /// `{"error": {"code", "message", "hints"}}`, as everywhere.
    fn to_json(&self) -> Value {
        let mut error = json!({"code": self.code, "message": self.message, "hints": self.hints});
        if let Some(details) = &self.details {
            error["details"] = details.clone();
        }
        json!({ "error": error })
    }
}

/// A refusal without the sentence at its end that tells a model to turn to a person: whoever reads this is that person.
fn for_people(message: &str) -> (&str, bool) {
    let sentences = [" Do without it, or ", " Tell the person, who "];
    match sentences.iter().find_map(|sentence| message.rfind(sentence)) {
        Some(end) => (&message[..end], true),
        None => (message, false),
    }
}

/// How a command ends that was refused.
pub(crate) fn exit_code(code: Code) -> u8 {
    match code {
        Code::ServerUnavailable | Code::ServerTimeout | Code::TooLarge => 3,
        Code::InvalidArguments | Code::InvalidRequest | Code::InvalidCursor => 2,
        _ => 1,
    }
}

pub(crate) fn problem_json(problem: &Problem) -> Value {
    json!({
        "severity": format!("{:?}", problem.severity).to_lowercase(),
        "file": problem.file.as_ref().map(|file| file.display().to_string()),
        "line": problem.line,
        "column": problem.column,
        "key": problem.key,
        "message": problem.message,
        "hint": problem.hint,
    })
}

impl From<std::io::Error> for Fail {
    fn from(error: std::io::Error) -> Self {
        // Whoever read our output has had enough of it.
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            return Fail::silent(0);
        }
        Fail::machine(error.to_string())
    }
}
