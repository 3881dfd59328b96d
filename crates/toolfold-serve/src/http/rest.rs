//! The HTTP API: the verbs of the `ontology` surface as endpoints, for programs that do not speak MCP, and what the page
//! looks at.
//!
//! What a reader would get wrong: nothing is decided here. The body of a verb, if it is as it is described, becomes a call of the
//! meta-tool of that name, and what comes back is its answer, or the refusal with a status.

use std::sync::Arc;

use bytes::Bytes;
use hyper::header::{self, HeaderValue};
use hyper::http::request::Parts;
use hyper::{Method, StatusCode};
use serde_json::json;
use toolfold_core::{Code, Principal, Refusal, Surface};
use toolfold_gateway::{Client, Failed};
use toolfold_wire::{Object, Raw, RpcError, Silent, raw};

use super::body::Coming;
use super::failure::{failed, refused, refused_body};
use super::reply::{Reply, json_response};
use super::{App, approvals, body, described, overview, page};
use crate::apart::apart;
use crate::running::until_cancelled;
use crate::text::shown;

pub(super) const VERBS: [&str; 5] = ["list", "search_tool_by_category", "search_nodes", "expand_tool", CALL];
const CALL: &str = "call_tool";
/// What a person or a program may look at.
pub(super) const VIEWS: [&str; 8] = ["status", "tools", "tree", "stats", "servers", "clients", "calls", "tokens"];
/// What is looked at and decided about.
pub(super) const APPROVALS: &str = "approvals";
/// What the page asks beside: the reasons of a search, an entry at every level, and servers to be started and stopped.
pub(super) const QUESTIONS: [&str; 4] = ["explain", "levels", START, STOP];
const START: &str = "start_server";
const STOP: &str = "stop_server";

/// Everything below `/v1`, described: what `/openapi.json` answers with.
pub const OPENAPI: &str = include_str!("openapi.json");

/// Answers what is below `/v1`.
pub(crate) async fn answer(app: &App, principal: Principal, parts: Parts, body: Coming) -> Reply {
    let name = parts.uri.path().strip_prefix("/v1/").unwrap_or_default();
    let looks = parts.method == Method::GET || parts.method == Method::HEAD;
    if let Some(verb) = VERBS.into_iter().find(|verb| *verb == name) {
        if parts.method != Method::POST {
            return wrong_method(&parts, "POST");
        }
        return match body::read(app, &parts.headers, body).await {
            Ok(bytes) => perform(app, principal, verb, bytes).await,
            Err(why) => refused_body(why),
        };
    }
    if name == APPROVALS && parts.method == Method::POST {
        if let Err(refused) = app.guard.may_change(&principal, &parts.headers) {
            return refused.reply(&parts.method, parts.uri.path());
        }
        return match body::read(app, &parts.headers, body).await {
            Ok(bytes) => approvals::decide(app, principal, &bytes).await,
            Err(why) => refused_body(why),
        };
    }
    if let Some(question) = QUESTIONS.into_iter().find(|question| *question == name) {
        return Box::pin(ask(app, principal, question, parts, body)).await;
    }
    match name {
        APPROVALS if looks => approvals::list(app, &principal, parts.uri.query().unwrap_or_default()).await,
        APPROVALS => wrong_method(&parts, "GET, POST"),
        _ if !VIEWS.contains(&name) => nothing_here(),
        _ if !looks => wrong_method(&parts, "GET"),
        "status" => overview::status(app, principal).await,
        "tools" => overview::tools(app, principal, parts.uri.query().unwrap_or_default()).await,
        "tree" => overview::tree(app, principal).await,
        "servers" => page::servers(app, principal).await,
        "clients" => page::clients(app, &principal),
        "calls" => page::calls(app, principal, &parts.headers),
        "tokens" => page::tokens(app, principal).await,
        _ => overview::stats(app, principal).await,
    }
}

async fn ask(app: &App, principal: Principal, question: &str, parts: Parts, body: Coming) -> Reply {
    if parts.method != Method::POST {
        return wrong_method(&parts, "POST");
    }
    if [START, STOP].contains(&question)
        && let Err(refused) = app.guard.may_change(&principal, &parts.headers)
    {
        return refused.reply(&parts.method, parts.uri.path());
    }
    let asked = match body::read(app, &parts.headers, body).await {
        Ok(bytes) => arguments(question, bytes),
        Err(why) => return refused_body(why),
    };
    match asked {
        Err(refusal) => refused(&refusal),
        Ok(asked) => match question {
            START => page::start(app, &asked).await,
            STOP => page::stop(app, &asked).await,
            "levels" => page::levels(app, principal, &asked).await,
            _ => page::explain(app, principal, &asked).await,
        },
    }
}

