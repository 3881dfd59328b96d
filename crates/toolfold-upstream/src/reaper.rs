//! No server outlives Toolfold, however Toolfold ends.
//!
//! What a reader would get wrong: the usual means do not reach far enough. A destructor does not run after `kill -9`,
//! and the parent-death signal needs `unsafe` and does not reach a server's own children. So one small shell waits at
//! the other end of a pipe. It is told of a process *before* there is one, because we may be killed between the start and
//! the next instruction, and then of its group; when the pipe ends, because we closed it or because we are gone, it
//! ends the groups on its list, and then everything that carries our mark in its environment (`offspring.rs`).

use std::collections::BTreeSet;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process, kill_process_group, test_kill_process_group};

use crate::offspring::{self, Mark};

/// Kept to what every POSIX shell has. `kill -s` and not `kill -TERM --`: dash knows only the former with a group.
///
/// What comes in: `?` a process is about to be started, `!` it was not, `+N` it was and leads group N, `-N` that group is
/// over. A start that was announced and never confirmed is why it looks several times: that process may appear late.
const SCRIPT: &str = r#"
trap '' INT TERM HUP
mark=$1 groups=" " pending=
while read -r line; do
  group=${line#?}
  case $line in
    \?*) pending=$pending. ;;
    !*) pending=${pending#.} ;;
    +*) pending=${pending#.} groups="$groups$group " ;;
    -*) case $groups in
          *" $group "*) groups="${groups%% $group *} ${groups#* $group }" ;;
        esac ;;
  esac
