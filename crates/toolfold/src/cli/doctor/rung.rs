//! A ladder: what was tried, one rung after the other, up to the first that broke. For people and for programs.

use std::time::Duration;

use serde_json::{Value, json};
use toolfold_core::shown_line;

use super::super::output::Style;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Mark {
    Good,
    /// Worth a look, and no failure.
    Note,
    Bad,
}

#[derive(Debug, Clone)]
pub(crate) struct Rung {
    pub(crate) mark: Mark,
    pub(crate) step: &'static str,
    /// What was found. Foreign words are made fit to be shown when they are printed.
    pub(crate) text: String,
    pub(crate) took: Option<Duration>,
    /// The last thing that a process said.
    pub(crate) words: Option<String>,
    /// What to do about it.
    pub(crate) advice: Option<String>,
}

impl Rung {
    pub(crate) fn new(mark: Mark, step: &'static str, text: impl Into<String>) -> Rung {
        Rung { mark, step, text: text.into(), took: None, words: None, advice: None }
    }

    pub(crate) fn good(step: &'static str, text: impl Into<String>) -> Rung {
        Rung::new(Mark::Good, step, text)
    }

    pub(crate) fn note(step: &'static str, text: impl Into<String>) -> Rung {
        Rung::new(Mark::Note, step, text)
    }

    pub(crate) fn bad(step: &'static str, text: impl Into<String>) -> Rung {
        Rung::new(Mark::Bad, step, text)
    }

    pub(crate) fn after(self, took: Duration) -> Rung {
        Rung { took: Some(took), ..self }
    }

    pub(crate) fn saying(self, words: Option<String>) -> Rung {
        Rung { words, ..self }
    }

    pub(crate) fn advised(self, advice: impl Into<String>) -> Rung {
        Rung { advice: Some(advice.into()), ..self }
    }

    fn to_text(&self, style: Style) -> String {
        let took = self.took.map(|took| format!("  {}", style.dim(&seconds(took)))).unwrap_or_default();
        let line = format!("{} {:<STEP$} {}{took}", sign(self.mark, style), self.step, shown_line(&self.text));
        let mut text = format!("  {}\n", line.trim_end());
        if let Some(words) = &self.words {
            text.push_str(&format!("    {}\n", style.dim(&format!("it said: {}", shown_line(words)))));
        }
        if let Some(advice) = &self.advice {
            text.push_str(&format!("    {} {}\n", style.bold("→"), shown_line(advice)));
        }
        text
    }
}

#[derive(Debug, Clone)]
pub(crate) struct Ladder {
    pub(crate) name: String,
    pub(crate) rungs: Vec<Rung>,
    /// How many tools were listed and what they cost, where it came so far.
    pub(crate) offered: Option<(usize, usize)>,
    pub(crate) took: Duration,
}

/// Columns of the names of steps.
const STEP: usize = 14;

impl Ladder {
    pub(crate) fn new(name: impl Into<String>) -> Ladder {
        Ladder { name: name.into(), rungs: Vec::new(), offered: None, took: Duration::ZERO }
    }

    pub(crate) fn mark(&self) -> Mark {
        self.rungs.iter().map(|rung| rung.mark).max().unwrap_or(Mark::Good)
    }

    pub(crate) fn push(&mut self, rung: Rung) {
        self.rungs.push(rung);
    }

    /// All of it; with `short`, what is well is one line, and of the rest only what is not.
    pub(crate) fn to_text(&self, style: Style, short: bool) -> String {
        let tools = self.rungs.iter().rfind(|rung| rung.step == "tools").filter(|_| short && self.mark() != Mark::Bad);
        let mut text = match tools {
            Some(tools) => format!(
                "{} {}  {}  {}\n",
                sign(self.mark(), style),
                style.bold(&shown_line(&self.name)),
                shown_line(&tools.text),
                style.dim(&seconds(self.took))
            ),
            None => format!("{}\n", style.bold(&shown_line(&self.name))),
        };
        let told = self.rungs.iter().filter(|rung| tools.is_none() || rung.mark != Mark::Good);
        told.for_each(|rung| text.push_str(&rung.to_text(style)));
        text
    }

    pub(crate) fn to_json(&self) -> Value {
        let rung = |rung: &Rung| {
            json!({
                "step": rung.step, "outcome": rung.mark.as_str(), "text": rung.text, "said": rung.words, "advice": rung.advice,
                "milliseconds": rung.took.map(|took| took.as_millis() as u64),
            })
        };
        json!({
            "name": self.name,
            "ok": self.mark() != Mark::Bad,
            "milliseconds": self.took.as_millis() as u64,
            "tools": self.offered.map(|(tools, _)| tools),
            "tokens": self.offered.map(|(_, tokens)| tokens),
            "steps": self.rungs.iter().map(rung).collect::<Vec<_>>(),
        })
    }
}

impl Mark {
    fn as_str(self) -> &'static str {
        match self {
            Mark::Good => "ok",
            Mark::Note => "note",
            Mark::Bad => "failed",
        }
    }
}

fn sign(mark: Mark, style: Style) -> String {
    match mark {
        Mark::Good => style.green("✓"),
        Mark::Note => style.yellow("!"),
        Mark::Bad => style.red("✗"),
    }
}

/// `<1 ms`, `12 ms`, `0.4 s`, `31 s`
pub(crate) fn seconds(took: Duration) -> String {
    match took.as_secs_f32() {
        instant if instant < 0.001 => "<1 ms".to_owned(),
        short if short < 0.1 => format!("{} ms", took.as_millis()),
        middle if middle < 10.0 => format!("{middle:.1} s"),
        long => format!("{long:.0} s"),
    }
}
