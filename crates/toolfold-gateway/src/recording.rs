//! What is written down of what goes on here: the way from the gateway to the audit.
//!
//! What a reader would get wrong: a call is told twice, before its server gets it and when its end is known, and one whose
//! client went away is told to have been cancelled by being dropped.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, SystemTime};

use tokio::time::Instant;
use toolfold_access::Extent;
use toolfold_audit::{Audit, AuditError, Denied, Ended, EventKind, Listing, Lookup, Matter, Note, Settings, Told, Who};
use toolfold_config::{AuditMode, Config, Recorded};
use toolfold_core::{Code, Doors, Entry, Fingerprint, Principal, Refusal, ServerName};
use toolfold_disclosure::{Action, View, is_door_of, tokens};
use toolfold_wire::{Object, Raw};
use tracing::error;

use crate::disclosed::shown;
use crate::gate::{Failed, Outcome, Wanted, offered};
use crate::request::Request;
use crate::secrets::Secrets;
use crate::snapshot::Snapshot;
use crate::trust::Held;

/// Results that are looked into for whether they are errors.
const LOOKED_INTO: usize = 16 * 1024;
/// Longer ones are not handed on to be written down.
const LONGEST_KEPT: usize = 64 * 1024;

/// Empty until there is an audit to keep.
#[derive(Default)]
pub(crate) struct Recording(OnceLock<Audit>);

/// Something that is no call: a server came up, a tool was held, somebody approved one.
pub(crate) struct Occurrence<'a> {
    pub(crate) kind: EventKind,
    pub(crate) server: Option<&'a ServerName>,
    /// The id of the tool it is about.
    pub(crate) tool: Option<&'a str>,
    /// The definition that it is about.
    pub(crate) fingerprint: Option<Fingerprint>,
    /// Who did it, where somebody did.
    pub(crate) by: Option<&'a Principal>,
    pub(crate) outcome: &'a str,
    pub(crate) about: Option<String>,
    /// How often, where it is told once for several times.
    pub(crate) times: Option<u64>,
}

impl<'a> Occurrence<'a> {
    pub(crate) fn new(kind: EventKind, outcome: &'a str) -> Self {
        let (server, tool, fingerprint, by, about, times) = (None, None, None, None, None, None);
        Occurrence { kind, server, tool, fingerprint, by, outcome, about, times }
    }
}

/// A call that has been told of and whose end has not.
pub(crate) struct Open<'a> {
    audit: Option<&'a Audit>,
    who: Option<Who>,
    call: u64,
    begun: Instant,
}

/// What is asked of a server.
pub(crate) struct Asked<'a> {
    pub(crate) server: &'a ServerName,
    pub(crate) entry: Option<&'a Arc<Entry>>,
    pub(crate) params: Option<&'a Object>,
    /// What is no tool: the name of a prompt, the address of a resource.
    pub(crate) target: Option<String>,
    pub(crate) resumes: Option<u64>,
}

impl Recording {
    pub(crate) fn new(config: &Config) -> Self {
        let recording = Recording::default();
        if let Some(settings) = settings(config).filter(|settings| settings.mode != AuditMode::Off) {
            let _ = recording.0.set(Audit::start(settings));
        }
        recording
    }

    /// Another place takes effect with the next start.
    pub(crate) async fn configure(&self, config: &Config) {
        let Some(settings) = settings(config) else { return };
        if settings.mode != AuditMode::Off {
            // One that there was no need for yet begins switched off: the first that it says is since when it is on.
            self.0.get_or_init(|| Audit::start(Settings { mode: AuditMode::Off, ..settings.clone() }));
        }
        if let Some(audit) = self.0.get() {
            audit.configure(settings).await;
        }
    }

    pub(crate) fn audit(&self) -> Option<&Audit> {
        self.0.get()
    }

    pub(crate) async fn close(&self) {
        if let Some(audit) = self.0.get() {
            audit.close().await;
        }
    }

