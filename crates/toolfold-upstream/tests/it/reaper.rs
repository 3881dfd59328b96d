//! Toolfold is killed in a way that no destructor survives, and leaves nothing behind.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::process::{Child, Command, Stdio};

use toolfold_config::Start;

use crate::kit::{Log, Subject, eventually, patiently, runs, script};

const FILE: &str = "UPSTREAM_TEST_VICTIM";

/// Not a test by itself: the process that is killed. Does nothing unless a test below started it.
#[tokio::test]
async fn victim() {
    let Ok(file) = std::env::var(FILE) else { return };
    let trait_of_server = file.rsplit('/').next().unwrap_or_default();
    let mut config = script(&["era=modern", &format!("{trait_of_server}={file}")]);
    config.start = Start::Eager;
    let mut subject = Subject::new(config);
    subject.listed().await;
    std::fs::write(format!("{file}.ready"), "").unwrap();
    patiently("the end", std::future::pending::<()>()).await;
}

/// A victim whose server has this trait, and the processes that must end with it.
async fn victim_with(log: &Log, trait_of_server: &str) -> (Child, String) {
    // Programs that a test puts there are found before those of the system.
    let path = format!("{}:{}", log.path("bin").display(), std::env::var("PATH").unwrap());
    let victim = Command::new(std::env::current_exe().unwrap())
        .env("PATH", path)
        .args(["--exact", "reaper::victim", "--nocapture"])
        .env(FILE, log.path(trait_of_server))
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let ready = log.path(&format!("{trait_of_server}.ready"));
    eventually("the victim's server", || ready.exists().then_some(())).await;
    let pids = log.lines(trait_of_server)[0].clone();
    assert!(pids.split(' ').count() == 2 && pids.split(' ').all(runs), "{pids}");
    (victim, pids)
}

async fn kill(mut victim: Child, pids: &str) {
    // SIGKILL: std sends nothing weaker.
    victim.kill().unwrap();
    victim.wait().unwrap();
    eventually("the end of the server and its child", || pids.split(' ').all(|pid| !runs(pid)).then_some(())).await;
}

#[tokio::test]
async fn nothing_outlives_a_kill_that_cannot_be_caught() {
    let log = Log::new();
    let (victim, pids) = victim_with(&log, "stubborn").await;
    kill(victim, &pids).await;
}

#[tokio::test]
async fn nor_does_a_daemon_in_a_session_of_its_own() {
    let log = Log::new();
    let (victim, pids) = victim_with(&log, "daemon").await;
    kill(victim, &pids).await;
}

#[tokio::test]
async fn a_daemon_ends_with_the_server_that_started_it() {
    let log = Log::new();
    let mut subject = Subject::new(script(&["era=modern", &log.argument("daemon")]));
    subject.listed().await;
    let pids = log.lines("daemon")[0].clone();
    patiently("the stop", subject.upstream.stop()).await;
    eventually("the end of the daemon", || pids.split(' ').all(|pid| !runs(pid)).then_some(())).await;
}

#[tokio::test]
async fn a_reaper_that_is_killed_is_replaced() {
    let log = Log::new();
    let (victim, pids) = victim_with(&log, "stubborn").await;
    let first = eventually("the reaper", || reaper_of(victim.id())).await;
    Command::new("kill").args(["-s", "KILL", &first]).status().unwrap();
    eventually("another reaper", || reaper_of(victim.id()).filter(|pid| *pid != first)).await;
    kill(victim, &pids).await;
}

/// Counted in its own seconds, not in those of a machine that has other things to do.
#[tokio::test]
async fn a_reaper_leaves_two_seconds_to_end_in_and_looks_for_six() {
    let log = Log::new();
    let sleep = format!(
        r#"#!/bin/sh
if [ -z "$MCP_GATEWAY_RUN" ]; then
  for pid in $(cat {pids}); do
    state=
    read -r _ _ state _ < /proc/$pid/stat
    case $state in ''|Z|X) ;; *) alive=$alive. ;; esac
  done 2>/dev/null
  echo "$1 $alive" >> {slept}
fi
PATH=${{PATH#*:}}
exec sleep "$1"
"#,
        pids = log.path("stubborn").display(),
        slept = log.path("slept").display()
    );
    std::fs::create_dir(log.path("bin")).unwrap();
    std::fs::write(log.path("bin/sleep"), sleep).unwrap();
    std::fs::set_permissions(log.path("bin/sleep"), Permissions::from_mode(0o755)).unwrap();
    let (victim, pids) = victim_with(&log, "stubborn").await;
    let reaper = eventually("the reaper", || reaper_of(victim.id())).await;
    kill(victim, &pids).await;
    eventually("the end of the reaper", || (!runs(&reaper)).then_some(())).await;
    let slept = log.lines("slept");
    assert_eq!(slept.len(), 6, "{slept:?}");
    assert!(slept.iter().all(|line| line.starts_with("1 ")), "a second each: {slept:?}");
    assert!(slept[..2].iter().all(|line| line == "1 .."), "both were left in peace: {slept:?}");
    assert_eq!(slept[5], "1 ", "{slept:?}");
}

/// The number of the reaper that this process started.
fn reaper_of(parent: u32) -> Option<String> {
    let is_reaper = |pid: &String| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let of_parent =
            stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)) == Some(&parent.to_string());
        let words = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        of_parent && runs(pid) && words.contains("toolfold-reaper")
    };
    let entries = std::fs::read_dir("/proc").unwrap().flatten();
    entries.filter_map(|entry| entry.file_name().into_string().ok()).find(is_reaper)
}
