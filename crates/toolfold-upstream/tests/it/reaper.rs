//! Toolfold is killed in a way that no destructor survives, and leaves nothing behind.

use std::process::{Command, Stdio};

use toolfold_config::Start;

use crate::kit::{Log, Subject, eventually, patiently, runs, script};

const FILE: &str = "UPSTREAM_TEST_STUBBORN";

/// Not a test by itself: the process that is killed. Does nothing unless the test below started it.
#[tokio::test]
async fn victim() {
    let Ok(file) = std::env::var(FILE) else { return };
    let mut config = script(&["era=modern", &format!("stubborn={file}")]);
    config.start = Start::Eager;
    let mut subject = Subject::new(config);
    subject.listed().await;
    std::fs::write(format!("{file}.ready"), "").unwrap();
    patiently("the end", std::future::pending::<()>()).await;
}

#[tokio::test]
async fn nothing_outlives_a_kill_that_cannot_be_caught() {
    let log = Log::new();
    let file = log.path("stubborn");
    let mut victim = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "reaper::victim", "--nocapture"])
        .env(FILE, &file)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    eventually("the victim's server", || log.path("stubborn.ready").exists().then_some(())).await;
    let pids = log.lines("stubborn")[0].clone();
    assert!(pids.split(' ').count() == 2 && pids.split(' ').all(runs), "{pids}");
    // SIGKILL: std sends nothing weaker.
    victim.kill().unwrap();
    victim.wait().unwrap();
    eventually("the end of the server and its child", || pids.split(' ').all(|pid| !runs(pid)).then_some(())).await;
}
