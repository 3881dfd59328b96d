//! `run = "one"`: of several replicas one runs the server, and it answers wherever it is asked.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use toolfold_config::{Config, EraChoice, Run};
use toolfold_core::Surface;
use toolfold_test::{FakeServer, HttpClient, Postgres, plain_http};

use crate::cluster::{Replica, call};
use crate::support::config;

/// A configuration with one server that one replica runs. Its era is said: nobody is started only to be asked for it.
fn one(fake: &FakeServer) -> Config {
    let mut config = config(Surface::Compact, &[("fake", fake)]);
    for server in config.servers.values_mut() {
        (server.run, server.era) = (Run::One, EraChoice::Legacy);
    }
    config
}

/// The processes of the server that are there now.
fn alive(fake: &FakeServer) -> Vec<u32> {
    let there = |pid: &u32| {
        let state = std::fs::read_to_string(Path::new("/proc").join(pid.to_string()).join("stat")).unwrap_or_default();
        // One that has ended and was not waited for yet does nothing any more.
        state.rsplit(')').next().is_some_and(|rest| !rest.is_empty() && !rest.trim_start().starts_with('Z'))
    };
    fake.starts().into_iter().filter(there).collect()
}

/// Where each replica says that the server runs.
async fn runs_at(replica: &Replica) -> Option<String> {
    let asked = plain_http().get(format!("http://{}/v1/status", replica.address)).send().await.unwrap();
    let status: Value = serde_json::from_str(&asked.text().await.unwrap()).unwrap();
    let servers = status["servers"].as_array().unwrap().clone();
    let fake = servers.into_iter().find(|server| server["name"] == "fake").unwrap();
    fake["runs_at"].as_str().map(str::to_owned)
}

