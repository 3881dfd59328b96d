//! Requests and their answers, whatever they came over. Strict where the protocol is: a client that forgets `_meta` or
//! the handshake is told so, because a fake that forgives hides the bug.

use std::collections::BTreeMap;
use std::future::pending;
use std::sync::PoisonError;
use std::sync::atomic::Ordering;

use serde_json::{Value, json};
use toolfold_wire::{Era, LEGACY, MODERN, Object, Peer, Raw, RpcError, code, meta, negotiate, raw};

use super::script::{EraName, OnProbe};
use super::{Caller, Change, Fake};

/// What the result of a modern list carries besides the list.
const FRESH_MS: u64 = 60_000;

impl Fake {
    /// The era a request belongs to, or why it cannot be served.
    pub(super) async fn admit(&self, method: &str, params: &Object, initialized: bool) -> Result<Era, RpcError> {
        let request_meta = params.object("_meta").unwrap_or_default();
        let version = request_meta.string(meta::VERSION);
        let modern = self.script.speaks(EraName::Modern);
        match version {
            Some(version) if modern && version != MODERN => Err(self.unsupported(&version)),
            Some(_) if modern && !request_meta.contains(meta::CLIENT_CAPABILITIES) => {
                Err(RpcError::invalid_params(format!("_meta lacks {}", meta::CLIENT_CAPABILITIES)))
            }
            Some(_) if modern => Ok(Era::Modern),
            _ if method == "server/discover" && !modern => self.probed().await,
            _ if !self.script.speaks(EraName::Legacy) && method == "initialize" => {
                Err(self.unsupported(&params.string("protocolVersion").unwrap_or_default()))
            }
            _ if !self.script.speaks(EraName::Legacy) || method == "server/discover" => {
                Err(RpcError::invalid_params(format!("_meta lacks {}", meta::VERSION)))
            }
            _ if method == "initialize" && self.poisoned.load(Ordering::SeqCst) => {
                self.journal.exit("initialize after a probe", 1)
            }
            _ if initialized || matches!(method, "initialize" | "ping") => Ok(Era::Legacy),
            _ => Err(RpcError::invalid_params("Received request before initialization was complete")),
        }
    }

    /// What a request changes for those after it, told as it comes in: its answer runs beside theirs.
    pub(super) fn arrived(&self, method: &str) {
        if method == "server/discover" && self.script.on_probe == OnProbe::Poison {
            self.poisoned.store(true, Ordering::SeqCst);
        }
    }

    pub(super) async fn answer(&self, caller: &Caller, method: &str, params: &Object) -> Result<Raw, RpcError> {
        if self.script.silent.iter().any(|silent| silent == method) {
            pending::<()>().await;
        }
        if self.script.asks.iter().any(|asks| asks == method)
            && let Some(question) = self.ask_first(caller, method, params).await?
        {
            return Ok(question);
        }
        if let Some(answer) = self.script.answers.get(method) {
            return Ok(answer.clone());
        }
        match (method, caller.era) {
            ("initialize", Era::Legacy) => Ok(self.initialized(params)),
            ("server/discover", Era::Modern) => Ok(self.discovered()),
            ("subscriptions/listen", Era::Modern) => self.listen(caller, params).await,
            ("ping", Era::Legacy) => Ok(raw(&json!({}))),
            ("logging/setLevel", Era::Legacy) => Ok(raw(&json!({}))),
            ("resources/subscribe", Era::Legacy) => Ok(self.watch(params, true)),
            ("resources/unsubscribe", Era::Legacy) => Ok(self.watch(params, false)),
            ("tools/list", _) => self.list(caller.era, "tools", &self.tools(), params),
            ("prompts/list", _) => self.list(caller.era, "prompts", &self.script.prompts, params),
            ("resources/list", _) => self.list(caller.era, "resources", &self.script.resources, params),
            ("resources/templates/list", _) => {
                self.list(caller.era, "resourceTemplates", &self.script.templates, params)
            }
            ("tools/call", _) => self.call(caller, params).await,
            ("prompts/get", _) => self.prompt(caller.era, params),
            ("resources/read", _) => self.read(caller.era, params),
            ("completion/complete", _) => {
                Ok(finish(caller.era, json!({"completion": {"values": ["alpha", "beta"], "hasMore": false}})))
            }
            _ => Err(RpcError::method_not_found(method)),
        }
    }

