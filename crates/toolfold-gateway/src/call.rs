//! `tools/call`: one match over what a surface made of it.

use toolfold_core::{Code, Refusal};
use toolfold_disclosure::{Action, answer, refusal_result, route};
use toolfold_wire::{Object, Raw, RpcError};
use tracing::warn;

use crate::bridge;
use crate::gateway::Gateway;
use crate::request::Request;
use crate::snapshot::Snapshot;
use crate::source::Failed;

impl Gateway {
    pub(crate) async fn call_tool(&self, request: Request) -> Result<Raw, RpcError> {
        let params = request.object()?;
        let Some(name) = params.string("name") else {
            return Err(RpcError::invalid_params("tools/call needs a `name`, a string."));
        };
        if let Some(resumed) = bridge::resume(self, &request, &params).await {
            return told(&name, resumed);
        }
        let snapshot = self.settled().await;
        let (surface, view) = (request.client.surface, snapshot.view());
        match route(surface, &view, &name, params.get("arguments")) {
            Action::Call { entry, arguments } => self.call_entry(&snapshot, &request, params, entry, arguments).await,
            Action::Refuse(refusal) => Ok(refusal_result(&refusal)),
            action => Ok(answer(surface, &view, &action).unwrap_or_else(|refusal| refusal_result(&refusal))),
        }
    }

    async fn call_entry(
        &self,
        snapshot: &Snapshot,
        request: &Request,
        mut params: Object,
        entry: usize,
        arguments: Option<Raw>,
    ) -> Result<Raw, RpcError> {
        let entry = &snapshot.catalog.entries()[entry];
        let checked = self.0.checker.check(entry, arguments);
        for (tool, why) in self.0.checker.take_unusable() {
            warn!(%tool, "its arguments cannot be checked, so its calls are let through: {why}");
        }
        let arguments = match checked {
            Ok(arguments) => arguments,
            Err(refusal) => return Ok(refusal_result(&refusal)),
        };
        params.set("name", entry.name());
        match arguments {
            Some(arguments) => drop(params.set_raw("arguments", arguments)),
            None => drop(params.remove("arguments")),
        }
        let Some(source) = snapshot.sources.get(entry.server()) else {
            let message = format!("The server {} is not there any more.", entry.server());
            return Ok(refusal_result(&Refusal::new(Code::ServerUnavailable, message)));
        };
        told(&entry.id.to_string(), bridge::exchange(self, (entry.server(), source), request, params).await)
    }
}

/// Our own refusals are tool results that a model reads; a server's JSON-RPC error is passed on as it came.
fn told(tool: &str, outcome: Result<Raw, Failed>) -> Result<Raw, RpcError> {
    outcome.or_else(|failed| match failed {
        Failed::Answered(error) => Err(error),
        Failed::Refused(refusal) => {
            warn!(tool, code = %refusal.code, cause = refusal.cause, "the call failed");
            Ok(refusal_result(&refusal))
        }
    })
}
