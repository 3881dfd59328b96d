//! No server outlives Toolfold, however Toolfold ends.
//!
//! What a reader would get wrong: the usual means do not reach far enough. A destructor does not run after `kill -9`,
//! and the parent-death signal needs `unsafe` and does not reach a server's own children. So one small shell waits at
//! the other end of a pipe and is told every process group; when the pipe ends, because we closed it or because we
//! are gone, it ends the groups that are still on its list.

use std::collections::BTreeSet;
use std::io::Write;
use std::os::unix::process::CommandExt;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use rustix::process::{Pid, Signal, kill_process_group, test_kill_process_group};

/// Kept to what every POSIX shell has. `kill -s` and not `kill -TERM --`: dash knows only the former with a group.
const SCRIPT: &str = r#"
trap '' INT TERM HUP
groups=" "
while read -r line; do
  group=${line#?}
  case $line in
    +*) groups="$groups$group " ;;
    -*) case $groups in
          *" $group "*) groups="${groups%% $group *} ${groups#* $group }" ;;
        esac ;;
  esac
done
alive() { for g in $groups; do kill -s 0 -- "-$g" 2>/dev/null && return 0; done; return 1; }
for g in $groups; do kill -s TERM -- "-$g" 2>/dev/null; done
alive && sleep 1
alive && sleep 1
for g in $groups; do kill -s KILL -- "-$g" 2>/dev/null; done
"#;

static REAPER: Mutex<Reaper> = Mutex::new(Reaper { shell: None, groups: BTreeSet::new() });

struct Reaper {
    shell: Option<Child>,
    groups: BTreeSet<i32>,
}

/// A process group that must not outlive this value.
#[derive(Debug)]
pub(crate) struct Group {
    pid: Pid,
    over: bool,
}

impl Group {
    /// Takes charge of the group led by a child that was just started. The child has not been waited for, so its
    /// number cannot have been given to another process yet.
    pub(crate) fn of(child: u32) -> Option<Group> {
        let pid = Pid::from_raw(i32::try_from(child).ok()?)?;
        with_reaper(|reaper| reaper.add(pid.as_raw_pid()));
        Some(Group { pid, over: false })
    }

    pub(crate) fn terminate(&self) {
        let _ = kill_process_group(self.pid, Signal::TERM);
    }

    pub(crate) fn kill(&self) {
        let _ = kill_process_group(self.pid, Signal::KILL);
    }

    pub(crate) fn alive(&self) -> bool {
        test_kill_process_group(self.pid).is_ok()
    }

    /// Nothing of the group is left: from here on its number may belong to somebody else.
    pub(crate) fn is_over(&mut self) {
        self.over = true;
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if !self.over {
            self.kill();
        }
        with_reaper(|reaper| reaper.remove(self.pid.as_raw_pid()));
    }
}

fn with_reaper(act: impl FnOnce(&mut Reaper)) {
    act(&mut REAPER.lock().unwrap_or_else(PoisonError::into_inner));
}

impl Reaper {
    fn add(&mut self, group: i32) {
        self.groups.insert(group);
        if self.tell(&format!("+{group}\n")).is_err() {
            self.begin();
        }
    }

    fn remove(&mut self, group: i32) {
        if self.groups.remove(&group) {
            let _ = self.tell(&format!("-{group}\n"));
        }
    }

    fn tell(&mut self, line: &str) -> std::io::Result<()> {
        let stdin = self.shell.as_mut().and_then(|shell| shell.stdin.as_mut());
        stdin.ok_or(std::io::ErrorKind::NotConnected)?.write_all(line.as_bytes())
    }

    /// Starts the shell, or another one where somebody ended the first.
    fn begin(&mut self) {
        if let Some(mut old) = self.shell.take() {
            drop(old.stdin.take());
            let _ = old.try_wait();
        }
        match shell() {
            Ok(child) => self.shell = Some(child),
            Err(error) => return tracing::warn!(%error, "servers may outlive a kill -9: /bin/sh could not be started"),
        }
        let all: String = self.groups.iter().map(|group| format!("+{group}\n")).collect();
        let _ = self.tell(&all);
    }
}

/// In a group of its own, or a Ctrl-C in the terminal would end it with us; without our environment, which may hold
/// secrets; outside any directory that somebody may want to remove.
fn shell() -> std::io::Result<Child> {
    let mut command = Command::new("/bin/sh");
    command.args(["-c", SCRIPT, "toolfold-reaper"]).env_clear().current_dir("/").process_group(0);
    if let Some(path) = std::env::var_os("PATH") {
        command.env("PATH", path);
    }
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn()
}
