//! Who is connected, as a person sees it.

use hyper::StatusCode;
use serde_json::{Value, json};
use toolfold_core::{Principal, shown_line};
use toolfold_gateway::{Carriage, Visitor};

use crate::http::App;
use crate::http::reply::{Reply, json_response};
use crate::text::shown;

/// Clients that are told of; of the others there is the number.
const MOST: usize = 100;

/// Whoever asked last first.
pub(crate) fn clients(app: &App, principal: &Principal) -> Reply {
    let all = app.gateway.clients().seen_by(principal);
    let told: Vec<Value> = all.iter().take(MOST).map(described).collect();
    json_response(StatusCode::OK, json!({"total": all.len(), "clients": told}).to_string())
}

fn described(visitor: &Visitor) -> Value {
    let line = |text: &str| shown(&shown_line(text)).into_owned();
    json!({
        "client": line(&visitor.name),
        "principal": line(visitor.principal.name()),
        "transport": if visitor.by.transport == Carriage::PIPE { "stdio" } else { "http" },
        "protocol": visitor.by.version,
        "era": if visitor.has_session { "session" } else { "stateless" },
        "surface": visitor.surface,
        "since": visitor.since,
        "seen": visitor.seen,
        "calls": visitor.calls,
    })
}
