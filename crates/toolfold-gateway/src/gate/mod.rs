//! The gate: the one way to a server. Whoever wants anything of one (a call, a prompt, a resource, a subscription, a
//! completion, a method nobody here knows, a program's run, the rest of a call that was parked, a notification) passes here,
//! and what holds for all of them stands here: rights, limits, the audit, counting, traces.
//!
//! What a reader would get wrong: this is a fence, not a custom. What a server behind a transport can be asked is private to this
//! module, so that no other way compiles; for tools of this process `tidy` looks. And a call that is parked has passed, but is not done: it is counted when it is.

mod bridge;
mod links;
mod marks;
mod relay;
mod rights;
mod source;
mod states;
mod subscriptions;

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::broadcast;
use tokio::time::Instant;
use toolfold_access::{ReplicaId, Standing};
use toolfold_core::{Blame, Code, Entry, Principal, Refusal, ServerName};
use toolfold_results::Slot;
use toolfold_telemetry::Measured;
use toolfold_wire::{Object, Raw};
use tracing::{Instrument, info_span, warn};

use crate::instruments::{Instruments, carriage, error_of};
use crate::recording::{Asked, Recording};
use crate::request::Request;
use crate::snapshot::Snapshot;
use crate::turned_away::TurnedAway;
use crate::turnstile::Turnstile;
use crate::usage::Usage;
pub(crate) use bridge::Exchange;
use bridge::Parked;
use links::Links;
pub(crate) use marks::MOST as MOST_MARKED;
pub(crate) use relay::sent_back;
pub(crate) use rights::{Parking, Wanted, offered};
use rights::{parking, unknown_state};
use states::States;
use subscriptions::Subscriptions;

pub use source::Failed;
use source::failed;
pub(crate) use source::{LOGIN, Source};
pub use subscriptions::Watch;

/// Calls that somebody who follows them may lag behind before it misses some. Whoever follows them rests now and then, so
/// that a call has nobody to wake.
const CALLS: usize = 1024;

pub(crate) struct Gate {
    parked: Parked,
    subscriptions: Subscriptions,
    links: Links,
    states: States,
    pub(crate) usage: Usage,
    pub(crate) recording: Recording,
    pub(crate) turnstile: Turnstile,
    pub(crate) turned_away: TurnedAway,
    pub(crate) instruments: Instruments,
    calls: broadcast::Sender<CallRecord>,
}

/// What somebody wants of a server.
pub(crate) struct Passage<'a> {
    pub(crate) request: &'a Request,
    pub(crate) server: &'a ServerName,
    pub(crate) what: Wanted<'a>,
    pub(crate) errand: Errand,
    /// Where a long result goes while it comes in. Whoever gives one looks into it: the outcome is cut short then.
    pub(crate) slot: Option<Arc<Slot>>,
}

pub(crate) enum Errand {
    /// A request that the server answers.
    Ask(Object),
    /// The same of what is no server of the snapshot: a client's own program.
    AskOf(Source, Object),
    /// The rest of a call that was parked, with the answers it waited for.
    Resume(Box<Exchange>, Object),
    /// To hear of changes of a resource.
    Watch(String),
    /// A notification.
    Tell,
    /// How much the server should say in its log messages.
    LogLevel(&'static str),
}

/// What a call is counted as when it is done.
#[derive(Default)]
pub(crate) struct Counted {
    /// The id of the tool, where one is called.
    pub(crate) tool: Option<String>,
    /// Its number in the record.
    pub(crate) call: u64,
    /// What it is asked again about when it goes on.
    pub(crate) what: Parking,
    pub(crate) slot: Option<Arc<Slot>>,
}

pub(crate) enum Outcome {
    Done(Raw),
    /// The server has a question: the result is `input_required`, and the call goes on when its client comes back.
    Parked(Raw),
    Watching(Watch),
    Told,
}

/// What there is to say of one call afterwards. No arguments and no results.
#[derive(Debug, Clone)]
pub struct CallRecord {
    pub at: SystemTime,
    pub principal: Principal,
    pub server: ServerName,
    pub method: String,
    /// The tool's id, where a tool was called.
    pub tool: Option<String>,
    /// `done`, `parked`, the code of a refusal, or `error` for an error of the server's own.
    pub outcome: &'static str,
    pub took: Duration,
}

impl Gate {
    pub(crate) fn new(usage: Usage, recording: Recording, standing: Option<Arc<Standing>>) -> Self {
        Gate {
            states: States::shared(standing.clone()),
            parked: Parked::new(standing),
            subscriptions: Subscriptions::default(),
            links: Links::default(),
            usage,
            recording,
            turnstile: Turnstile::default(),
            turned_away: TurnedAway::default(),
            instruments: Instruments::default(),
            calls: broadcast::Sender::new(CALLS),
        }
    }

    pub(crate) fn calls(&self) -> broadcast::Receiver<CallRecord> {
        self.calls.subscribe()
    }

