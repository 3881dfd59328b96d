//! `tools/call`: one match over what a surface made of it.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;
use tokio::time::Instant;
use toolfold_catalog::SERVERS;
use toolfold_core::{Absence, Code, Entry, Kind, Refusal, ServerName, Surface, ToolId};
use toolfold_disclosure::{Action, Browse, Describe, Search, Unknown, answer, fitted, is_meta, route, shut};
use toolfold_wire::{BoxFuture, Object, Raw, RpcError};

use crate::aside::{aside, is_long};
use crate::check;
use crate::dispatch::result_of;
use crate::gate::{Errand, Failed, Outcome, Passage, Wanted};
use crate::gateway::Inner;
use crate::offered;
use crate::request::Request;
use crate::results::Delivery;
use crate::scope::Scope;
use crate::scripts;
use crate::snapshot::Snapshot;
use crate::trust::Held;

/// How a call is made.
pub(crate) struct Manner<'a> {
    /// The surface that reads its name.
    pub(crate) surface: Surface,
    /// Whether an entry may be called by who asks, beside what everybody is asked on the way.
    pub(crate) may: &'a (dyn Fn(&Snapshot, &Entry) -> Result<(), Refusal> + Sync),
    /// Whether a result is passed on whole, however long it is.
    pub(crate) whole: bool,
}

pub(crate) async fn call(inner: &Inner, request: Request) -> Result<Raw, Failed> {
    let surface = request.client.surface;
    call_as(inner, request, Manner { surface, may: &|_, _| Ok(()), whole: false }).await
}

/// The same in another manner than a client's own.
pub(crate) async fn call_as(inner: &Inner, request: Request, manner: Manner<'_>) -> Result<Raw, Failed> {
    let Manner { surface, may, whole } = manner;
    let Some(name) = request.params.string("name") else {
        return Err(Failed::Answered(RpcError::invalid_params("tools/call needs a `name`, a string.")));
    };
    inner.waiting.published().await;
    let mut scope = inner.scope(&request.client);
    let mut action = routed(&scope, &request, surface, &name);
    if let Some(wait) = worth_waiting(inner, &scope, &action) {
        wait.await;
        scope = inner.scope(&request.client);
        action = routed(&scope, &request, surface, &name);
    }
    let outcome = match action {
        Action::Call { entry, arguments, fields } => {
            let entry = scope.snapshot.catalog.entry(entry);
            let through = is_meta(surface, &scope.view(), &name).then_some(name.as_str());
            let called = Called { entry, through, fields: &fields, whole };
            match may(&scope.snapshot, entry) {
                Ok(()) => call_entry(inner, &scope, &request, called, arguments).await,
                Err(refusal) => {
                    let failed = Failed::Refused(refusal);
                    inner.gate.recording.refused(&request, &scope.snapshot, Some(entry), None, &failed);
                    Err(failed)
                }
            }
        }
        Action::Shut { entry, refusal } => {
            let entry = scope.snapshot.catalog.entry(entry);
            // What may not be called at all is told so: no other door leads there either.
            let admitted = inner.gate.admit(&scope.snapshot, entry.server(), Wanted::Entry(entry));
            let failed = admitted.err().unwrap_or(Failed::Refused(refusal));
            inner.gate.recording.refused(&request, &scope.snapshot, Some(entry), None, &failed);
            Err(failed)
        }
        Action::Run { code, input } => run(inner, &scope, &request, &code, input.as_ref()).await,
        action => disclose(inner, &scope, &request, action).await,
    };
    if let Err(Failed::Refused(refusal)) = &outcome {
        inner.gate.instruments.meter.refused(refusal.code.as_str());
    }
    outcome.map_err(|failed| match failed {
        Failed::Refused(refusal) => Failed::Refused(fitted(surface, refusal)),
        answered => answered,
    })
}

