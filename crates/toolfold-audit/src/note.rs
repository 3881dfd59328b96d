//! What is told, as whoever tells it has it: references and numbers, nothing rendered.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use toolfold_core::{Entry, Principal, ServerName, Surface};
use toolfold_wire::Raw;

use crate::event::EventKind;

/// Bytes of an answer whose tokens are counted.
const LARGEST_COUNTED: usize = 64 * 1024;

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

    /// Bytes that it keeps alive while it waits, about: what somebody else chose the length of.
    pub(crate) fn size(&self) -> u64 {
        let text = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let raw = |raw: &Option<Raw>| raw.as_ref().map_or(0, |raw| raw.get().len());
        let who = self.who.as_ref().map_or(0, |who| text(&who.request));
        let what = match &self.what {
            Matter::Disclosed { query, shown, answer, .. } => {
                let answer = if let AnswerGiven::Text(text) = answer { text.get().len() } else { 0 };
                text(query) + answer + shown.iter().map(|shown| shown.tool.len()).sum::<usize>()
            }
            Matter::Called { method, arguments, .. } => method.len() + raw(arguments),
            Matter::Ended { ended, .. } => raw(&ended.result),
            Matter::Refused { asked, .. } => text(asked),
            Matter::Missed { asked, .. } => asked.len(),
            Matter::Happened { tool, outcome, about, .. } => text(tool) + text(outcome) + text(about),
        };
        (who + what) as u64
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
    /// The meta-tool that calls only some tools, where it was through one.
    pub door: Option<Arc<str>>,
}

#[derive(Debug, Clone)]
pub enum Matter {
    /// An answer that named tools.
    Disclosed { kind: EventKind, query: Option<String>, shown: Vec<Shown>, answer: AnswerGiven, took: Duration },
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
        rule: Option<String>,
        code: &'static str,
        asked: Option<String>,
    },
    /// Something was named that does not exist for whoever asks. Whether it exists at all is looked up where this is written
    /// down, and not where whoever asks waits: for them both take as long.
    Missed { asked: String, code: &'static str, look: Lookup },
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

/// What there is behind a name after all, if there is something.
#[derive(Clone)]
pub struct Lookup(Arc<dyn Fn() -> Option<Denied> + Send + Sync>);

/// Something that exists and was denied.
#[derive(Debug, Clone)]
pub struct Denied {
    pub tool: Arc<Entry>,
    pub rule: Option<String>,
}

impl Lookup {
    pub fn new(look: impl Fn() -> Option<Denied> + Send + Sync + 'static) -> Self {
        Lookup(Arc::new(look))
    }

    pub(crate) fn up(&self) -> Option<Denied> {
        (self.0)()
    }
}

impl std::fmt::Debug for Lookup {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Lookup")
    }
}

/// What was answered, as far as somebody counts what it cost.
#[derive(Debug, Clone)]
pub enum AnswerGiven {
    Text(Raw),
    /// So many bytes: nobody keeps megabytes, or counts their tokens, for a statistic.
    Large(usize),
}

impl From<&Raw> for AnswerGiven {
    fn from(answer: &Raw) -> Self {
        match answer.get().len() {
            0..=LARGEST_COUNTED => AnswerGiven::Text(answer.clone()),
            size => AnswerGiven::Large(size),
        }
    }
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
