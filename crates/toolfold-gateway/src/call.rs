//! `tools/call`: one match over what a surface made of it.

use std::fmt::Display;

use tokio::runtime::{Handle, RuntimeFlavor};
use tokio::task::block_in_place;
use toolfold_core::{Code, Entry, Kind, Next, Refusal, words};
use toolfold_disclosure::{Action, answer, fitted, refusal_result, route};
use toolfold_wire::{Object, Raw, RpcError};
use tracing::warn;

use crate::bridge;
use crate::check;
use crate::gateway::Gateway;
use crate::request::Request;
use crate::snapshot::Snapshot;
use crate::source::Failed;

impl Gateway {
    /// A call whose refusals are tool results that a model reads; a server's JSON-RPC error is passed on as it came.
    pub(crate) async fn call_tool(&self, request: Request) -> Result<Raw, RpcError> {
        self.call(request).await.or_else(|failed| match failed {
            Failed::Answered(error) => Err(error),
            Failed::Refused(refusal) => Ok(refusal_result(&refusal)),
        })
    }

    /// Answers `tools/call`, for whoever tells refusals from results by more than their text.
    pub async fn call(&self, request: Request) -> Result<Raw, Failed> {
        let params = request.params.clone();
        let Some(name) = params.string("name") else {
            return Err(Failed::Answered(RpcError::invalid_params("tools/call needs a `name`, a string.")));
        };
        if let Some(resumed) = bridge::resume(self, &request, &params).await {
            return logged(&name, resumed);
        }
        let snapshot = self.settled().await;
        let (surface, loaded) = (request.client.surface, snapshot.positions(&request.client.loaded()));
        let view = snapshot.view_of(request.client.has_session(), &loaded);
        let outcome = match route(surface, &view, &name, params.get("arguments")) {
            Action::Call { entry, arguments } => self.call_entry(&snapshot, &request, params, entry, arguments).await,
            Action::Load(load) => self.load(&snapshot, &request, load).await.map_err(Failed::Refused),
            Action::Active { toolset } => self.active(&snapshot, &request, toolset).await.map_err(Failed::Refused),
            Action::Refuse(refusal) => Err(Failed::Refused(refusal)),
            action => at_length(&snapshot, || answer(surface, &view, &action)).map_err(Failed::Refused),
        };
        outcome.map_err(|failed| match failed {
            Failed::Refused(refusal) => Failed::Refused(fitted(surface, refusal)),
            answered => answered,
        })
    }

    /// By whatever name: what was forbidden stays so when it is renamed.
    fn forbids(&self, entry: &Entry) -> bool {
        let config = self.0.config.load();
        let names = || entry.aliases.iter().map(String::as_str).chain([entry.name()]);
        let server = config.servers.get(entry.server());
        server.is_some_and(|server| server.forbid.iter().any(|pattern| names().any(|name| pattern.matches(name))))
    }

    async fn call_entry(
        &self,
        snapshot: &Snapshot,
        request: &Request,
        mut params: Object,
        entry: usize,
        arguments: Option<Raw>,
    ) -> Result<Raw, Failed> {
        let entry = &snapshot.catalog.entries()[entry];
        if !entry.is_tool() {
            return Err(Failed::Refused(only_read(entry)));
        }
        if self.forbids(entry) {
            return Err(Failed::Refused(forbidden(entry)));
        }
        let checked = check::check(&self.0.checker, entry, arguments).await;
        params.set("name", entry.name());
        match checked.map_err(Failed::Refused)? {
            Some(arguments) => drop(params.set_raw("arguments", arguments)),
            None => drop(params.remove("arguments")),
        }
        let Some(source) = snapshot.sources.get(entry.server()) else {
            let message = format!("The server {} is not there any more.", entry.server());
            return Err(Failed::Refused(Refusal::new(Code::ServerUnavailable, message)));
        };
        let outcome = bridge::exchange(self, (entry.server(), source), request, params).await;
        if outcome.is_ok() {
            self.count_use(&entry.id);
        }
        logged(&entry.id, outcome)
    }
}

/// An agent or a skill was called.
fn only_read(entry: &Entry) -> Refusal {
    let article = if entry.kind == Kind::Agent { "an" } else { "a" };
    let message = format!("{} is {article} {}: it is read, not called.", entry.id, entry.kind.as_str());
    Refusal::new(Code::InvalidRequest, message)
        .hint(format!("Read {} in full, then do what it says with the tools it names.", entry.id))
}

/// Says in the log why a server's part of a call failed: the caller is not told the cause.
fn logged(tool: &dyn Display, outcome: Result<Raw, Failed>) -> Result<Raw, Failed> {
    if let Err(Failed::Refused(refusal)) = &outcome {
        warn!(%tool, code = %refusal.code, cause = refusal.cause, "the call failed");
    }
    outcome
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

/// Work that takes milliseconds where search asks an encoder: what else this thread has to do is done elsewhere meanwhile.
fn at_length<T>(snapshot: &Snapshot, work: impl FnOnce() -> T) -> T {
    let alone = Handle::current().runtime_flavor() == RuntimeFlavor::CurrentThread;
    if snapshot.index.is_precise() && !alone { block_in_place(work) } else { work() }
}
