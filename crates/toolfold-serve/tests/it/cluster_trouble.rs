//! Replicas on days that nobody planned: a database that is away for long, settings that are wrong, somebody who listens in between.

use std::time::{Duration, Instant};

use serde_json::json;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use toolfold_config::AuditMode;
use toolfold_core::{DatabaseUrl, Secret, Surface};
use toolfold_serve::serve_http;
use toolfold_test::{Cable, FakeServer, HttpClient, Postgres};

use crate::cluster::{Replica, call, ping, raw};
use crate::support::{config, local_gateway};

async fn port() -> TcpListener {
    TcpListener::bind("127.0.0.1:0").await.unwrap()
}

/// When the database is back, every replica has been silent for as long as it was away. None of them was dead.
#[tokio::test(flavor = "multi_thread")]
async fn nobody_is_taken_for_dead_because_the_database_was_away() {
    let mut postgres = Postgres::start();
    let database = postgres.url("long");
    let fake =
        FakeServer::script(json!({"eras": ["legacy"], "tools": ["slow"], "calls": {"slow": {"delay_ms": 15_000}}}));
    let one = Replica::start(&database, Surface::Compact, &[("fake", &fake)]).await;
    let two = Replica::start(&database, Surface::Compact, &[("fake", &fake)]).await;
    let client = HttpClient::new(one.url());
    client.initialize("2025-11-25").await;
    let through = client.at(two.url());
    let slow = through.request("tools/call", call("fake.slow"));
    let away = async {
        while fake.received("tools/call").is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        postgres.stop();
        // Longer than a replica may be silent.
        tokio::time::sleep(Duration::from_secs(11)).await;
        postgres.go_on();
        for _ in 0..100 {
            assert_eq!(client.at(two.url()).request("ping", json!({})).await, json!({}));
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    };
    let (slow, ()) = tokio::join!(slow, away);
    assert_ne!(slow["isError"], true, "{slow}");
    assert_eq!(fake.received("tools/call").len(), 1);
    let fence = postgres.sql("long", "SELECT max(fence) FROM sessions").unwrap();
    assert_eq!(fence.trim(), "1", "its session was taken from a replica that lives");
}

/// Whoever cannot write down what must be, while another can, is not ready. Where nobody can, everybody is: what need not be written goes on.
#[tokio::test(flavor = "multi_thread")]
async fn a_balancer_is_left_with_somebody_when_the_database_is_away() {
    let mut postgres = Postgres::with_port();
    let (database, folder) = (postgres.tcp_url("strict"), tempfile::tempdir().unwrap());
    let port_of = database.rsplit_once(':').and_then(|(_, rest)| rest.split('/').next()).unwrap();
    let cable = Cable::to(format!("127.0.0.1:{port_of}").parse().unwrap()).await;
    let cut_off = database.replace(&format!("127.0.0.1:{port_of}"), &cable.address().to_string());
    let strict = |name: &str, database: &str| {
        let mut strict = config(Surface::Compact, &[]);
        (strict.audit.mode, strict.audit.path) = (AuditMode::Strict, Some(folder.path().join(name)));
        strict.audit.database = Some(DatabaseUrl::parse(database).unwrap());
        strict
    };
    let one = Replica::with(&cut_off, strict("one.db", &cut_off)).await;
    let two = Replica::with(&database, strict("two.db", &database)).await;
    let until = async |replica: &Replica, status: u16| {
        while replica.ready().await != Some(status) {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    cable.pull();
    until(&one, 503).await;
    assert_eq!(two.ready().await, Some(200));
    cable.plug();
    until(&one, 200).await;

    postgres.stop();
    for replica in [&one, &two] {
        let client = HttpClient::new(replica.url());
        while client.modern("tools/call", call("local.echo")).await["isError"] != true {}
        assert!(client.modern("tools/list", json!({})).await["tools"].is_array());
    }
    // Both have noticed, and stay where a balancer finds them.
    for replica in [&one, &two] {
        until(replica, 200).await;
    }
    for _ in 0..30 {
        assert_eq!((one.ready().await, two.ready().await), (Some(200), Some(200)));
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
    postgres.go_on();
    while HttpClient::new(two.url()).modern("tools/call", call("local.echo")).await["isError"] == true {
        tokio::time::sleep(Duration::from_millis(50)).await;
    }
}

/// A client listens by way of a replica that is to end: that has nothing to wait for.
#[tokio::test(flavor = "multi_thread")]
async fn a_replica_that_is_to_end_does_not_wait_for_who_only_listens() {
    let postgres = Postgres::start();
    let database = postgres.url("listening");
    let one = Replica::start(&database, Surface::Compact, &[]).await;
    let mut two = Replica::start(&database, Surface::Compact, &[]).await;
    let client = HttpClient::new(one.url());
    client.initialize("2025-11-25").await;
    client.at(two.url()).open_stream().await;
    let begun = Instant::now();
    two.stop.cancel();
    (&mut two.serving).await.unwrap().unwrap();
    assert!(begun.elapsed() < Duration::from_secs(10), "{:?}", begun.elapsed());
    assert_eq!(client.request("ping", json!({})).await, json!({}));
}

/// A request that was on its way when the end came is answered, and its connection closed: whoever sent it would never send it again.
#[tokio::test(flavor = "multi_thread")]
async fn whoever_is_connected_when_it_ends_is_answered() {
    let (listener, stop) = (port().await, CancellationToken::new());
    let address = listener.local_addr().unwrap();
    let gateway = local_gateway(Surface::Compact);
    let serving = tokio::spawn(serve_http(gateway, Surface::Compact, listener, stop.clone()));
    let mut lines = Vec::new();
    for _ in 0..20 {
        lines.push(TcpStream::connect(address).await.unwrap());
    }
    stop.cancel();
    while TcpStream::connect(address).await.is_ok() {
        tokio::task::yield_now().await;
    }
    for line in &mut lines {
        line.write_all(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n").await.unwrap();
    }
    for mut line in lines {
        let mut told = String::new();
        line.read_to_string(&mut told).await.unwrap();
        assert!(told.starts_with("HTTP/1.1 200") && told.to_lowercase().contains("connection: close"), "{told}");
    }
    serving.await.unwrap().unwrap();
}

/// Both say that they are reached at the same address. The one that came later is not ready, and takes nothing from the first.
#[tokio::test(flavor = "multi_thread")]
async fn two_that_say_they_are_in_one_place_are_told_apart() {
    let postgres = Postgres::start();
    let database = postgres.url("twins");
    let first = Replica::start(&database, Surface::Compact, &[]).await;
    let place = format!("http://{}", first.address);
    let second = Replica::of(port().await, &database, config(Surface::Compact, &[]), |cluster| {
        cluster.advertise = place;
    });
    second.until_ready().await;
    let client = HttpClient::new(first.url());
    client.initialize("2025-11-25").await;
    while second.ready().await != Some(503) {
        assert_eq!(first.ready().await, Some(200));
        assert_eq!(client.at(second.url()).request("ping", json!({})).await, json!({}));
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
    assert_eq!(first.ready().await, Some(200));
    let fence = postgres.sql("twins", "SELECT max(fence) FROM sessions").unwrap();
    assert_eq!(fence.trim(), "1");
    // When the first is gone, the other is the only one there.
    first.die().await;
    second.until_ready().await;
}

/// What one replica has sent to another is of no use to who has overheard it.
#[tokio::test(flavor = "multi_thread")]
async fn a_request_that_was_overheard_cannot_be_made_again() {
    let postgres = Postgres::start();
    let database = postgres.url("overheard");
    let fake = FakeServer::script(json!({"eras": ["legacy"], "tools": ["echo"]}));
    let servers = || config(Surface::Compact, &[("fake", &fake)]);
    let listener = port().await;
    let cable = Cable::to(listener.local_addr().unwrap()).await;
    let one = Replica::of(listener, &database, servers(), |cluster| {
        cluster.advertise = format!("http://{}", cable.address());
    });
    one.until_ready().await;
    let two = Replica::with(&database, servers()).await;
    let client = HttpClient::new(one.url());
    client.initialize("2025-11-25").await;
    client.at(two.url()).request("tools/call", call("fake.echo")).await;
    assert_eq!(fake.received("tools/call").len(), 1);

    let heard: Vec<String> = cable.heard().iter().map(|said| String::from_utf8_lossy(said).into_owned()).collect();
    let sent = heard.iter().find_map(|said| Some(&said[said.find("POST /mcp")?..])).unwrap();
    assert!(sent.contains("toolfold-voucher") && sent.contains("fake.echo"), "{sent}");
    let mut again = TcpStream::connect(one.address).await.unwrap();
    again.write_all(sent.as_bytes()).await.unwrap();
    let mut told = vec![0; 1000];
    let size = again.read(&mut told).await.unwrap();
    let told = String::from_utf8_lossy(&told[..size]);
    assert!(told.starts_with("HTTP/1.1 403"), "{told}");
    assert_eq!(fake.received("tools/call").len(), 1);
}

/// Whoever has another secret is none of them: nothing of theirs is known there, nor the other way round, and each goes on by itself.
#[tokio::test(flavor = "multi_thread")]
async fn with_another_secret_nobody_belongs_to_the_cluster() {
    let postgres = Postgres::start();
    let database = postgres.url("secrets");
    let one = Replica::start(&database, Surface::Compact, &[]).await;
    let stranger = Replica::of(port().await, &database, config(Surface::Compact, &[]), |cluster| {
        cluster.secret = Secret::new("another one, which is as long as it has to be");
    });
    stranger.until_ready().await;
    for (owner, other) in [(&one, &stranger), (&stranger, &one)] {
        let client = HttpClient::new(owner.url());
        client.initialize("2025-11-25").await;
        assert_eq!(client.request("ping", json!({})).await, json!({}));
        assert_eq!(raw(&other.url(), &client.session().unwrap(), ping()).await.status, 404);
    }
}
