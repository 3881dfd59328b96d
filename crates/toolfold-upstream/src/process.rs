//! A server's process: its group, its stderr, and its end. A task of its own waits for it, so that it is always
//! reaped; dropping everything kills it, and `reaper.rs` sees to the case in which nothing is dropped.

use std::collections::VecDeque;
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use tokio::io::AsyncRead;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use toolfold_config::{Server, Timeouts, Transport};

use crate::lines::{Line, Lines};
use crate::reaper::Group;
use crate::shared::lock;

const LONGEST_STDERR_LINE: usize = 4096;
const KEPT_LINES: usize = 20;
/// How long a server has to end by itself once its input is closed. Many write what they remember then.
const BEFORE_TERM: Duration = Duration::from_millis(500);
const LAST_WORDS: Duration = Duration::from_millis(300);
const POLL: Duration = Duration::from_millis(20);

pub(crate) struct Process {
    stop: CancellationToken,
    /// A child that was only asked a question need not be treated gently.
    brisk: Arc<AtomicBool>,
    /// How it ended, once it has.
    ended: watch::Receiver<Option<String>>,
    said: Said,
}

pub(crate) struct Started {
    pub(crate) process: Process,
    pub(crate) stdin: ChildStdin,
    pub(crate) stdout: ChildStdout,
}

impl Process {
    pub(crate) fn start(config: &Server) -> Result<Started, String> {
        let mut child = command(config)?.spawn().map_err(|error| why_not_started(config, &error))?;
        let group = child.id().and_then(Group::of).ok_or("the server ended before it began")?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else { return Err("the server has no pipes".into()) };
        let said = Said::listen(stderr, config);
        let (tell_ended, ended) = watch::channel(None);
        let (stop, brisk) = (CancellationToken::new(), Arc::new(AtomicBool::new(false)));
        let watcher = Watcher { child, group, stop: stop.clone(), brisk: brisk.clone(), timeouts: config.timeouts };
        tokio::spawn(async move {
            let end = watcher.watch().await;
            tell_ended.send_replace(Some(end));
        });
        Ok(Started { process: Process { stop, brisk, ended, said }, stdin, stdout })
    }

    /// Ends the process, unless it has ended, and waits until it is gone.
    pub(crate) async fn stop(&self) {
        self.begin_to_stop();
        self.ended().await;
    }

    pub(crate) async fn stop_briskly(&self) {
        self.brisk.store(true, Ordering::Relaxed);
        self.stop().await;
    }

    pub(crate) fn begin_to_stop(&self) {
        self.stop.cancel();
    }

    pub(crate) async fn stopping(&self) {
        self.stop.cancelled().await;
    }

    pub(crate) async fn ended(&self) -> String {
        let mut ended = self.ended.clone();
        let end = ended.wait_for(Option::is_some).await;
        end.ok().and_then(|end| end.clone()).unwrap_or_else(|| "ended".to_owned())
    }

    /// The last thing the server said on stderr.
    pub(crate) fn last_words(&self) -> Option<String> {
        self.said.last_words()
    }

    /// As [`Process::last_words`] of a server that has ended: what it said last may still be on its way to us.
    pub(crate) async fn very_last_words(&self) -> Option<String> {
        let _ = tokio::time::timeout(LAST_WORDS, self.said.all.cancelled()).await;
        self.last_words()
    }
}

fn command(config: &Server) -> Result<Command, String> {
    let Transport::Stdio { command, args, env, cwd } = &config.transport else {
        return Err("the server has no command".into());
    };
    let mut built = Command::new(command);
    built.args(args).envs(env.iter().map(|(key, value)| (key, value.expose())));
    if let Some(cwd) = cwd {
        if !cwd.is_dir() {
            return Err(format!("its working directory {} does not exist: correct `cwd` or create it", cwd.display()));
        }
        built.current_dir(cwd);
    }
    built.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).kill_on_drop(true);
    Ok(built)
}

