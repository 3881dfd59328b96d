//! Servers that are made here: an API, endpoints and commands, an agent. They answer what any server is asked, so that
//! everything behind a connection treats them as what they are to everybody else: servers.
//!
//! What a reader would get wrong: nobody here speaks MCP to anybody. A request is answered in the process, its future is
//! the call, and whoever drops it has ended what it began: a request over HTTP, a program, a task of an agent.

mod agent;
mod ask;
mod card;
mod run;
mod source;
mod turn;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use serde_json::{Map, Value, json};
use toolfold_config::Transport;
use toolfold_wire::{Era, LATEST_LEGACY, Object, Raw, RpcError, raw};

use crate::apart::apart;
use crate::call::CallError;
use crate::connection::{Connection, Link};
use crate::shared::{Shared, lock};
use crate::unopened::Unopened;
use ask::Asking;
use run::Running;

/// What stands behind a tool.
pub(crate) enum Way {
    Ask(Box<toolfold_openapi::RequestPlan>),
    Run(toolfold_openapi::CommandPlan),
    Agent(Arc<card::Card>),
}

pub(crate) struct Maker {
    asking: Asking,
    running: Running,
    now: Mutex<Now>,
}

#[derive(Default)]
struct Now {
    ways: Arc<HashMap<String, Arc<Way>>>,
    /// What is listed, until somebody has asked for it: whoever asks again wants it read again.
    definitions: Option<Vec<Value>>,
}

/// What a source has come to.
#[derive(Default)]
pub(crate) struct Made {
    title: Option<String>,
    version: Option<String>,
    instructions: Option<String>,
    tools: Vec<(Value, Way)>,
}

pub(crate) fn open(shared: &Arc<Shared>) -> Result<Arc<Connection>, Unopened> {
    let headers = match &shared.config.transport {
        Transport::Api(source) => &source.headers,
        Transport::Agent { headers, .. } => headers,
        Transport::Stdio { .. } | Transport::Http { .. } => return Err(Unopened::NoUrl),
    };
    let asking = Asking::new(headers, shared.account.clone())?;
    let maker = Maker { asking, running: Running::default(), now: Mutex::default() };
    Ok(Connection::new(shared, Era::Legacy, Link::Made(Box::new(maker))))
}

impl Maker {
    pub(crate) async fn respond(
        &self,
        connection: &Arc<Connection>,
        id: u64,
        method: &str,
        params: Option<&Object>,
    ) -> Result<Raw, CallError> {
        match method {
            "initialize" => self.introduce(connection).await,
            "ping" => Ok(raw(&json!({}))),
            "tools/list" => self.list(connection).await,
            "tools/call" => self.call(connection, id, params).await,
            _ => Err(CallError::Answered(RpcError::method_not_found(method))),
        }
    }

    async fn introduce(&self, connection: &Arc<Connection>) -> Result<Raw, CallError> {
        let made = self.make(connection).await?;
        let name = made.title.as_deref().unwrap_or(connection.shared.config.name.as_str());
        let mut greeting = json!({
            "protocolVersion": LATEST_LEGACY,
            "capabilities": {"tools": {}},
            "serverInfo": {"name": name, "version": made.version.as_deref().unwrap_or_default()},
        });
        if let Some(instructions) = &made.instructions {
            greeting["instructions"] = json!(instructions);
        }
        self.keep(made);
        Ok(raw(&greeting))
    }

    async fn make(&self, connection: &Arc<Connection>) -> Result<Made, CallError> {
        match &connection.shared.config.transport {
            Transport::Api(source) => source::read(&self.asking, connection, source).await,
            Transport::Agent { card, .. } => card::read(&self.asking, connection, card).await,
            Transport::Stdio { .. } | Transport::Http { .. } => {
                Err(CallError::unavailable("the server is not made here"))
            }
        }
    }

    fn keep(&self, made: Made) {
        let mut ways = HashMap::new();
        let mut definitions = Vec::new();
        for (definition, way) in made.tools {
            let name = definition.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
            // The first of a name counts, as in every list.
            ways.entry(name).or_insert_with(|| Arc::new(way));
            definitions.push(definition);
        }
        *lock(&self.now) = Now { ways: Arc::new(ways), definitions: Some(definitions) };
    }

    async fn list(&self, connection: &Arc<Connection>) -> Result<Raw, CallError> {
        let mut definitions = lock(&self.now).definitions.take();
        if definitions.is_none() {
            let made = self.make(connection).await?;
            self.keep(made);
            definitions = lock(&self.now).definitions.take();
        }
        let tools = definitions.unwrap_or_default();
        let size = tools.len() * 4096;
        Ok(apart(size, move || raw(&json!({ "tools": tools }))).await)
    }

    async fn call(&self, connection: &Arc<Connection>, id: u64, params: Option<&Object>) -> Result<Raw, CallError> {
        let name = params.and_then(|params| params.string("name")).unwrap_or_default();
        let arguments: Map<String, Value> = params.and_then(|params| params.read("arguments")).unwrap_or_default();
        let ways = lock(&self.now).ways.clone();
        let Some(way) = ways.get(&name) else {
            let name = toolfold_core::beginning(&name, 100).into_owned();
            return Err(CallError::Answered(RpcError::invalid_params(format!("Unknown tool: {name}"))));
        };
        match &**way {
            Way::Ask(plan) => self.asking.call(connection, plan, &arguments).await,
            Way::Run(command) => self.running.call(connection, command, &arguments).await,
            Way::Agent(card) => agent::call(&self.asking, connection, id, card, &arguments).await,
        }
    }
}

/// A result that says why there is none.
fn refused(text: &str) -> Raw {
    raw(&json!({"content": [{"type": "text", "text": text}], "isError": true}))
}
