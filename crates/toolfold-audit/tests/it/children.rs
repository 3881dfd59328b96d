//! Other processes: writing at the same time, killed while they write, out of room.
//!
//! A child is this very test binary, told by a variable what to do; the `child` test does nothing without it. How many are
//! killed can be said in `TOOLFOLD_AUDIT_KILLS`.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use toolfold_audit::{Audit, EventKind, Reader, Verified};
use toolfold_config::AuditMode;
use toolfold_wire::raw;

use crate::{called, ended, events, settings};

const TASK: &str = "TOOLFOLD_AUDIT_TEST_TASK";
const FILE: &str = "TOOLFOLD_AUDIT_TEST_FILE";
const KILLS: &str = "TOOLFOLD_AUDIT_KILLS";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn child() {
    let (Ok(task), Ok(file)) = (std::env::var(TASK), std::env::var(FILE)) else { return };
    let path = Path::new(&file);
    match task.as_str() {
        "load" => load(path).await,
        "fill" => until_full(path).await,
        _ => several(path).await,
    }
}

/// Sixteen at once, for ever; every call is acknowledged once its end is on the disk.
async fn load(path: &Path) {
    let audit = Audit::start(settings(path, AuditMode::Strict));
    let callers = (0..16u64).map(|caller| {
        let audit = audit.clone();
        tokio::spawn(async move {
            for round in 0.. {
                let call = caller * 1_000_000 + round;
                let mut begin = called(call, "create_issue", raw("x"));
                if let Some(who) = &mut begin.who {
                    who.request = Some(call.to_string());
                }
                let mut end = ended(call, "done");
                end.who = begin.who.clone();
                audit.tell(begin).written().await.unwrap();
                audit.tell(end).written().await.unwrap();
                let mut out = std::io::stdout().lock();
                if writeln!(out, "\nacknowledged {call}").and_then(|()| out.flush()).is_err() {
                    return;
                }
            }
        })
    });
    for caller in callers.collect::<Vec<_>>() {
        let _ = caller.await;
    }
}

async fn until_full(path: &Path) {
    let strict = Audit::start(settings(path, AuditMode::Strict));
    let mut refused = None;
    for call in 0..100_000 {
        refused = strict.tell(called(call, "create_issue", raw("x"))).written().await.err();
        if refused.is_some() {
            break;
        }
    }
    println!("\nrefused {}", refused.expect("there was room for everything"));
    strict.close().await;
    // Where nobody waits, things go on.
    let audit = Audit::start(settings(path, AuditMode::On));
    for call in 0..10 {
        audit.tell(called(call, "create_issue", raw("x"))).written().await.unwrap();
    }
    audit.close().await;
    println!("\nwent on");
}

async fn several(path: &Path) {
    let audit = Audit::start(settings(path, AuditMode::Strict));
    for call in 0..50 {
        audit.tell(called(call, "create_issue", raw("x"))).written().await.unwrap();
    }
    audit.close().await;
}

fn run(command: &mut Command, task: &str, path: &Path) -> Child {
    let command = command.args(["--exact", "children::child", "--nocapture"]).env(TASK, task).env(FILE, path);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn start(task: &str, path: &Path) -> Child {
    run(&mut Command::new(std::env::current_exe().unwrap()), task, path)
}

#[test]
fn several_processes_make_one_chain() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    let children: Vec<Child> = (0..4).map(|_| start("several", &path)).collect();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    let reader = Reader::open(&path).unwrap().unwrap();
    assert!(matches!(reader.verify(), Verified::Sound { events: 200, .. }), "{:?}", reader.verify());
}

#[test]
fn killed_at_any_moment_nothing_that_was_acknowledged_is_missing() {
    let kills: u64 = std::env::var(KILLS).ok().and_then(|number| number.parse().ok()).unwrap_or(12);
    let folder = tempfile::tempdir().unwrap();
    for round in 0..kills {
        // A file of its own for each ten: the chain goes on over a kill, and stays quick to verify.
        let path = folder.path().join(format!("{}.db", round / 10));
        let before = Reader::open(&path).unwrap().map_or(0, |reader| reader.head().unwrap().number);
        let acknowledged = kill_after(Duration::from_micros(30_000 + round * 7_919 % 170_000), &path);
        let Some(reader) = Reader::open(&path).unwrap() else {
            assert!(acknowledged.is_empty());
            continue;
        };
        assert!(matches!(reader.verify(), Verified::Sound { .. }), "round {round}: {:?}", reader.verify());
        let ends: Vec<u64> = reader
            .after(before, usize::MAX >> 1)
            .unwrap()
            .iter()
            .map(|stored| stored.event().unwrap())
            .filter(|event| event.kind == EventKind::Result && event.outcome.as_deref() == Some("done"))
            .filter_map(|event| event.request?.parse().ok())
            .collect();
        for call in acknowledged {
            assert!(ends.contains(&call), "round {round}: {call} was acknowledged and is not there");
        }
    }
}

/// Lets a child work for so long after it began, kills it, and says what it had acknowledged.
fn kill_after(time: Duration, path: &Path) -> Vec<u64> {
    let mut child = start("load", path);
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let number = |line: String| line.strip_prefix("acknowledged ")?.parse::<u64>().ok();
    let first = lines.by_ref().find_map(number);
    std::thread::sleep(time);
    child.kill().unwrap();
    let acknowledged = first.into_iter().chain(lines.filter_map(number)).collect();
    child.wait().unwrap();
    acknowledged
}

#[cfg(unix)]
#[test]
fn out_of_room_a_strict_one_refuses_and_another_says_what_is_missing() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    // A limit on the size of files stands in for a full disk; the signal that comes with it is switched off.
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 400; exec \"$0\" \"$@\""]).arg(std::env::current_exe().unwrap());
    let output = run(&mut shell, "fill", &path).wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("refused there is no room for the store") && said.contains("went on"), "{said}");
    // With room again it goes on, and the chain is whole.
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
    runtime.block_on(async {
        let audit = Audit::start(settings(&path, AuditMode::On));
        audit.mention(called(1, "create_issue", raw("x")));
        audit.close().await;
    });
    assert!(matches!(Reader::open(&path).unwrap().unwrap().verify(), Verified::Sound { .. }));
}

#[tokio::test]
async fn what_could_not_be_written_is_an_event_once_it_can() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    // A folder in its place.
    std::fs::create_dir(&path).unwrap();
    let audit = Audit::start(settings(&path, AuditMode::On));
    for call in 0..3 {
        audit.tell(called(call, "create_issue", raw("x"))).written().await.unwrap();
    }
    audit.flush().await;
    std::fs::remove_dir(&path).unwrap();
    audit.tell(ended(2, "done")).written().await.unwrap();
    audit.close().await;
    let events = events(&path);
    assert_eq!((events[0].kind, events[0].events, events[1].kind), (EventKind::Gap, Some(3), EventKind::Result));
    assert!(events[0].about.as_deref().unwrap().contains("it is a folder"), "{:?}", events[0].about);
}
