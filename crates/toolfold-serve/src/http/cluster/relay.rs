//! Requests of other replicas for a server that runs here alone. The path says which, and under which lease: what was meant for
//! another holder is sent back unread, and whoever sent it looks again.
//!
//! It is MCP of the stateless era, as if the server spoke it over HTTP itself, questions and subscriptions included.

use std::sync::Arc;

use hyper::http::request::Parts;
use hyper::{Method, StatusCode};
use toolfold_access::BodyHash;
use toolfold_core::{ServerName, Surface};
use toolfold_wire::Message;

use super::super::accept::Accepts;
use super::super::body::Coming;
use super::super::failure::without_body;
use super::super::post::Caller;
use super::super::reply::{Reply, empty_response, error_response};
use super::super::routes::not_allowed;
use super::super::{App, Whom, body, not_believed, stateless};
use super::adopt::misdirected;
use crate::apart::apart;
use crate::asking::{Asking, is_notification};
use crate::stateless::Asker;

/// Answers for the server that `path` names, after the prefix of such paths.
pub(crate) async fn answer(app: &Arc<App>, whom: Whom, parts: Parts, body: Coming, path: &str) -> Reply {
    let named = path.split_once('/').and_then(|(name, fence)| Some((ServerName::new(name).ok()?, fence.parse().ok()?)));
    let (Some((server, fence)), true) = (named, parts.method == Method::POST) else { return not_allowed("POST") };
    let bytes = match body::read(app, &parts.headers, body).await {
        Ok(bytes) => bytes,
        Err(why) => {
            let (status, error) = without_body(why);
            return error_response(status, None, error);
        }
    };
    if whom.passed.is_none_or(|word| word != BodyHash::of(&bytes)) {
        return not_believed().reply(&parts.method, parts.uri.path());
    }
    if !app.gateway.relay().takes(&server, fence).await {
        return misdirected();
    }
    let size = bytes.len();
    let message = apart(size, move || Message::parse_all(bytes)).await.and_then(|mut messages| messages.pop());
    match message {
        Some(Ok(Message::Request { id, method, params })) => {
            match apart(size, move || Asking::read(id, method, params.as_ref())).await {
                Some(Ok(asking)) => {
                    let Whom { principal, peer, passed } = whom;
                    // A replica does not see a surface: it asks for what the server calls its tools.
                    let caller = Caller { principal, peer, surface: Surface::Direct, passed };
                    let asker = Asker { relayed: Some(server), ..caller.asker(app) };
                    let accepts = Accepts::read(&parts.headers);
                    Box::pin(stateless::request(app, asker, &parts.headers, accepts, asking)).await
                }
                Some(Err((id, error))) => error_response(StatusCode::BAD_REQUEST, id, error),
                None => empty_response(StatusCode::INTERNAL_SERVER_ERROR),
            }
        }
        Some(Ok(Message::Notification { method, params })) if is_notification(&method) => {
            app.gateway.relay().notify(&server, &method, params).await;
            empty_response(StatusCode::ACCEPTED)
        }
        _ => empty_response(StatusCode::BAD_REQUEST),
    }
}