async fn perform(app: &App, principal: Principal, verb: &'static str, bytes: Bytes) -> Reply {
    let arguments = match apart(bytes.len(), move || arguments(verb, bytes)).await {
        Some(Ok(arguments)) => arguments,
        Some(Err(refusal)) => return refused(&refusal),
        None => return refused(&Refusal::new(Code::InvalidRequest, "The body could not be read.")),
    };
    let mut params = Object::new().with("name", verb);
    params.set_raw("arguments", arguments);
    let client = Arc::new(Client::inside(principal, Surface::Ontology));
    let asked = params.clone();
    let request = toolfold_gateway::Request::new(client.clone(), Arc::new(Silent), "tools/call", params);
    // A client that goes away drops this future, and with it its call.
    let stopped = || Err(Failed::Answered(RpcError::internal("Toolfold is being stopped.")));
    let outcome = until_cancelled(app.gateway.call(request), &app.end).await.unwrap_or_else(stopped);
    match outcome {
        Ok(result) => match app.budget.answer(body_of(verb, result).into_bytes()) {
            Some(body) => json_response(StatusCode::OK, body),
            None => refused(&Refusal::new(Code::RateLimited, "Too many large answers are waiting to be read.")),
        },
        Err(Failed::Refused(refusal)) if refusal.code == Code::NotAuthorized => {
            let mut reply = refused(&refusal);
            if let Some(challenge) = lacking(app, &client, &asked).await {
                reply.headers_mut().insert(header::WWW_AUTHENTICATE, challenge);
            }
            reply
        }
        Err(Failed::Refused(refusal)) => refused(&refusal),
        Err(Failed::Answered(error)) => failed(&error),
    }
}

/// What to ask an issuer for, where another token of the same person would do.
async fn lacking(app: &App, client: &Client, params: &Object) -> Option<HeaderValue> {
    let scope = app.gateway.access().scope_wanted(client, "tools/call", params).await?;
    HeaderValue::try_from(app.identities.challenge_for("/mcp", &scope)).ok()
}

/// The body as an object; none at all asks for everything.
fn arguments(endpoint: &str, bytes: Bytes) -> Result<Raw, Refusal> {
    let wrong = || Refusal::new(Code::InvalidRequest, "The body must be one JSON object.");
    if bytes.iter().all(u8::is_ascii_whitespace) {
        return Ok(raw(&json!({})));
    }
    let body = Raw::parse(bytes).ok().filter(|body| body.get().starts_with('{')).ok_or_else(wrong)?;
    described::check(endpoint, &body).map(|()| body)
}

/// A tool's result is passed on whole. Of our own answers the JSON is the body; the text beside it says the same.
fn body_of(verb: &str, result: Raw) -> Raw {
    let own = Object::parse(&result).filter(|_| verb != CALL).and_then(|mut object| object.remove("structuredContent"));
    own.unwrap_or(result)
}

fn wrong_method(parts: &Parts, right: &'static str) -> Reply {
    let message = format!("{} does not take {}: use {right}.", shown(parts.uri.path()), shown(parts.method.as_str()));
    let refusal = Refusal::new(Code::InvalidRequest, message);
    let mut response = json_response(StatusCode::METHOD_NOT_ALLOWED, refusal.to_json().to_string());
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(right));
    response
}

fn nothing_here() -> Reply {
    let posts = VERBS.iter().chain(&QUESTIONS).map(|verb| format!("POST /v1/{verb}"));
    let all = posts.chain(VIEWS.iter().map(|view| format!("GET /v1/{view}")));
    let all = all.chain([format!("GET, POST /v1/{APPROVALS}")]);
    let refusal =
        Refusal::new(Code::InvalidRequest, "There is no such endpoint. /openapi.json describes those there are.");
    json_response(StatusCode::NOT_FOUND, refusal.hints(all).to_json().to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn the_description_covers_every_endpoint_and_no_other() {
        let document: Value = serde_json::from_str(OPENAPI).unwrap();
        assert_eq!(document["openapi"], "3.1.0");
        let mut described: Vec<String> = Vec::new();
        for (path, methods) in document["paths"].as_object().unwrap() {
            described.extend(methods.as_object().unwrap().keys().map(|method| format!("{method} {path}")));
        }
        let verbs = VERBS.iter().chain(&QUESTIONS).map(|verb| format!("post /v1/{verb}"));
        let views = VIEWS.iter().map(|view| format!("get /v1/{view}"));
        let approvals = ["get", "post"].map(|method| format!("{method} /v1/{APPROVALS}"));
        let mut expected: Vec<String> = verbs.chain(views).chain(approvals).collect();
        described.sort();
        expected.sort();
        assert_eq!(described, expected);
    }

    #[test]
    fn every_reference_of_the_description_leads_somewhere() {
        let document: Value = serde_json::from_str(OPENAPI).unwrap();
        let mut pending = vec![&document];
        let mut seen = 0;
        while let Some(value) = pending.pop() {
            if let Some(reference) = value.get("$ref").and_then(Value::as_str) {
                let pointer = reference.strip_prefix('#').unwrap();
                assert!(document.pointer(pointer).is_some(), "{reference}");
                seen += 1;
            }
            pending.extend(value.as_object().into_iter().flat_map(|members| members.values()));
            pending.extend(value.as_array().into_iter().flatten());
        }
        assert!(seen > 10);
    }

    #[test]
    fn every_operation_has_a_name_of_its_own_and_an_error_answer() {
        let document: Value = serde_json::from_str(OPENAPI).unwrap();
        let mut names = std::collections::HashSet::new();
        for (path, methods) in document["paths"].as_object().unwrap() {
            for operation in methods.as_object().unwrap().values() {
                assert!(names.insert(operation["operationId"].as_str().unwrap().to_owned()), "{path}");
                assert!(operation["responses"]["200"].is_object(), "{path}");
                assert!(operation["responses"]["default"].is_object(), "{path}");
            }
        }
    }
}