    pub(super) fn tools(&self) -> Vec<Raw> {
        self.tools.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    async fn probed(&self) -> Result<Era, RpcError> {
        match self.script.on_probe {
            OnProbe::Error => return Err(RpcError::method_not_found("server/discover")),
            OnProbe::Exit => self.journal.exit("probe", 1),
            OnProbe::Poison | OnProbe::Silent => {}
        }
        pending().await
    }

    fn unsupported(&self, requested: &str) -> RpcError {
        RpcError::new(code::UNSUPPORTED_VERSION, "Unsupported protocol version")
            .with_data(&json!({"supported": self.versions(), "requested": requested}))
    }

    fn versions(&self) -> Vec<&'static str> {
        let legacy = if self.script.speaks(EraName::Legacy) { &LEGACY[..] } else { &[] };
        let modern = if self.script.speaks(EraName::Modern) { &[MODERN][..] } else { &[] };
        [modern, legacy].concat()
    }

    fn initialized(&self, params: &Object) -> Raw {
        let mut result = Object::new()
            .with("protocolVersion", negotiate(&params.string("protocolVersion").unwrap_or_default()))
            .with("capabilities", &self.capabilities())
            .with("serverInfo", &self.info());
        if let Some(instructions) = &self.script.instructions {
            result.set("instructions", instructions);
        }
        result.to_raw()
    }

    fn discovered(&self) -> Raw {
        let mut result = Object::new()
            .with("resultType", "complete")
            .with("supportedVersions", &self.versions())
            .with("capabilities", &self.capabilities())
            .with("ttlMs", &FRESH_MS)
            .with("cacheScope", "public")
            .with("_meta", &BTreeMap::from([(meta::SERVER_INFO, self.info())]));
        if let Some(instructions) = &self.script.instructions {
            result.set("instructions", instructions);
        }
        result.to_raw()
    }

    fn info(&self) -> Value {
        json!({"name": self.script.name, "version": self.script.version})
    }

    fn capabilities(&self) -> Raw {
        if let Some(capabilities) = &self.script.capabilities {
            return capabilities.clone();
        }
        let mut capabilities = json!({"tools": {"listChanged": true}, "logging": {}, "completions": {}});
        if !self.script.prompts.is_empty() {
            capabilities["prompts"] = json!({"listChanged": true});
        }
        if !self.script.resources.is_empty() || !self.script.templates.is_empty() {
            capabilities["resources"] = json!({"listChanged": true, "subscribe": true});
        }
        raw(&capabilities)
    }

    fn list(&self, era: Era, key: &str, all: &[Raw], params: &Object) -> Result<Raw, RpcError> {
        let start = match params.string("cursor") {
            None => 0,
            Some(cursor) => cursor
                .strip_prefix("from ")
                .and_then(|start| start.parse::<usize>().ok())
                .ok_or_else(|| RpcError::invalid_params(format!("Invalid cursor: {cursor}")))?,
        };
        let page = self.script.page.unwrap_or(usize::MAX);
        let items: Vec<&Raw> = all.iter().skip(start).take(page).collect();
        let end = start + items.len();
        let mut result = Object::new().with(key, &items);
        if end < all.len() || self.script.endless_pages {
            result.set("nextCursor", &format!("from {}", if self.script.endless_pages { 0 } else { end }));
        }
        if era == Era::Modern {
            result.set("resultType", "complete").set("ttlMs", &FRESH_MS).set("cacheScope", "public");
        }
        Ok(result.to_raw())
    }

