//! A server's process: its group, its stderr, and its end. A task of its own waits for it, so that it is always
//! reaped; dropping everything kills it, and `reaper.rs` sees to the case in which nothing is dropped.

use std::process::{ExitStatus, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use rustix::process::Pid;
use tokio::process::{Child, ChildStdin, ChildStdout, Command};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use toolfold_config::{Server, Timeouts, Transport};

use crate::behind;
use crate::blank::Blanks;
use crate::house::House;
use crate::offspring::{self, Mark, Relative};
use crate::only::Tenure;
use crate::reaper::{Announced, Group};
use crate::said::{LastLines, Said};
use crate::unopened::Unopened;

/// How long a server has to end by itself once its input is closed. Many write what they remember then.
const BEFORE_TERM: Duration = Duration::from_millis(500);
const LAST_WORDS: Duration = Duration::from_millis(300);
const AFTER_KILL: Duration = Duration::from_secs(5);
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
    pub(crate) fn start(
        config: &Server,
        house: &House,
        blanks: &Blanks,
        said: &LastLines,
        tenure: Option<Arc<Tenure>>,
        behind: &str,
    ) -> Result<Started, Unopened> {
        let announced = Announced::new();
        let (program, mut command) = command(config, house, &announced.mark, behind)?;
        let mut child = command.spawn().map_err(|error| Unopened::program(program, error))?;
        let group = child.id().and_then(|pid| announced.started(pid)).ok_or(Unopened::Stillborn)?;
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else { return Err(Unopened::Stillborn) };
        let said = Said::listen(stderr, config.name.clone(), blanks.clone(), said.clone());
        let (tell_ended, ended) = watch::channel(None);
        let (stop, brisk) = (CancellationToken::new(), Arc::new(AtomicBool::new(false)));
        let watcher = Watcher {
            child,
            group,
            family: Vec::new(),
            stop: stop.clone(),
            brisk: brisk.clone(),
            timeouts: config.timeouts,
        };
        tokio::spawn(async move {
            let end = watcher.watch().await;
            // Before anybody hears of the end: whoever starts the next one may ask for it again.
            drop(tenure);
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
        let _ = tokio::time::timeout(LAST_WORDS, self.said.all()).await;
        self.last_words()
    }
}

fn command<'a>(config: &'a Server, house: &House, mark: &Mark, behind: &str) -> Result<(&'a str, Command), Unopened> {
    let Transport::Stdio { command, args, env, cwd } = &config.transport else {
        return Err(Unopened::NoCommand);
    };
    let mut built = Command::new(command);
    let (name, value) = mark.variable();
    built.args(args).env(name, value);
    for (name, value) in std::env::vars_os() {
        if house.keeps(&name.to_string_lossy(), &value.to_string_lossy()) {
            built.env_remove(name);
        }
    }
    built.envs(env.iter().map(|(key, value)| (key, value.expose())));
    // Last: no file takes itself out of the chain.
    built.env(behind::VARIABLE, behind);
    if let Some(cwd) = cwd {
        if !cwd.is_dir() {
            return Err(Unopened::NoDirectory(cwd.clone()));
        }
        built.current_dir(cwd);
    }
    built.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0).kill_on_drop(true);
    Ok((command, built))
}

struct Watcher {
    child: Child,
    group: Group,
    /// What descended from the server when it was told to end: afterwards nothing says so any more.
    family: Vec<Relative>,
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
        self.group.set_over();
        describe(status)
    }

    /// The child's input is closed by now: its writer stops with us.
    async fn end_child(&mut self) -> std::io::Result<ExitStatus> {
        self.family = self.relatives(Some(self.group.leader())).await;
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
        // Nobody outlives that, but a process may be stuck in the kernel for as long as a disk or a network is.
        let late = |_| Err(std::io::ErrorKind::TimedOut.into());
        tokio::time::timeout(AFTER_KILL, self.child.wait()).await.unwrap_or_else(late)
    }

    /// What the server started and left behind, in its group and outside.
    async fn end_rest(&mut self) {
        let mut family = std::mem::take(&mut self.family);
        family.extend(self.relatives(None).await);
        let alive = |group: &Group| group.alive() || family.iter().any(Relative::is_alive);
        if !alive(&self.group) {
            return;
        }
        self.group.terminate();
        family.iter().for_each(Relative::terminate);
        let deadline = Instant::now() + self.timeouts.stop.min(BEFORE_TERM);
        while alive(&self.group) && Instant::now() < deadline {
            tokio::time::sleep(POLL).await;
        }
        self.group.kill();
        family.iter().for_each(Relative::kill);
    }

    /// Beside the runtime: the table of processes may be long.
    async fn relatives(&self, leader: Option<Pid>) -> Vec<Relative> {
        let mark = self.group.mark().clone();
        tokio::task::spawn_blocking(move || offspring::of(leader, &mark)).await.unwrap_or_default()
    }
}

/// Whether a process that ended so has done what it was started for.
pub(crate) fn is_success(end: &str) -> bool {
    end == "exited (status 0)"
}

fn describe(status: std::io::Result<ExitStatus>) -> String {
    use std::os::unix::process::ExitStatusExt;
    match status.map(|status| (status.code(), status.signal())) {
        Ok((Some(code), _)) => format!("exited (status {code})"),
        Ok((None, Some(signal))) => format!("was ended by signal {signal}"),
        _ => "ended".to_owned(),
    }
}
