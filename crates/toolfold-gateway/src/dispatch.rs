//! Every request of a client ends up here: one match from method to answer.

use std::sync::Arc;

use toolfold_core::words;
use toolfold_upstream::Call;
use toolfold_wire::{Object, Peer, Raw, RpcError, code, raw};

use crate::bridge;
use crate::gateway::Gateway;
use crate::offers::Owned;
use crate::request::{Client, LogLevel, Request};
use crate::snapshot::Snapshot;
use crate::source::{Failed, Source};
use crate::subscriptions::Watch;

impl Gateway {
    /// Answers one request, in the shape that both eras share.
    pub async fn handle(&self, request: Request) -> Result<Raw, RpcError> {
        match request.method.as_str() {
            "tools/list" => whole(&request, self.tool_list(&request.client).await),
            "tools/call" => self.call_tool(request).await,
            "prompts/list" => whole(&request, self.settled().await.offers.prompts.to_list("prompts")),
            "resources/list" => whole(&request, self.settled().await.offers.resources.to_list("resources")),
            "resources/templates/list" => {
                whole(&request, self.settled().await.offers.templates.to_list("resourceTemplates"))
            }
            "prompts/get" => self.get_prompt(request).await,
            "resources/read" => self.read_resource(request).await,
            "resources/subscribe" => {
                let uri = request.text("uri")?;
                let watch = self.watch(&uri, &request.client).await?;
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

    /// A notification of a client that concerns servers.
    pub async fn notified(&self, method: &str, params: Option<Raw>) {
        let snapshot = self.snapshot().await;
        let upstreams: Vec<_> = snapshot.sources.values().filter_map(Source::upstream).collect();
        if method == "notifications/roots/list_changed" || upstreams.len() == 1 {
            for upstream in upstreams {
                upstream.notify(method, params.clone()).await;
            }
        }
    }

    /// Watches a resource until the answer is dropped.
    pub async fn watch(&self, uri: &str, client: &Client) -> Result<Watch, RpcError> {
        let snapshot = self.settled().await;
        let owner = snapshot.offers.resource(uri).ok_or_else(|| no_resource(client, uri))?;
        let upstream = snapshot.sources.get(&owner.server).and_then(Source::upstream);
        let upstream = upstream.ok_or_else(|| no_resource(client, uri))?.clone();
        let (watch, first) = self.0.subscriptions.watch(upstream.clone(), owner.original.clone());
        if first {
            use toolfold_upstream::CallError;
            upstream.subscribe(&owner.original).await.map_err(|error| match error {
                CallError::Answered(error) => error,
                other => RpcError::internal(format!("The server {} cannot watch it: {other}", owner.server)),
            })?;
        }
        Ok(watch)
    }

    async fn get_prompt(&self, request: Request) -> Result<Raw, RpcError> {
        let mut params = request.params.clone();
        if let Some(resumed) = bridge::resume(self, &request, &params).await {
            return resumed.map_err(rpc);
        }
        let name = request.text("name")?;
        let snapshot = self.settled().await;
        let Some(owner) = snapshot.offers.prompts.owner(&name) else { return Err(no_prompt(&snapshot, &name)) };
        params.set("name", &owner.original);
        self.exchange_with(&snapshot, owner, &request, params).await
    }

    async fn read_resource(&self, request: Request) -> Result<Raw, RpcError> {
        let mut params = request.params.clone();
        if let Some(resumed) = bridge::resume(self, &request, &params).await {
            return resumed.map_err(rpc);
        }
        let uri = request.text("uri")?;
        let snapshot = self.settled().await;
        if let Some(owner) = snapshot.offers.resource(&uri) {
            params.set("uri", &owner.original);
            return self.exchange_with(&snapshot, &owner, &request, params).await;
        }
        // A link out of a tool's result need not be listed anywhere. Reading changes nothing, so whoever offers
        // resources at all may be asked.
        let mut refused = no_resource(&request.client, &uri);
        for (server, source) in &snapshot.sources {
            if !offers_resources(source) {
                continue;
            }
            match bridge::exchange(self, (server, source), &request, params.clone()).await {
                Ok(result) => return Ok(result),
                Err(Failed::Answered(error)) => refused = error,
                Err(Failed::Refused(_)) => {}
            }
        }
        Err(refused)
    }

    async fn complete(&self, request: Request) -> Result<Raw, RpcError> {
        let mut params = request.params.clone();
        let mut reference = params.object("ref").ok_or_else(|| RpcError::invalid_params("`ref` is missing."))?;
        let snapshot = self.settled().await;
        let (key, owner) = match reference.string("type").as_deref() {
            Some("ref/prompt") => {
                let name = reference.string("name").unwrap_or_default();
                let owner = snapshot.offers.prompts.owner(&name).cloned();
                ("name", owner.ok_or_else(|| no_prompt(&snapshot, &name))?)
            }
            Some("ref/resource") => {
                let uri = reference.string("uri").unwrap_or_default();
                let owner = snapshot.offers.templates.owner(&uri).cloned().or_else(|| snapshot.offers.resource(&uri));
                ("uri", owner.ok_or_else(|| no_resource(&request.client, &uri))?)
            }
            _ => return Err(RpcError::invalid_params("`ref.type` must be ref/prompt or ref/resource.")),
        };
        reference.set(key, &owner.original);
        params.set("ref", &reference);
        self.exchange_with(&snapshot, &owner, &request, params).await
    }

    async fn set_log_level(&self, request: &Request) -> Result<Raw, RpcError> {
        let level = request.text("level")?;
        let level = LogLevel::parse(&level).ok_or_else(|| {
            RpcError::invalid_params(format!("Unknown log level {level:?}: use one of {}.", LogLevel::NAMES.join(", ")))
        })?;
        request.client.set_log_level(level);
        for upstream in self.snapshot().await.sources.values().filter_map(Source::upstream) {
            upstream.set_log_level(level.as_str());
        }
        Ok(empty())
    }

    /// A method we do not know is somebody's extension: with one server behind us it is meant for that one.
    async fn pass_on(&self, request: Request) -> Result<Raw, RpcError> {
        let snapshot = self.settled().await;
        let mut servers = snapshot.sources.iter().filter(|(_, source)| source.upstream().is_some());
        let (Some((server, source)), None) = (servers.next(), servers.next()) else {
            return Err(RpcError::method_not_found(&request.method));
        };
        let call = Call {
            method: request.method.clone(),
            params: Some(request.params.to_raw()),
            peer: request.peer.clone(),
            client: request.client.id,
            client_capabilities: request.client.capabilities.clone(),
            timeout: None,
            cancel: request.cancel.clone(),
        };
        source.request(server, call).await.map_err(rpc)
    }

    async fn exchange_with(
        &self,
        snapshot: &Snapshot,
        owner: &Owned,
        request: &Request,
        params: Object,
    ) -> Result<Raw, RpcError> {
        let source = snapshot.sources.get(&owner.server);
        let source = source.ok_or_else(|| RpcError::internal(format!("The server {} is gone.", owner.server)))?;
        bridge::exchange(self, (&owner.server, source), request, params).await.map_err(rpc)
    }
}

impl Request {
    /// A request of its own, for callers inside the program.
    pub fn new(client: Arc<Client>, peer: Arc<dyn Peer>, method: &str, params: Object) -> Self {
        Request { client, peer, method: method.to_owned(), params, cancel: Default::default() }
    }

    /// The parameters of a message as an object, once, where it comes in.
    pub fn params_of(method: &str, params: Option<&Raw>) -> Result<Object, RpcError> {
        Object::parse_optional(params)
            .ok_or_else(|| RpcError::invalid_params(format!("The params of {method} must be an object.")))
    }

    fn text(&self, key: &str) -> Result<String, RpcError> {
        let missing = || RpcError::invalid_params(format!("{} needs `{key}`, a string.", self.method));
        self.params.string(key).ok_or_else(missing)
    }
}

/// Lists are answered whole; a cursor can only be one that we never gave.
fn whole(request: &Request, list: Raw) -> Result<Raw, RpcError> {
    match request.params.get("cursor") {
        Some(cursor) if cursor.get() != "null" => {
            Err(RpcError::invalid_params("Unknown cursor: the list is answered whole, ask without one."))
        }
        _ => Ok(list),
    }
}

fn empty() -> Raw {
    raw(&Object::new())
}

fn offers_resources(source: &Source) -> bool {
    let capabilities = source.upstream().and_then(|upstream| upstream.manifest()?.capabilities.clone());
    capabilities.as_ref().and_then(Object::parse).is_some_and(|object| object.contains("resources"))
}

fn no_prompt(snapshot: &Snapshot, name: &str) -> RpcError {
    let nearest = words::nearest(name, snapshot.offers.prompts.names());
    let hint = nearest.map_or_else(String::new, |nearest| format!(" Did you mean {nearest:?}?"));
    RpcError::invalid_params(format!("There is no prompt {name:?}.{hint}"))
}

fn no_resource(client: &Client, uri: &str) -> RpcError {
    let code = if client.has_session() { code::RESOURCE_NOT_FOUND_LEGACY } else { code::INVALID_PARAMS };
    RpcError::new(code, format!("Resource not found: {uri}")).with_data(&Object::new().with("uri", uri))
}

/// Outside of tool calls a refusal is a JSON-RPC error that carries its code.
fn rpc(failed: Failed) -> RpcError {
    match failed {
        Failed::Answered(error) => error,
        Failed::Refused(refusal) => RpcError::internal(refusal.message.clone()).with_data(&refusal.to_json()),
    }
}
