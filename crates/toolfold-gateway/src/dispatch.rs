//! Every request of a client ends up here: one match from method to answer. Whatever concerns a server goes on through
//! the gate.

use std::collections::BTreeSet;
use std::sync::Arc;

use toolfold_core::{ServerName, ToolId, beginning};
use toolfold_disclosure::{is_meta, refusal_result};
use toolfold_wire::{Object, Raw, RpcError};

use crate::call;
use crate::gate::{Errand, Failed, Outcome, Passage, Wanted, Watch};
use crate::gateway::Gateway;
use crate::offered::as_result;
use crate::offers::{Offers, Owned};
use crate::owners::Owners;
use crate::reader::ADDRESS;
use crate::recording::is_error;
use crate::request::{LogLevel, Request};
use crate::results::Delivery;
use crate::rpc::{SHORT, no_resource, rpc};
use crate::scope::Scope;
use crate::snapshot::Snapshot;

/// What stands behind a server's name before an address of its own, and before a prompt.
const BEFORE_ADDRESSES: &str = "+";
const BEFORE_PROMPTS: &str = "__";

impl Gateway {
    /// Answers one request, in the shape that both eras share.
    pub async fn handle(&self, mut request: Request) -> Result<Raw, RpcError> {
        self.0.visitors.asks(&request.client, &request.method);
        let watched = self.0.gate.instruments.begin(&mut request);
        let answer = self.answer(request).await;
        self.0.gate.instruments.end(watched, &answer, is_error);
        answer
    }

    /// Counts what a transport answers by itself (`initialize`, `server/discover`) as one of the requests that are answered here.
    pub async fn counted<T>(
        &self,
        mut request: Request,
        answer: impl Future<Output = Result<T, RpcError>>,
    ) -> Result<T, RpcError> {
        let watched = self.0.gate.instruments.begin(&mut request);
        let answer = answer.await;
        self.0.gate.instruments.end(watched, &answer, |_| false);
        answer
    }

    async fn answer(&self, request: Request) -> Result<Raw, RpcError> {
        // A call looks for itself: a refusal is a result there.
        if request.method != "tools/call"
            && let Some(resumed) = self.resumed(&request).await
        {
            return resumed.map_err(rpc);
        }
        match request.method.as_str() {
            "tools/list" => whole(&request, self.tool_list(&request.client).await),
            "tools/call" => self.call(request).await.or_else(|failed| match failed {
                Failed::Answered(error) => Err(error),
                // A refusal is a tool result that a model reads.
                Failed::Refused(refusal) => Ok(refusal_result(&refusal)),
            }),
            "prompts/list" => whole(&request, self.offers(&request).await.offers.prompts.to_list("prompts")),
            "resources/list" => whole(&request, self.offers(&request).await.offers.resources.to_list("resources")),
            "resources/templates/list" => {
                whole(&request, self.offers(&request).await.offers.templates.to_list("resourceTemplates"))
            }
            "prompts/get" => self.get_prompt(request).await,
            "resources/read" => self.read_resource(request).await,
            "resources/subscribe" => {
                let uri = request.text("uri")?;
                request.client.may_watch(&uri)?;
                let watch = self.watch(&uri, &request).await?;
                request.client.keep(uri, watch);
                Ok(empty())
            }
            "resources/unsubscribe" => {
                request.client.release(&request.text("uri")?);
                Ok(empty())
            }
            "completion/complete" => self.complete(request).await,
            "logging/setLevel" => self.set_log_level(&request).await,
            "ping" => Ok(empty()),
            _ => self.pass_on(request).await,
        }
    }

    /// Answers `tools/call`, for whoever tells refusals from results by more than their text.
    pub async fn call(&self, request: Request) -> Result<Raw, Failed> {
        match self.resumed(&request).await {
            Some(resumed) => resumed,
            None => call::call(&self.0, request).await,
        }
    }

    /// A notification of a client that concerns servers. Requests are none, however they are sent.
    pub async fn notified(&self, request: Request) {
        if !request.method.starts_with("notifications/") {
            return;
        }
        let snapshot = self.seen(&request).await;
        let servers: Vec<&ServerName> = servers(&snapshot).collect();
        // What nobody here knows may be anything: it is for who may ask that server anything, like a request of this kind.
        let what = match request.method == "notifications/roots/list_changed" {
            true => Wanted::Ear,
            false if servers.len() == 1 => Wanted::Anything,
            false => return,
        };
        for server in servers {
            // Nobody waits for what comes of it.
            let _ = self.pass(&snapshot, server, &request, what, Errand::Tell).await;
        }
    }

    /// Watches a resource until the answer is dropped.
    pub async fn watch(&self, uri: &str, request: &Request) -> Result<Watch, RpcError> {
        let snapshot = self.offers_with(request, (uri, BEFORE_ADDRESSES), |offers| offers.has(uri)).await;
        let Owned { server, original } = self.owners(&snapshot, request).of_resource(uri)?;
        let what = Wanted::Resource(&original);
        match self.pass(&snapshot, &server, request, what, Errand::Watch(original.clone())).await.map_err(rpc)? {
            Outcome::Watching(watch) => Ok(watch),
            _ => Err(no_resource(&request.client, uri)),
        }
    }

