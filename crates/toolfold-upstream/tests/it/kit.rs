//! What every test needs: a configured server, its reports, a client that remembers what it was told, and patience.

use std::collections::BTreeMap;
use std::future::Future;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::mpsc;
use toolfold_config::{Server, Start, Timeouts, Transport};
use toolfold_core::{Secret, ServerName};
use toolfold_upstream::{Call, CallError, Event, House, Manifest, Report, State, Upstream};
use toolfold_wire::{BoxFuture, Memory, Object, Peer, Raw, RpcError, raw};

/// Long enough for a loaded machine; a test that waits for it has failed.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) async fn patiently<T>(what: &str, future: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, future).await.unwrap_or_else(|_| panic!("waited in vain for {what}"))
}

pub(crate) fn config(transport: Transport, start: Start) -> Server {
    Server {
        start,
        timeouts: Timeouts {
            connect: Duration::from_secs(30),
            call: Duration::from_secs(30),
            idle: Duration::from_secs(300),
            stop: Duration::from_secs(2),
        },
        max_message: 1 << 20,
        ..Server::new(ServerName::new("fake").unwrap(), transport)
    }
}

/// The script with these traits.
pub(crate) fn script(traits: &[&str]) -> Server {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/server.py");
    let mut args = vec![script.display().to_string()];
    args.extend(traits.iter().map(|name| name.to_string()));
    let env = BTreeMap::from([("TOKEN".to_owned(), Secret::new("very-secret-token"))]);
    config(Transport::Stdio { command: "python3".into(), args, env, cwd: None }, Start::Lazy)
}

pub(crate) fn http(url: &str) -> Server {
    let headers = BTreeMap::from([("Authorization".to_owned(), Secret::new("Bearer open-sesame"))]);
    config(Transport::Http { url: url.to_owned(), headers }, Start::Eager)
}

/// A program's worth of memory, and its token.
pub(crate) fn house() -> House {
    House { secrets: vec![Secret::new("token-of-the-gateway")], ..House::new(Memory::new(256 << 20)) }
}

/// A server under test, and what it reported.
pub(crate) struct Subject {
    pub(crate) upstream: Upstream,
    pub(crate) reports: mpsc::UnboundedReceiver<Report>,
}

impl Subject {
    pub(crate) fn new(config: Server) -> Self {
        Subject::remembering(config, None)
    }

    pub(crate) fn remembering(config: Server, manifest: Option<Arc<Manifest>>) -> Self {
        let (sender, reports) = mpsc::unbounded_channel();
        Subject { upstream: Upstream::spawn(Arc::new(config), manifest, sender, &house()), reports }
    }

    /// In a program with so much memory.
    pub(crate) fn within(config: Server, memory: &Memory) -> Self {
        let (sender, reports) = mpsc::unbounded_channel();
        Subject { upstream: Upstream::spawn(Arc::new(config), None, sender, &House::new(memory.clone())), reports }
    }

    pub(crate) async fn next(&mut self) -> Event {
        patiently("a report", self.reports.recv()).await.expect("the supervisor lives").event
    }

    pub(crate) async fn listed(&mut self) -> Arc<Manifest> {
        loop {
            match self.next().await {
                Event::Listed(manifest) => return manifest,
                Event::State(State::Failing { why, .. }) => panic!("failed: {why}"),
                _ => {}
            }
        }
    }

    pub(crate) async fn until(&mut self, wanted: impl Fn(&State) -> bool) -> State {
        loop {
            if let Event::State(state) = self.next().await
                && wanted(&state)
            {
                return state;
            }
        }
    }

    pub(crate) async fn why_failing(&mut self) -> String {
        match self.until(|state| matches!(state, State::Failing { .. })).await {
            State::Failing { why, .. } => why,
            _ => unreachable!(),
        }
    }

    pub(crate) async fn tool(&self, name: &str, arguments: Value) -> Result<Value, CallError> {
        self.call(call("tools/call", json!({"name": name, "arguments": arguments}))).await
    }

    pub(crate) async fn call(&self, call: Call) -> Result<Value, CallError> {
        let result = patiently("an answer", self.upstream.request(call)).await?;
        Ok(serde_json::from_str(result.get()).unwrap())
    }
}

pub(crate) fn call(method: &str, params: Value) -> Call {
    by(&Client::new(json!({})), 1, method, params)
}