    /// The one way to a server.
    pub(crate) async fn pass(&self, snapshot: &Snapshot, passage: Passage<'_>) -> Result<Outcome, Failed> {
        let Passage { request, server, what, mut errand, slot } = passage;
        self.admit(snapshot, server, what).inspect_err(|failed| {
            self.recording.denied_passage(request, snapshot, server, what, failed);
        })?;
        let entry = match what {
            Wanted::Entry(entry) | Wanted::Offered(entry, _) => Some(entry),
            _ => None,
        };
        // What is only to be heard is asked about no further.
        if matches!(what, Wanted::Ear) {
            return self.run(request, snapshot, server, Counted::default(), errand).await;
        }
        let resumes = match &mut errand {
            Errand::Ask(params) => self.states.open(request, server, params)?,
            Errand::Resume(exchange, _) => Some(exchange.call),
            _ => None,
        };
        let (principal, limits) = (&request.client.principal(), &snapshot.config.limits);
        let tool = match (&errand, entry) {
            (Errand::Resume(exchange, _), _) => exchange.tool.clone(),
            (_, entry) => entry.map(|entry| entry.id.to_string()),
        };
        // The rest of a call that was let in is not counted again: refused, it would be lost.
        let turn = match &errand {
            Errand::Resume(..) => Ok(None),
            _ => self.turnstile.enter(limits, principal, server).map(Some).map_err(Failed::Refused),
        };
        let turn = turn.inspect_err(|failed| self.recording.refused(request, snapshot, entry, None, failed))?;
        let begun = Instant::now();
        let asked = Asked { resumes, ..asked(request, server, entry, &errand) };
        let open = self.recording.begin(request, snapshot, asked).await?;
        let mut span = None;
        match &mut errand {
            Errand::Resume(exchange, _) => exchange.call = open.call(),
            Errand::Ask(params) | Errand::AskOf(_, params) => {
                span = self.instruments.ask(request, (snapshot, server), entry.map(|entry| &**entry), params)
            }
            _ => {}
        }
        let counted = Counted { tool: tool.clone(), call: open.call(), what: parking(what), slot: slot.clone() };
        let logged = info_span!("call", tool = tool.as_deref().unwrap_or(&request.method), %principal);
        let outcome = async {
            let outcome = self.run(request, snapshot, server, counted, errand).await;
            log(&outcome);
            outcome
        };
        let mut outcome = outcome.instrument(logged).await;
        drop(turn);
        if let Ok(Outcome::Done(result)) = outcome {
            outcome = match States::is_question(request, &result) {
                true => self.ask_back(request, server, open.call(), (slot.clone(), result)).await,
                false => Ok(Outcome::Done(result)),
            };
        }
        if let (true, Ok(Outcome::Done(result))) = (snapshot.config.mark_results, &mut outcome)
            && marks::mark(result).await
        {
            self.instruments.meter.marked(server.as_str());
        }
        if !matches!(outcome, Ok(Outcome::Told)) {
            self.turnstile.learn(limits, server, is_silence(&outcome));
        }
        self.instruments.asked(span, &outcome);
        self.record(request, (snapshot, server), tool, &outcome, begun);
        let spooled = slot.and_then(|slot| slot.filled()).map(|spooled| spooled.bytes());
        open.end(outcome, spooled).await
    }

    /// Which replica has a parked call of this principal's, by its `requestState`.
    pub(crate) fn owner_of_parked(&self, principal: &Principal, state: &str) -> Option<ReplicaId> {
        self.parked.owner(principal, state)
    }

    /// The call that waits for this request's answers under its `requestState`, if that is one of ours.
    pub(crate) fn parked(&self, request: &Request) -> Option<Result<Box<Exchange>, Failed>> {
        let state = request.params.string("requestState").filter(|state| Parked::is_ours(state))?;
        let found = self.parked.take(&state, &request.client.principal(), &request.method);
        Some(found.ok_or_else(unknown_state))
    }

    /// Which servers a link that nobody lists came from, where results held it.
    pub(crate) fn linked(&self, principal: &Principal, uri: &str) -> Vec<ServerName> {
        self.links.servers_of(principal, uri)
    }

    /// What a stateless server wants to know is no end of the call: its client comes back with the answer.
    async fn ask_back(
        &self,
        request: &Request,
        server: &ServerName,
        call: u64,
        (slot, question): (Option<Arc<Slot>>, Raw),
    ) -> Result<Outcome, Failed> {
        let question = bridge::whole(slot, question).await?;
        Ok(Outcome::Parked(self.states.close(request, server, call, question)))
    }