    /// Something is about to be asked of a server. Where that must be written down first and cannot be, it is not asked.
    pub(crate) async fn begin(
        &self,
        request: &Request,
        snapshot: &Snapshot,
        asked: Asked<'_>,
    ) -> Result<Open<'_>, Failed> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        let (call, begun) = (NEXT.fetch_add(1, Ordering::Relaxed), Instant::now());
        let Some(audit) = self.0.get() else { return Ok(Open { audit: None, who: None, call, begun }) };
        let who = who(request, snapshot);
        let arguments = asked.params.and_then(|params| params.get("arguments"));
        let what = Matter::Called {
            call,
            resumes: asked.resumes,
            server: asked.server.clone(),
            method: request.method.clone(),
            tool: asked.entry.cloned(),
            target: asked.target,
            listing: asked.entry.map_or(Listing::Unlisted, |entry| listing(snapshot, request, entry)),
            input: arguments.map_or(0, |arguments| arguments.get().len()),
            arguments: arguments.filter(|_| audit.records(Recorded::Arguments)).map(kept),
        };
        let told = audit.tell(Note::now(Some(who.clone()), what));
        // From here on its end is told, whatever happens.
        let mut open = Open { audit: Some(audit), who: Some(who), call, begun };
        match told.written().await {
            Ok(()) => Ok(open),
            Err(error) => {
                open.audit = None;
                Err(not_begun(&error))
            }
        }
    }

    /// An answer of a meta-tool; it is not given before it is written down, where that is asked for.
    pub(crate) async fn disclosed(
        &self,
        request: &Request,
        snapshot: &Snapshot,
        view: View<'_>,
        action: &Action,
        (answer, took): (&Raw, Duration),
        noted: &[(usize, f32)],
    ) -> Result<(), Failed> {
        let Some(audit) = self.0.get() else { return Ok(()) };
        let (kind, query) = match action {
            Action::Search(search, _) => (EventKind::Search, Some(search.query.clone())),
            Action::Nodes(nodes, _) => (EventKind::Browse, Some(nodes.query.clone())),
            Action::Browse(browse, _) => (EventKind::Browse, Some(browse.path.join("/"))),
            Action::Describe(..) => (EventKind::Describe, None),
            Action::Load(_) => (EventKind::Load, None),
            Action::Active { .. } => (EventKind::Browse, None),
            Action::Read(_) => (EventKind::Browse, Some("results.read".to_owned())),
            Action::Call { .. } | Action::Shut { .. } | Action::Run { .. } => return Ok(()),
            Action::Unknown(_) | Action::Refuse(_) => return Ok(()),
        };
        let shown = shown(&view, action, answer, noted);
        let what = Matter::Disclosed { kind, query, shown, answer: answer.into(), took };
        let told = audit.tell(Note::now(Some(who(request, snapshot)), what));
        told.written().await.map_err(|error| not_begun(&error))
    }

    /// Something was asked for that is held, and no server was asked.
    pub(crate) fn refused_held(&self, request: &Request, snapshot: &Snapshot, held: &Held) {
        if let Some(audit) = self.0.get() {
            let (rule, code) = (Some("trust".to_owned()), Code::Quarantined.as_str());
            let what = Matter::Refused { tool: None, held: Some(held.id.clone()), rule, code, asked: None };
            audit.mention(Note::now(Some(who(request, snapshot)), what));
        }
    }

    /// No server was asked.
    pub(crate) fn refused(
        &self,
        request: &Request,
        snapshot: &Snapshot,
        entry: Option<&Arc<Entry>>,
        asked: Option<String>,
        failed: &Failed,
    ) {
        let (Some(audit), Failed::Refused(refusal)) = (self.0.get(), failed) else { return };
        let rule = match refusal.code {
            Code::NotAuthorized => Some("forbid"),
            Code::RateLimited => Some("limits"),
            Code::Quarantined => Some("trust"),
            _ => None,
        };
        let who = who(request, snapshot);
        let by_rule = entry.filter(|_| refusal.code == Code::NotAuthorized && !snapshot.forbids_any(entry));
        let rule = match by_rule {
            // Whoever may call it may not do so through a door that leads elsewhere.
            Some(entry) if who.door.is_some() && snapshot.decision(entry).level == Extent::Call => {
                Some("door".to_owned())
            }
            Some(entry) => snapshot.rule_of(snapshot.decision(entry)).or(rule.map(str::to_owned)),
            None => rule.map(str::to_owned),
        };
        let what = Matter::Refused { tool: entry.cloned(), held: None, rule, code: refusal.code.as_str(), asked };
        audit.mention(Note::now(Some(who), what));
    }

    /// Somebody asked for what does not exist for them, and was told so. Whether there is such a thing after all is the
    /// record's business alone.
    pub(crate) fn missed(&self, request: &Request, snapshot: &Arc<Snapshot>, names: &[String], failed: &Failed) {
        let (Some(audit), Failed::Refused(refusal)) = (self.0.get(), failed) else { return };
        let (asked, code) = (names.join(" "), refusal.code.as_str());
        let (whole, share, names) = (snapshot.whole(), snapshot.clone(), names.to_vec());
        let look = Lookup::new(move || {
            let (tool, decision) = names.iter().find_map(|name| share.hidden(whole.as_deref()?, name))?;
            Some(Denied { tool, rule: share.rule_of(decision) })
        });
        audit.mention(Note::now(Some(who(request, snapshot)), Matter::Missed { asked, code, look }));
    }

    /// Somebody may not have what is no tool.
    pub(crate) fn denied_passage(
        &self,
        request: &Request,
        snapshot: &Snapshot,
        server: &ServerName,
        what: Wanted<'_>,
        failed: &Failed,
    ) {
        let (Some(audit), Failed::Refused(refusal)) = (self.0.get(), failed) else { return };
        let what = match what {
            Wanted::Offered(entry, name) => offered(entry.kind, name),
            what => what,
        };
        let (decision, name) = match what {
            // Told where it was asked for.
            Wanted::Entry(_) | Wanted::Offered(..) | Wanted::Rest | Wanted::Ear | Wanted::Program => return,
            Wanted::Prompt(name) => (Some(snapshot.decision_on_prompt(server, name)), name),
            Wanted::Resource(uri) => (Some(snapshot.decision_on_resource(server, uri)), uri),
            Wanted::Anything => (None, request.method.as_str()),
        };
        let rule = decision.and_then(|decision| snapshot.rule_of(decision));
        let asked = Some(format!("{server} {}", name.chars().take(200).collect::<String>()));
        let what = Matter::Refused { tool: None, held: None, rule, code: refusal.code.as_str(), asked };
        audit.mention(Note::now(Some(who(request, snapshot)), what));
    }

    /// Anything else that somebody may want to know later.
    pub(crate) fn happened(&self, happened: Occurrence<'_>) {
        let Some(audit) = self.0.get() else { return };
        let Occurrence { kind, server, tool, fingerprint, by, outcome, about, times } = happened;
        let (server, tool, outcome) = (server.cloned(), tool.map(str::to_owned), Some(outcome.to_owned()));
        let (fingerprint, by) = (fingerprint.map(|print| print.to_string()), by.cloned());
        let what = Matter::Happened { kind, server, tool, fingerprint, by, outcome, about, times };
        audit.mention(Note::now(None, what));
    }
}

