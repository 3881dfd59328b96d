//! Three replicas on one PostgreSQL: whichever of them a request reaches, it is answered, and when one is gone the others go on.

use std::net::SocketAddr;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tokio::task::JoinHandle;
use tokio_util::sync::CancellationToken;
use toolfold_config::{ClusterSettings, Config, Rate};
use toolfold_core::{DatabaseUrl, Secret, StorePlace, Surface};
use toolfold_serve::serve_http;
use toolfold_test::{FakeServer, HttpClient, HttpReply, Postgres, plain_http};

use crate::support::{config, names, start, text};

const SECRET: &str = "the same for all replicas of this test";

pub(crate) struct Replica {
    pub(crate) address: SocketAddr,
    pub(crate) stop: CancellationToken,
    pub(crate) serving: JoinHandle<std::io::Result<()>>,
    /// Its own, so that it can be gone all at once.
    runtime: Option<Runtime>,
}

impl Replica {
    pub(crate) async fn start(database: &str, surface: Surface, servers: &[(&str, &FakeServer)]) -> Replica {
        Replica::with(database, config(surface, servers)).await
    }

    pub(crate) async fn with(database: &str, config: Config) -> Replica {
        Replica::on("127.0.0.1:0".parse().unwrap(), database, config).await
    }

    async fn on(address: SocketAddr, database: &str, config: Config) -> Replica {
        let listener = TcpListener::bind(address).await.unwrap();
        let replica = Replica::of(listener, database, config, |_| ());
        replica.until_ready().await;
        replica
    }

