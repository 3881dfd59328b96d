//! A replica that stands still (a frozen machine, a debugger) while it runs the one process of a server that all share.

use std::net::TcpListener;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use toolfold_test::{FakeServer, HttpClient, Postgres};

use crate::fakes::{alive, until};
use crate::faults::kill;
use crate::world::{Served, World};

fn replica(database: &str, fake: &FakeServer) -> (World, Served) {
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let (command, args) = fake.stdio_command();
    let world = World::with_config(&format!(
        "toolbox = false\n[cluster]\nadvertise = \"http://127.0.0.1:{port}\"\nsecret = \"0123456789012345678901234567890123456789\"\n\
         [servers.fake]\ncommand = {command:?}\nargs = {args:?}\nrun = \"one\"\nera = \"legacy\"\nstop_timeout = \"200ms\"\n"
    ));
    let mut command = world.toolfold(&["serve", "--listen", &format!("127.0.0.1:{port}")]);
    command.env("TOOLFOLD_KEY", "AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA=").env("TOOLFOLD_STORE", database);
    let served = Served::start(command.stdin(Stdio::null()).stdout(Stdio::null()));
    (world, served)
}

/// Calls it until it is answered, which takes as long as it takes for somebody to be known to be gone.
async fn answered(replica: &Served, mark: &str) -> Value {
    let client = HttpClient::new(&replica.url);
    for _ in 0..300 {
        let call = json!({"name": "call_tool", "arguments": {"tool": "fake.echo", "arguments": {"mark": mark}}});
        let answer = client.modern("tools/call", call).await;
        if answer["isError"] != true {
            return answer;
        }
        assert!(answer.to_string().contains("SERVER_"), "{answer}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    panic!("{mark} was never answered");
}

/// The process that got a call with this mark.
fn made_by(fake: &FakeServer, mark: &str) -> Vec<u64> {
    let entries = fake.journal();
    let made = entries.iter().filter(|entry| entry["message"]["params"]["arguments"]["mark"] == mark);
    made.filter_map(|entry| entry["pid"].as_u64()).collect()
}

#[tokio::test]
async fn what_a_frozen_replica_ran_is_run_by_another_and_not_twice_once_it_wakes() {
    let postgres = Postgres::start();
    let database = postgres.url("frozen");
    let fake = FakeServer::script(json!({"eras": ["legacy"], "tools": ["echo"]}));
    let (_first_world, first) = replica(&database, &fake);
    answered(&first, "first").await;
    let (_other_world, other) = replica(&database, &fake);
    answered(&other, "through the other").await;
    let old = made_by(&fake, "first");
    assert_eq!((made_by(&fake, "through the other"), old.len()), (old.clone(), 1), "one process for both");

    kill(first.id(), "-STOP");
    answered(&other, "while it stands still").await;
    let new = made_by(&fake, "while it stands still");
    assert!(new.len() == 1 && new != old, "{new:?} instead of {old:?}");

    kill(first.id(), "-CONT");
    let running = || fake.starts().into_iter().filter(|pid| alive(*pid)).map(u64::from).collect::<Vec<_>>();
    until("only one of the two processes is there", || running() == new).await;
    for (replica, mark) in [(&first, "at the one that woke"), (&other, "at the other")] {
        answered(replica, mark).await;
        assert_eq!(made_by(&fake, mark), new, "{mark}");
    }
}
