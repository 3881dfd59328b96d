//! A raw MCP client that starts a server and talks to it in lines of JSON. It checks nothing and adds nothing that a
//! test did not ask for; a server that writes garbage shows it in [`StdioClient::strays`].

use std::process::{ExitStatus, Stdio};
use std::sync::{Arc, Mutex, PoisonError};

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::process::{Child, ChildStdin, Command};
use toolfold_wire::{Id, Message, Raw, RpcError, raw};

use crate::inbox::{Inbox, Question, given, greeting, patiently, value, with_modern_meta};

pub struct StdioClient {
    child: Child,
    stdin: tokio::sync::Mutex<Option<ChildStdin>>,
    inbox: Arc<Inbox>,
    stderr: Arc<Mutex<Vec<u8>>>,
    capabilities: Value,
}

impl StdioClient {
    /// Starts the command; it is killed when the client is dropped.
    pub fn start<S: AsRef<str>>(command: &str, args: &[S], env: &[(&str, &str)]) -> Self {
        let mut child = Command::new(command)
            .args(args.iter().map(AsRef::as_ref))
            .envs(env.iter().copied())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap_or_else(|error| panic!("{command} cannot be started: {error}"));
        let inbox = Arc::new(Inbox::default());
        let stderr = Arc::default();
        let stdin = tokio::sync::Mutex::new(child.stdin.take());
        tokio::spawn(read_lines(child.stdout.take().expect("stdout is piped"), Arc::clone(&inbox)));
        tokio::spawn(read_all(child.stderr.take().expect("stderr is piped"), Arc::clone(&stderr)));
        StdioClient { child, stdin, inbox, stderr, capabilities: json!({}) }
    }

    /// What the client says it can do, in both eras.
    pub fn with_capabilities(mut self, capabilities: Value) -> Self {
        self.capabilities = capabilities;
        self
    }

    /// The legacy handshake; gives the server's result.
    pub async fn initialize(&self, version: &str) -> Value {
        let result = self.request("initialize", greeting(version, &self.capabilities)).await;
        self.notify("notifications/initialized", Value::Null).await;
        result
    }

    /// The result of a request; an error fails the test.
    pub async fn request(&self, method: &str, params: Value) -> Value {
        match self.try_request(method, params).await {
            Ok(result) => value(Some(&result)),
            Err(error) => panic!("{method} was answered with an error: {error}\n{}", self.stderr()),
        }
    }

    /// The outcome of a request, with the result as the bytes it came as.
    pub async fn try_request(&self, method: &str, params: Value) -> Result<Raw, RpcError> {
        let (id, answer) = self.inbox.expect();
        self.send(&Message::request(id, method, given(&params))).await;
        let gone = || RpcError::internal(format!("the server ended before it answered {method}: {}", self.stderr()));
        patiently(method, answer).await.unwrap_or_else(|_| Err(gone()))
    }

    /// As [`StdioClient::request`], in the stateless era.
    pub async fn modern(&self, method: &str, params: Value) -> Value {
        self.request(method, with_modern_meta(params, &self.capabilities)).await
    }

    pub async fn try_modern(&self, method: &str, params: Value) -> Result<Raw, RpcError> {
        self.try_request(method, with_modern_meta(params, &self.capabilities)).await
    }

    /// Sends a request and does not wait: the id is for [`StdioClient::cancel`].
    pub async fn begin(&self, method: &str, params: Value) -> Id {
        let (id, answer) = self.inbox.expect();
        drop(answer);
        self.send(&Message::request(id.clone(), method, given(&params))).await;
        id
    }

    pub async fn cancel(&self, id: &Id) {
        self.inbox.forget(id);
        let params = json!({"requestId": value(Some(&id.to_raw())), "reason": "the test says so"});
        self.notify("notifications/cancelled", params).await;
    }

    pub async fn notify(&self, method: &str, params: Value) {
        self.send(&Message::notification(method, given(&params))).await;
    }

    /// The next request from the server to the client.
    pub async fn next_request(&self) -> Question {
        self.inbox.next_question().await
    }

    pub async fn answer(&self, question: &Question, result: Value) {
        self.send(&Message::response(question.id.clone(), Ok(raw(&result)))).await;
    }

    pub async fn refuse(&self, question: &Question, error: RpcError) {
        self.send(&Message::response(question.id.clone(), Err(error))).await;
    }

    /// The notifications that came so far and were not taken yet, `{"method", "params"}`.
    pub fn notifications(&self) -> Vec<Value> {
        self.inbox.notifications()
    }

    /// The parameters of the next notification of this method; others stay where they are.
    pub async fn next_notification(&self, method: &str) -> Value {
        self.inbox.next_notification(method).await
    }

    /// Lines that were no message, and answers that nobody waited for.
    pub fn strays(&self) -> Vec<String> {
        self.inbox.strays()
    }

    /// What the server wrote to stderr so far.
    pub fn stderr(&self) -> String {
        String::from_utf8_lossy(&self.stderr.lock().unwrap_or_else(PoisonError::into_inner)).into_owned()
    }

    pub fn pid(&self) -> u32 {
        self.child.id().unwrap_or_default()
    }

    /// Sends a line as it is.
    pub async fn send_line(&self, line: &str) {
        if let Some(stdin) = self.stdin.lock().await.as_mut() {
            // A server that is gone does not listen: the test sees that when it waits for an answer.
            let _ = stdin.write_all(format!("{line}\n").as_bytes()).await;
            let _ = stdin.flush().await;
        }
    }

    /// Closes stdin and waits for the server to end.
    pub async fn close(&mut self) -> ExitStatus {
        drop(self.stdin.lock().await.take());
        self.ended().await
    }

    /// Kills the server without a warning.
    pub async fn kill(&mut self) {
        let _ = self.child.kill().await;
    }

    /// Waits for the server to end by itself.
    pub async fn ended(&mut self) -> ExitStatus {
        patiently("the end of the server", self.child.wait()).await.expect("a child can be waited for")
    }

    async fn send(&self, message: &Message) {
        self.send_line(&message.to_line()).await;
    }
}

async fn read_lines(stdout: impl AsyncRead + Unpin, inbox: Arc<Inbox>) {
    let mut stdout = BufReader::new(stdout);
    let mut line = Vec::new();
    while matches!(stdout.read_until(b'\n', &mut line).await, Ok(read) if read > 0) {
        inbox.take(line.trim_ascii());
        line.clear();
    }
    inbox.close();
}

async fn read_all(mut pipe: impl AsyncRead + Unpin, into: Arc<Mutex<Vec<u8>>>) {
    let mut buffer = [0; 4096];
    while let Ok(read @ 1..) = pipe.read(&mut buffer).await {
        into.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(&buffer[..read]);
    }
}
