//! Results that are kept by another replica than the one that is asked to read on in them: fetched from there, whole, and read here.

use std::sync::Arc;
use std::time::Duration;

use hyper::http::request::Parts;
use hyper::{Method, StatusCode};
use serde::{Deserialize, Serialize};
use toolfold_access::{BodyHash, Passed, ReplicaId};
use toolfold_core::Principal;
use toolfold_gateway::{Notation, OtherShelves, Shelved, seconds_now};
use toolfold_http::{Target, header_lines};
use toolfold_wire::BoxFuture;
use tracing::debug;

use super::super::body::Coming;
use super::super::reply::{Reply, empty_response, json_response};
use super::super::{App, Whom, body, not_believed};
use super::Replicas;

/// Where replicas ask each other for them.
pub(crate) const RESULTS: &str = "/toolfold/results";
/// They are near, and it is in their memory or on their disk.
const PATIENCE: Duration = Duration::from_secs(15);
/// No result that is kept is longer, whatever the other one is set to.
const LONGEST: usize = 512 * 1024 * 1024;

#[derive(Serialize, Deserialize)]
struct Sheet {
    json: bool,
    tool: String,
    text: String,
}

impl OtherShelves for Replicas {
    fn fetch<'a>(&'a self, from: &'a str, principal: &'a Principal, handle: &'a str) -> BoxFuture<'a, Option<Shelved>> {
        Box::pin(async move {
            let from = ReplicaId::parse(from)?;
            let address = self.members.address(from)?;
            let target = Target::parse(&format!("{address}{RESULTS}")).ok()?;
            let passed = Passed { to: from, method: "POST", path: RESULTS, body: &BodyHash::of(handle.as_bytes()) };
            let word = self.standing.headers(passed, principal, "0.0.0.0", seconds_now());
            let headers = header_lines(word).collect();
            let asked = self.client.fetch(&target, Method::POST, headers, handle.as_bytes().to_vec(), LONGEST);
            match tokio::time::timeout(PATIENCE, asked).await {
                Ok(Ok(fetched)) if fetched.status == 200 => {
                    let Sheet { json, tool, text } = serde_json::from_slice(&fetched.body).ok()?;
                    Some(Shelved { format: if json { Notation::Json } else { Notation::Text }, text, tool })
                }
                Ok(Err(error)) => {
                    debug!(replica = %from, %error, "a kept result cannot be fetched");
                    None
                }
                _ => None,
            }
        })
    }
}

/// Answers another replica that asks for a result kept here.
pub(crate) async fn answer(app: &Arc<App>, whom: Whom, parts: Parts, body: Coming) -> Reply {
    let Ok(bytes) = body::read(app, &parts.headers, body).await else {
        return empty_response(StatusCode::BAD_REQUEST);
    };
    if parts.method != Method::POST || whom.passed.is_none_or(|word| word != BodyHash::of(&bytes)) {
        return not_believed().reply(&parts.method, parts.uri.path());
    }
    let handle = String::from_utf8_lossy(&bytes);
    match app.gateway.relay().kept(&whom.principal, &handle).await {
        Some(Shelved { format, text, tool }) => {
            let sheet = Sheet { json: format == Notation::Json, tool, text };
            json_response(StatusCode::OK, serde_json::to_string(&sheet).unwrap_or_default())
        }
        None => empty_response(StatusCode::NOT_FOUND),
    }
}
