//! What goes wrong in production, done on purpose to the real binary.

use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};
use toolfold_test::{FakeServer, HttpClient, StdioClient};

use crate::fakes::{alive, config, error_code, text, until, world};
use crate::world::{Served, World};

async fn session(served: &Served) -> HttpClient {
    let client = HttpClient::new(&served.url);
    client.initialize("2025-11-25").await;
    client
}

async fn call(client: &HttpClient, tool: &str) -> Value {
    client.request("tools/call", json!({"name": tool, "arguments": {}})).await
}

pub(crate) fn kill(pid: u32, signal: &str) {
    let status = Command::new("kill").args([signal, &pid.to_string()]).status().unwrap();
    assert!(status.success());
}

#[tokio::test]
async fn killing_toolfold_leaves_no_server_behind() {
    let folder = tempfile::tempdir().unwrap();
    let child_file = folder.path().join("child");
    let stubborn = FakeServer::script(json!({
        "tools": ["work"], "ignore_sigterm": true, "ignore_eof": true, "spawn_child": child_file,
    }));
    let world = world("", &[("stubborn", &stubborn)]);
    let served = world.serve();
    let client = session(&served).await;
    assert!(call(&client, "stubborn.work").await["isError"].is_null());
    let server = *stubborn.starts().last().unwrap();
    let grandchild: u32 = std::fs::read_to_string(&child_file).unwrap().trim().parse().unwrap();
    assert!(alive(server) && alive(grandchild));
    kill(served.id(), "-KILL");
    until("both processes are gone", || !alive(server) && !alive(grandchild)).await;
}

#[tokio::test]
async fn a_polite_end_stops_every_server_too() {
    let fake = FakeServer::script(json!({"tools": ["work"], "ignore_eof": true}));
    let world = world("", &[("fake", &fake)]);
    let served = world.serve();
    let client = session(&served).await;
    call(&client, "fake.work").await;
    let server = *fake.starts().last().unwrap();
    kill(served.id(), "-TERM");
    until("the server is gone", || !alive(server)).await;
}

#[tokio::test]
async fn several_clients_share_one_process() {
    let fake = FakeServer::script(json!({"eras": ["legacy"], "tools": ["work"]}));
    let world = world("", &[("fake", &fake)]);
    let served = world.serve();
    session(&served).await.request("tools/call", json!({"name": "fake.work", "arguments": {}})).await;
    let before = fake.starts().len();
    let mut clients = tokio::task::JoinSet::new();
    for number in 0..200 {
        let url = served.url.clone();
        clients.spawn(async move {
            let client = HttpClient::new(url);
            let params = json!({"name": "fake.work", "arguments": {"number": number}});
            if number % 2 == 0 {
                client.initialize("2025-11-25").await;
                client.request("tools/call", params).await
            } else {
                client.modern("tools/call", params).await
            }
        });
    }
    let mut numbers: Vec<u64> = Vec::new();
    while let Some(result) = clients.join_next().await {
        numbers.push(result.unwrap()["structuredContent"]["number"].as_u64().unwrap());
    }
    numbers.sort_unstable();
    assert_eq!(numbers, (0..200).collect::<Vec<u64>>());
    assert_eq!(fake.starts().len(), before, "no second process");
}

#[tokio::test]
async fn a_client_that_vanishes_takes_nothing_with_it() {
    let fake =
        FakeServer::script(json!({"eras": ["legacy"], "tools": ["hang", "work"], "calls": {"hang": {"hang": true}}}));
    let world = world("", &[("fake", &fake)]);
    let served = world.serve();
    let client = session(&served).await;
    call(&client, "fake.work").await;
    let gone = HttpClient::new(&served.url);
    let hanging =
        tokio::spawn(async move { gone.modern("tools/call", json!({"name": "fake.hang", "arguments": {}})).await });
    until("the call has arrived", || fake.received("tools/call").len() == 2).await;
    hanging.abort();
    until("the server was told", || !fake.received("notifications/cancelled").is_empty()).await;
    assert!(call(&client, "fake.work").await["isError"].is_null());
}

#[tokio::test]
async fn a_cancelled_call_is_cancelled_at_the_server() {
    let fake = FakeServer::script(json!({"eras": ["legacy"], "tools": ["hang"], "calls": {"hang": {"hang": true}}}));
    let world = world("", &[("fake", &fake)]);
    let client = stdio(&world).await;
    let id = client.begin("tools/call", json!({"name": "fake.hang", "arguments": {}})).await;
    until("the call has arrived", || fake.received("tools/call").len() == 1).await;
    client.cancel(&id).await;
    until("the server was told", || fake.received("notifications/cancelled").len() == 1).await;
    assert_eq!(client.request("ping", json!({})).await, json!({}));
}