/// Whether a call that was parked may go on through what it is asked to: a door leads to no more the second time.
pub(crate) fn through_door(snapshot: &Snapshot, request: &Request, tool: Option<&str>) -> Result<(), Failed> {
    let position = tool.and_then(ToolId::parse).and_then(|id| snapshot.catalog.position(&id));
    let (Some(position), Some(name)) = (position, request.params.string("name")) else { return Ok(()) };
    let entry = snapshot.catalog.entry(position);
    let refusal = shut(request.client.surface, &snapshot.view(false, &[]), &name, entry);
    refusal.map_or(Ok(()), |refusal| Err(Failed::Refused(refusal)))
}

/// A program of the client's: it passes the gate as a call does.
async fn run(inner: &Inner, scope: &Scope, request: &Request, code: &str, input: Option<&Raw>) -> Result<Raw, Failed> {
    let gone = || Failed::Answered(RpcError::internal("Programs have no name to run under."));
    let server = scripts::server().ok_or_else(gone)?;
    let errand = Errand::AskOf(inner.scripts.for_clients(), scripts::params(request, code, input));
    let passage = Passage { request, server: &server, what: Wanted::Program, errand, slot: None };
    inner.gate.pass(&scope.snapshot, passage).await.and_then(result_of)
}

/// What needs no server. Told to the record as it is given.
pub(crate) async fn disclose(inner: &Inner, scope: &Scope, request: &Request, action: Action) -> Result<Raw, Failed> {
    let (snapshot, recording) = (&scope.snapshot, &inner.gate.recording);
    let (begun, mut noted) = (Instant::now(), Vec::new());
    let answer = match &action {
        Action::Load(load) => inner.toolsets.load(snapshot, request, load.clone()).await,
        Action::Active { toolset } => inner.toolsets.active(snapshot, request, toolset.clone()).await,
        Action::Read(arguments) => {
            let given = (&inner.checker, arguments.clone());
            inner.results.read(&snapshot.config, &request.client.principal(), given).await
        }
        Action::Refuse(refusal) => Err(refusal.clone()),
        action if is_long(&scope.view(), action) => {
            let (on_thread, scope, surface) = (action.clone(), scope.clone(), request.client.surface);
            let work = move || work_out(surface, &scope, &on_thread);
            let (answer, seen) = aside(work).await.unwrap_or_else(|refusal| (Err(refusal), Vec::new()));
            noted = seen;
            answer
        }
        action => {
            let precise = scope.view().is_precise();
            let (answer, seen) = beside(precise, || work_out(request.client.surface, scope, action));
            noted = seen;
            answer
        }
    };
    let answer = answer.map_err(Failed::Refused);
    match &answer {
        Ok(answer) => {
            let told = (answer, begun.elapsed());
            inner.gate.instruments.disclosed(&action, told.1);
            recording.disclosed(request, snapshot, scope.view(), &action, told, &noted).await?;
            if let Action::Search(search, _) = &action {
                inner.learning.searched(&request.client, &search.query, answer);
            }
        }
        Err(failed) => {
            match (held(scope, &action, failed), &action) {
                (Some(held), _) => recording.refused_held(request, snapshot, held),
                // Who asks for what they may not see is told that there is no such thing, and the record says why.
                (None, Action::Unknown(unknown)) => recording.missed(request, snapshot, &unknown.names, failed),
                (None, _) => recording.refused(request, snapshot, None, None, failed),
            }
        }
    }
    answer
}

fn routed(scope: &Scope, request: &Request, surface: Surface, name: &str) -> Action {
    route(surface, &scope.view(), name, request.params.get("arguments"))
}

/// What was asked for that is held, where that is why this was refused.
fn held<'s>(scope: &'s Scope, action: &Action, failed: &Failed) -> Option<&'s Held> {
    let is_held = matches!(failed, Failed::Refused(refusal) if refusal.code == Code::Quarantined);
    let names = match action {
        Action::Unknown(unknown) if is_held => &unknown.names,
        Action::Describe(describe, _) if is_held => &describe.names,
        _ => return None,
    };
    scope.snapshot.quarantine.named_among(names)
}

