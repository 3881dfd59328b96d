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
use crate::shared::{HEARD_A_SECOND, lock};

const LONGEST_LINE: usize = 4096;
const LONGEST_WORDS: usize = 300;
const KEPT_LINES: usize = 20;
/// How long a line that may be the first half of a secret waits for the second.
const SECOND_HALF: Duration = Duration::from_millis(100);
/// More is counted and not logged: nobody reads it, and a disk has an end.
const LINES_A_SECOND: u32 = 100;

#[derive(Clone)]
pub(crate) struct Said {
    lines: LastLines,
    all: CancellationToken,
}

/// The last lines, without empty ones. Those of one process, or of all that a server had one after another.
#[derive(Clone, Default)]
pub(crate) struct LastLines(Arc<Mutex<VecDeque<String>>>);

impl LastLines {
    pub(crate) fn all(&self) -> Vec<String> {
        lock(&self.0).iter().cloned().collect()
    }

    fn keep(&self, line: String) {
        let mut lines = lock(&self.0);
        if lines.len() == KEPT_LINES {
            lines.pop_front();
        }
        lines.push_back(line);
    }
}

impl Said {
    /// What is heard is added to `before` too, which outlives the process.
    pub(crate) fn listen(
        stderr: impl AsyncRead + Unpin + Send + 'static,
        server: ServerName,
        blanks: Blanks,
        before: LastLines,
    ) -> Said {
        let said = Said { lines: LastLines::default(), all: CancellationToken::new() };
        let log = Log { server, allowance: Allowance::new(LINES_A_SECOND) };
        let listener = Listener { said: said.clone(), before, log };
        tokio::spawn(listener.listen(stderr, blanks).in_current_span());
        said
    }

    /// Returns when everything was said, and heard.
    pub(crate) async fn all(&self) {
        self.all.cancelled().await;
    }

    /// The last line that names an error, or else the last line.
    pub(crate) fn last_words(&self) -> Option<String> {
        let lines = lock(&self.lines.0);
        let names_error = |line: &&String| line.to_lowercase().contains("error");
        lines
            .iter()
            .rev()
            .find(names_error)
            .or(lines.back())
            .map(|line| line.trim().chars().take(LONGEST_WORDS).collect())
    }
}

struct Listener {
    said: Said,
    before: LastLines,
    log: Log,
}

impl Listener {
    async fn listen(mut self, stderr: impl AsyncRead + Unpin, blanks: Blanks) {
        let _all = self.said.all.clone().drop_guard();
        let mut lines = LineReader::new(stderr, LONGEST_LINE, None);
        let mut blanking = Blanking::new(blanks);
        let mut pace = Allowance::new(HEARD_A_SECOND);
        loop {
            // As with what it says otherwise: others have their turn, and a flood has to wait.
            tokio::task::coop::consume_budget().await;
            if let Some(rest) = pace.rest() {
                tokio::time::sleep(rest).await;
            }
            let patience = if blanking.is_holding() { SECOND_HALF } else { Duration::MAX };
            let heard = tokio::time::timeout(patience, lines.next()).await;
            let _ = pace.admits();
            let shown = match heard {
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
        if !line.trim().is_empty() {
            self.before.keep(line.clone());
            self.said.lines.keep(line);
        }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_line_of_stderr_has_4_kilobytes_and_the_next_one_is_heard() {
        let written = format!("{}\n{}\nthe next\n", "a".repeat(LONGEST_LINE - 1), "b".repeat(LONGEST_LINE + 1));
        let (name, before) = (ServerName::new("s").unwrap(), LastLines::default());
        let said = Said::listen(std::io::Cursor::new(written.into_bytes()), name, Blanks::default(), before.clone());
        said.all().await;
        let lengths: Vec<usize> = before.all().iter().map(String::len).collect();
        assert_eq!(lengths, [LONGEST_LINE - 1, "the next".len()]);
    }
}