    async fn run(
        &self,
        request: &Request,
        snapshot: &Snapshot,
        server: &ServerName,
        counted: Counted,
        errand: Errand,
    ) -> Result<Outcome, Failed> {
        // A program is of no server that the snapshot could have.
        let errand = match errand {
            Errand::AskOf(source, params) => {
                return bridge::exchange(&self.parked, (server, &source), counted, request, params).await;
            }
            Errand::Resume(exchange, answers) if matches!(exchange.what, Parking::Program) => {
                return bridge::resume(&self.parked, *exchange, request, &answers).await;
            }
            errand => errand,
        };
        let Some(source) = snapshot.source(server) else { return Err(Failed::Refused(gone(server))) };
        match errand {
            Errand::AskOf(..) => Ok(Outcome::Told),
            Errand::Ask(params) => bridge::exchange(&self.parked, (server, source), counted, request, params).await,
            Errand::Resume(exchange, answers) => bridge::resume(&self.parked, *exchange, request, &answers).await,
            Errand::Watch(uri) => {
                let principal = &request.client.principal();
                self.watch((server, source), principal, uri).await.map(Outcome::Watching)
            }
            Errand::Tell => {
                if let Some(upstream) = source.way_of(&request.client.principal()).await {
                    upstream.notify(&request.method, Some(request.params.to_raw()));
                }
                Ok(Outcome::Told)
            }
            Errand::LogLevel(level) => {
                if let Some(upstream) = source.way_of(&request.client.principal()).await {
                    upstream.set_log_level(level);
                }
                Ok(Outcome::Told)
            }
        }
    }

    async fn watch(
        &self,
        (server, source): (&ServerName, &Source),
        principal: &Principal,
        uri: String,
    ) -> Result<Watch, Failed> {
        let upstream = source.way_of(principal).await.ok_or_else(|| Failed::Refused(gone(server)))?;
        Box::pin(self.subscriptions.watch(upstream, uri)).await.map_err(|error| failed(server, error))
    }

    fn record(
        &self,
        request: &Request,
        (snapshot, server): (&Snapshot, &ServerName),
        tool: Option<String>,
        outcome: &Result<Outcome, Failed>,
        begun: Instant,
    ) {
        let principal = &request.client.principal();
        if let Ok(Outcome::Done(result)) = outcome {
            self.links.learn(principal, server, result);
            if let Some(tool) = &tool {
                self.usage.count(tool);
            }
        }
        let error = error_of(outcome);
        let outcome = match outcome {
            Ok(Outcome::Done(_) | Outcome::Watching(_) | Outcome::Told) => "done",
            Ok(Outcome::Parked(_)) => "parked",
            Err(Failed::Refused(refusal)) => refusal.code.as_str(),
            Err(Failed::Answered(_)) => "error",
        };
        let (by, took) = (carriage(snapshot, server), begun.elapsed());
        let measured = Measured { method: &request.method, error: error.as_deref(), by, took };
        self.instruments.meter.called(server.as_str(), tool.as_deref(), outcome, measured);
        if self.calls.receiver_count() > 0 {
            // Nobody listening any more is fine.
            let _ = self.calls.send(CallRecord {
                at: SystemTime::now(),
                principal: principal.clone(),
                server: server.clone(),
                method: request.method.clone(),
                tool,
                outcome,
                took,
            });
        }
    }
}

/// What is asked, for the record.
fn asked<'a>(
    request: &Request,
    server: &'a ServerName,
    entry: Option<&'a Arc<Entry>>,
    errand: &'a Errand,
) -> Asked<'a> {
    let (params, target) = match errand {
        Errand::Ask(params) | Errand::AskOf(_, params) => (Some(params), target(&request.method, params)),
        Errand::Watch(uri) => (None, Some(uri.clone())),
        Errand::Resume(..) | Errand::Tell | Errand::LogLevel(_) => (None, None),
    };
    Asked { server, entry, params, target, resumes: None }
}

/// What a request is about that is no tool.
fn target(method: &str, params: &Object) -> Option<String> {
    match method {
        "prompts/get" => params.string("name"),
        "resources/read" | "resources/subscribe" => params.string("uri"),
        "completion/complete" => {
            let about = params.object("ref")?;
            about.string("name").or_else(|| about.string("uri"))
        }
        _ => None,
    }
}

/// Whether the server did not answer at all. One that says no is there.
fn is_silence(outcome: &Result<Outcome, Failed>) -> bool {
    let login = |refusal: &Refusal| refusal.details.as_ref().is_some_and(|details| details.get(LOGIN).is_some());
    matches!(outcome, Err(Failed::Refused(refusal)) if refusal.code.blame() == Blame::Server && !login(refusal))
}

/// Says in the log why a server's part of a call failed: the caller is not told the cause.
fn log(outcome: &Result<Outcome, Failed>) {
    if let Err(Failed::Refused(refusal)) = outcome {
        warn!(code = %refusal.code, cause = refusal.cause, "the call failed");
    }
}

fn gone(server: &ServerName) -> Refusal {
    Refusal::new(Code::ServerUnavailable, format!("The server {server} is not there any more."))
}
