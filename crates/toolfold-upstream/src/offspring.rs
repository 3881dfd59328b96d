//! What a server started and what left its process group: a daemon in a session of its own has another group, and
//! once its parent is gone nothing in the process table says where it came from.
//!
//! What a reader would get wrong: it is found by a variable in its environment. Every server is started with a mark, a
//! value that no other process has, and environments are inherited. Beside that, whatever descends from the
//! server while the server lives. A process that throws away its environment *and* its parents is not found.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::process::{Pid, Signal, kill_process};

/// Not `TOOLFOLD_…`: nothing of that name is handed on to servers.
const VARIABLE: &str = "MCP_GATEWAY_RUN";

/// `NAME=value` of one server's processes.
#[derive(Debug, Clone)]
pub(crate) struct Mark(String);

impl Mark {
    pub(crate) fn new() -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        // The point at the end, so that the first is not found in the environment of the tenth.
        Mark(format!("{}{}.", run(), LAST.fetch_add(1, Ordering::Relaxed)))
    }

    /// As a variable of the environment.
    pub(crate) fn variable(&self) -> (&str, &str) {
        self.0.split_once('=').unwrap_or((VARIABLE, ""))
    }
}

/// What the marks of this process begin with. A copy of this process has marks of its own.
pub(crate) fn run() -> &'static str {
    static RUN: OnceLock<String> = OnceLock::new();
    RUN.get_or_init(|| {
        let random = || RandomState::new().build_hasher().finish();
        format!("{VARIABLE}={}-{:016x}{:016x}.", std::process::id(), random(), random())
    })
}

/// A process, told apart from another one that gets its number later.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(crate) struct Relative {
    pid: Pid,
    born: u64,
}

impl Relative {
    pub(crate) fn is_alive(&self) -> bool {
        Stat::read(self.pid.as_raw_pid()).is_some_and(|stat| stat.born == self.born && stat.runs)
    }

    pub(crate) fn terminate(&self) {
        self.send(Signal::TERM);
    }

    pub(crate) fn kill(&self) {
        self.send(Signal::KILL);
    }

    fn send(&self, signal: Signal) {
        if self.is_alive() {
            let _ = kill_process(self.pid, signal);
        }
    }
}

/// Everything that carries the mark or descends from `leader`, which must not be named once it was waited for: its
/// number may be another's then. Empty where there is no `/proc`.
pub(crate) fn of(leader: Option<Pid>, mark: &Mark) -> Vec<Relative> {
    let table = processes();
    let mut children: HashMap<i32, Vec<i32>> = HashMap::new();
    for (pid, stat) in &table {
        children.entry(stat.parent).or_default().push(*pid);
    }
    let marked = table.keys().copied().filter(|pid| is_marked(*pid, mark));
    let mut family: HashSet<i32> = HashSet::new();
    let mut unseen: Vec<i32> = marked.chain(leader.map(Pid::as_raw_pid)).collect();
    while let Some(pid) = unseen.pop() {
        if family.insert(pid) {
            unseen.extend(children.get(&pid).into_iter().flatten());
        }
    }
    let own = i32::try_from(std::process::id()).ok();
    let relative =
        |pid: i32| Some(Relative { pid: Pid::from_raw(pid)?, born: table.get(&pid).filter(|s| s.runs)?.born });
    family.into_iter().filter(|pid| Some(*pid) != own).filter_map(relative).collect()
}

fn processes() -> HashMap<i32, Stat> {
    let Ok(entries) = std::fs::read_dir("/proc") else { return HashMap::new() };
    let pids = entries.flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    pids.filter_map(|pid| Some((pid, Stat::read(pid)?))).collect()
}

fn is_marked(pid: i32, mark: &Mark) -> bool {
    let environment = std::fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
    environment.split(|byte| *byte == 0).any(|variable| variable == mark.0.as_bytes())
}

struct Stat {
    parent: i32,
    born: u64,
    /// Not one that has ended and waits to be asked how.
    runs: bool,
}

impl Stat {
    fn read(pid: i32) -> Option<Stat> {
        Stat::parse(&std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?)
    }

    /// `7 (name) S 1 …`: the name may hold anything, brackets and spaces included. The start is the 22nd field.
    fn parse(text: &str) -> Option<Stat> {
        let mut fields = text.rsplit_once(')')?.1.split_ascii_whitespace();
        let state = fields.next()?;
        let parent = fields.next()?.parse().ok()?;
        Some(Stat { parent, born: fields.nth(17)?.parse().ok()?, runs: !matches!(state, "Z" | "X") })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_is_read_whatever_it_calls_itself() {
        let text = "42 (a) b (c) S 7 42 42 0 -1 4194304 1 2 3 4 5 6 7 8 20 0 1 0 99 1000 5";
        let stat = Stat::parse(text).unwrap();
        assert_eq!((stat.parent, stat.born, stat.runs), (7, 99, true));
        assert!(!Stat::parse(&text.replace(" S ", " Z ")).unwrap().runs);
        assert!(Stat::parse("42 (a").is_none());
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_daemon_that_left_its_group_and_its_parent_is_found_by_its_mark() {
        use std::process::Command;
        let (mark, other) = (Mark::new(), Mark::new());
        let (name, value) = mark.variable();
        // The shell ends at once and leaves a process in a session of its own.
        let mut shell = Command::new("setsid");
        shell.args(["--fork", "sleep", "60"]).env(name, value).status().unwrap();
        let found = of(None, &mark);
        assert_eq!((found.len(), of(None, &other).len()), (1, 0));
        assert!(found[0].is_alive());
        found[0].kill();
        while found[0].is_alive() {
            std::thread::yield_now();
        }
    }
}
