//! What is told, as whoever tells it has it: references and numbers, nothing rendered.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use toolfold_core::{Entry, Principal, ServerName, Surface};
use toolfold_wire::Raw;

use crate::event::EventKind;

#[derive(Debug, Clone)]
pub struct Note {
    pub at: SystemTime,
    /// `None`: the program itself.
    pub who: Option<Who>,
    pub what: Matter,
}

impl Note {
    pub fn now(who: Option<Who>, what: Matter) -> Self {
        Note { at: SystemTime::now(), who, what }
    }
}

#[derive(Debug, Clone)]
pub struct Who {
    pub principal: Principal,
    pub client: Option<Arc<str>>,
    /// `None` in the era without sessions.
    pub session: Option<u64>,
    /// `traceparent`, as it came.
    pub trace: Option<Arc<str>>,
    pub request: Option<String>,
    pub surface: Surface,
    pub catalog: u64,
}

#[derive(Debug, Clone)]
pub enum Matter {
    /// An answer that named tools.
    Disclosed { kind: EventKind, query: Option<String>, shown: Vec<Shown>, answer: Raw, took: Duration },
    /// Something is about to be asked of a server. `call` is the caller's own number for it, unique in the process; `resumes`
    /// the one under which it began, where it was parked.
    Called {
        call: u64,
        resumes: Option<u64>,
        server: ServerName,
        method: String,
        tool: Option<Arc<Entry>>,
        /// The name of a prompt, or the address of a resource.
        target: Option<String>,
        listing: Listing,
        input: usize,
        arguments: Option<Raw>,
    },
    /// What came of it.
    Ended { call: u64, ended: Ended },
    /// Nothing was asked of any server. `held`: the id of what would have been asked, where it is in no catalog.
    Refused {
        tool: Option<Arc<Entry>>,
        held: Option<String>,
        rule: Option<&'static str>,
        code: &'static str,
        asked: Option<String>,
    },
    /// Anything else worth knowing later.
    Happened {
        kind: EventKind,
        server: Option<ServerName>,
        tool: Option<String>,
        /// Of the definition that it is about.
        fingerprint: Option<String>,
        /// Who did it, where somebody did.
        by: Option<Principal>,
        outcome: Option<String>,
        about: Option<String>,
        /// How often, where it is told once for several times.
        times: Option<u64>,
    },
}

/// A tool that an answer named, in the order of the answer.
#[derive(Debug, Clone, PartialEq)]
pub struct Shown {
    pub tool: String,
    pub confidence: Option<f32>,
}

#[derive(Debug, Clone)]
pub struct Ended {
    /// `done`, `parked`, `error` or `refused`.
    pub outcome: &'static str,
    pub code: Option<String>,
    pub took: Duration,
    pub output: usize,
    pub result: Option<Raw>,
}

/// Whether the client had the tool in its list.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Listing {
    Pinned,
    Listed,
    Unlisted,
}
