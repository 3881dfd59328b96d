//! A gateway with fake servers behind it, served to raw clients.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use toolfold_config::{Config, Server, Transport};
use toolfold_core::{Secret, ServerName, Surface};
use toolfold_gateway::{Gateway, LocalServer, LocalTool, Options, Output};
use toolfold_serve::{Deadlines, serve_http, serve_http_within, serve_stdio};
use toolfold_test::{FakeServer, HttpClient};

/// A configuration with these fake servers over stdio.
pub(crate) fn config(surface: Surface, servers: &[(&str, &FakeServer)]) -> Config {
    let servers = servers.iter().map(|(name, fake)| {
        let (command, args) = fake.stdio_command();
        let name = ServerName::new(*name).unwrap();
        let transport = Transport::Stdio { command, args, env: BTreeMap::new(), cwd: None };
        (name.clone(), Server::new(name, transport))
    });
    Config { surface, toolbox: false, servers: servers.collect(), ..Config::default() }
}

/// A gateway of this process's own tools: `local.echo`.
pub(crate) fn local_gateway(surface: Surface) -> Gateway {
    start(Config { surface, ..Config::default() })
}

pub(crate) fn start(config: Config) -> Gateway {
    let definition = json!({
        "name": "echo",
        "description": "Say the same again.",
        "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}, "required": ["text"]},
    });
    let echo =
        LocalTool::blocking(definition, |arguments| Output::Text(arguments["text"].as_str().unwrap().to_owned()));
    let local = LocalServer { name: ServerName::new("local").unwrap(), title: None, tools: vec![echo] };
    Gateway::start(Options { config, local: vec![local] })
}

/// Serves a gateway over HTTP on a free port, for as long as the test runs.
pub(crate) async fn over_http(gateway: Gateway, surface: Surface) -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    tokio::spawn(serve_http(gateway, surface, listener, CancellationToken::new()));
    address
}

/// A server with little patience.
pub(crate) async fn impatient() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let short = Duration::from_millis(100);
    let deadlines = Deadlines { head: short, body: short, idle: short, stalled: short, drain: short };
    let gateway = local_gateway(Surface::Compact);
    tokio::spawn(serve_http_within(gateway, Surface::Compact, listener, CancellationToken::new(), deadlines));
    address
}

pub(crate) async fn http_client(gateway: Gateway, surface: Surface) -> HttpClient {
    HttpClient::new(format!("http://{}/mcp", over_http(gateway, surface).await))
}

/// A conversation over a pipe, line by line.
pub(crate) struct Pipe {
    to: WriteHalf<DuplexStream>,
    from: Lines<BufReader<ReadHalf<DuplexStream>>>,
}

impl Pipe {
    pub(crate) fn to(gateway: Gateway, surface: Surface) -> Self {
        let (ours, theirs) = tokio::io::duplex(1 << 20);
        let (input, output) = tokio::io::split(theirs);
        tokio::spawn(serve_stdio(gateway, surface, input, output, CancellationToken::new()));
        let (from, to) = tokio::io::split(ours);
        Pipe { to, from: BufReader::new(from).lines() }
    }

    pub(crate) async fn send(&mut self, line: &str) {
        self.to.write_all(format!("{line}\n").as_bytes()).await.unwrap();
    }

    pub(crate) async fn send_bytes(&mut self, line: &[u8]) {
        self.to.write_all(line).await.unwrap();
        self.to.write_all(b"\n").await.unwrap();
    }

    pub(crate) async fn receive(&mut self) -> Value {
        serde_json::from_str(&self.from.next_line().await.unwrap().expect("another line")).unwrap()
    }

    /// Sends a message and waits for the next line.
    pub(crate) async fn exchange(&mut self, message: Value) -> Value {
        self.send(&message.to_string()).await;
        self.receive().await
    }

    pub(crate) async fn initialize(&mut self, version: &str) -> Value {
        let params =
            json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}});
        self.exchange(json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})).await
    }

    /// Ends the input and gives every line that still comes.
    pub(crate) async fn close(mut self) -> Vec<Value> {
        self.to.shutdown().await.unwrap();
        let mut rest = Vec::new();
        while let Some(line) = self.from.next_line().await.unwrap() {
            rest.push(serde_json::from_str(&line).unwrap());
        }
        rest
    }
}

/// The `_meta` of the stateless era.
pub(crate) fn modern_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

pub(crate) fn names(list: &Value) -> Vec<String> {
    list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap().to_owned()).collect()
}

pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

pub(crate) fn with_token(token: &str) -> Config {
    let mut config = Config::default();
    config.http.token = Some(Secret::new(token));
    config
}

/// Every server has said what it offers, or failed.
pub(crate) async fn all_settled(gateway: &Gateway) {
    let me = toolfold_gateway::Client::inside(toolfold_core::Principal::local(), Surface::Direct);
    gateway.settled_completely(&me).await;
}

/// What it takes to start and stop servers where there is no token.
pub(crate) fn key() -> &'static str {
    toolfold_serve::page_key().unwrap().expose()
}
