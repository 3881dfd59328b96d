//! A server that is configured and not there: nothing of it is in the catalog. Whoever asks for it is told so, and why.

use crate::name::ServerName;
use crate::refusal::{Code, Refusal};

/// Characters of a reason that are shown.
const LONGEST_REASON: usize = 200;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Absence {
    /// It has not answered yet.
    Starting,
    /// It was tried, and is not running.
    Failing,
    /// It is there, and nobody is logged in.
    NeedsLogin,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Absent {
    pub server: ServerName,
    pub state: Absence,
    /// In words that a model can pass on to a person. Never a secret.
    pub why: Option<String>,
}

impl Absent {
    pub fn starting(server: ServerName) -> Self {
        Absent { server, state: Absence::Starting, why: None }
    }

    pub fn failing(server: ServerName, why: impl Into<String>) -> Self {
        Absent { server, state: Absence::Failing, why: Some(why.into()) }
    }

    pub fn needs_login(server: ServerName, why: impl Into<String>) -> Self {
        Absent { server, state: Absence::NeedsLogin, why: Some(why.into()) }
    }

    /// `sqlite is configured and not running: it has no such file`, in one line and without a full stop.
    pub fn said(&self) -> String {
        let state = match self.state {
            Absence::Starting => "still starting",
            Absence::Failing => "not running",
            Absence::NeedsLogin => "in need of a login",
        };
        let why = self.why.as_deref().map(Absent::reason).filter(|why| !why.is_empty());
        if let (Absence::NeedsLogin, Some(why)) = (self.state, &why) {
            // It names the server, and what to do.
            return why.clone();
        }
        let why = why.map_or_else(String::new, |why| format!(": {why}"));
        format!("{} is configured and {state}{why}", self.server)
    }

    /// For a request that cannot do without it.
    pub fn refusal(&self) -> Refusal {
        let then = match self.state {
            Absence::Starting => "Ask again in a moment.",
            Absence::Failing => "Do without it, or tell the person who can mend it.",
            Absence::NeedsLogin => "Tell the person, who can do that, or do without it.",
        };
        let said = self.said();
        let stop = if said.ends_with(['?', '!', '…']) { "" } else { "." };
        Refusal::new(Code::ServerUnavailable, format!("{said}{stop} {then}"))
    }

    /// A reason in one line of bounded length, without a full stop: it may quote what a server printed.
    pub fn reason(why: &str) -> String {
        let clean: String =
            why.chars().take(4 * LONGEST_REASON).map(|c| if c.is_control() { ' ' } else { c }).collect();
        let line = clean.split_whitespace().collect::<Vec<_>>().join(" ");
        let line = line.trim_end_matches('.');
        match line.char_indices().nth(LONGEST_REASON) {
            Some((end, _)) => format!("{}…", line[..end].trim_end()),
            None => line.to_owned(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_said_in_one_short_line() {
        let sqlite = ServerName::new("sqlite").expect("a name");
        assert_eq!(Absent::starting(sqlite.clone()).said(), "sqlite is configured and still starting");
        let failing = Absent::failing(sqlite.clone(), "the program \u{1b}[31muvx\n was not found.");
        assert_eq!(failing.said(), "sqlite is configured and not running: the program [31muvx was not found");
        let refusal = failing.refusal();
        assert_eq!(refusal.code, Code::ServerUnavailable);
        assert!(refusal.message.ends_with("was not found. Do without it, or tell the person who can mend it."));
        let login = Absent::needs_login(sqlite.clone(), "the server sqlite needs a login: run `toolfold login sqlite`");
        assert_eq!(login.said(), "the server sqlite needs a login: run `toolfold login sqlite`");
        assert!(Absent::failing(sqlite, "x".repeat(1_000_000)).said().len() < 300);
    }
}
