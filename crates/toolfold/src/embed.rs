//! A program's own tools, found, read, loaded and called in process, and served as MCP where that is wanted.
//!
//! What a reader would get wrong: `load` is a note, not a gate. A tool that is not active can be called as well; being
//! active is what a program shows its model.

use std::sync::{Arc, PoisonError, RwLock};

use serde::Serialize;
use serde_json::Value;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use toolfold_catalog::Unresolved;
use toolfold_config::Config;
use toolfold_core::{Code, Entry, Kind, Principal, Refusal, Surface, ToolId};
use toolfold_disclosure::View;
use toolfold_gateway::{Client, Failed, Gateway, Options, Request, Scope};
use toolfold_index::{Filter, Query};
use toolfold_serve::{serve_http, serve_stdio};
use toolfold_wire::{Object, Silent};

use crate::Registry;

/// How many tools may be active: what is more than a model can be shown is not progressive disclosure any more.
pub const MOST_ACTIVE: usize = 128;

/// A running set of tools. Cloning it is cheap, and every clone is the same set; all of it may be used from any number
/// of tasks and threads at once.
///
/// A name is any spelling that means one tool: the id `registry.tool`, or `tool` alone where no other registry has one.
#[derive(Clone)]
pub struct Toolfold {
    gateway: Gateway,
    active: Arc<RwLock<Vec<ToolId>>>,
}

/// A tool that a search found, the best one first.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Match {
    pub name: String,
    pub description: String,
    /// 0 to 1, comparable between queries.
    pub score: f32,
    pub active: bool,
}

#[derive(Debug, Clone, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Description {
    pub name: String,
    pub description: String,
    pub input_schema: Value,
    pub active: bool,
}

impl Toolfold {
    /// Starts on the current tokio runtime with the tools of these registries and nothing else. Refused where a tool
    /// has a definition that could never be called.
    pub async fn start(registries: impl IntoIterator<Item = Registry>) -> Result<Toolfold, Refusal> {
        Toolfold::start_with(Config { toolbox: false, ..Config::default() }, registries).await
    }

    /// As [`Toolfold::start`], beside the servers, agents and skills of a configuration.
    pub async fn start_with(
        config: Config,
        registries: impl IntoIterator<Item = Registry>,
    ) -> Result<Toolfold, Refusal> {
        let gateway = Gateway::start(Options { config, local: Vec::new() });
        let toolfold = Toolfold { gateway, active: Arc::default() };
        for registry in registries {
            toolfold.register(registry).await?;
        }
        toolfold.gateway.view(&asker()).await;
        Ok(toolfold)
    }

    /// Adds the tools of a registry, now or at any later time; one that is there already by that name is replaced.
    /// Returns when they can be found. All of them are added or, where one cannot be used, none.
    pub async fn register(&self, registry: Registry) -> Result<(), Refusal> {
        let registered = self.gateway.register(registry.into_server()).await;
        registered.map_err(|why| Refusal::new(Code::InvalidRequest, format!("Nothing was registered: {why}.")))
    }

    /// The tools that do what the query says, at most `limit` of them. An empty query finds all, by name.
    pub fn find(&self, query: &str, limit: usize) -> Vec<Match> {
        let scope = self.gateway.latest(&asker());
        let view = scope.view();
        let filter = Filter { kind: Some(Kind::Tool), ..Filter::default() };
        let found = view.search(Query { text: query, filter, limit, ..Query::default() });
        let active = self.read_active();
        let shown = |hit: &toolfold_index::Hit| {
            let entry = view.entry(hit.entry);
            Match {
                name: entry.id.to_string(),
                description: entry.description.clone(),
                score: hit.confidence,
                active: active.contains(&entry.id),
            }
        };
        found.hits.iter().map(shown).collect()
    }

    /// What there is to know about a tool before it is called.
    pub fn describe(&self, name: &str) -> Result<Description, Refusal> {
        let scope = self.gateway.latest(&asker());
        let entry = tool(&scope.view(), name)?;
        Ok(described(entry, self.read_active().contains(&entry.id)))
    }

    /// Makes tools active. All or nothing: where a name means no tool, none is, and the refusal names every such one.
    /// Loading what is active already changes nothing.
    pub fn load<S: AsRef<str>>(&self, names: &[S]) -> Result<(), Refusal> {
        let wanted = tools(&self.gateway.latest(&asker()), names)?;
        let mut active = self.active.write().unwrap_or_else(PoisonError::into_inner);
        let mut new: Vec<ToolId> = Vec::new();
        for id in wanted {
            if !active.contains(&id) && !new.contains(&id) {
                new.push(id);
            }
        }
        if active.len() + new.len() > MOST_ACTIVE {
            let message =
                format!("Nothing was loaded: {} tools are active, and at most {MOST_ACTIVE} can be.", active.len());
            return Err(Refusal::new(Code::TooLarge, message));
        }
        active.extend(new);
        Ok(())
    }

