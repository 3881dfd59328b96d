//! Programs that listen on a port of this machine, and a request to one.

use std::fs::File;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::Value;

const PATIENCE: Duration = Duration::from_secs(300);

/// Ended when it is dropped.
pub(super) struct Served {
    child: Child,
    pub(super) port: u16,
    log: PathBuf,
}

impl Drop for Served {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A port that nobody listens on.
pub(super) fn free_port() -> Result<u16> {
    Ok(TcpListener::bind("127.0.0.1:0")?.local_addr()?.port())
}

impl Served {
    /// What it says goes into a file beside the others.
    pub(super) fn start(mut command: Command, port: u16, log: &Path) -> Result<Served> {
        let (log, file) = (log.to_owned(), File::create(log)?);
        command.stdin(Stdio::null()).stdout(file.try_clone()?).stderr(file);
        let child = command.spawn().with_context(|| format!("cannot start {:?}", command.get_program()))?;
        let mut served = Served { child, port, log };
        let begun = Instant::now();
        while TcpStream::connect(("127.0.0.1", port)).is_err() {
            if begun.elapsed() > PATIENCE || served.child.try_wait()?.is_some() {
                bail!("{:?} does not listen on {port}", command.get_program());
            }
            std::thread::sleep(Duration::from_millis(100));
        }
        Ok(served)
    }

    /// Everything that it has said so far.
    pub(super) fn said(&self) -> Result<String> {
        Ok(String::from_utf8_lossy(&std::fs::read(&self.log)?).into_owned())
    }

    /// The status and the body of an answer to a POST.
    pub(super) fn post(&self, path: &str, body: &Value) -> Result<(u16, Value)> {
        let body = body.to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(PATIENCE))?;
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: application/json\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
            self.port,
            body.len()
        );
        stream.write_all(format!("{head}{body}").as_bytes())?;
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer)?;
        let answer = String::from_utf8_lossy(&answer);
        let (head, body) = answer.split_once("\r\n\r\n").context("no answer")?;
        let status = head.split_whitespace().nth(1).and_then(|code| code.parse().ok()).context("no status")?;
        Ok((status, serde_json::from_str(body).unwrap_or_default()))
    }
}
