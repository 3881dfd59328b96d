//! An instance that runs and does not answer: commands go on without it, or say that it is so.

use std::os::unix::net::UnixListener;
use std::process::{Output, Stdio};
use std::time::{Duration, Instant};

use serde_json::json;
use toolfold_test::FakeServer;

use crate::fakes::{until, world};
use crate::faults::kill;
use crate::world::World;

fn run(world: &World, arguments: &[&str]) -> Output {
    world.toolfold(arguments).output().unwrap()
}

/// A socket takes connections also for a process that was stopped.
#[test]
fn an_instance_that_hangs_is_not_waited_for() {
    let fake = FakeServer::script(json!({"tools": [{"name": "fine", "inputSchema": {"type": "object"}}]}));
    let world = world("", &[("good", &fake)]);
    let served = world.serve();
    assert!(run(&world, &["call", "good.fine"]).status.success());
    kill(served.id(), "-STOP");
    let told = |arguments: &[&str]| {
        let output = run(&world, arguments);
        assert!(output.status.success(), "{arguments:?}: {output:?}");
        String::from_utf8_lossy(&output.stderr).replace(&served.id().to_string(), "PID")
    };
    for arguments in [&["search", "fine"][..], &["ls"], &["call", "good.fine"], &["approve"]] {
        insta::allow_duplicates! {
            insta::assert_snapshot!(told(arguments), @"Toolfold is running (process PID) and does not answer; this goes on without it.");
        }
    }
    insta::assert_snapshot!(told(&["status"]), @"Toolfold is running (process PID) and does not answer; this is what a try finds without it.");
    assert_eq!(told(&["ls", "--quiet"]), "");
    let page = run(&world, &["page"]);
    assert_eq!(page.status.code(), Some(3), "{page:?}");
    kill(served.id(), "-CONT");
    assert!(told(&["status"]).contains(&served.url));
}

/// Also one that was asked already, and a slow tool is waited for as long as it takes.
#[tokio::test]
async fn an_instance_that_hangs_with_the_question_is_given_up() {
    let fake = FakeServer::script(json!({"tools": ["slow"], "calls": {"slow": {"delay_ms": 12_000}}}));
    let world = world("", &[("good", &fake)]);
    let served = world.serve();
    assert!(run(&world, &["call", "good.slow"]).status.success());
    let mut command = world.toolfold(&["call", "good.slow"]);
    let calling = std::thread::spawn(move || command.output().unwrap());
    until("the second call has arrived", || fake.received("tools/call").len() == 2).await;
    kill(served.id(), "-STOP");
    let output = calling.join().unwrap();
    assert_eq!(output.status.code(), Some(3), "{output:?}");
    let told = String::from_utf8_lossy(&output.stderr).replace(&served.id().to_string(), "PID");
    insta::assert_snapshot!(told, @"
    error: the running instance (process PID) does not answer any more

    hint: what was asked for may be done all the same; `toolfold status` goes on without it
    ");
}

/// One that hangs is in nobody's way to another, whichever of them is asked first.
#[tokio::test]
async fn another_instance_is_asked_while_one_hangs() {
    let fake = FakeServer::script(json!({"tools": [{"name": "fine", "inputSchema": {"type": "object"}}]}));
    let world = world("", &[("good", &fake)]);
    let served = world.serve();
    let mut command = world.toolfold(&["serve", "--stdio"]);
    let mut other = command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let note = world.path(&format!("state/toolfold/instances/{}.json", other.id()));
    until("the other is there", || note.exists()).await;
    assert!(run(&world, &["call", "good.fine"]).status.success());
    for (hanging, alive) in [(served.id(), other.id()), (other.id(), served.id())] {
        kill(hanging, "-STOP");
        let begun = Instant::now();
        for _ in 0..4 {
            let output = run(&world, &["ls", "good"]);
            assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
        }
        assert!(begun.elapsed() < Duration::from_secs(6), "waited for the one that hangs: {:?}", begun.elapsed());
        let status = run(&world, &["status"]);
        let told = String::from_utf8_lossy(&status.stderr).into_owned();
        assert!(told.contains(&format!("Toolfold is running (process {alive}, ")), "{told}");
        kill(hanging, "-CONT");
    }
    other.kill().unwrap();
    other.wait().unwrap();
}

/// As one of another user does, who shares the state folder: what is its own stays.
#[test]
fn an_instance_that_hangs_up_keeps_its_door() {
    let fake = FakeServer::script(json!({"tools": [{"name": "fine", "inputSchema": {"type": "object"}}]}));
    let world = world("", &[("good", &fake)]);
    let served = world.serve();
    let file = |pid: u32, kind: &str| world.path(&format!("state/toolfold/instances/{pid}.{kind}"));
    let note = std::fs::read_to_string(file(served.id(), "json")).unwrap();
    let other = std::process::id();
    std::fs::write(file(other, "json"), note.replace(&served.id().to_string(), &other.to_string())).unwrap();
    let listener = UnixListener::bind(file(other, "sock")).unwrap();
    std::thread::spawn(move || listener.incoming().for_each(drop));
    drop(served);
    let output = run(&world, &["call", "good.fine"]);
    assert!(output.status.success() && output.stderr.is_empty(), "{output:?}");
    assert!(file(other, "json").exists() && file(other, "sock").exists());
}