done
all() { for g in $groups; do kill -s "$1" -- "-$g" 2>/dev/null; done; hunt "$1"; }
hunt() {
  for file in $(grep -lsF -- "$mark" /proc/[0-9]*/environ 2>/dev/null); do
    pid=${file#/proc/}
    kill -s "$1" "${pid%/environ}" 2>/dev/null && left=.
  done
}
alive() {
  for g in $groups; do kill -s 0 -- "-$g" 2>/dev/null && return 0; done
  left=
  hunt 0
  [ -n "$left" ]
}
all TERM
[ -n "$pending" ] || alive || exit 0
sleep 1
alive && sleep 1
for round in 1 2 3 4; do all KILL; sleep 1; done
"#;

/// Between two shells, where something keeps ending them.
const PAUSE: Duration = Duration::from_millis(200);

static REAPER: Mutex<Reaper> = Mutex::new(Reaper { shell: None, groups: BTreeSet::new(), pending: 0, number: 0 });

struct Reaper {
    shell: Option<Shell>,
    groups: BTreeSet<i32>,
    /// Processes that were announced and of which nothing more is known.
    pending: usize,
    number: u64,
}

struct Shell {
    number: u64,
    pid: Option<Pid>,
    stdin: ChildStdin,
}

/// A process that is about to be started; the reaper knows.
pub(crate) struct Announced {
    pub(crate) mark: Mark,
    settled: bool,
}

/// A process group that must not outlive this value, nor what it started outside of itself.
#[derive(Debug)]
pub(crate) struct Group {
    pid: Pid,
    mark: Mark,
    over: bool,
}

impl Announced {
    pub(crate) fn new() -> Self {
        with_reaper(Reaper::announce);
        Announced { mark: Mark::new(), settled: false }
    }

    /// Takes charge of the group led by the child that was just started. The child has not been waited for, so its
    /// number cannot have been given to another process yet.
    pub(crate) fn started(mut self, child: u32) -> Option<Group> {
        let pid = Pid::from_raw(i32::try_from(child).ok()?)?;
        self.settled = true;
        with_reaper(|reaper| reaper.add(pid.as_raw_pid()));
        Some(Group { pid, mark: self.mark.clone(), over: false })
    }
}

impl Drop for Announced {
    fn drop(&mut self) {
        if !self.settled {
            with_reaper(Reaper::retract);
        }
    }
}

impl Group {
    pub(crate) fn terminate(&self) {
        let _ = kill_process_group(self.pid, Signal::TERM);
    }

    pub(crate) fn kill(&self) {
        let _ = kill_process_group(self.pid, Signal::KILL);
    }

    pub(crate) fn alive(&self) -> bool {
        test_kill_process_group(self.pid).is_ok()
    }

    pub(crate) fn leader(&self) -> Pid {
        self.pid
    }

    pub(crate) fn mark(&self) -> &Mark {
        &self.mark
    }

    /// Nothing of the group is left: from here on its number may belong to somebody else.
    pub(crate) fn set_over(&mut self) {
        self.over = true;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.over {
            let family = offspring::of(None, &self.mark);
            self.kill();
            family.iter().for_each(offspring::Relative::kill);
        }
        with_reaper(|reaper| reaper.remove(self.pid.as_raw_pid()));
    }
}

fn with_reaper(act: impl FnOnce(&mut Reaper)) {
    act(&mut REAPER.lock().unwrap_or_else(PoisonError::into_inner));
}

impl Reaper {
    fn announce(&mut self) {
        self.pending += 1;
        self.tell_or_begin("?\n");
    }

    fn retract(&mut self) {
        self.pending = self.pending.saturating_sub(1);
        self.tell_or_begin("!\n");
    }

    fn add(&mut self, group: i32) {
        self.pending = self.pending.saturating_sub(1);
        self.groups.insert(group);
        self.tell_or_begin(&format!("+{group}\n"));
    }

    fn remove(&mut self, group: i32) {
        if self.groups.remove(&group) {
            self.tell_or_begin(&format!("-{group}\n"));
        }
    }

    fn tell_or_begin(&mut self, line: &str) {
        if self.tell(line).is_err() {
            self.begin();
        }
    }

    fn tell(&mut self, line: &str) -> std::io::Result<()> {
        let shell = self.shell.as_mut().ok_or(std::io::ErrorKind::NotConnected)?;
        shell.stdin.write_all(line.as_bytes())
    }

    /// Starts the shell, or another one where somebody ended the first.
    fn begin(&mut self) {
        if let Some(old) = self.shell.take() {
            // One that is only stopped must not wake up to the end of its pipe and take everything with it.
            old.pid.map(|pid| kill_process(pid, Signal::KILL));
        }
        self.number += 1;
        match Shell::start(self.number) {
            Ok(shell) => self.shell = Some(shell),
            Err(error) => return tracing::warn!(%error, "servers may outlive a kill -9: /bin/sh could not be started"),
        }
        let mut all: String = self.groups.iter().map(|group| format!("+{group}\n")).collect();
        all.push_str(&"?\n".repeat(self.pending));
        let _ = self.tell(&all);
    }

    fn ended(&mut self, number: u64) {
        if self.shell.take_if(|shell| shell.number == number).is_some() {
            tracing::warn!(
                "the process that ends servers after a kill -9 was ended itself; another one takes its place"
            );
            self.begin();
        }
    }
}

impl Shell {
    fn start(number: u64) -> std::io::Result<Shell> {
        let mut child = shell()?;
        let stdin = child.stdin.take().ok_or(std::io::ErrorKind::NotConnected)?;
        // A shell that was stopped does not read: then it is replaced, and nobody waits for it.
        rustix::io::ioctl_fionbio(&stdin, true)?;
        let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
        let watching = std::thread::Builder::new().name("reaper".into()).spawn(move || watch(child, number));
        watching.map(|_| Shell { number, pid, stdin })
    }
}

/// Waits for the shell's end, which comes with ours or from somebody else's hand.
fn watch(mut shell: Child, number: u64) {
    let _ = shell.wait();
    std::thread::sleep(PAUSE);
    with_reaper(|reaper| reaper.ended(number));
}

/// In a group of its own, or a Ctrl-C in the terminal would end it with us; without our environment, which may hold
/// secrets; outside any directory that somebody may want to remove.
fn shell() -> std::io::Result<Child> {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", SCRIPT, "toolfold-reaper", offspring::run()]).env_clear().current_dir("/").process_group(0);
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
}