    /// One that is set up as `change` has it, and may not be ready.
    pub(crate) fn of(
        listener: TcpListener,
        database: &str,
        config: Config,
        change: impl FnOnce(&mut ClusterSettings),
    ) -> Replica {
        let address = listener.local_addr().unwrap();
        let advertise = format!("http://{address}");
        let mut cluster = ClusterSettings { advertise, listen: None, secret: Secret::new(SECRET) };
        change(&mut cluster);
        let store = StorePlace::Database(DatabaseUrl::parse(database).unwrap());
        let surface = config.surface;
        let config = Config { store: Some(store), cluster: Some(cluster), ..config };
        let (stop, listener) = (CancellationToken::new(), listener.into_std().unwrap());
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build().unwrap();
        let stopped = stop.clone();
        let serving = runtime.spawn(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            serve_http(start(config), surface, listener, stopped).await
        });
        Replica { address, stop, serving, runtime: Some(runtime) }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    pub(crate) async fn until_ready(&self) {
        while self.ready().await != Some(200) {
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    pub(crate) async fn ready(&self) -> Option<u16> {
        let asked = plain_http().get(format!("http://{}/readyz", self.address)).send().await;
        asked.ok().map(|answer| answer.status().as_u16())
    }

    /// Gone without a word, as after `kill -9`: its listener and its connections are closed, and it beats no more.
    pub(crate) async fn die(mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
        while tokio::net::TcpStream::connect(self.address).await.is_ok() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

impl Drop for Replica {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

pub(crate) fn call(tool: &str) -> Value {
    json!({"name": "call_tool", "arguments": {"tool": tool, "arguments": {"text": "hello"}}})
}

/// What one request of a session gets at an address, whatever that is.
pub(crate) async fn raw(url: &str, session: &str, message: Value) -> HttpReply {
    let client = HttpClient::new(url).with_header("mcp-session-id", session);
    client.post(&message.to_string(), Default::default()).await
}

pub(crate) fn ping() -> Value {
    json!({"jsonrpc": "2.0", "id": 1, "method": "ping"})
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_is_answered_wherever_its_requests_arrive() {
    let postgres = Postgres::start();
    let database = postgres.url("wherever");
    let fake = FakeServer::script(json!({"eras": ["legacy"], "tools": ["echo", "ask"],
        "calls": {"ask": {"elicit": {"message": "Which colour?", "requestedSchema": {"type": "object", "properties": {}}}}}}));
    let one = Replica::start(&database, Surface::Lifecycle, &[("fake", &fake)]).await;
    let two = Replica::start(&database, Surface::Lifecycle, &[("fake", &fake)]).await;
    let three = Replica::start(&database, Surface::Lifecycle, &[("fake", &fake)]).await;
    let client = HttpClient::new(one.url()).with_capabilities(json!({"elicitation": {}}));
    client.initialize("2025-11-25").await;
    let (second, third) = (client.at(two.url()), client.at(three.url()));

    let said = second.request("tools/call", json!({"name": "local.echo", "arguments": {"text": "hello"}})).await;
    assert_eq!(text(&said), "hello");
    // What is loaded through one is listed through all.
    third.request("tools/call", json!({"name": "tool_load", "arguments": {"names": ["fake.echo"]}})).await;
    for client in [&client, &second, &third] {
        let list = names(&client.request("tools/list", json!({})).await);
        assert!(list.contains(&"fake__echo".to_owned()), "{list:?}");
    }
    // Asked in the middle of a call that went through the second, and answered through the third.
    let answered = async {
        let question = second.next_request().await;
        third.answer(&question, json!({"action": "accept", "content": {"colour": "blue"}})).await;
    };
    let (result, ()) =
        tokio::join!(second.request("tools/call", json!({"name": "fake.ask", "arguments": {}})), answered);
    assert!(result.to_string().contains("blue"), "{result}");
    assert_eq!(fake.received("tools/call").iter().filter(|call| call.to_string().contains("ask")).count(), 1);

    assert_eq!(third.delete().await, 204);
    for replica in [&one, &two, &three] {
        assert_eq!(raw(&replica.url(), &client.session().unwrap(), ping()).await.status, 404);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_session_goes_on_with_what_it_had_when_its_replica_is_gone() {
    let postgres = Postgres::start();
    let database = postgres.url("gone");
    let fake = FakeServer::script(json!({"eras": ["legacy"], "tools": ["echo", "other"]}));
    let one = Replica::start(&database, Surface::Lifecycle, &[("fake", &fake)]).await;
    let two = Replica::start(&database, Surface::Lifecycle, &[("fake", &fake)]).await;
    let three = Replica::start(&database, Surface::Lifecycle, &[("fake", &fake)]).await;
    let mut clients = Vec::new();
    for _ in 0..5 {
        let client = HttpClient::new(one.url());
        client.initialize("2025-11-25").await;
        client.request("tools/call", json!({"name": "tool_load", "arguments": {"names": ["fake.other"]}})).await;
        clients.push(client);
    }
    one.die().await;
    // Many at once, at both that are left: one of them takes each session over, and all are answered.
    let asked = clients.iter().flat_map(|client| {
        (0..8).map(|n| client.at(if n % 2 == 0 { two.url() } else { three.url() })).collect::<Vec<_>>()
    });
    let lists = asked.map(async |client| names(&client.request("tools/list", json!({})).await));
    for list in futures_util::future::join_all(lists).await {
        assert!(list.contains(&"fake__other".to_owned()), "{list:?}");
    }
    let owners = postgres.sql("gone", "SELECT count(*), max(fence) FROM sessions").unwrap();
    assert_eq!(owners.trim(), "5|2", "each was taken over once");
}

/// Started again where it was killed, it is another one, which nobody has told the others yet: what they send there for the dead one
/// is not for it, and the session goes on.
#[tokio::test(flavor = "multi_thread")]
async fn a_session_goes_on_when_another_replica_is_where_its_own_was() {
    let postgres = Postgres::start();
    let database = postgres.url("again");
    let fake = FakeServer::script(json!({"eras": ["legacy"], "tools": ["echo"]}));
    let config = || config(Surface::Compact, &[("fake", &fake)]);
    let one = Replica::with(&database, config()).await;
    let two = Replica::with(&database, config()).await;
    let client = HttpClient::new(one.url());
    client.initialize("2025-11-25").await;
    client.at(two.url()).request("tools/call", call("fake.echo")).await;
    let address = one.address;
    one.die().await;
    let _again = Replica::on(address, &database, config()).await;
    let answer = client.at(two.url()).request("tools/call", call("fake.echo")).await;
    assert_ne!(answer["isError"], true, "{answer}");
    assert_eq!(fake.received("tools/call").len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_parked_call_goes_on_where_it_is_and_is_made_once() {
    let postgres = Postgres::start();
    let database = postgres.url("parked");
    let fake = FakeServer::script(json!({"eras": ["legacy"], "tools": ["ask"],
        "calls": {"ask": {"elicit": {"message": "Which colour?", "requestedSchema": {"type": "object", "properties": {}}}}}}));
    let one = Replica::start(&database, Surface::Compact, &[("fake", &fake)]).await;
    let two = Replica::start(&database, Surface::Compact, &[("fake", &fake)]).await;
    let client = HttpClient::new(one.url()).with_capabilities(json!({"elicitation": {}}));
    let first = client.modern("tools/call", call("fake.ask")).await;
    assert_eq!(first["resultType"], "input_required", "{first}");
    let mut again = call("fake.ask");
    again["requestState"] = first["requestState"].clone();
    again["inputResponses"] = json!({"0": {"action": "accept", "content": {"colour": "blue"}}});
    let last = client.at(two.url()).modern("tools/call", again.clone()).await;
    assert!(last.to_string().contains("blue"), "{last}");
    assert_eq!(fake.received("tools/call").len(), 1);
    // Where its replica is gone, so is the call, and the client is told to begin again.
    let first = client.modern("tools/call", call("fake.ask")).await;
    one.die().await;
    again["requestState"] = first["requestState"].clone();
    let told = client.at(two.url()).modern("tools/call", again).await;
    assert!(told.to_string().contains("gain"), "{told}");
    assert_eq!(fake.received("tools/call").len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_speaks_for_a_replica_and_no_id_can_be_made_up() {
    let postgres = Postgres::start();
    let database = postgres.url("forged");
    let one = Replica::start(&database, Surface::Compact, &[]).await;
    let two = Replica::start(&database, Surface::Compact, &[]).await;
    let client = HttpClient::new(one.url());
    client.initialize("2025-11-25").await;
    let session = client.session().unwrap();
    let mut forged = session.clone().into_bytes();
    forged[3] ^= 1;
    let forged = String::from_utf8(forged).unwrap();
    for id in [forged.as_str(), "", "nonsense", &"A".repeat(54), &"A".repeat(5000)] {
        for replica in [&one, &two] {
            let status = raw(&replica.url(), id, ping()).await.status;
            assert!(matches!(status, 400 | 404), "{status} for {id:?}");
        }
    }
    for voucher in ["", "x", "toolfold-state.e30.AAAA", "toolfold-state.OTk5OTk5OTk5OQp7fQ.AAAA"] {
        let client = HttpClient::new(two.url())
            .with_header("toolfold-voucher", voucher)
            .with_header("toolfold-body", &"00".repeat(32));
        assert_eq!(client.post(&ping().to_string(), Default::default()).await.status, 403, "{voucher:?}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replica_that_is_to_end_says_so_hands_over_and_finishes_what_it_does() {
    let postgres = Postgres::start();
    let database = postgres.url("drained");
    let fake =
        FakeServer::script(json!({"eras": ["legacy"], "tools": ["slow"], "calls": {"slow": {"delay_ms": 4000}}}));
    let mut one = Replica::start(&database, Surface::Compact, &[("fake", &fake)]).await;
    let two = Replica::start(&database, Surface::Compact, &[("fake", &fake)]).await;
    let (busy, idle) = (HttpClient::new(one.url()), HttpClient::new(one.url()));
    busy.initialize("2025-11-25").await;
    idle.initialize("2025-11-25").await;
    let slow = busy.request("tools/call", call("fake.slow"));
    let ending = async {
        while fake.received("tools/call").is_empty() {
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        one.stop.cancel();
        while one.ready().await == Some(200) {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        assert_eq!(one.ready().await, Some(503), "it still answers, and says that it ends");
        // The one nobody used goes on elsewhere, also where it is asked for at its old place.
        for _ in 0..2 {
            assert_eq!(idle.request("ping", json!({})).await, json!({}));
            assert_eq!(idle.at(two.url()).request("ping", json!({})).await, json!({}));
        }
    };
    let (slow, ()) = tokio::join!(slow, ending);
    assert_ne!(slow["isError"], true, "{slow}");
    (&mut one.serving).await.unwrap().unwrap();
    assert_eq!(busy.at(two.url()).request("ping", json!({})).await, json!({}));
    let left = postgres.sql("drained", "SELECT count(*) FROM replicas").unwrap();
    assert_eq!(left.trim(), "1");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_the_database_everything_goes_on_but_moving() {
    let mut postgres = Postgres::start();
    let database = postgres.url("away");
    let one = Replica::start(&database, Surface::Compact, &[]).await;
    let two = Replica::start(&database, Surface::Compact, &[]).await;
    let client = HttpClient::new(one.url());
    client.initialize("2025-11-25").await;
    postgres.stop();
    // At its owner, and by way of the other.
    for client in [client.at(one.url()), client.at(two.url())] {
        assert_eq!(text(&client.request("tools/call", call("local.echo")).await), "hello");
        assert_eq!(text(&client.modern("tools/call", call("local.echo")).await), "hello");
    }
    let late = HttpClient::new(two.url());
    late.initialize("2025-11-25").await;
    assert_eq!(late.request("ping", json!({})).await, json!({}));
    let session = client.session().unwrap();
    one.die().await;
    let told = raw(&two.url(), &session, ping()).await;
    assert_eq!((told.status, told.header("retry-after")), (503, Some("1")), "{}", told.body);
    postgres.go_on();
    loop {
        let told = raw(&two.url(), &session, ping()).await;
        if told.status == 200 {
            break;
        }
        assert_eq!(told.status, 503, "{}", told.body);
        tokio::time::sleep(Duration::from_millis(100)).await;
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn two_replicas_share_one_limit() {
    let postgres = Postgres::start();
    let database = postgres.url("shared");
    let limited = || {
        let mut limited = config(Surface::Compact, &[]);
        limited.limits.calls = Some(Rate { count: 600, per: Duration::from_secs(24 * 3600) });
        limited
    };
    let (one, two) = (Replica::with(&database, limited()).await, Replica::with(&database, limited()).await);
    // How many are let through until the first that is not.
    let let_through = async |replica: &Replica| {
        let client = HttpClient::new(replica.url());
        for count in 0.. {
            let answer = client.modern("tools/call", call("local.echo")).await;
            if answer["isError"] == true {
                assert!(answer.to_string().contains("RATE_LIMITED"), "{answer}");
                return count;
            }
        }
        unreachable!("there is a limit")
    };
    let first = let_through(&one).await;
    assert!((300..=602).contains(&first), "{first} of 600");
    // The other has its own part at the most, and what it handed out before it heard that nothing is left.
    let second = let_through(&two).await;
    assert!(second <= 300 && first + second <= 902, "{second} after {first} of 600");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_kept_result_is_read_wherever_it_is_asked_for_and_by_nobody_else() {
    let postgres = Postgres::start();
    let database = postgres.url("kept");
    let fake = FakeServer::script(json!({"eras": ["legacy"], "tools": ["big"], "calls": {"big": {"big": 300_000}}}));
    let with_token = || {
        let mut closed = config(Surface::Compact, &[("fake", &fake)]);
        (closed.http.token, closed.http.local) = (Some(Secret::new("owners-token-of-this-test")), Some(true));
        closed
    };
    let one = Replica::with(&database, with_token()).await;
    let two = Replica::with(&database, with_token()).await;
    let client = HttpClient::new(one.url());
    let told = client.modern("tools/call", call("fake.big")).await;
    let address = told["content"][1]["uri"].as_str().unwrap_or_else(|| panic!("{told}")).to_owned();
    let read = |client: HttpClient, address: String| async move {
        let arguments = json!({"tool": "results.read", "arguments": {"result": address, "limit": 1}});
        client.modern("tools/call", json!({"name": "call_tool", "arguments": arguments})).await
    };
    let here = read(client.at(one.url()), address.clone()).await;
    assert_ne!(here["isError"], true, "{here}");
    assert_eq!(text(&read(client.at(two.url()), address.clone()).await), text(&here));
    let whole = client.at(two.url()).modern("resources/read", json!({"uri": address})).await;
    assert_eq!(whole["contents"][0]["text"].as_str().map(str::len), Some(300_000));
    // In the hands of somebody else it is unknown there too, and so is one that its replica does not have.
    let stranger = HttpClient::new(two.url()).with_header("authorization", "Bearer owners-token-of-this-test");
    let refused = read(stranger, address.clone()).await;
    assert_eq!(refused["isError"], true, "{refused}");
    let mut wrong = address.clone();
    wrong.replace_range(address.len() - 20..address.len() - 18, "zz");
    assert_eq!(read(client.at(two.url()), wrong).await["isError"], true);
    one.die().await;
    assert_eq!(read(client.at(two.url()), address).await["isError"], true);
}