/// Asks until it is answered well: for what takes as long as it takes for somebody to be known to be gone.
async fn until_answered(url: &str, tool: &str) {
    let client = HttpClient::new(url);
    loop {
        let answer = client.modern("tools/call", call(tool)).await;
        if answer["isError"] != true {
            return;
        }
        assert!(answer.to_string().contains("SERVER_"), "{answer}");
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
}

async fn until_received(fake: &FakeServer, method: &str, count: usize) {
    while fake.received(method).len() < count {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn one_replica_runs_it_and_it_answers_at_each() {
    let postgres = Postgres::start();
    let database = postgres.url("one");
    let question = json!({"message": "Which colour?", "requestedSchema": {"type": "object", "properties": {}}});
    let fake = FakeServer::script(json!({
        "eras": ["legacy"], "tools": ["echo", "ask", "long", "wrong", "touch", "hang"],
        "resources": [{"uri": "x://a", "name": "a"}], "prompts": [{"name": "greet"}],
        "calls": {
            "ask": {"elicit": question}, "long": {"progress": 3}, "wrong": {"error": {"code": -32000, "message": "its own words"}},
            "touch": {"resource_updated": "x://a"}, "hang": {"hang": true},
        },
        "answers": {
            "resources/read": {"contents": [{"uri": "x://a", "text": "what is in it"}]},
            "prompts/get": {"messages": [{"role": "user", "content": {"type": "text", "text": "Hello!"}}]},
            "completion/complete": {"completion": {"values": ["rust"]}},
        },
    }));
    let replicas = [
        Replica::with(&database, one(&fake)).await,
        Replica::with(&database, one(&fake)).await,
        Replica::with(&database, one(&fake)).await,
    ];
    for replica in &replicas {
        until_answered(&replica.url(), "fake.echo").await;
        assert_eq!(alive(&fake).len(), 1);
    }
    let mut places = Vec::new();
    for replica in &replicas {
        places.push(runs_at(replica).await.unwrap());
    }
    let holder = places.iter().position(|place| place == "here").unwrap();
    let (near, far) = (&replicas[(holder + 1) % 3], &replicas[(holder + 2) % 3]);
    assert_eq!(places.iter().filter(|place| **place == format!("http://{}", replicas[holder].address)).count(), 2);

    // What a server can be asked beside its tools, at one that does not run it.
    let client = HttpClient::new(near.url()).with_capabilities(json!({"elicitation": {}}));
    client.initialize("2025-11-25").await;
    let read = client.request("resources/read", json!({"uri": "x://a"})).await;
    assert_eq!(read["contents"][0]["text"], "what is in it", "{read}");
    let prompt = client.request("prompts/get", json!({"name": "fake__greet"})).await;
    assert!(prompt.to_string().contains("Hello!"), "{prompt}");
    let half = json!({"ref": {"type": "ref/prompt", "name": "fake__greet"}, "argument": {"name": "a", "value": "r"}});
    let completed = client.request("completion/complete", half).await;
    assert_eq!(completed["completion"]["values"], json!(["rust"]), "{completed}");
    let wrong = client.try_request("tools/call", call("fake.wrong")).await.unwrap_err();
    assert_eq!((wrong.code, wrong.message.as_str()), (-32_000, "its own words"));

    // Progress comes to who asked for it, under the token they gave.
    let mut long = call("fake.long");
    long["_meta"] = json!({"progressToken": "mine"});
    client.request("tools/call", long).await;
    let progress = client.next_notification("notifications/progress").await;
    assert_eq!(progress["progressToken"], "mine", "{progress}");

    // A question in the middle of a call, of a client with a session and of one without, who comes back elsewhere.
    let answered = async {
        let question = client.next_request().await;
        client.answer(&question, json!({"action": "accept", "content": {"colour": "blue"}})).await;
    };
    let (asked, ()) = tokio::join!(client.request("tools/call", call("fake.ask")), answered);
    assert!(asked.to_string().contains("blue"), "{asked}");
    let first = client.modern("tools/call", call("fake.ask")).await;
    assert_eq!(first["resultType"], "input_required", "{first}");
    let mut again = call("fake.ask");
    again["requestState"] = first["requestState"].clone();
    again["inputResponses"] = json!({"0": {"action": "accept", "content": {"colour": "green"}}});
    let last = client.at(far.url()).modern("tools/call", again).await;
    assert!(last.to_string().contains("green"), "{last}");

    // Whoever watches a resource hears of it, whoever touched it where.
    client.request("resources/subscribe", json!({"uri": "x://a"})).await;
    client.open_stream().await;
    until_received(&fake, "resources/subscribe", 1).await;
    until_answered(&far.url(), "fake.touch").await;
    let updated = client.next_notification("notifications/resources/updated").await;
    assert_eq!(updated["uri"], "x://a", "{updated}");

    // Whoever hangs up has cancelled.
    let gone = HttpClient::new(near.url());
    let before = fake.received("tools/call").len();
    let asking = tokio::spawn(async move { gone.modern("tools/call", call("fake.hang")).await });
    until_received(&fake, "tools/call", before + 1).await;
    asking.abort();
    until_received(&fake, "notifications/cancelled", 1).await;

    assert_eq!(fake.starts().len(), 1, "nobody else has ever run it");
    let rows = postgres.sql("one", "SELECT count(*), max(fence) FROM toolfold.leases WHERE name = 'run/fake'").unwrap();
    assert_eq!(rows, "1|1");
}

/// A server without sessions: it asks by answering, and whoever comes back with the answer may come back elsewhere.
#[tokio::test(flavor = "multi_thread")]
async fn one_of_the_stateless_era_is_run_once_as_well() {
    let postgres = Postgres::start();
    let database = postgres.url("stateless");
    let question = json!({"message": "Which colour?", "requestedSchema": {"type": "object", "properties": {}}});
    let fake = FakeServer::script(json!({
        "eras": ["modern"], "tools": ["echo", "ask", "hang"], "calls": {"ask": {"elicit": question}, "hang": {"hang": true}},
    }));
    let mut config = one(&fake);
    config.servers.values_mut().for_each(|server| server.era = EraChoice::Modern);
    let replicas = [Replica::with(&database, config.clone()).await, Replica::with(&database, config).await];
    for replica in &replicas {
        until_answered(&replica.url(), "fake.echo").await;
    }
    assert_eq!((alive(&fake).len(), fake.starts().len()), (1, 1));
    for (here, there) in [(&replicas[0], &replicas[1]), (&replicas[1], &replicas[0])] {
        let client = HttpClient::new(here.url()).with_capabilities(json!({"elicitation": {}}));
        let first = client.modern("tools/call", call("fake.ask")).await;
        assert_eq!(first["resultType"], "input_required", "{first}");
        let mut again = call("fake.ask");
        again["requestState"] = first["requestState"].clone();
        let key = first["inputRequests"].as_object().unwrap().keys().next().unwrap();
        again["inputResponses"] = json!({key: {"action": "accept", "content": {"colour": "green"}}});
        let last = client.at(there.url()).modern("tools/call", again).await;
        assert!(last.to_string().contains("green"), "{last}");
        // Whoever hangs up has cancelled, wherever the server is.
        let before = fake.received("tools/call").len();
        let gone = HttpClient::new(here.url());
        let asking = tokio::spawn(async move { gone.modern("tools/call", call("fake.hang")).await });
        until_received(&fake, "tools/call", before + 1).await;
        let cancelled = fake.received("notifications/cancelled").len();
        asking.abort();
        until_received(&fake, "notifications/cancelled", cancelled + 1).await;
    }
    assert_eq!(fake.starts().len(), 1, "nobody else has ever run it");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_takes_over_what_a_dead_one_ran_and_no_call_is_made_twice() {
    let postgres = Postgres::start();
    let database = postgres.url("taken");
    let fake =
        FakeServer::script(json!({"eras": ["legacy"], "tools": ["echo", "hang"], "calls": {"hang": {"hang": true}}}));
    let first = Replica::with(&database, one(&fake)).await;
    until_answered(&first.url(), "fake.echo").await;
    let others = [Replica::with(&database, one(&fake)).await, Replica::with(&database, one(&fake)).await];
    for replica in &others {
        until_answered(&replica.url(), "fake.echo").await;
    }
    assert_eq!(fake.starts().len(), 1);
    let before = fake.received("tools/call").len();
    let other = HttpClient::new(others[0].url());
    let hanging = tokio::spawn(async move { other.modern("tools/call", call("fake.hang")).await });
    until_received(&fake, "tools/call", before + 1).await;
    first.die().await;
    // On its way when its replica went: told as of a server that went.
    let told = hanging.await.unwrap();
    assert!(told["isError"] == true && told.to_string().contains("SERVER_UNAVAILABLE"), "{told}");
    // All at once, at both that are left.
    let asked = (0..8).map(|n| until_answered_owned(others[n % 2].url()));
    futures_util::future::join_all(asked).await;
    assert_eq!(alive(&fake).len(), 1);
    assert_eq!(fake.starts().len(), 2, "one of them has started it");
    assert_eq!(fake.received("tools/call").iter().filter(|call| call.to_string().contains("hang")).count(), 1);
    let fence = postgres.sql("taken", "SELECT fence FROM toolfold.leases WHERE name = 'run/fake'").unwrap();
    assert_eq!(fence, "2");
}

async fn until_answered_owned(url: String) {
    until_answered(&url, "fake.echo").await;
}

#[tokio::test(flavor = "multi_thread")]
async fn one_that_ends_finishes_what_it_does_and_hands_over() {
    let postgres = Postgres::start();
    let database = postgres.url("handed");
    let fake = FakeServer::script(
        json!({"eras": ["legacy"], "tools": ["echo", "slow"], "calls": {"slow": {"delay_ms": 2000}}}),
    );
    let mut first = Replica::with(&database, one(&fake)).await;
    until_answered(&first.url(), "fake.echo").await;
    let second = Replica::with(&database, one(&fake)).await;
    until_answered(&second.url(), "fake.echo").await;
    let before = fake.received("tools/call").len();
    let client = HttpClient::new(second.url());
    let slow = client.modern("tools/call", call("fake.slow"));
    let ending = async {
        until_received(&fake, "tools/call", before + 1).await;
        first.stop.cancel();
        // One that comes meanwhile is answered, by this process or the next.
        let next = HttpClient::new(second.url()).modern("tools/call", call("fake.echo")).await;
        assert_ne!(next["isError"], true, "{next}");
    };
    let (slow, ()) = tokio::join!(slow, ending);
    assert_ne!(slow["isError"], true, "a call under way is finished: {slow}");
    (&mut first.serving).await.unwrap().unwrap();
    let after = client.modern("tools/call", call("fake.echo")).await;
    assert_ne!(after["isError"], true, "nobody has to wait for a lease that was given back: {after}");
    assert_eq!(runs_at(&second).await.as_deref(), Some("here"));
    assert_eq!((alive(&fake).len(), fake.starts().len()), (1, 2));
    let received = fake.received("tools/call");
    assert_eq!(received.iter().filter(|call| call.to_string().contains("slow")).count(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_database_it_goes_on_where_it_runs() {
    let mut postgres = Postgres::start();
    let database = postgres.url("away");
    let fake = FakeServer::script(json!({"eras": ["legacy"], "tools": ["echo"]}));
    let first = Replica::with(&database, one(&fake)).await;
    until_answered(&first.url(), "fake.echo").await;
    let second = Replica::with(&database, one(&fake)).await;
    until_answered(&second.url(), "fake.echo").await;
    postgres.stop();
    for replica in [&first, &second, &first, &second] {
        let answer = HttpClient::new(replica.url()).modern("tools/call", call("fake.echo")).await;
        assert_ne!(answer["isError"], true, "{answer}");
    }
    postgres.go_on();
    // As if it had been away for long: the lease is over, and its holder is still there to say that it has it.
    let over = "UPDATE toolfold.leases SET until = clock_timestamp() - interval '1 hour' WHERE name = 'run/fake'";
    postgres.sql("away", over).unwrap();
    let third = Replica::with(&database, one(&fake)).await;
    until_answered(&third.url(), "fake.echo").await;
    assert_eq!((alive(&fake).len(), fake.starts().len()), (1, 1), "nobody has taken what its holder has");
    assert_eq!(runs_at(&third).await, Some(format!("http://{}", first.address)));
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_but_a_replica_reaches_a_server_past_the_gate() {
    let postgres = Postgres::start();
    let database = postgres.url("past");
    let fake = FakeServer::script(json!({"eras": ["legacy"], "tools": ["echo"]}));
    let replica = Replica::with(&database, one(&fake)).await;
    until_answered(&replica.url(), "fake.echo").await;
    let before = fake.received("tools/call").len();
    let path = format!("http://{}/toolfold/servers/fake/1", replica.address);
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "echo", "arguments": {}}});
    let plain = HttpClient::new(&path).post(&body.to_string(), Default::default()).await;
    assert_eq!(plain.status, 404, "{}", plain.body);
    let forged = HttpClient::new(&path).with_header("toolfold-voucher", "x").with_header("toolfold-body", "y");
    assert_eq!(forged.post(&body.to_string(), Default::default()).await.status, 403);
    assert_eq!(fake.received("tools/call").len(), before);
}
