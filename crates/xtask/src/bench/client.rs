//! The thinnest clients there can be, so that what is measured is the server: one prepared buffer is written, one
//! answer is read.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};

use super::process::Process;

pub(crate) const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;
const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
const STATELESS: &str = "2026-07-28";
const WORDS: &str = "some words that are neither many nor few";
/// Past this a server hangs, and the benchmark should say so.
const LONGEST: Duration = Duration::from_secs(60);

/// How a client speaks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Era {
    Session,
    Stateless,
}

/// By what name the tool is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    CallTool,
    DirectName,
}

/// A call of the thin server's one tool through Toolfold.
pub(crate) fn call(door: Door, era: Era) -> (Value, &'static str) {
    let arguments = json!({"text": WORDS});
    match door {
        Door::CallTool => {
            let params = json!({"name": "call_tool", "arguments": {"tool": "thin.echo", "arguments": arguments}});
            (request("tools/call", params, era), "call_tool")
        }
        Door::DirectName => {
            (request("tools/call", json!({"name": "thin.echo", "arguments": arguments}), era), "thin.echo")
        }
    }
}

/// The same straight to the thin server.
pub(crate) fn straight() -> Value {
    request("tools/call", json!({"name": "echo", "arguments": {"text": WORDS}}), Era::Session)
}

pub(crate) fn request(method: &str, mut params: Value, era: Era) -> Value {
    if era == Era::Stateless {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": STATELESS,
            "io.modelcontextprotocol/clientCapabilities": {},
            "io.modelcontextprotocol/clientInfo": {"name": "bench", "version": "1"},
        });
    }
    json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params})
}

/// A conversation, over whatever it is.
pub(crate) trait Conversation {
    /// The bytes that are sent for a message.
    fn prepare(&self, message: &Value, name: &str, era: Era) -> Vec<u8>;
    /// Sends them; the answer's bytes.
    fn exchange(&mut self, prepared: &[u8]) -> Result<&[u8]>;
}

/// How long each of `count` exchanges takes; each is what it should be.
pub(crate) fn time_each(to: &mut dyn Conversation, prepared: &[u8], count: usize) -> Result<Vec<Duration>> {
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        let begun = Instant::now();
        let answer = to.exchange(prepared)?;
        times.push(begun.elapsed());
        ensure!(contains(answer, WORDS.as_bytes()), "not the answer: {}", String::from_utf8_lossy(answer));
    }
    Ok(times)
}

fn contains(bytes: &[u8], wanted: &[u8]) -> bool {
    find(bytes, wanted).is_some()
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}

/// Over a pipe.
pub(crate) struct Pipe {
    pub(crate) process: Process,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    line: Vec<u8>,
}

impl Pipe {
    pub(crate) fn start(mut command: Command) -> Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let to = child.stdin.take().context("stdin is a pipe")?;
        let from = BufReader::new(child.stdout.take().context("stdout is a pipe")?);
        Ok(Pipe { process: Process(child), to, from, line: Vec::new() })
    }

    pub(crate) fn greet(&mut self) -> Result<()> {
        self.exchange(&line(INITIALIZE))?;
        self.to.write_all(&line(INITIALIZED)).context("the server does not read")
    }
}

fn line(message: &str) -> Vec<u8> {
    format!("{message}\n").into_bytes()
}

impl Conversation for Pipe {
    fn prepare(&self, message: &Value, _: &str, _: Era) -> Vec<u8> {
        line(&message.to_string())
    }

    fn exchange(&mut self, prepared: &[u8]) -> Result<&[u8]> {
        self.to.write_all(prepared)?;
        loop {
            self.line.clear();
            if self.from.read_until(b'\n', &mut self.line)? == 0 {
                bail!("the server ended");
            }
            // Anything else is a notification.
            if contains(&self.line, b"\"result\"") || contains(&self.line, b"\"error\"") {
                return Ok(&self.line);
            }
        }
    }
}

/// One HTTP connection that is kept open.
pub(crate) struct Line {
    stream: TcpStream,
    host: String,
    path: String,
    /// The header of the session, if there is one.
    session: String,
    buffer: Vec<u8>,
}

impl Line {
    pub(crate) fn open(host: &str, path: &str) -> Result<Self> {
        let stream = TcpStream::connect(host)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(LONGEST))?;
        let (host, path) = (host.to_owned(), path.to_owned());
        Ok(Line { stream, host, path, session: String::new(), buffer: Vec::new() })
    }

    /// One that has a session.
    pub(crate) fn greeted(host: &str, path: &str) -> Result<Self> {
        let mut line = Line::open(host, path)?;
        let greeting = line.post(INITIALIZE, "");
        line.exchange(&greeting)?;
        let head = String::from_utf8_lossy(&line.buffer).to_ascii_lowercase();
        let session = head.lines().find_map(|header| header.strip_prefix("mcp-session-id:"));
        line.session = session.map_or_else(String::new, |id| format!("Mcp-Session-Id: {}\r\n", id.trim()));
        let greeted = line.post(INITIALIZED, "");
        line.exchange(&greeted)?;
        Ok(line)
    }

    fn post(&self, body: &str, headers: &str) -> Vec<u8> {
        let Line { host, path, session, .. } = self;
        let length = body.len();
        let accept = "Content-Type: application/json\r\nAccept: application/json, text/event-stream\r\n";
        format!(
            "POST {path} HTTP/1.1\r\nHost: {host}\r\n{accept}{session}{headers}Content-Length: {length}\r\n\r\n{body}"
        )
        .into_bytes()
    }

    pub(crate) fn get(host: &str, path: &str) -> Result<Value> {
        let mut line = Line::open(host, path)?;
        let body = line.exchange(format!("GET {path} HTTP/1.1\r\nHost: {host}\r\n\r\n").as_bytes())?;
        serde_json::from_slice(body).context("not JSON")
    }

    fn read(&mut self) -> Result<()> {
        let used = self.buffer.len();
        self.buffer.resize(used + 64 * 1024, 0);
        let read = self.stream.read(&mut self.buffer[used..])?;
        self.buffer.truncate(used + read);
        ensure!(read > 0, "the server closed the connection");
        Ok(())
    }
}

impl Conversation for Line {
    fn prepare(&self, message: &Value, name: &str, era: Era) -> Vec<u8> {
        let method = message["method"].as_str().unwrap_or_default();
        let headers = match era {
            Era::Session => String::new(),
            Era::Stateless => {
                format!("MCP-Protocol-Version: {STATELESS}\r\nMcp-Method: {method}\r\nMcp-Name: {name}\r\n")
            }
        };
        self.post(&message.to_string(), &headers)
    }

    fn exchange(&mut self, prepared: &[u8]) -> Result<&[u8]> {
        self.stream.write_all(prepared)?;
        self.buffer.clear();
        let head = loop {
            if let Some(end) = find(&self.buffer, b"\r\n\r\n") {
                break end + 4;
            }
            self.read()?;
        };
        match length(&self.buffer[..head]) {
            Some(length) => {
                while self.buffer.len() < head + length {
                    self.read()?;
                }
            }
            // In chunks: the last one is empty.
            None => {
                while !self.buffer.ends_with(b"0\r\n\r\n") {
                    self.read()?;
                }
            }
        }
        Ok(&self.buffer[head..])
    }
}

fn length(head: &[u8]) -> Option<usize> {
    let name = b"content-length:";
    head.split(|byte| *byte == b'\n').find_map(|line| {
        let value = line.get(name.len()..).filter(|_| line[..name.len()].eq_ignore_ascii_case(name))?;
        std::str::from_utf8(value).ok()?.trim().parse().ok()
    })
}