    async fn get_prompt(&self, request: Request) -> Result<Raw, RpcError> {
        let name = request.text("name")?;
        let snapshot =
            self.offers_with(&request, (&name, BEFORE_PROMPTS), |offers| offers.prompts.owner(&name).is_some()).await;
        let owner = self.owners(&snapshot, &request).of_prompt(&name)?;
        let mut params = request.params.clone();
        params.set("name", &owner.original);
        self.ask(&snapshot, &owner.server, &request, Wanted::Prompt(&owner.original), params).await
    }

    async fn read_resource(&self, request: Request) -> Result<Raw, RpcError> {
        let uri = request.text("uri")?;
        if uri.starts_with(ADDRESS) {
            let kept = self.0.results.resource(&self.config(), &request.client.principal(), &uri).await;
            return kept.ok_or_else(|| no_resource(&request.client, &uri));
        }
        let snapshot = self.offers_with(&request, (&uri, BEFORE_ADDRESSES), |offers| offers.has(&uri)).await;
        let Owned { server, original } = self.owners(&snapshot, &request).of_resource(&uri)?;
        let mut params = request.params.clone();
        params.set("uri", &original);
        self.ask(&snapshot, &server, &request, Wanted::Resource(&original), params).await
    }

    fn owners<'a>(&'a self, snapshot: &'a Snapshot, request: &'a Request) -> Owners<'a> {
        Owners { gate: &self.0.gate, snapshot, request }
    }

    async fn complete(&self, request: Request) -> Result<Raw, RpcError> {
        let mut params = request.params.clone();
        let mut reference = params.object("ref").ok_or_else(|| RpcError::invalid_params("`ref` is missing."))?;
        let snapshot;
        let (key, server, original) = match reference.string("type").as_deref() {
            Some("ref/prompt") => {
                let name = reference.string("name").unwrap_or_default();
                let known = |offers: &Offers| offers.prompts.owner(&name).is_some();
                snapshot = self.offers_with(&request, (&name, BEFORE_PROMPTS), known).await;
                let owner = self.owners(&snapshot, &request).of_prompt(&name)?;
                ("name", owner.server.clone(), owner.original.clone())
            }
            Some("ref/resource") => {
                let uri = reference.string("uri").unwrap_or_default();
                let known = |offers: &Offers| offers.templates.owner(&uri).is_some() || offers.has(&uri);
                snapshot = self.offers_with(&request, (&uri, BEFORE_ADDRESSES), known).await;
                let owner = match snapshot.offers.templates.owner(&uri) {
                    Some(owner) => owner.clone(),
                    None => self.owners(&snapshot, &request).of_address(&uri)?,
                };
                ("uri", owner.server, owner.original)
            }
            _ => return Err(RpcError::invalid_params("`ref.type` must be ref/prompt or ref/resource.")),
        };
        reference.set(key, &original);
        params.set("ref", &reference);
        let what = if key == "name" { Wanted::Prompt(&original) } else { Wanted::Resource(&original) };
        self.ask(&snapshot, &server, &request, what, params).await
    }

    async fn set_log_level(&self, request: &Request) -> Result<Raw, RpcError> {
        let level = request.text("level")?;
        let level = LogLevel::parse(&level).ok_or_else(|| {
            let (shown, known) = (beginning(&level, SHORT), LogLevel::NAMES.join(", "));
            RpcError::invalid_params(format!("Unknown log level {shown:?}: use one of {known}."))
        })?;
        request.client.set_log_level(level);
        // A server says as much as the most curious of all wants, and each hears of that what it asked for.
        let level = self.0.visitors.most_curious().map_or(level, |most| most.min(level));
        let snapshot = self.seen(request).await;
        for server in servers(&snapshot) {
            // A wish: a server that cannot hear it now hears it when it can.
            let _ = self.pass(&snapshot, server, request, Wanted::Ear, Errand::LogLevel(level.as_str())).await;
        }
        Ok(empty())
    }

    /// A method we do not know is somebody's extension: with one server behind us it is meant for that one.
    async fn pass_on(&self, request: Request) -> Result<Raw, RpcError> {
        let snapshot = self.seen(&request).await;
        // With rules, what nobody here knows is for those alone who may ask that server anything.
        let Some(server) = only(servers(&snapshot)).filter(|server| snapshot.commands(server)) else {
            return Err(RpcError::method_not_found(&beginning(&request.method, SHORT)));
        };
        let params = request.params.clone();
        self.ask(&snapshot, &server, &request, Wanted::Anything, params).await
    }

    /// Goes on with a call that was parked, if that is what this request is about.
    async fn resumed(&self, request: &Request) -> Option<Result<Raw, Failed>> {
        let exchange = match self.0.gate.parked(request)? {
            Ok(exchange) => exchange,
            Err(unknown) => {
                let snapshot = self.0.seen(&request.client.principal());
                self.0.gate.recording.refused(request, &snapshot, None, None, &unknown);
                return Some(Err(unknown));
            }
        };
        let (snapshot, server) = (self.0.seen(&request.client.principal()), exchange.server.clone());
        let admitted = self.0.gate.admit_rest(&snapshot, &exchange);
        let admitted = admitted.and_then(|()| call::through_door(&snapshot, request, exchange.tool.as_deref()));
        if let Err(refused) = admitted {
            self.0.gate.recording.refused(request, &snapshot, None, None, &refused);
            return Some(Err(refused));
        }
        let answers = request.params.object("inputResponses").unwrap_or_default();
        let (tool, kind) = (exchange.tool.clone(), exchange.offered());
        let outcome = self.pass(&snapshot, &server, request, Wanted::Rest, Errand::Resume(exchange, answers)).await;
        Some(match (outcome, kind, tool) {
            (Ok(Outcome::Done(result)), Some(kind), _) => Ok(as_result(kind, result)),
            (Ok(Outcome::Done(result)), None, Some(tool)) => Ok(self.finished(&snapshot, request, &tool, result).await),
            (outcome, ..) => outcome.and_then(result_of),
        })
    }

    /// The result of a call that was parked, as it is passed on.
    async fn finished(&self, snapshot: &Arc<Snapshot>, request: &Request, tool: &str, result: Raw) -> Raw {
        let name = request.params.string("name").unwrap_or_default();
        let scope = Scope::seen_by(snapshot.clone(), &self.0.learning, &request.client);
        let through = is_meta(request.client.surface, &scope.view(), &name).then_some(&*name);
        let position = ToolId::parse(tool).and_then(|id| snapshot.catalog.position(&id));
        let entry = position.map(|at| snapshot.catalog.entry(at));
        if let Some(entry) = entry {
            self.0.learning.called(&request.client, snapshot, entry, &result);
        }
        let entry = entry.map(|entry| &**entry);
        let finished = Delivery { config: &snapshot.config, request, entry, tool, through, fields: &[] };
        self.0.results.finish(finished, result, None).await
    }

    async fn ask(
        &self,
        snapshot: &Snapshot,
        server: &ServerName,
        request: &Request,
        what: Wanted<'_>,
        params: Object,
    ) -> Result<Raw, RpcError> {
        let outcome = self.pass(snapshot, server, request, what, Errand::Ask(params)).await;
        outcome.and_then(result_of).map_err(rpc)
    }

    /// Through the gate, for what is not a tool.
    async fn pass(
        &self,
        snapshot: &Snapshot,
        server: &ServerName,
        request: &Request,
        what: Wanted<'_>,
        errand: Errand,
    ) -> Result<Outcome, Failed> {
        self.0.gate.pass(snapshot, Passage { request, server, what, errand, slot: None }).await
    }

    /// What exists for whoever asks.
    async fn seen(&self, request: &Request) -> Arc<Snapshot> {
        self.0.waiting.published().await;
        self.0.seen(&request.client.principal())
    }

    /// The same for what has this name or address: nobody is waited for where it is known whose that is, and its server alone where
    /// that is named before it, with this between the two.
    async fn offers_with(
        &self,
        request: &Request,
        (name, between): (&str, &str),
        known: impl Fn(&Offers) -> bool,
    ) -> Arc<Snapshot> {
        let now = self.seen(request).await;
        if known(&now.offers) {
            return now;
        }
        let pending = self.0.waiting.pending_before(name, &[between]).filter(|server| now.is_seen(server));
        let Some(server) = pending else { return self.offers(request).await };
        self.0.waiting.heard_of(&BTreeSet::from([server])).await;
        let now = self.seen(request).await;
        // What looked like a server's name may be a part of anybody's address.
        if known(&now.offers) { now } else { self.offers(request).await }
    }

    /// What servers offer beside tools, once those that may soon say it have.
    async fn offers(&self, request: &Request) -> Arc<Snapshot> {
        let principal = request.client.principal();
        self.0.settled(&principal).await;
        self.0.seen(&principal)
    }
}

/// The result of a request: `input_required` is one, too.
pub(crate) fn result_of(outcome: Outcome) -> Result<Raw, Failed> {
    match outcome {
        Outcome::Done(result) | Outcome::Parked(result) => Ok(result),
        Outcome::Watching(_) | Outcome::Told => Ok(empty()),
    }
}

/// Lists are answered whole; a cursor can only be one that we never gave.
fn whole(request: &Request, list: Raw) -> Result<Raw, RpcError> {
    match request.params.get("cursor") {
        Some(cursor) if !cursor.is_null() => {
            Err(RpcError::invalid_params("Unknown cursor: the list is answered whole, ask without one."))
        }
        _ => Ok(list),
    }
}

fn empty() -> Raw {
    Object::new().to_raw()
}

/// The servers that speak MCP.
fn servers(snapshot: &Snapshot) -> impl Iterator<Item = &ServerName> {
    snapshot.sources().filter(|(_, source)| source.is_server()).map(|(name, _)| name)
}

/// The one that there is.
pub(crate) fn only<'a>(mut names: impl Iterator<Item = &'a ServerName>) -> Option<ServerName> {
    let first = names.next()?;
    names.next().is_none().then(|| first.clone())
}
