//! Changes are told in order, and so many of them can come at once that whoever tells them does not keep up. A server that
//! talks without end must not have its way with what others have to say.

use std::sync::{Arc, mpsc};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::runtime::{Builder, Runtime};
use tokio::sync::broadcast::error::RecvError;
use tokio::sync::oneshot;
use toolfold_core::{Principal, Surface};
use toolfold_gateway::{Advertised, Change, Client, Gateway, Request, TOOLS_CHANGED};
use toolfold_test::{FakeServer, HttpClient};
use toolfold_wire::{Object, Silent};

use crate::support::{Pipe, all_settled, config, over_http, start};

/// More than are kept for somebody who does not keep up.
const UPDATES: usize = 300;
const LONGEST: Duration = Duration::from_secs(20);

/// A thread for what serves clients, which can be held up: the gateway goes on meanwhile.
struct Serving(Option<Runtime>);

impl Serving {
    fn begin() -> Self {
        Serving(Some(Builder::new_multi_thread().worker_threads(1).enable_all().build().unwrap()))
    }

    async fn run<T: Send + 'static>(&self, work: impl Future<Output = T> + Send + 'static) -> T {
        self.0.as_ref().unwrap().spawn(work).await.unwrap()
    }

    /// Holds the thread up until what this gives back is dropped.
    async fn hold_up(&self) -> mpsc::Sender<()> {
        let (hold, held) = mpsc::channel();
        let (arrive, arrived) = oneshot::channel();
        self.0.as_ref().unwrap().spawn(async move {
            arrive.send(()).unwrap();
            let _ = held.recv();
        });
        arrived.await.unwrap();
        hold
    }
}

impl Drop for Serving {
    fn drop(&mut self) {
        self.0.take().unwrap().shutdown_background();
    }
}

async fn ask(gateway: &Gateway, client: &Arc<Client>, method: &str, params: Value) {
    let request = Request::new(client.clone(), Arc::new(Silent), method, Object::of(&params));
    gateway.handle(request).await.unwrap();
}

#[tokio::test]
async fn who_cannot_keep_up_hears_that_every_list_may_have_changed() {
    let said = ("notifications/resources/updated", json!({"uri": "x://a"}));
    let chatty = FakeServer::script(json!({
        "eras": ["legacy"],
        "tools": ["talk"], "resources": [{"uri": "x://a", "name": "a"}],
        "calls": {"talk": {"notify": vec![said; UPDATES]}},
    }));
    let other = FakeServer::script(json!({"tools": ["grow"], "calls": {"grow": {"list_changed": "grown"}}}));
    let gateway = start(config(Surface::Direct, &[("chatty", &chatty), ("other", &other)]));
    all_settled(&gateway).await;

    let serving = Serving::begin();
    let url = format!("http://{}/mcp", serving.run(over_http(gateway.clone(), Surface::Direct)).await);
    let (session, stateless) = (HttpClient::new(&url), HttpClient::new(&url));
    session.initialize("2025-11-25").await;
    session.open_stream().await;
    stateless.listen(json!({"toolsListChanged": true})).await;
    let served = gateway.clone();
    let mut pipe = serving.run(async move { Pipe::to(served, Surface::Direct) }).await;
    pipe.initialize("2025-11-25").await;

    let held_up = serving.hold_up().await;
    let mut changes = gateway.changes();
    let caller = Arc::new(Client::session(Principal::local(), Surface::Direct, None, Advertised::ALL));
    ask(&gateway, &caller, "resources/subscribe", json!({"uri": "x://a"})).await;
    ask(&gateway, &caller, "tools/call", json!({"name": "other__grow", "arguments": {}})).await;
    while !matches!(changes.recv().await, Ok(Change::Tools { .. })) {}
    ask(&gateway, &caller, "tools/call", json!({"name": "chatty__talk", "arguments": {}})).await;
    let mut updates = 0;
    while updates < UPDATES {
        updates += match changes.recv().await {
            Ok(change) => usize::from(matches!(change, Change::Resource { .. })),
            Err(RecvError::Lagged(missed)) => missed as usize,
            Err(RecvError::Closed) => panic!("the gateway has ended"),
        };
    }
    drop(held_up);

    let heard = async { while pipe.receive().await["method"] != TOOLS_CHANGED {} };
    assert!(tokio::time::timeout(LONGEST, heard).await.is_ok(), "the client on stdio does not hear of it");
    session.next_notification(TOOLS_CHANGED).await;
    stateless.next_notification(TOOLS_CHANGED).await;
}
