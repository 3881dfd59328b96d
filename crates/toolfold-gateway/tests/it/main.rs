//! The gateway without a transport: real files behind it, requests as a transport would make them.

#![allow(clippy::unwrap_used, reason = "a test that panics has said what it had to say")]

mod documents;
mod following;
mod learning;
mod nodes;
mod pins;
mod pins_kept;
mod pins_ways;
mod precise;
mod registering;
mod results;

use std::sync::Arc;

use serde_json::{Value, json};
use toolfold_config::Config;
use toolfold_core::{Principal, ServerName, Surface};
use toolfold_gateway::{Client, Gateway, LocalServer, LocalTool, Options, Output, Request};
use toolfold_wire::{Object, Raw, RpcError, Silent, raw};

/// A gateway with `home.greet` and whatever the configuration names.
fn start(config: Config) -> Gateway {
    Gateway::start(Options { config, local: vec![server("home", &["greet"])] })
}

fn server(name: &str, tools: &[&str]) -> LocalServer {
    let tools = tools.iter().map(|name| LocalTool::blocking(definition(name), |_| Output::Text("done".into())));
    LocalServer { name: ServerName::new(name).unwrap(), title: None, tools: tools.collect() }
}

fn definition(name: &str) -> Value {
    json!({"name": name, "description": format!("Do {name}."), "inputSchema": {"type": "object"}})
}

/// Somebody inside the program.
fn me() -> Client {
    Client::inside(Principal::local(), Surface::Compact)
}

/// What there is now, by id.
fn ids(gateway: &Gateway) -> Vec<String> {
    let scope = gateway.latest(&me());
    let view = scope.view();
    view.entries().map(|place| view.entry(place).id.to_string()).collect()
}

async fn number(gateway: &Gateway) -> u64 {
    gateway.view(&me()).await.view().number()
}

/// The result of a request, as its client sees it.
async fn ask(gateway: &Gateway, surface: Surface, method: &str, params: Value) -> Value {
    let client = Arc::new(Client::inside(Principal::local(), surface));
    let request = Request::new(client, Arc::new(Silent), method, Object::parse(&raw(&params)).unwrap_or_default());
    serde_json::from_str(gateway.handle(request).await.unwrap().get()).unwrap()
}

/// The same as it is passed on, or the error.
async fn raw_ask(gateway: &Gateway, method: &str, params: Value) -> Result<Raw, RpcError> {
    let params = Object::parse(&raw(&params)).unwrap_or_default();
    gateway.handle(Request::new(Arc::new(me()), Arc::new(Silent), method, params)).await
}

async fn call(gateway: &Gateway, tool: &str, arguments: Value) -> Value {
    ask(gateway, Surface::Compact, "tools/call", json!({"name": tool, "arguments": arguments})).await
}

async fn found(gateway: &Gateway, arguments: Value) -> String {
    call(gateway, "find_tools", arguments).await["content"][0]["text"].as_str().unwrap().to_owned()
}
