//! What a server says on stderr: passed to the log, without the secrets it was given, and the end of it kept, because a
//! server that dies usually says why.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use tokio::io::AsyncRead;
use tokio_util::sync::CancellationToken;
use toolfold_core::ServerName;
use tracing::Instrument;

use crate::allowance::Allowance;
use crate::blank::{Blanking, Blanks};
use crate::lines::{Line, LineReader};
use crate::shared::lock;

const LONGEST_LINE: usize = 4096;
const LONGEST_WORDS: usize = 300;
const KEPT_LINES: usize = 20;
/// How long a line that may be the first half of a secret waits for the second.
const SECOND_HALF: Duration = Duration::from_millis(100);
/// More is counted and not logged: nobody reads it, and a disk has an end.
const LINES_A_SECOND: u32 = 100;

#[derive(Clone)]
pub(crate) struct Said {
    lines: Arc<Mutex<VecDeque<String>>>,
    all: CancellationToken,
}

impl Said {
    pub(crate) fn listen(stderr: impl AsyncRead + Unpin + Send + 'static, server: ServerName, blanks: Blanks) -> Said {
        let said = Said { lines: Arc::default(), all: CancellationToken::new() };
        let listener = Listener { said: said.clone(), log: Log { server, allowance: Allowance::new(LINES_A_SECOND) } };
        tokio::spawn(listener.listen(stderr, blanks).in_current_span());
        said
    }

    /// Returns when everything was said, and heard.
    pub(crate) async fn all(&self) {
        self.all.cancelled().await;
    }

    /// The last line that names an error, or else the last line.
    pub(crate) fn last_words(&self) -> Option<String> {
        let lines = lock(&self.lines);
        let names_error = |line: &&String| line.to_lowercase().contains("error");
        lines
            .iter()
            .rev()
            .find(names_error)
            .or(lines.back())
            .map(|line| line.trim().chars().take(LONGEST_WORDS).collect())
    }

    fn keep(&self, line: String) {
        if line.trim().is_empty() {
            return;
        }
        let mut lines = lock(&self.lines);
        if lines.len() == KEPT_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }
}

struct Listener {
    said: Said,
    log: Log,
}

impl Listener {
    async fn listen(mut self, stderr: impl AsyncRead + Unpin, blanks: Blanks) {
        let _all = self.said.all.clone().drop_guard();
        let mut lines = LineReader::new(stderr, LONGEST_LINE, None);
        let mut blanking = Blanking::new(blanks);
        loop {
            let patience = if blanking.is_holding() { SECOND_HALF } else { Duration::MAX };
            let shown = match tokio::time::timeout(patience, lines.next()).await {
                Err(_) => blanking.flush(),
                Ok(Ok(Some(Line::Whole(line)))) => blanking.feed(&String::from_utf8_lossy(&line)),
                Ok(Ok(Some(Line::Lost { .. }))) => continue,
                Ok(Ok(None) | Err(_)) => break,
            };
            shown.into_iter().for_each(|line| self.hear(line));
        }
        blanking.flush().into_iter().for_each(|line| self.hear(line));
    }

    fn hear(&mut self, line: String) {
        self.log.write(&line);
        self.said.keep(line);
    }
}

struct Log {
    server: ServerName,
    allowance: Allowance,
}

impl Log {
    fn write(&mut self, line: &str) {
        let server = &self.server;
        let left_out = self.allowance.renewed();
        if left_out > 0 {
            tracing::info!(target: "toolfold::server", %server, left_out, "more lines on stderr than are logged");
        }
        if self.allowance.admits() {
            // As a quoted value: what a server says is data, escape sequences included.
            tracing::info!(target: "toolfold::server", %server, line = ?line, "stderr");
        }
    }
}
