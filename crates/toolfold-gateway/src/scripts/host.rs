//! What a script asks for, done on behalf of its caller: every call is resolved, authorised, checked, limited and written
//! down as if the caller had made it.

use std::sync::Arc;

use serde_json::json;
use toolfold_core::{Entry, Pattern, Surface};
use toolfold_disclosure::{describing, finding, written_as};
use toolfold_results::Handle;
use toolfold_script::protocol::HostAnswer;
use toolfold_script::{Ask, Host, LARGEST_RESULT, SERVER_ERROR, Thrown};
use toolfold_wire::{BoxFuture, Object, Raw, raw};

use super::peer::ScriptPeer;
use super::{Caller, rights};
use crate::call::{self, Manner};
use crate::gate::Failed;
use crate::gateway::Inner;
use crate::reader::ADDRESS;
use crate::request::{Client, Request};
use crate::snapshot::Snapshot;

/// Tools that are found where a script does not say how many it wants.
const FOUND: usize = 10;

pub(super) struct Within {
    inner: Arc<Inner>,
    client: Arc<Client>,
    id: Option<String>,
    context: Option<toolfold_telemetry::Context>,
    peer: Arc<ScriptPeer>,
    /// `_meta` of the caller's request: what its calls belong to.
    about: Option<Raw>,
    allowed: Vec<Pattern>,
}

impl Within {
    pub(super) fn new(
        inner: Arc<Inner>,
        caller: &Caller,
        peer: Arc<ScriptPeer>,
        params: &Object,
        allowed: Vec<Pattern>,
    ) -> Self {
        let Caller { client, id, context } = caller;
        let client = Arc::new(client.on_behalf(Surface::Code));
        Within { inner, client, id: id.clone(), context: *context, peer, about: params.get("_meta").cloned(), allowed }
    }

    fn request(&self, params: Object) -> Request {
        let mut params = params;
        if let Some(about) = &self.about {
            params.set_raw("_meta", about.clone());
        }
        let (client, peer) = (self.client.clone(), self.peer.clone());
        Request {
            id: self.id.clone(),
            client,
            peer,
            method: "tools/call".to_owned(),
            params,
            context: self.context,
            carrier: None,
            relayed: false,
        }
    }

    async fn call(&self, tool: String, arguments: Option<Raw>) -> HostAnswer {
        let scope = self.inner.scope(&self.client);
        let tool = written_as(&scope.view(), &tool).unwrap_or(tool);
        drop(scope);
        let mut params = Object::new().with("name", &tool);
        if let Some(arguments) = arguments.filter(|arguments| !arguments.is_null()) {
            params.set_raw("arguments", arguments);
        }
        // Names are tools' there: no meta-tool is in the way, and none is a way around.
        let may = |snapshot: &Snapshot, entry: &Entry| rights::may_call(snapshot, entry, &self.allowed);
        let manner = Manner { surface: Surface::Direct, may: &may, whole: true };
        let outcome = call::call_as(&self.inner, self.request(params), manner).await;
        self.peer.step(&tool);
        answered(outcome)
    }

    /// A kept result, whole: what a tool's own would be.
    async fn result(&self, handle: &str) -> HostAnswer {
        let config = self.inner.snapshot.load().config.clone();
        let named = Handle::spelled(handle.strip_prefix(ADDRESS).unwrap_or(handle));
        let kept = self.inner.results.text(&config, &self.client.principal(), &named, LARGEST_RESULT).await;
        match kept {
            Some(Ok(text)) => HostAnswer::Result(raw(&json!({"content": [{"type": "text", "text": text}]}))),
            Some(Err(bytes)) => HostAnswer::Thrown(too_large(bytes)),
            None => HostAnswer::Thrown(no_result(handle)),
        }
    }

    /// A question to the catalog, which is told to the record as any is.
    async fn disclose(&self, action: toolfold_disclosure::Action) -> HostAnswer {
        call::settled(&self.inner, &self.inner.scope(&self.client)).await;
        let scope = self.inner.scope(&self.client);
        answered(call::disclose(&self.inner, &scope, &self.request(Object::new()), action).await)
    }
}

impl Host for Within {
    fn answer(&self, ask: Ask) -> BoxFuture<'_, HostAnswer> {
        Box::pin(async move {
            match ask {
                Ask::Call { tool, arguments } => self.call(tool, arguments).await,
                Ask::Find { query, limit } => self.disclose(finding(query, limit.unwrap_or(FOUND))).await,
                Ask::Describe { tool } => {
                    let name = written_as(&self.inner.scope(&self.client).view(), &tool).unwrap_or(tool);
                    self.disclose(describing(name)).await
                }
                Ask::Result { handle } => self.result(&handle).await,
            }
        })
    }

    fn is_asking(&self) -> bool {
        self.peer.is_asking()
    }
}

fn answered(outcome: Result<Raw, Failed>) -> HostAnswer {
    match outcome {
        Ok(result) => HostAnswer::Result(result),
        Err(Failed::Refused(refusal)) => HostAnswer::Thrown(Thrown::from(&refusal)),
        Err(Failed::Answered(error)) => HostAnswer::Thrown(Thrown::new(SERVER_ERROR, error.message.to_string())),
    }
}

fn too_large(bytes: u64) -> Thrown {
    let message = format!("The result has {bytes} bytes, and a script is given at most {LARGEST_RESULT}.");
    Thrown::new("TOO_LARGE", message)
        .hint("Read it in parts: results.read through call_tool, with grep, or offset and limit.")
}

fn no_result(handle: &str) -> Thrown {
    let handle: String = handle.chars().take(100).collect();
    Thrown::new("INVALID_REQUEST", format!("There is no kept result {handle:?}."))
        .hint("Call the tool again and use what it answers.")
}
