//! The thinnest clients there can be, so that what is measured is the server.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::json;

pub(crate) const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#;

pub(crate) fn call(tool: &str) -> String {
    let params = json!({"name": tool, "arguments": {"text": "some words that are neither many nor few"}});
    json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}).to_string()
}

/// A conversation over a pipe.
pub(crate) struct Pipe {
    child: Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
    line: String,
}

impl Pipe {
    pub(crate) fn start(mut command: Command) -> Result<Self> {
        let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null()).spawn()?;
        let to = child.stdin.take().context("stdin is a pipe")?;
        let from = BufReader::new(child.stdout.take().context("stdout is a pipe")?);
        Ok(Pipe { child, to, from, line: String::new() })
    }

    /// Sends a message and reads lines until its answer is there.
    pub(crate) fn exchange(&mut self, message: &str) -> Result<&str> {
        self.to.write_all(format!("{message}\n").as_bytes())?;
        loop {
            self.line.clear();
            if self.from.read_line(&mut self.line)? == 0 {
                bail!("the server ended");
            }
            if self.line.contains("\"result\"") || self.line.contains("\"error\"") {
                return Ok(&self.line);
            }
        }
    }

    pub(crate) fn id(&self) -> u32 {
        self.child.id()
    }
}

impl Drop for Pipe {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A server over HTTP, found by the address it announces.
pub(crate) struct Served {
    child: Child,
    pub(crate) address: String,
}

impl Served {
    pub(crate) fn start(mut command: Command) -> Result<Self> {
        let mut child = command.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::piped()).spawn()?;
        let mut lines = BufReader::new(child.stderr.take().context("stderr is a pipe")?).lines();
        let announced = |line: &String| {
            let word = line.split_whitespace().find(|word| word.contains("127.0.0.1:"))?;
            Some(word.trim_start_matches("http://").split('/').next()?.to_owned())
        };
        let address = lines.by_ref().map_while(Result::ok).find_map(|line| announced(&line));
        std::thread::spawn(move || lines.for_each(drop));
        Ok(Served { child, address: address.context("the server announced no address")? })
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// One connection that is kept open.
pub(crate) struct Connection {
    stream: BufReader<TcpStream>,
    address: String,
    session: String,
}

impl Connection {
    pub(crate) fn open(address: &str) -> Result<Self> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        let mut connection =
            Connection { stream: BufReader::new(stream), address: address.to_owned(), session: String::new() };
        let (head, _) = connection.post(INITIALIZE)?;
        let session = head.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("mcp-session-id").then(|| value.trim().to_owned())
        });
        connection.session = session.map_or_else(String::new, |id| format!("Mcp-Session-Id: {id}\r\n"));
        Ok(connection)
    }

    /// Posts a message; gives the head and the body of the answer.
    pub(crate) fn post(&mut self, body: &str) -> Result<(String, String)> {
        let (address, session, length) = (&self.address, &self.session, body.len());
        let request = format!(
            "POST /mcp HTTP/1.1\r\nHost: {address}\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n{session}Content-Length: {length}\r\n\r\n{body}"
        );
        self.stream.get_mut().write_all(request.as_bytes())?;
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            if self.stream.read_line(&mut head)? == 0 {
                bail!("the server closed the connection");
            }
        }
        let lower = head.to_ascii_lowercase();
        let length = lower.lines().find_map(|line| line.strip_prefix("content-length:")?.trim().parse::<usize>().ok());
        let body = match length {
            Some(length) => {
                let mut bytes = vec![0; length];
                self.stream.read_exact(&mut bytes)?;
                String::from_utf8_lossy(&bytes).into_owned()
            }
            None => self.chunks()?,
        };
        Ok((head, body))
    }

    fn chunks(&mut self) -> Result<String> {
        let mut body = Vec::new();
        loop {
            let mut size = String::new();
            self.stream.read_line(&mut size)?;
            let size = usize::from_str_radix(size.trim(), 16).context("a chunk has a size")?;
            let mut chunk = vec![0; size + 2];
            self.stream.read_exact(&mut chunk)?;
            if size == 0 {
                return Ok(String::from_utf8_lossy(&body).into_owned());
            }
            body.extend_from_slice(&chunk[..size]);
        }
    }
}

/// How long each of `count` repetitions takes.
pub(crate) fn time_each(count: usize, mut work: impl FnMut() -> Result<()>) -> Result<Vec<Duration>> {
    (0..count)
        .map(|_| {
            let begun = Instant::now();
            work()?;
            Ok(begun.elapsed())
        })
        .collect()
}