impl Open<'_> {
    pub(crate) fn call(&self) -> u64 {
        self.call
    }

    /// The end of it; what its client is told once that is written down. `whole`: how long a result is that is cut short here.
    pub(crate) async fn end(mut self, outcome: Result<Outcome, Failed>, whole: Option<u64>) -> Result<Outcome, Failed> {
        let (Some(audit), Some(who)) = (self.audit.take(), self.who.take()) else { return outcome };
        let ended = ended(audit, &outcome, whole, self.begun.elapsed());
        let told: Told =
            audit.tell(Note { at: SystemTime::now(), who: Some(who), what: Matter::Ended { call: self.call, ended } });
        match told.written().await {
            Ok(()) => outcome,
            Err(error) => Err(not_ended(&error)),
        }
    }
}

impl Drop for Open<'_> {
    fn drop(&mut self) {
        if let Some(audit) = self.audit.take() {
            let took = self.begun.elapsed();
            let ended = Ended { outcome: "cancelled", code: None, took, output: 0, result: None };
            audit.mention(Note::now(self.who.take(), Matter::Ended { call: self.call, ended }));
        }
    }
}

/// `None`: there is no place for it.
fn settings(config: &Config) -> Option<Settings> {
    Some(Settings {
        path: config.audit.path.clone()?,
        database: config.audit.database.clone(),
        mode: config.audit.mode,
        record: config.audit.record,
        keep: config.audit.keep,
        hides: Arc::new(Secrets::of(config)),
        count_tokens: tokens::count,
    })
}

