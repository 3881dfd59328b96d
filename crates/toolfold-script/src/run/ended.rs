//! How a script ended, and what it had done by then.

use std::process::ExitStatus;

use toolfold_wire::Raw;

use crate::limits::ScriptLimits;
use crate::protocol::{Ask, HostAnswer, SelfMade, Uncaught};

/// What is left of a run.
#[derive(Debug, Default)]
pub struct Ended {
    pub end: End,
    pub printed: String,
    /// Content for the client, in the order in which it was shown.
    pub shown: Vec<Raw>,
    /// The tools it called, in the order in which it did.
    pub calls: Vec<InnerCall>,
}

#[derive(Debug, Default)]
pub enum End {
    Returned(Option<Raw>),
    Threw(Box<Uncaught>),
    Over(Over),
    Crashed(Crash),
    /// Before its end is known.
    #[default]
    Open,
}

/// The limits that end a script.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Over {
    Cpu,
    Memory,
    Time,
    /// What it returned, asked for or showed is too large.
    Size,
    /// It waits for what will never come.
    Stuck,
}

/// Ends that are no script's doing, or should not be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Crash {
    NotStarted,
    /// The process said something that is no line of the protocol.
    Nonsense,
    /// The process ended by itself.
    Gone,
    /// It did what no script has a way to.
    Forbidden,
}

/// One call of a script.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InnerCall {
    pub tool: String,
    pub outcome: InnerOutcome,
}

/// How a call of a script ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum InnerOutcome {
    /// It was not answered before the script's end.
    Open,
    Done,
    /// The script was thrown something with this code.
    Thrown(String),
}

impl Ended {
    /// Writes down what is asked for; where it stands.
    pub(super) fn note(&mut self, ask: &Ask) -> usize {
        if let Ask::Call { tool, .. } = ask {
            self.calls.push(InnerCall { tool: tool.clone(), outcome: InnerOutcome::Open });
            return self.calls.len() - 1;
        }
        usize::MAX
    }

    pub(super) fn note_end(&mut self, call: usize, answered: &HostAnswer) {
        if let Some(call) = self.calls.get_mut(call) {
            call.outcome = match answered {
                HostAnswer::Thrown(thrown) => InnerOutcome::Thrown(thrown.code.clone()),
                HostAnswer::Result(_) | HostAnswer::Value(_) => InnerOutcome::Done,
            };
        }
    }
}

impl From<SelfMade> for Over {
    fn from(over: SelfMade) -> Self {
        match over {
            SelfMade::Cpu => Over::Cpu,
            SelfMade::Memory => Over::Memory,
            SelfMade::Stuck => Over::Stuck,
            SelfMade::Size => Over::Size,
        }
    }
}

/// What it means that the process ended without a word.
pub(super) fn crash(status: Option<ExitStatus>, _: ScriptLimits) -> End {
    #[cfg(unix)]
    {
        use std::os::unix::process::ExitStatusExt;

        // By the numbers that all systems share, but for the one that Linux alone sends.
        const ABORTED: i32 = 6;
        const OUT_OF_TIME: i32 = 24;
        const FILTERED: i32 = 31;
        match status.and_then(|status| status.signal()) {
            Some(OUT_OF_TIME) => return End::Over(Over::Cpu),
            // The allocator of the process itself: there was no more address space.
            Some(ABORTED) => return End::Over(Over::Memory),
            Some(FILTERED) => return End::Crashed(Crash::Forbidden),
            _ => {}
        }
    }
    End::Crashed(Crash::Gone)
}