pub(crate) fn by(client: &Arc<Client>, number: u64, method: &str, params: Value) -> Call {
    Call {
        method: method.into(),
        params: Object::of(&params),
        principal: toolfold_core::Principal::local(),
        peer: client.clone(),
        client: number,
        client_capabilities: Some(raw(&json!({"elicitation": {}}))),
        timeout: None,
        here: false,
        spool: None,
    }
}

pub(crate) fn text_of(result: &Value) -> String {
    result["content"][0]["text"].as_str().expect("a text").to_owned()
}

pub(crate) fn names(manifest: &Manifest) -> Vec<String> {
    let name = |tool: &Raw| serde_json::from_str::<Value>(tool.get()).unwrap()["name"].as_str().unwrap().to_owned();
    manifest.tools.iter().map(name).collect()
}

/// Says so when a question is taken back before it was answered.
struct Forgotten(mpsc::UnboundedSender<(String, Value)>);

impl Drop for Forgotten {
    fn drop(&mut self) {
        let _ = self.0.send(("taken back".to_owned(), Value::Null));
    }
}

/// A client that answers every question the same way: never where the answer is null, late where it says so.
pub(crate) struct Client {
    answer: Value,
    heard: mpsc::UnboundedSender<(String, Value)>,
    pub(crate) inbox: tokio::sync::Mutex<mpsc::UnboundedReceiver<(String, Value)>>,
    pub(crate) asked: Mutex<Vec<(String, Value)>>,
}

impl Client {
    pub(crate) fn new(answer: Value) -> Arc<Self> {
        let (heard, inbox) = mpsc::unbounded_channel();
        Arc::new(Client { answer, heard, inbox: inbox.into(), asked: Mutex::default() })
    }

    pub(crate) async fn hear(&self) -> (String, Value) {
        patiently("a notification", async { self.inbox.lock().await.recv().await }).await.unwrap()
    }
}

impl Peer for Client {
    fn notify(&self, method: &str, params: Option<Raw>) {
        let _ = self.heard.send((method.to_owned(), value(params)));
    }

    fn ask<'a>(&'a self, method: &'a str, params: Option<Raw>) -> BoxFuture<'a, Result<Raw, RpcError>> {
        self.asked.lock().unwrap().push((method.to_owned(), value(params)));
        let forgotten = Forgotten(self.heard.clone());
        Box::pin(async move {
            if self.answer.is_null() {
                std::future::pending::<()>().await;
            }
            if let Some(seconds) = self.answer["after"].as_f64() {
                tokio::time::sleep(Duration::from_secs_f64(seconds)).await;
            }
            std::mem::forget(forgotten);
            Ok(raw(&self.answer))
        })
    }
}

fn value(params: Option<Raw>) -> Value {
    params.map(|params| serde_json::from_str(params.get()).unwrap()).unwrap_or_default()
}

/// A file that a server writes its messages to.
pub(crate) struct Log {
    dir: tempfile::TempDir,
}

impl Log {
    pub(crate) fn new() -> Self {
        Log { dir: tempfile::tempdir().unwrap() }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.dir.path().join(name)
    }

    pub(crate) fn argument(&self, name: &str) -> String {
        format!("{name}={}", self.path(name).display())
    }

    pub(crate) fn lines(&self, name: &str) -> Vec<String> {
        let text = std::fs::read_to_string(self.path(name)).unwrap_or_default();
        text.lines().map(str::to_owned).collect()
    }

    pub(crate) fn messages(&self, method: &str) -> Vec<Value> {
        let parsed = self.lines("log").into_iter().filter_map(|line| serde_json::from_str::<Value>(&line).ok());
        parsed.filter(|message| message["method"] == method).collect()
    }

    /// Looks until the server has written down such a message.
    pub(crate) async fn message(&self, method: &str) -> Value {
        eventually(method, || self.messages(method).into_iter().next()).await
    }
}

/// Looks until there is something to see.
pub(crate) async fn eventually<T>(what: &str, look: impl Fn() -> Option<T>) -> T {
    patiently(what, async {
        loop {
            if let Some(found) = look() {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    })
    .await
}

/// Whether a process runs; one that ended and waits to be reaped does not.
pub(crate) fn runs(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    stat.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with('Z'))
}
