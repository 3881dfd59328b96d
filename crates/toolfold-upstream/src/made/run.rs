//! Programs that are run for a call: started, read to their end, and gone when the call is.

use std::sync::Arc;

use serde_json::{Map, Value, json};
use tokio::io::AsyncReadExt;
use tokio::process::ChildStdout;
use tokio::sync::Semaphore;
use toolfold_config::{Server, Transport};
use toolfold_openapi::CommandPlan;
use toolfold_wire::{Raw, raw};

use super::refused;
use crate::apart::apart;
use crate::behind;
use crate::buffer::Buffer;
use crate::call::CallError;
use crate::connection::Connection;
use crate::process::{Process, Started, is_success};
use crate::stdio::lost;

/// Programs of one server at once. Whoever is next waits within the time of their call.
const AT_ONCE: usize = 16;
const CHUNK: usize = 64 * 1024;

pub(super) struct Running {
    places: Semaphore,
}

impl Default for Running {
    fn default() -> Self {
        Running { places: Semaphore::new(AT_ONCE) }
    }
}

impl Running {
    pub(super) async fn call(
        &self,
        connection: &Arc<Connection>,
        command: &CommandPlan,
        arguments: &Map<String, Value>,
    ) -> Result<Raw, CallError> {
        let words = match command.arguments(arguments) {
            Ok(words) => words,
            Err(wrong) => return Ok(refused(&format!("The program was not started: {wrong}."))),
        };
        let shared = &connection.shared;
        let Transport::Api(source) = &shared.config.transport else {
            return Err(CallError::unavailable("the server runs no programs"));
        };
        let transport = Transport::Stdio {
            command: command.program.clone(),
            args: words,
            env: source.env.clone(),
            cwd: source.cwd.clone(),
        };
        let config = Server { transport, ..(*shared.config).clone() };
        let _place = self.places.acquire().await.map_err(|_| CallError::unavailable("the server is stopped"))?;
        let started = Process::start(&config, &shared.house, &shared.blanks, &shared.said, None, &behind::of_command());
        let Started { process, stdin, stdout } = started.map_err(|error| CallError::unavailable(error.to_string()))?;
        drop(stdin);
        // Whoever stops waiting has ended it, whatever it has begun.
        let program = Ending(process);
        let output = read(stdout, connection).await?;
        let end = program.0.ended().await;
        let words = program.0.very_last_words().await;
        let result = move || outcome(&command_name(&config), &end, words, &output);
        Ok(apart(0, result).await)
    }
}

struct Ending(Process);

impl Drop for Ending {
    fn drop(&mut self) {
        self.0.begin_to_stop();
    }
}

fn command_name(config: &Server) -> String {
    match &config.transport {
        Transport::Stdio { command, .. } => command.clone(),
        _ => String::new(),
    }
}

async fn read(mut stdout: ChildStdout, connection: &Connection) -> Result<bytes::Bytes, CallError> {
    let limit = connection.shared.config.max_message;
    let mut buffer = Buffer::new(limit, Some(connection.shared.memory.clone()));
    let mut chunk = vec![0; CHUNK];
    loop {
        let read = stdout.read(&mut chunk).await.map_err(|error| CallError::unavailable(error.to_string()))?;
        if read == 0 {
            return buffer.take_message().await.map_err(|why| lost(why, limit));
        }
        buffer.extend(&chunk[..read]).map_err(|why| lost(why, limit))?;
    }
}

fn outcome(command: &str, end: &str, words: Option<String>, output: &[u8]) -> Raw {
    let text = String::from_utf8_lossy(output);
    if is_success(end) {
        let text = if text.is_empty() { "(done, and nothing was printed)".into() } else { text };
        return raw(&json!({"content": [{"type": "text", "text": text}]}));
    }
    let words = words.map(|words| format!("\n{words}")).unwrap_or_default();
    let mut content = vec![json!({"type": "text", "text": format!("{command} {end}.{words}")})];
    if !text.is_empty() {
        content.push(json!({"type": "text", "text": text}));
    }
    raw(&json!({"content": content, "isError": true}))
}
