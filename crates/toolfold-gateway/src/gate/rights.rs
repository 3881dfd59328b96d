//! Whether somebody may have what they want of a server. Asked at the gate, on every way in.

use std::sync::Arc;

use toolfold_access::Extent;
use toolfold_core::{Code, Entry, Kind, Next, Refusal, ServerName, ToolId, words};

use super::{Exchange, Failed, Gate, Source, gone};
use crate::snapshot::Snapshot;

/// What of a server somebody wants: what rights are about.
#[derive(Clone, Copy)]
pub(crate) enum Wanted<'a> {
    Entry(&'a Arc<Entry>),
    /// An entry that is a prompt or a resource, and which one it comes to: a template is one entry, and every address that
    /// it can make is a right of its own.
    Offered(&'a Arc<Entry>, &'a str),
    /// By the name its server has for it.
    Prompt(&'a str),
    /// By its address.
    Resource(&'a str),
    /// Whatever the server makes of it.
    Anything,
    /// Nothing but that it hears something.
    Ear,
    /// The rest of a call that was let in.
    Rest,
    /// A program of their own: what it asks for is asked about by itself.
    Program,
}

/// The same for a call that is parked.
#[derive(Debug, Clone, Default)]
pub(crate) enum Parking {
    Tool(ToolId),
    Offered(ToolId, String),
    Prompt(String),
    Resource(String),
    #[default]
    Anything,
    Program,
}

impl Parking {
    /// The method that whoever made the call comes back with.
    pub(super) fn comes_back_by<'a>(&self, method: &'a str) -> &'a str {
        match self {
            Parking::Tool(_) | Parking::Offered(..) | Parking::Program => "tools/call",
            Parking::Prompt(_) | Parking::Resource(_) | Parking::Anything => method,
        }
    }
}

impl Gate {
    /// Whether this may be done at all. Asked on every way in; `call.rs` asks before it looks at arguments, so that
    /// nobody learns from a tool's schema what may not be called.
    pub(crate) fn admit(&self, snapshot: &Snapshot, server: &ServerName, what: Wanted<'_>) -> Result<(), Failed> {
        let (decision, name) = match what {
            Wanted::Entry(entry) => {
                if let Some(held) = snapshot.quarantine.held_for(entry) {
                    return Err(Failed::Refused(held.refusal()));
                }
                if let Some(Source::Scripts(scripts)) = snapshot.source(server) {
                    scripts.admits(entry).map_err(Failed::Refused)?;
                }
                if snapshot.forbids(entry) {
                    return Err(Failed::Refused(forbidden(entry)));
                }
                (snapshot.decision(entry), entry.name())
            }
            Wanted::Offered(entry, name) => {
                self.admit(snapshot, server, Wanted::Entry(entry))?;
                return self.admit(snapshot, server, offered(entry.kind, name));
            }
            Wanted::Prompt(name) => (snapshot.decision_on_prompt(server, name), name),
            Wanted::Resource(uri) => (snapshot.decision_on_resource(server, uri), uri),
            Wanted::Anything if snapshot.commands(server) => return Ok(()),
            Wanted::Anything => return Err(Failed::Refused(not_authorized(server, "this"))),
            Wanted::Ear if snapshot.is_seen(server) => return Ok(()),
            Wanted::Ear => return Err(Failed::Refused(gone(server))),
            Wanted::Rest | Wanted::Program => return Ok(()),
        };
        match decision.level {
            Extent::Call => Ok(()),
            _ => Err(Failed::Refused(not_authorized(server, name))),
        }
    }

    /// Whether a call that was parked may go on: rights may have been taken away meanwhile.
    pub(crate) fn admit_rest(&self, snapshot: &Snapshot, exchange: &Exchange) -> Result<(), Failed> {
        if snapshot.share.is_none() {
            return Ok(());
        }
        let server = &exchange.server;
        let admitted = match &exchange.what {
            Parking::Tool(id) => match snapshot.catalog.get(id) {
                Some(entry) => self.admit(snapshot, server, Wanted::Entry(entry)),
                None => Err(unknown_state()),
            },
            Parking::Offered(id, name) => match snapshot.catalog.get(id) {
                Some(entry) => self.admit(snapshot, server, Wanted::Offered(entry, name)),
                None => Err(unknown_state()),
            },
            Parking::Prompt(name) => self.admit(snapshot, server, Wanted::Prompt(name)),
            Parking::Resource(uri) => self.admit(snapshot, server, Wanted::Resource(uri)),
            Parking::Anything => self.admit(snapshot, server, Wanted::Anything),
            Parking::Program => Ok(()),
        };
        admitted.map_err(|_| unknown_state())
    }
}

/// What is called like a tool, by what it is.
pub(crate) fn offered(kind: Kind, name: &str) -> Wanted<'_> {
    if kind == Kind::Prompt { Wanted::Prompt(name) } else { Wanted::Resource(name) }
}

/// Another's is as good as none, and so is one that may not go on any more.
pub(super) fn unknown_state() -> Failed {
    let refusal = Refusal::new(Code::InvalidRequest, "This requestState is unknown, used or expired.");
    Failed::Refused(refusal.hint("Begin the call again, without requestState."))
}

pub(super) fn parking(what: Wanted<'_>) -> Parking {
    match what {
        Wanted::Entry(entry) => Parking::Tool(entry.id.clone()),
        Wanted::Offered(entry, name) => Parking::Offered(entry.id.clone(), name.to_owned()),
        Wanted::Prompt(name) => Parking::Prompt(name.to_owned()),
        Wanted::Resource(uri) => Parking::Resource(uri.to_owned()),
        Wanted::Anything | Wanted::Ear | Wanted::Rest => Parking::Anything,
        Wanted::Program => Parking::Program,
    }
}

/// It can be seen and not used.
fn not_authorized(server: &ServerName, name: &str) -> Refusal {
    let shown: String = name.chars().take(200).collect();
    let message = format!("You may see {server}.{shown} and not use it: a rule would have to grant that.");
    Refusal::new(Code::NotAuthorized, message)
        .hint("Whoever runs Toolfold says who may call what, in the rules of its configuration.")
        .next(Next::Search { query: words::split(&shown).join(" ") })
}

fn forbidden(entry: &Entry) -> Refusal {
    let message = format!(
        "Calling {} is not allowed here: whoever runs Toolfold has forbidden it. Do without it, or ask them.",
        entry.id
    );
    Refusal::new(Code::NotAuthorized, message)
        .hints(["The key `forbid` of the server in the configuration lists what may not be called.".to_owned()])
        .next(Next::Search { query: words::split(entry.name()).join(" ") })
}