fn why_not_started(config: &Server, error: &std::io::Error) -> String {
    let Transport::Stdio { command, .. } = &config.transport else { return error.to_string() };
    match error.kind() {
        std::io::ErrorKind::NotFound if command.contains('/') => {
            format!("`{command}` does not exist: correct `command`")
        }
        std::io::ErrorKind::NotFound => {
            format!("`{command}` was not found: is the program installed, and is it on Toolfold's PATH?")
        }
        std::io::ErrorKind::PermissionDenied => {
            format!("`{command}` may not be executed: check its permissions")
        }
        _ => format!("`{command}` could not be started: {error}"),
    }
}

struct Watcher {
    child: Child,
    group: Group,
    stop: CancellationToken,
    brisk: Arc<AtomicBool>,
    timeouts: Timeouts,
}

impl Watcher {
    async fn watch(mut self) -> String {
        let status = tokio::select! {
            status = self.child.wait() => status,
            () = self.stop.cancelled() => self.end_child().await,
        };
        self.end_rest().await;
        self.group.is_over();
        describe(status)
    }

    /// The child's input is closed by now: its writer stops with us.
    async fn end_child(&mut self) -> std::io::Result<ExitStatus> {
        let brisk = self.brisk.load(Ordering::Relaxed);
        let patience = if brisk { Duration::ZERO } else { BEFORE_TERM.min(self.timeouts.stop) };
        if let Ok(status) = tokio::time::timeout(patience, self.child.wait()).await {
            return status;
        }
        self.group.terminate();
        let patience = if brisk { self.timeouts.stop.min(BEFORE_TERM) } else { self.timeouts.stop };
        if let Ok(status) = tokio::time::timeout(patience, self.child.wait()).await {
            return status;
        }
        self.group.kill();
        self.child.wait().await
    }

    /// What the server started and left behind.
    async fn end_rest(&self) {
        if !self.group.alive() {
            return;
        }
        self.group.terminate();
        let deadline = Instant::now() + self.timeouts.stop.min(BEFORE_TERM);
        while self.group.alive() && Instant::now() < deadline {
            tokio::time::sleep(POLL).await;
        }
        self.group.kill();
    }
}

fn describe(status: std::io::Result<ExitStatus>) -> String {
    use std::os::unix::process::ExitStatusExt;
    match status.map(|status| (status.code(), status.signal())) {
        Ok((Some(code), _)) => format!("exited (status {code})"),
        Ok((None, Some(signal))) => format!("was ended by signal {signal}"),
        _ => "ended".to_owned(),
    }
}

/// The end of what a server said on stderr, without the secrets it was given.
#[derive(Clone)]
struct Said {
    lines: Arc<Mutex<VecDeque<String>>>,
    all: CancellationToken,
}

impl Said {
    fn listen(stderr: impl AsyncRead + Unpin + Send + 'static, config: &Server) -> Said {
        let said = Said { lines: Arc::default(), all: CancellationToken::new() };
        let (kept, server) = (said.clone(), config.name.clone());
        let secrets = secrets_of(config);
        tokio::spawn(async move {
            let _all = kept.all.clone().drop_guard();
            let mut lines = Lines::new(stderr, LONGEST_STDERR_LINE);
            while let Ok(Some(line)) = lines.next().await {
                let Line::Whole(line) = line else { continue };
                let line = hide(&String::from_utf8_lossy(&line), &secrets);
                // As a quoted value: what a server says is data, escape sequences included.
                tracing::info!(target: "toolfold::server", %server, line = ?line, "stderr");
                kept.keep(line);
            }
        });
        said
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

    /// The last line that names an error, or else the last line.
    fn last_words(&self) -> Option<String> {
        let lines = lock(&self.lines);
        let names_error = |line: &&String| line.to_lowercase().contains("error");
        lines.iter().rev().find(names_error).or(lines.back()).map(|line| line.trim().chars().take(300).collect())
    }
}

/// Short values are not hidden: `1` or `true` would take half the text with them.
fn secrets_of(config: &Server) -> Vec<String> {
    let Transport::Stdio { env, .. } = &config.transport else { return Vec::new() };
    env.values().map(|value| value.expose().to_owned()).filter(|value| value.len() >= 8).collect()
}

fn hide(line: &str, secrets: &[String]) -> String {
    secrets.iter().fold(line.to_owned(), |line, secret| line.replace(secret.as_str(), "…"))
}
