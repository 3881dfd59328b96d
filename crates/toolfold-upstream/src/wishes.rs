//! What a fresh connection is told and asked beside the calls: the log level, the subscriptions, and in the stateless
//! era one long request through which the server announces changes. All of it is a convenience; none of it may fail
//! a connection.

use std::collections::BTreeSet;
use std::sync::Arc;

use serde_json::json;
use toolfold_core::shown_line;
use toolfold_wire::{Era, Object, Raw};

use crate::backoff::Backoff;
use crate::call::CallError;
use crate::closing::Failure;
use crate::connection::Connection;
use crate::sent::{Params, Request};
use crate::shared::Stale;

/// Keeps a connection's wishes known to the server, for as long as the connection lasts.
pub(crate) async fn attend(connection: Arc<Connection>, capabilities: Option<Raw>) {
    let can = capabilities.as_ref().and_then(Object::parse).unwrap_or_default();
    let attending = async {
        match connection.era {
            Era::Legacy => greet_again(&connection, &can).await,
            Era::Modern => listen(&connection, &can).await,
        }
    };
    tokio::select! {
        () = attending => {}
        () = connection.closed() => {}
    }
}

/// A legacy server forgot both with the connection before this one.
async fn greet_again(connection: &Arc<Connection>, can: &Object) {
    if let Some(level) = connection.shared.log_level().filter(|_| can.contains("logging")) {
        let _ = set_log_level(connection, &level).await;
    }
    let subscriptions = connection.shared.subscriptions.borrow().clone();
    for uri in subscriptions {
        if let Err(error) = subscribe(connection, &uri).await {
            let server = &connection.shared.config.name;
            tracing::warn!(%server, error = %shown_line(&error.to_string()), "a subscription could not be renewed");
        }
    }
}

pub(crate) async fn set_log_level(connection: &Arc<Connection>, level: &str) -> Result<(), CallError> {
    short_request(connection, "logging/setLevel", Object::new().with("level", level)).await
}

pub(crate) async fn subscribe(connection: &Arc<Connection>, uri: &str) -> Result<(), CallError> {
    short_request(connection, "resources/subscribe", Object::new().with("uri", uri)).await
}

pub(crate) async fn unsubscribe(connection: &Arc<Connection>, uri: &str) -> Result<(), CallError> {
    short_request(connection, "resources/unsubscribe", Object::new().with("uri", uri)).await
}

async fn short_request(connection: &Arc<Connection>, method: &str, params: Object) -> Result<(), CallError> {
    let after = connection.shared.config.timeouts.call;
    let request = Request { method, params: Params::Lent(&params), ..Request::default() };
    let answer = tokio::time::timeout(after, connection.request(request)).await;
    answer.map_err(|_| CallError::Timeout { after })?.map(drop).map_err(|failure| failure.into_call_error())
}

/// `subscriptions/listen`, asked again when it ends and when the set of resources changes.
async fn listen(connection: &Arc<Connection>, can: &Object) {
    let mut wanted = connection.shared.subscriptions.subscribe();
    let mut backoff = Backoff::default();
    loop {
        let filter = filter(can, &wanted.borrow_and_update());
        let began = tokio::time::Instant::now();
        let ended = async {
            match filter {
                Some(filter) => listen_once(connection, &filter).await,
                None => std::future::pending().await,
            }
        };
        let outcome = tokio::select! {
            outcome = ended => outcome,
            changed = wanted.changed() => match changed {
                Ok(()) => continue,
                Err(_) => return,
            },
        };
        if let Err(CallError::Answered(error)) = outcome {
            let server = &connection.shared.config.name;
            tracing::debug!(%server, error = %shown_line(&error.to_string()), "the server announces no changes");
            // It will not change its mind, but a subscription may make it worth asking again.
            if wanted.changed().await.is_err() {
                return;
            }
            continue;
        }
        backoff.lived(began.elapsed());
        tokio::time::sleep(backoff.fail()).await;
        // What changed while nobody listened was not announced.
        connection.shared.stale.mark(Stale::ALL);
    }
}

async fn listen_once(connection: &Arc<Connection>, filter: &Object) -> Result<(), CallError> {
    let request = Request {
        method: "subscriptions/listen",
        params: Params::Lent(filter),
        background: true,
        ..Request::default()
    };
    connection.request(request).await.map(drop).map_err(Failure::into_call_error)
}

/// What to listen for; `None` where the server announces nothing.
fn filter(can: &Object, resources: &BTreeSet<String>) -> Option<Object> {
    let announces = |part: &str| can.object(part).and_then(|part| part.read("listChanged")).unwrap_or(false);
    let mut wishes = serde_json::Map::new();
    for (part, wish) in
        [("tools", "toolsListChanged"), ("prompts", "promptsListChanged"), ("resources", "resourcesListChanged")]
    {
        if announces(part) {
            wishes.insert(wish.to_owned(), json!(true));
        }
    }
    if !resources.is_empty() {
        wishes.insert("resourceSubscriptions".to_owned(), json!(resources));
    }
    (!wishes.is_empty()).then(|| Object::new().with("notifications", &wishes))
}
