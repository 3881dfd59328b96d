//! `tools/call`: one match over what a surface made of it.

use std::sync::Arc;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;
use toolfold_core::{Code, Entry, Kind, Refusal};
use toolfold_disclosure::{Action, View, answer, fitted, route};
use toolfold_wire::{BoxFuture, Object, Raw, RpcError};

use crate::check;
use crate::dispatch::result_of;
use crate::gate::{Errand, Failed, Outcome, Passage};
use crate::gateway::Inner;
use crate::offered;
use crate::request::Request;
use crate::scope::Scope;

pub(crate) async fn call(inner: &Inner, request: Request) -> Result<Raw, Failed> {
    let Some(name) = request.params.string("name") else {
        return Err(Failed::Answered(RpcError::invalid_params("tools/call needs a `name`, a string.")));
    };
    let surface = request.client.surface;
    inner.waiting.published().await;
    let mut scope = inner.scope(&request.client);
    let mut action = routed(&scope, &request, &name);
    if let Some(wait) = worth_waiting(inner, &action) {
        wait.await;
        scope = inner.scope(&request.client);
        action = routed(&scope, &request, &name);
    }
    let outcome = match action {
        Action::Call { entry, arguments } => call_entry(inner, &scope, &request, entry, arguments).await,
        Action::Load(load) => inner.toolsets.load(&scope.snapshot, &request, load).await.map_err(Failed::Refused),
        Action::Active { toolset } => {
            inner.toolsets.active(&scope.snapshot, &request, toolset).await.map_err(Failed::Refused)
        }
        Action::Refuse(refusal) => Err(Failed::Refused(refusal)),
        action => {
            let view = scope.view();
            let answered = at_length(&view, || answer(surface, &view, &action)).map_err(Failed::Refused);
            if let (Action::Search(search, _), Ok(answer)) = (&action, &answered) {
                inner.learning.searched(&request.client, &search.query, answer);
            }
            answered
        }
    };
    outcome.map_err(|failed| match failed {
        Failed::Refused(refusal) => Failed::Refused(fitted(surface, refusal)),
        answered => answered,
    })
}

fn routed(scope: &Scope, request: &Request, name: &str) -> Action {
    route(request.client.surface, &scope.view(), name, request.params.get("arguments"))
}

/// What to wait for before this is answered, while servers are still coming up: nothing for a tool that is there, its
/// own server for one that is not yet, and for a search or an overview whatever is about to come.
fn worth_waiting<'a>(inner: &'a Inner, action: &Action) -> Option<BoxFuture<'a, ()>> {
    if inner.waiting.is_settled() {
        return None;
    }
    match action {
        Action::Call { .. } | Action::Load(_) | Action::Active { .. } => None,
        Action::Unknown(unknown) => match unknown.names.iter().find_map(|name| inner.waiting.pending_of(name)) {
            Some(server) => Some(Box::pin(async move { inner.waiting.heard_of(&server).await })),
            None => Some(Box::pin(inner.waiting.settled())),
        },
        _ => Some(Box::pin(inner.waiting.settled())),
    }
}

async fn call_entry(
    inner: &Inner,
    scope: &Scope,
    request: &Request,
    entry: usize,
    arguments: Option<Raw>,
) -> Result<Raw, Failed> {
    let snapshot = &scope.snapshot;
    let entry: &Arc<Entry> = snapshot.catalog.entry(entry);
    match entry.kind {
        Kind::Tool => {}
        Kind::Agent | Kind::Skill => return Err(Failed::Refused(only_read(entry))),
        Kind::Prompt | Kind::Resource => return offered::call(inner, snapshot, request, entry, arguments).await,
    }
    inner.gate.admit(snapshot, entry)?;
    let checked = check::check(&inner.checker, entry, arguments).await;
    let params = inner_params(request, entry, checked.map_err(Failed::Refused)?);
    let passage = Passage { request, server: entry.server(), entry: Some(entry), errand: Errand::Ask(params) };
    let outcome = inner.gate.pass(snapshot, passage).await;
    if let Ok(Outcome::Done(result)) = &outcome {
        inner.learning.called(&request.client, snapshot, entry, result);
    }
    outcome.and_then(result_of)
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

/// Work that takes milliseconds where search asks an encoder.
fn at_length<T>(view: &View<'_>, work: impl FnOnce() -> T) -> T {
    aside(view.is_precise(), work)
}

/// What else this thread has to do is done elsewhere meanwhile.
fn aside<T>(long: bool, work: impl FnOnce() -> T) -> T {
    let alone = Handle::current().runtime_flavor() == RuntimeFlavor::CurrentThread;
    if long && !alone { block_in_place(work) } else { work() }
}