#[tokio::test]
async fn a_call_has_a_deadline() {
    let fake = FakeServer::script(json!({"tools": ["hang"], "calls": {"hang": {"hang": true}}}));
    let mut text_of_config = config("", &[("fake", &fake)]);
    text_of_config.push_str("timeout = \"300ms\"\n");
    let world = World::with_config(&text_of_config);
    let client = stdio(&world).await;
    let result = client.request("tools/call", json!({"name": "fake.hang", "arguments": {}})).await;
    assert_eq!(error_code(&result), "SERVER_TIMEOUT");
    assert_eq!(fake.received("tools/call").len(), 1, "never sent twice");
}

#[tokio::test]
async fn what_is_forbidden_is_shown_and_not_called() {
    let fake = FakeServer::script(json!({"tools": ["delete_all", "read"]}));
    let mut text_of_config = config("", &[("fake", &fake)]);
    text_of_config.push_str("forbid = [\"delete_*\"]\n");
    let world = World::with_config(&text_of_config);
    let client = stdio(&world).await;
    let found = client.request("tools/call", json!({"name": "find_tools", "arguments": {"query": "delete all"}})).await;
    assert!(text(&found).starts_with("fake.delete_all"), "{found}");
    let refused = client.request("tools/call", json!({"name": "fake.delete_all", "arguments": {}})).await;
    let error: Value = serde_json::from_str(text(&refused)).unwrap();
    assert_eq!(error["error"]["code"], "NOT_AUTHORIZED");
    assert_eq!(error["error"]["next_action"]["tool"], "find_tools");
    assert!(error["error"]["hints"][0].is_string() && error["error"]["message"].is_string());
    assert_eq!(
        client.request("tools/call", json!({"name": "fake.read", "arguments": {}})).await["isError"],
        Value::Null
    );
    let called: Vec<Value> = fake.received("tools/call").iter().map(|call| call["params"]["name"].clone()).collect();
    assert_eq!(called, ["read"]);
}

#[tokio::test]
async fn an_answer_that_is_too_large_is_refused_alone() {
    let fake = FakeServer::script(json!({"tools": ["big", "small"], "calls": {"big": {"big": 3_000_000}}}));
    let mut text_of_config = config("", &[("fake", &fake)]);
    text_of_config.push_str("max_message = \"1MB\"\ntimeout = \"20s\"\n");
    let world = World::with_config(&text_of_config);
    let client = stdio(&world).await;
    let result = client.request("tools/call", json!({"name": "fake.big", "arguments": {}})).await;
    assert_eq!(error_code(&result), "TOO_LARGE");
    let result = client.request("tools/call", json!({"name": "fake.small", "arguments": {}})).await;
    assert!(result["isError"].is_null(), "{result}");
}

/// The body that arguments came in, and the line that takes them on: no more of them is held at any time. The kernel
/// counts, so that a copy anywhere on the way is seen.
#[tokio::test]
async fn ten_megabytes_of_arguments_are_held_twice_and_not_more() {
    const SIZE: usize = 10 << 20;
    for era in ["session", "stateless"] {
        // It says little: what comes back is another matter.
        let said = json!({"content": [{"type": "text", "text": "done"}]});
        let fake = FakeServer::script(json!({"tools": ["work"], "calls": {"work": {"result": said}}}));
        // The encoder would be read meanwhile, which is larger than all of this.
        let world = world("[search]\nprecise = \"off\"", &[("fake", &fake)]);
        let served = world.serve();
        let client = HttpClient::new(&served.url);
        if era == "session" {
            client.initialize("2025-11-25").await;
        }
        let send = async |text: String| {
            let call = json!({"name": "fake.work", "arguments": {"text": text}});
            match era {
                "session" => client.request("tools/call", call).await,
                _ => client.modern("tools/call", call).await,
            }
        };
        for _ in 0..2 {
            send("small".to_owned()).await;
        }
        std::fs::write(format!("/proc/{}/clear_refs", served.id()), "5").expect("the kernel forgets the highest mark");
        let before = highest_mark(served.id());
        let result = send("x".repeat(SIZE)).await;
        assert!(result["isError"].is_null(), "{result}");
        let grown = highest_mark(served.id()).saturating_sub(before);
        assert!(grown >= SIZE, "{era}: {grown} bytes cannot be, so nothing was measured");
        assert!(grown < 2 * SIZE + SIZE / 2, "{era}: {grown} bytes more were held at once");
    }
}