/// What to wait for before this is answered, while servers are still coming up: nothing for tools that are there or whose
/// server fails, nor for what stays wrong; its own server for a tool that is not there yet or a node that is a
/// server's; and for a search or an overview whatever is about to come.
fn worth_waiting<'a>(inner: &'a Inner, scope: &Scope, action: &Action) -> Option<BoxFuture<'a, ()>> {
    if inner.waiting.is_settled() {
        return None;
    }
    let view = scope.view();
    let fails = |name: &String| {
        let failing = view.absent_of(name).is_some_and(|absent| absent.state == Absence::Failing);
        failing && inner.waiting.pending_of(name).is_none()
    };
    let held = |name: &String| view.withheld(name).is_some();
    let is_known = |name: &String| view.resolve(name).is_ok() || fails(name) || held(name);
    match action {
        Action::Call { .. } | Action::Shut { .. } | Action::Run { .. } => None,
        Action::Load(_) | Action::Active { .. } | Action::Read(_) => None,
        Action::Refuse(refusal) if refusal.code == Code::InvalidRequest => None,
        Action::Unknown(unknown) if unknown.names.iter().any(held) => None,
        Action::Describe(Describe { names, .. }, _) | Action::Unknown(Unknown { names, .. }) => {
            let open: Vec<&String> = names.iter().filter(|name| !is_known(name)).collect();
            named(inner, scope, &open, matches!(action, Action::Unknown(_)))
        }
        action => Some(match server_of(action) {
            Some(server) => settled_of(inner, scope, server.to_owned()),
            None => settled(inner, scope),
        }),
    }
}

/// For tools that are not there: until their servers have said what they have. One of a server that has said so is none. Who calls
/// one waits as long as a call may; who only asks about it, as long as a search.
fn named<'a>(inner: &'a Inner, scope: &Scope, names: &[&String], calls: bool) -> Option<BoxFuture<'a, ()>> {
    let mut servers = BTreeSet::new();
    for name in names {
        match inner.waiting.pending_of(name) {
            Some(server) if scope.sees(&server) => drop(servers.insert(server)),
            _ if scope.view().is_of_present(name) => {}
            // Anybody's.
            _ => return Some(settled(inner, scope)),
        }
    }
    if servers.is_empty() {
        return None;
    }
    Some(Box::pin(async move {
        match calls {
            true => inner.waiting.heard_of(&servers).await,
            false => inner.waiting.settled_of_one(&|server| servers.contains(server)).await,
        }
    }))
}

/// The server that alone a request is about.
fn server_of(action: &Action) -> Option<&str> {
    let path = match action {
        Action::Search(Search { server: Some(server), .. }, _) => return Some(server),
        Action::Browse(Browse { path, .. }, _) | Action::Search(Search { path, .. }, _) => path,
        _ => return None,
    };
    match path.as_slice() {
        [servers, name, ..] if servers.eq_ignore_ascii_case(SERVERS) => Some(name),
        _ => None,
    }
}

/// Until this one has, where it exists for whoever asks.
fn settled_of<'a>(inner: &'a Inner, scope: &Scope, name: String) -> BoxFuture<'a, ()> {
    let snapshot = scope.snapshot.clone();
    let is_it = move |server: &ServerName| server.as_str().eq_ignore_ascii_case(&name) && snapshot.is_seen(server);
    Box::pin(async move { inner.waiting.settled_of_one(&is_it).await })
}

/// Until those have said what they offer that exist for whoever asks.
pub(crate) fn settled<'a>(inner: &'a Inner, scope: &Scope) -> BoxFuture<'a, ()> {
    let snapshot = scope.snapshot.clone();
    Box::pin(async move { inner.waiting.settled_of(&|server| snapshot.is_seen(server)).await })
}