fn ended(audit: &Audit, outcome: &Result<Outcome, Failed>, whole: Option<u64>, took: Duration) -> Ended {
    let (name, code, result) = match outcome {
        Ok(Outcome::Done(result)) => ("done", is_error(result).then(|| "tool_error".to_owned()), Some(result)),
        Ok(Outcome::Parked(question)) => ("parked", None, Some(question)),
        Ok(Outcome::Watching(_) | Outcome::Told) => ("done", None, None),
        Err(Failed::Refused(refusal)) => ("refused", Some(refusal.code.as_str().to_owned()), None),
        Err(Failed::Answered(error)) => ("error", Some(error.code.to_string()), None),
    };
    let length = |result: &Raw| whole.and_then(|bytes| usize::try_from(bytes).ok()).unwrap_or(result.get().len());
    let output = result.map_or(0, length);
    let result = result.filter(|_| audit.records(Recorded::Results)).map(|result| kept_of(result, output));
    Ended { outcome: name, code, took, output, result }
}

/// What is handed on: not more than is written down, and not with the message that it came in.
fn kept(raw: &Raw) -> Raw {
    kept_of(raw, raw.get().len())
}

fn kept_of(raw: &Raw, length: usize) -> Raw {
    match length {
        0..=LONGEST_KEPT => raw.detached(),
        size => toolfold_wire::raw(&format!("{size} bytes, not written down")),
    }
}

/// Whether a tool says of its own result that it is an error.
pub(crate) fn is_error(result: &Raw) -> bool {
    let text = result.get();
    text.len() <= LOOKED_INTO
        && text.contains("\"isError\"")
        && Object::parse(result).is_some_and(|object| object.read("isError") == Some(true))
}

fn who(request: &Request, snapshot: &Snapshot) -> Who {
    let client = &request.client;
    Who {
        principal: client.principal(),
        client: client.about.clone(),
        session: (client.kind == crate::ClientKind::Session).then_some(client.id),
        trace: traceparent(&request.params).map(Arc::from),
        request: request.id.clone(),
        surface: client.surface,
        catalog: snapshot.catalog.number(),
        door: door(request, snapshot),
    }
}

/// The door that a tool is called through.
fn door(request: &Request, snapshot: &Snapshot) -> Option<Arc<str>> {
    let has_any = *snapshot.doors != Doors::NONE && request.method == "tools/call";
    let name = has_any.then(|| request.params.string("name")).flatten()?;
    is_door_of(request.client.surface, &snapshot.view(false, &[]), &name).then(|| name.into())
}

/// The trace that a request belongs to, as its client says.
pub(crate) fn traceparent(params: &Object) -> Option<String> {
    let about = params.get("_meta").filter(|about| about.get().contains("traceparent"))?;
    Object::parse(about)?.string("traceparent").filter(|trace| trace.len() <= 128)
}

fn listing(snapshot: &Snapshot, request: &Request, entry: &Entry) -> Listing {
    if snapshot.is_pinned(entry) {
        Listing::Pinned
    } else if request.client.surface == toolfold_core::Surface::Direct || request.client.has_loaded(&entry.id) {
        Listing::Listed
    } else {
        Listing::Unlisted
    }
}

fn not_begun(error: &AuditError) -> Failed {
    error!("a call was refused because the audit is strict: {error}");
    let message = "Nothing was done: every call is written down here first, and that is not possible now. This is a fault \
        of Toolfold's place, not of the tool: whoever runs it must act.";
    Failed::Refused(Refusal::new(Code::ServerUnavailable, message).cause(error))
}

fn not_ended(error: &AuditError) -> Failed {
    error!("the end of a call was not written down, so its result is withheld: {error}");
    let message = "The call was made, and what came of it cannot be written down, so it is not shown. This is a fault of \
        Toolfold's place: whoever runs it must act.";
    let refusal = Refusal::new(Code::ServerUnavailable, message).cause(error);
    Failed::Refused(refusal.hint("It may have taken effect: check before you repeat it."))
}