/// The most memory that a process has had since the mark was reset.
fn highest_mark(pid: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

#[tokio::test]
async fn a_ten_megabyte_list_is_served_like_any_other() {
    let fake = FakeServer::script(json!({"tools": ["needle"], "huge_list": 10_000_000}));
    let world = world("", &[("fake", &fake)]);
    let client = stdio(&world).await;
    // A call waits for its server as long as that takes; a search only for a while.
    let result = client.request("tools/call", json!({"name": "fake.needle", "arguments": {}})).await;
    assert!(result["isError"].is_null(), "{result}");
    let found = client.request("tools/call", json!({"name": "find_tools", "arguments": {"query": "needle"}})).await;
    assert!(text(&found).starts_with("fake.needle("), "{found}");
}

#[tokio::test]
async fn a_change_of_the_configuration_touches_only_what_changed() {
    let stays =
        FakeServer::script(json!({"eras": ["legacy"], "tools": ["slow"], "calls": {"slow": {"delay_ms": 3000}}}));
    let goes = FakeServer::script(json!({"tools": ["old"]}));
    let comes = FakeServer::script(json!({"tools": ["new"]}));
    let world = world("surface = \"direct\"", &[("stays", &stays), ("goes", &goes)]);
    let served = world.serve();
    let client = session(&served).await;
    call(&client, "goes.old").await;
    let starts = stays.starts().len();
    let other = session(&served).await;
    let under_way = tokio::spawn(async move { call(&other, "stays.slow").await });
    until("the call has arrived", || stays.received("tools/call").len() == 1).await;
    std::fs::write(
        world.path("toolfold.toml"),
        config("surface = \"direct\"", &[("stays", &stays), ("comes", &comes)]),
    )
    .unwrap();
    until("the new server is there", || !comes.starts().is_empty()).await;
    let mut names = Vec::new();
    while !names.contains(&json!("comes__new")) {
        let list = client.request("tools/list", json!({})).await;
        names = list["tools"].as_array().unwrap().iter().map(|tool| tool["name"].clone()).collect();
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    assert_eq!(names, [json!("comes__new"), json!("stays__slow")]);
    assert!(under_way.await.unwrap()["isError"].is_null());
    assert_eq!(stays.starts().len(), starts, "what did not change was not restarted");
    std::fs::write(world.path("toolfold.toml"), "surfice = 1\n").unwrap();
    until("the bad file has been read", || served.has_said("surfice")).await;
    assert!(call(&client, "comes.new").await["isError"].is_null(), "a bad file changes nothing");
}

#[tokio::test]
async fn toolfold_killed_while_it_remembers_opens_its_store_again() {
    for round in 0..5 {
        let fake = FakeServer::script(json!({"tools": ["work"], "huge_list": 2_000_000}));
        let world = world("", &[("fake", &fake)]);
        let mut first = world.serve();
        tokio::time::sleep(Duration::from_millis(60 * round)).await;
        kill(first.id(), "-KILL");
        first.wait();
        let client = stdio(&world).await;
        let result = client.request("tools/call", json!({"name": "fake.work", "arguments": {}})).await;
        assert!(result["isError"].is_null(), "{result}");
    }
}

#[tokio::test]
async fn a_full_disk_costs_the_memory_and_nothing_else() {
    let fake = FakeServer::script(json!({"tools": ["work"], "huge_list": 3_000_000}));
    let world = world("", &[("fake", &fake)]);
    let toolfold = env!("CARGO_BIN_EXE_toolfold");
    let limited = format!("ulimit -f 64; trap '' XFSZ; exec {toolfold} serve --listen 127.0.0.1:0");
    let mut command = world.settle(Command::new("sh"));
    let served = Served::start(command.args(["-c", &limited]).stdin(Stdio::null()).stdout(Stdio::null()));
    let client = session(&served).await;
    assert!(call(&client, "fake.work").await["isError"].is_null());
}

async fn stdio(world: &World) -> StdioClient {
    let mut env: Vec<(String, String)> = Vec::new();
    for (variable, folder) in [("XDG_CONFIG_HOME", "config"), ("XDG_STATE_HOME", "state"), ("HOME", "home")] {
        env.push((variable.to_owned(), world.path(folder).display().to_string()));
    }
    env.push(("TOOLFOLD_STORE".to_owned(), world.path("store.db").display().to_string()));
    let env: Vec<(&str, &str)> = env.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect();
    let config = world.path("toolfold.toml").display().to_string();
    let client = StdioClient::start(env!("CARGO_BIN_EXE_toolfold"), &["serve", "--stdio", "--config", &config], &env);
    client.initialize("2025-11-25").await;
    client
}

#[tokio::test]
async fn a_tool_that_was_renamed_answers_to_its_old_name_also_after_a_restart() {
    let script = |name: &str| {
        let page = json!({"name": name, "description": "Reads a page of the web.", "inputSchema": {"type": "object"}});
        json!({"tools": ["ping", page]})
    };
    let fake = FakeServer::script(script("fetch_page"));
    let mut text_of_config = config("", &[("fake", &fake)]);
    text_of_config.push_str("aliases = { knock = \"ping\" }\n");
    let world = World::with_config(&text_of_config);
    // Starts the server with a call, and waits for its newest list.
    let started = async |world: &World, tool: &str| {
        let client = stdio(world).await;
        client.request("tools/call", json!({"name": "fake.knock", "arguments": {}})).await;
        let find = json!({"name": "find_tools", "arguments": {"query": tool}});
        while !text(&client.request("tools/call", find.clone()).await).starts_with(&format!("fake.{tool}")) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
        client
    };
    started(&world, "fetch_page").await;
    fake.rewrite(script("read_url"));
    for _ in 0..2 {
        let call = json!({"name": "fake.fetch_page", "arguments": {}});
        let answer = started(&world, "read_url").await.request("tools/call", call).await;
        assert!(answer["isError"].is_null(), "{answer}");
    }
    let called: Vec<Value> = fake.received("tools/call").iter().map(|call| call["params"]["name"].clone()).collect();
    assert_eq!(called, ["ping", "ping", "read_url", "ping", "read_url"]);
    drop(world);
    // What was forbidden stays forbidden under its new name.
    text_of_config = text_of_config.replace("aliases =", "forbid = [\"fetch_*\"]\naliases =");
    fake.rewrite(script("fetch_page"));
    let world = World::with_config(&text_of_config);
    started(&world, "fetch_page").await;
    fake.rewrite(script("read_url"));
    let client = started(&world, "read_url").await;
    for name in ["fake.fetch_page", "fake.read_url"] {
        let refused = client.request("tools/call", json!({"name": name, "arguments": {}})).await;
        assert_eq!(error_code(&refused), "NOT_AUTHORIZED", "{name}");
    }
}

#[tokio::test]
async fn a_configuration_that_is_a_pipe_for_a_while_is_not_waited_for() {
    let [one, two] = ["work", "rest"].map(|tool| FakeServer::script(json!({"tools": [tool]})));
    let world = world("", &[("one", &one)]);
    let served = world.serve();
    let path = world.path("toolfold.toml");
    std::fs::remove_file(&path).unwrap();
    assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
    until("it is seen", || served.has_said("is no file any more; nothing was changed")).await;
    let client = session(&served).await;
    assert!(call(&client, "one.work").await["isError"].is_null());
    std::fs::remove_file(&path).unwrap();
    std::fs::write(&path, config("", &[("one", &one), ("two", &two)])).unwrap();
    until("the next one is read", || served.has_said("listed server=two")).await;
    assert!(call(&client, "two.rest").await["isError"].is_null());
}

#[tokio::test]
async fn a_configuration_that_is_being_written_is_read_when_it_is_there() {
    let [one, two] = ["work", "rest"].map(|tool| FakeServer::script(json!({"tools": [tool]})));
    let world = world("", &[("one", &one)]);
    let served = world.serve();
    let (client, path) = (session(&served).await, world.path("toolfold.toml"));
    assert!(call(&client, "one.work").await["isError"].is_null());
    // Longer than it takes to look: whoever writes it is slow.
    std::fs::write(&path, "").unwrap();
    tokio::time::sleep(Duration::from_millis(1_400)).await;
    std::fs::write(&path, config("", &[("one", &one), ("two", &two)])).unwrap();
    until("all of it is read", || served.has_said("listed server=two")).await;
    assert!(served.has_said("configuration applied added=1 removed=0") && !served.has_said("removed=1"));
    assert!(call(&client, "one.work").await["isError"].is_null());
}