/// The tool that is called, and how.
struct Called<'a> {
    entry: &'a Arc<Entry>,
    /// The meta-tool that it is called through.
    through: Option<&'a str>,
    fields: &'a [String],
    /// Nothing of its result is kept back.
    whole: bool,
}

async fn call_entry(
    inner: &Inner,
    scope: &Scope,
    request: &Request,
    called: Called<'_>,
    arguments: Option<Raw>,
) -> Result<Raw, Failed> {
    let (snapshot, entry) = (&scope.snapshot, called.entry);
    let checked = checked(inner, scope, entry, arguments).await;
    let checked =
        checked.inspect_err(|failed| inner.gate.recording.refused(request, snapshot, Some(entry), None, failed))?;
    if matches!(entry.kind, Kind::Prompt | Kind::Resource) {
        return offered::call(inner, snapshot, request, entry, checked).await;
    }
    let params = inner_params(request, entry, checked);
    let (config, tool) = (&snapshot.config, entry.id.to_string());
    let Called { through, fields, whole, .. } = called;
    let delivery = Delivery { config, request, entry: Some(entry), tool: &tool, through, fields };
    let slot = if whole { None } else { inner.results.slot(&delivery) };
    let (what, errand) = (Wanted::Entry(entry), Errand::Ask(params));
    let passage = Passage { request, server: entry.server(), what, errand, slot: slot.clone() };
    let outcome = inner.gate.pass(snapshot, passage).await;
    let Ok(Outcome::Done(result)) = outcome else { return outcome.and_then(result_of) };
    inner.learning.called(&request.client, snapshot, entry, &result);
    if whole {
        return Ok(result);
    }
    Ok(inner.results.finish(delivery, result, slot).await)
}

/// The arguments of a call that may be made.
async fn checked(
    inner: &Inner,
    scope: &Scope,
    entry: &Arc<Entry>,
    arguments: Option<Raw>,
) -> Result<Option<Raw>, Failed> {
    if matches!(entry.kind, Kind::Agent | Kind::Skill) && !entry.is_tool() {
        return Err(Failed::Refused(only_read(entry)));
    }
    inner.gate.admit(&scope.snapshot, entry.server(), Wanted::Entry(entry))?;
    if !entry.is_tool() {
        return Ok(arguments);
    }
    check::check(&inner.checker, entry, arguments).await.map_err(Failed::Refused)
}

/// The parameters of the call as the tool's own server gets them.
fn inner_params(request: &Request, entry: &Entry, arguments: Option<Raw>) -> Object {
    let mut params = request.params.clone();
    params.set("name", entry.name());
    match arguments {
        Some(arguments) => drop(params.set_raw("arguments", arguments)),
        None => drop(params.remove("arguments")),
    }
    params
}

/// An agent or a skill was called.
fn only_read(entry: &Entry) -> Refusal {
    let article = if entry.kind == Kind::Agent { "an" } else { "a" };
    let message = format!("{} is {article} {}: it is read, not called.", entry.id, entry.kind.as_str());
    Refusal::new(Code::InvalidRequest, message)
        .hint(format!("Read {} in full, then do what it says with the tools it names.", entry.id))
}

/// What is answered, and what a search for it found on the way, with how sure it was.
type Worked = (Result<Raw, Refusal>, Vec<(usize, f32)>);

fn work_out(surface: Surface, scope: &Scope, action: &Action) -> Worked {
    let noted = Mutex::default();
    let answer = answer(surface, &scope.view().noting(&noted), action);
    (answer, noted.into_inner().unwrap_or_else(PoisonError::into_inner))
}

/// Work that takes milliseconds where search asks an encoder, or somebody's share is not there yet: what else this thread has
/// to do is done elsewhere meanwhile.
pub(crate) fn beside<T>(long: bool, work: impl FnOnce() -> T) -> T {
    let alone = || Handle::try_current().is_ok_and(|now| now.runtime_flavor() == RuntimeFlavor::CurrentThread);
    if long && !alone() { block_in_place(work) } else { work() }
}