    /// The active tools, in the order they were loaded.
    pub fn active(&self) -> Vec<Description> {
        let scope = self.gateway.latest(&asker());
        let view = scope.view();
        self.read_active().iter().filter_map(|id| Some(described(view.entry(view.position(id)?), true))).collect()
    }

    /// Whether a tool is active; `false` for what is no tool.
    pub fn is_active(&self, name: &str) -> bool {
        let scope = self.gateway.latest(&asker());
        tool(&scope.view(), name).is_ok_and(|entry| self.read_active().contains(&entry.id))
    }

    /// How many tools there are, active or not.
    pub fn count(&self) -> usize {
        self.gateway.latest(&asker()).view().count(Kind::Tool)
    }

    /// Calls a tool and gives its result as MCP has it (`content`, `structuredContent`, `isError`). The arguments are
    /// checked against the tool's schema first. The handler is built by the first call and kept.
    pub async fn call(&self, name: &str, arguments: Value) -> Result<Value, Failed> {
        let client = Arc::new(asker());
        let params = Object::new().with("name", name).with("arguments", &arguments);
        let result = self.gateway.call(Request::new(client, Arc::new(Silent), "tools/call", params)).await?;
        Ok(serde_json::from_str(result.get()).unwrap_or_default())
    }

    /// Serves MCP on standard input and output, until the input ends.
    pub async fn serve_stdio(&self, surface: Surface) -> std::io::Result<()> {
        let (input, output) = (tokio::io::stdin(), tokio::io::stdout());
        serve_stdio(self.gateway.clone(), surface, input, output, CancellationToken::new()).await
    }

    /// Serves MCP over HTTP until `stop` is cancelled.
    pub async fn serve_http(
        &self,
        surface: Surface,
        listener: TcpListener,
        stop: CancellationToken,
    ) -> std::io::Result<()> {
        serve_http(self.gateway.clone(), surface, listener, stop).await
    }

    /// The gateway below, for whatever is not here.
    pub fn gateway(&self) -> &Gateway {
        &self.gateway
    }

    fn read_active(&self) -> Vec<ToolId> {
        self.active.read().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

/// The program itself.
fn asker() -> Client {
    Client::inside(Principal::local(), Surface::Direct)
}

/// The ids of all names, or a refusal with every name that means no tool.
fn tools<S: AsRef<str>>(scope: &Scope, names: &[S]) -> Result<Vec<ToolId>, Refusal> {
    let mut found = Vec::new();
    let mut unknown: Vec<Refusal> = Vec::new();
    for name in names {
        match tool(&scope.view(), name.as_ref()) {
            Ok(entry) => found.push(entry.id.clone()),
            Err(refusal) => unknown.push(refusal),
        }
    }
    if unknown.is_empty() {
        return Ok(found);
    }
    let why: Vec<&str> = unknown.iter().map(|refusal| refusal.message.as_str()).collect();
    let hints = unknown.iter().flat_map(|refusal| refusal.hints.iter().cloned());
    let held = unknown.iter().any(|refusal| refusal.code == Code::Quarantined);
    let code = if held { Code::Quarantined } else { Code::ToolNotFound };
    Err(Refusal::new(code, format!("Nothing was loaded. {}", why.join(" "))).hints(hints))
}

fn tool<'a>(view: &View<'a>, name: &str) -> Result<&'a Entry, Refusal> {
    let shown: String = name.chars().take(100).collect();
    let refuse = |message: String, hints: Vec<String>| Refusal::new(Code::ToolNotFound, message).hints(hints);
    match view.resolve(name) {
        Ok(position) if view.entry(position).is_tool() => Ok(view.entry(position)),
        Ok(_) => Err(refuse(format!("{shown:?} is not a tool."), Vec::new())),
        Err(Unresolved::Unknown) => Err(view
            .withheld(name)
            .unwrap_or_else(|| refuse(format!("There is no tool {shown:?}."), view.nearest(name)))),
        Err(Unresolved::Ambiguous { candidates }) => {
            Err(refuse(format!("Several tools are called {shown:?}."), candidates))
        }
    }
}

fn described(entry: &Entry, active: bool) -> Description {
    Description {
        name: entry.id.to_string(),
        description: entry.description.clone(),
        input_schema: entry.input_schema(),
        active,
    }
}