    fn prompt(&self, era: Era, params: &Object) -> Result<Raw, RpcError> {
        let name = known(&self.script.prompts, "name", params, "prompt")?;
        let arguments: Value = params.read("arguments").unwrap_or_else(|| json!({}));
        let text = format!("{name} with {arguments}");
        Ok(finish(era, json!({"messages": [{"role": "user", "content": {"type": "text", "text": text}}]})))
    }

    fn read(&self, era: Era, params: &Object) -> Result<Raw, RpcError> {
        let uri = if self.script.templates.is_empty() {
            known(&self.script.resources, "uri", params, "resource")?
        } else {
            params.string("uri").ok_or_else(|| RpcError::invalid_params("uri is missing"))?
        };
        let mut result =
            json!({"contents": [{"uri": uri, "mimeType": "text/plain", "text": format!("content of {uri}")}]});
        if era == Era::Modern {
            result["ttlMs"] = json!(FRESH_MS);
            result["cacheScope"] = json!("public");
        }
        Ok(finish(era, result))
    }

    fn watch(&self, params: &Object, watch: bool) -> Raw {
        let mut watched = self.watched.lock().unwrap_or_else(PoisonError::into_inner);
        let uri = params.string("uri").unwrap_or_default();
        if watch {
            watched.insert(uri);
        } else {
            watched.remove(&uri);
        }
        raw(&json!({}))
    }

    /// A modern subscription: it lasts until the request is cancelled or its stream is closed.
    async fn listen(&self, caller: &Caller, params: &Object) -> Result<Raw, RpcError> {
        let mut changes = self.changes.subscribe();
        let wanted: Value = params.read("notifications").unwrap_or_default();
        let id = BTreeMap::from([(meta::SUBSCRIPTION_ID, caller.id.to_raw())]);
        let acknowledged = Object::new().with("notifications", &wanted).with("_meta", &id);
        caller.link.notify("notifications/subscriptions/acknowledged", Some(acknowledged.to_raw()));
        while let Ok(change) = changes.recv().await {
            if asked_for(&wanted, &change) {
                let params = Object::parse_optional(change.params.as_ref()).unwrap_or_default();
                caller.link.notify(change.method, Some(params.with("_meta", &id).to_raw()));
            }
        }
        Ok(Object::new().with("resultType", "complete").with("_meta", &id).to_raw())
    }

    /// Whether a legacy connection hears of a change.
    pub(super) fn told_to_all(&self, change: &Change) -> bool {
        let uri = change.uri();
        uri.is_none_or(|uri| self.watched.lock().unwrap_or_else(PoisonError::into_inner).contains(&uri))
    }
}

impl Change {
    fn uri(&self) -> Option<String> {
        Object::parse(self.params.as_ref()?)?.string("uri")
    }
}

/// A result as its era writes it.
pub(super) fn finish(era: Era, mut result: Value) -> Raw {
    if era == Era::Modern {
        result["resultType"] = json!("complete");
    }
    raw(&result)
}

fn known(all: &[Raw], key: &str, params: &Object, what: &str) -> Result<String, RpcError> {
    let wanted = params.string(key).ok_or_else(|| RpcError::invalid_params(format!("{key} is missing")))?;
    let found = all.iter().filter_map(|item| Object::parse(item)?.string(key)).any(|known| known == wanted);
    if found { Ok(wanted) } else { Err(RpcError::invalid_params(format!("Unknown {what}: {wanted}"))) }
}

fn asked_for(wanted: &Value, change: &Change) -> bool {
    let flag = |key: &str| wanted.get(key) == Some(&Value::Bool(true));
    match change.method {
        "notifications/tools/list_changed" => flag("toolsListChanged"),
        "notifications/resources/updated" => {
            let uris = wanted.get("resourceSubscriptions").and_then(Value::as_array);
            let uri = change.uri();
            uris.is_some_and(|uris| uris.iter().any(|wanted| wanted.as_str() == uri.as_deref()))
        }
        _ => false,
    }
}
