//! Two gateways on one PostgreSQL: what one hears, decides and gives out, the other knows; and while the database is away, both go on.

use serde_json::json;
use toolfold_config::Config;
use toolfold_core::{DatabaseUrl, StorePlace, Surface, Trust};
use toolfold_gateway::{Gateway, Options};
use toolfold_store::{Store, StoredToken};
use toolfold_test::{Cable, FakeServer, Postgres};

use crate::pins::{approve_all, held_ids, tool, until};
use crate::{ask, call, found, ids, me};

fn place(server: &Postgres) -> StorePlace {
    StorePlace::Database(DatabaseUrl::parse(&server.url("shared")).unwrap())
}

/// A gateway with these servers and the shared store.
fn start(database: &Postgres, fakes: &[(&str, &FakeServer, Trust)], more: impl FnOnce(&mut Config)) -> Gateway {
    let mut config = crate::pins::config(std::path::Path::new("nowhere"), fakes);
    config.store = Some(place(database));
    more(&mut config);
    Gateway::start(Options { config, local: Vec::new() })
}

async fn list(gateway: &Gateway) -> String {
    ask(gateway, Surface::Compact, "tools/list", json!({})).await.to_string()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_lists_a_server_and_all_follow() {
    let database = Postgres::start();
    let fake = FakeServer::script(json!({"tools": [tool("one", "The first.")]}));
    let servers = [("s", &fake, Trust::Always)];
    // Both begin with nothing, at once.
    let (a, b) = (start(&database, &servers, |_| ()), start(&database, &servers, |_| ()));
    a.settled_completely(&me()).await;
    b.settled_completely(&me()).await;
    assert_eq!((ids(&a), ids(&b)), (vec!["s.one".to_owned()], vec!["s.one".to_owned()]));
    assert_eq!(fake.starts().len(), 1, "one of them listed it");

    // It says something else to one of them; the other hears of it without asking.
    fake.rewrite(json!({"tools": [tool("one", "The first."), tool("two", "The second.")]}));
    let asked = fake.received("tools/list").len();
    let other = start(&database, &servers, |config| {
        config.servers.values_mut().for_each(|server| server.start = toolfold_config::Start::Eager);
    });
    until("both know the second tool", async || ids(&a).len() == 2 && ids(&b).len() == 2).await;
    assert_eq!(fake.starts().len(), 2, "nobody but the new one asked it");
    assert!(fake.received("tools/list").len() > asked);
    assert_eq!(list(&a).await, list(&b).await);
    assert_eq!(found(&a, json!({"query": "second"})).await, found(&b, json!({"query": "second"})).await);
    for gateway in [a, b, other] {
        gateway.stop().await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_used_most_is_the_same_for_all_whenever_they_started() {
    let database = Postgres::start();
    let fake = FakeServer::script(json!({"tools": [tool("one", "The first."), tool("two", "The second.")]}));
    let servers = [("s", &fake, Trust::Always)];
    let store = Store::at(Some(&place(&database))).await.unwrap().store;
    for _ in 0..5 {
        store.count_use("s.one").await.unwrap();
    }
    let a = start(&database, &servers, |config| config.pin_used = true);
    a.settled_completely(&me()).await;
    // Other habits meanwhile, and then another replica.
    for _ in 0..50 {
        store.count_use("s.two").await.unwrap();
    }
    let b = start(&database, &servers, |config| config.pin_used = true);
    b.settled_completely(&me()).await;
    assert!(list(&a).await.contains("s__one") && !list(&a).await.contains("s__two"));
    assert_eq!(list(&a).await, list(&b).await);
    // The next day both change over.
    database.sql("shared", "UPDATE toolfold.used SET day = day - 1").unwrap();
    until("both list the other tool", async || list(&a).await.contains("s__two") && list(&b).await.contains("s__two"))
        .await;
    assert_eq!(list(&a).await, list(&b).await);
    a.stop().await;
    b.stop().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_approves_serves_at_the_other() {
    let database = Postgres::start();
    let fake = FakeServer::script(json!({"tools": [tool("one", "The first.")]}));
    let servers = [("s", &fake, Trust::Review)];
    let a = start(&database, &servers, |_| ());
    a.settled_completely(&me()).await;
    let b = start(&database, &servers, |_| ());
    b.settled_completely(&me()).await;
    until("it is held by both", async || held_ids(&a).await == ["s.one"] && held_ids(&b).await == ["s.one"]).await;
    assert_eq!(approve_all(&a).await, ["s.one"]);
    until("it serves at the other", async || ids(&b) == ["s.one"]).await;
    a.stop().await;
    b.stop().await;
}

/// What is decided while one replica cannot reach the database is known to it afterwards, although nobody tells it again.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_one_approves_while_the_other_is_cut_off_serves_there_afterwards() {
    let database = Postgres::with_port();
    let fake = FakeServer::script(json!({"tools": [tool("one", "The first.")]}));
    let servers = [("s", &fake, Trust::Review)];
    let a = start(&database, &servers, |_| ());
    a.settled_completely(&me()).await;
    let url = database.tcp_url("shared");
    let port = url.rsplit_once(':').and_then(|(_, rest)| rest.split('/').next()).unwrap();
    let cable = Cable::to(format!("127.0.0.1:{port}").parse().unwrap()).await;
    let url = url.replace(&format!("127.0.0.1:{port}"), &cable.address().to_string());
    let b = start(&database, &servers, |config| {
        config.store = Some(StorePlace::Database(DatabaseUrl::parse(&url).unwrap()));
    });
    b.settled_completely(&me()).await;
    until("it is held by both", async || held_ids(&a).await == ["s.one"] && held_ids(&b).await == ["s.one"]).await;
    cable.pull();
    assert_eq!(approve_all(&a).await, ["s.one"]);
    // So long that it has looked and could not.
    tokio::time::sleep(std::time::Duration::from_secs(7)).await;
    assert_eq!(held_ids(&b).await, ["s.one"]);
    cable.plug();
    until("it serves at the other", async || ids(&b) == ["s.one"]).await;
    a.stop().await;
    b.stop().await;
}

/// The database is gone: lists, searches, calls and tokens go on, and what was changed meanwhile arrives afterwards.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn without_the_database_everything_goes_on() {
    let mut database = Postgres::start();
    let fake = FakeServer::script(json!({"tools": [tool("one", "The first.")]}));
    let gateway = start(&database, &[("s", &fake, Trust::Always)], |config| config.pin_used = true);
    gateway.settled_completely(&me()).await;
    let store = Store::at(Some(&place(&database))).await.unwrap().store;
    let token = |name: &str| StoredToken {
        name: name.to_owned(),
        groups: Vec::new(),
        beginning: "toolfold_".to_owned(),
        created_at: 1,
        expires_at: None,
    };
    assert!(store.add_token([1; 32], token("ada")).await.unwrap());
    until("the token is known", async || {
        gateway.tokens().holders().await.unwrap().iter().map(|(name, _)| name).eq(["ada"])
    })
    .await;
    let (listed, searched) = (list(&gateway).await, found(&gateway, json!({"query": "first"})).await);
    call(&gateway, "call_tool", json!({"tool": "s.one", "arguments": {}})).await;

    database.stop();
    for _ in 0..20 {
        assert_eq!(list(&gateway).await, listed);
        assert_eq!(found(&gateway, json!({"query": "first"})).await, searched);
        let result = call(&gateway, "call_tool", json!({"tool": "s.one", "arguments": {}})).await;
        assert!(result["isError"] != true, "{result}");
        assert!(gateway.tokens().holder([1; 32]).await.unwrap().is_some());
    }
    assert!(gateway.tokens().holder([2; 32]).await.is_err(), "nobody can say who that is");
    database.go_on();
    assert!(store.revoke_token("ada").await.unwrap() && store.add_token([2; 32], token("bob")).await.unwrap());
    until("it has caught up", async || gateway.tokens().holder([1; 32]).await.is_ok_and(|holder| holder.is_none()))
        .await;
    assert!(gateway.tokens().holder([2; 32]).await.unwrap().is_some());
    gateway.stop().await;
}

/// No statement reaches the database for lists, searches and calls that need none.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_call_needs_no_query() {
    let database = Postgres::start();
    let fake = FakeServer::script(json!({"tools": [tool("one", "The first.")]}));
    let gateway = start(&database, &[("s", &fake, Trust::Always)], |config| {
        config.learn = toolfold_config::Learn::Off;
    });
    gateway.settled_completely(&me()).await;
    call(&gateway, "call_tool", json!({"tool": "s.one", "arguments": {}})).await;
    // Whatever is still written about the start is waited for; looking around every few seconds is small and counted apart.
    let count = || -> i64 {
        let sum = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = 'shared'";
        database.sql("postgres", "SELECT pg_stat_force_next_flush()").ok();
        database.sql("postgres", sum).unwrap().parse().unwrap()
    };
    let before = count();
    for _ in 0..300 {
        list(&gateway).await;
        found(&gateway, json!({"query": "first"})).await;
        call(&gateway, "call_tool", json!({"tool": "s.one", "arguments": {}})).await;
    }
    let after = count();
    assert!(after - before < 100, "{} statements for 900 requests", after - before);
    gateway.stop().await;
}
