//! What is held, over HTTP: looking at it, approving and refusing it.

use bytes::Bytes;
use hyper::StatusCode;
use serde::Deserialize;
use serde_json::json;
use toolfold_core::{Code, Principal, Refusal};
use toolfold_gateway::{Decision, Undecided};

use super::App;
use super::failure::refused;
use super::reply::{Reply, json_response};
use crate::text::{shown as cut, whole};

const USUAL_LIMIT: usize = 100;
const LARGEST_LIMIT: usize = 1000;

/// What is decided.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Choice {
    /// As they are listed; with `@` and a fingerprint that very definition is meant.
    #[serde(default)]
    ids: Vec<String>,
    #[serde(default)]
    server: Option<String>,
    #[serde(default)]
    all: bool,
    #[serde(default)]
    deny: bool,
}

/// A page of it: `?server=…&limit=…&offset=…`.
pub(super) async fn list(app: &App, principal: &Principal, query: &str) -> Reply {
    let (mut server, mut limit, mut offset) = (None, USUAL_LIMIT, 0);
    for (key, value) in url::form_urlencoded::parse(query.as_bytes()) {
        let number = whole(&value);
        match (&*key, number) {
            ("server", _) => server = Some(value.into_owned()),
            ("limit", Some(number)) => limit = number.clamp(1, LARGEST_LIMIT),
            ("offset", Some(number)) => offset = number,
            _ => {
                let message =
                    format!("The parameter {:?} is not one of server, limit and offset, or no number.", cut(&key));
                return refused(&Refusal::new(Code::InvalidRequest, message));
            }
        }
    }
    let list = match app.gateway.approvals().page(principal, server, offset, limit).await {
        Ok(list) => json!(list).to_string(),
        Err(refusal) => return refused(&refusal),
    };
    match app.budget.answer(list) {
        Some(body) => json_response(StatusCode::OK, body),
        None => refused(&Refusal::new(Code::RateLimited, "Too many large answers are waiting to be read.")),
    }
}

pub(super) async fn decide(app: &App, principal: Principal, bytes: &Bytes) -> Reply {
    let choice: Choice = match serde_json::from_slice(bytes) {
        Ok(choice) => choice,
        Err(error) => {
            let message = format!(
                "The body must be {{\"ids\": […]}}, {{\"server\": \"…\"}} or {{\"all\": true}}, and \"deny\" where it is refused: {error}."
            );
            return refused(&Refusal::new(Code::InvalidRequest, message));
        }
    };
    let Choice { ids, server, all, deny } = choice;
    if ids.len() > LARGEST_LIMIT {
        let message = format!("At most {LARGEST_LIMIT} ids at a time; a whole server is named with `server`.");
        return refused(&Refusal::new(Code::InvalidRequest, message));
    }
    if ids.is_empty() && server.is_none() && !all {
        return refused(&Refusal::new(Code::InvalidRequest, "Nothing is named: give `ids`, a `server`, or `all`."));
    }
    let decision = Decision { ids, servers: server.into_iter().collect(), all, deny, by: principal };
    match app.gateway.approvals().decide(decision).await {
        Ok(decided) if decided.unknown.is_empty() => {
            let verb = if deny { "denied" } else { "approved" };
            json_response(StatusCode::OK, json!({ verb: decided.ids }).to_string())
        }
        Ok(decided) => {
            let unknown: Vec<_> = decided.unknown.iter().map(|id| cut(id)).collect();
            let message = format!("Nothing was changed: {} is not held, or not as it was.", unknown.join(", "));
            refused(&Refusal::new(Code::ToolNotFound, message).hint("GET /v1/approvals lists what is held."))
        }
        Err(why) => {
            let mut refusal = Refusal::new(Code::ServerUnavailable, "What was decided could not be written down.");
            if let Undecided::Store(error) = &why {
                refusal = refusal.hint(error.hint());
            }
            tracing::error!("a decision could not be written down: {why}");
            refused(&refusal)
        }
    }
}
