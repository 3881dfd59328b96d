//! The HTTP API: the verbs of the `ontology` surface as endpoints, for programs that do not speak MCP.
//!
//! What a reader would get wrong: nothing is decided here. A body becomes a call of the meta-tool of that name, and what
//! comes back is its answer, or the refusal with a status.

use std::sync::Arc;

use axum::Router;
use axum::body::to_bytes;
use axum::extract::{Request, State};
use axum::http::{HeaderValue, Method, StatusCode, header};
use axum::response::Response;
use axum::routing::{any, get, post};
use serde_json::json;
use tokio_util::sync::CancellationToken;
use toolfold_core::{Code, Principal, Refusal, Surface};
use toolfold_gateway::{Client, Failed};
use toolfold_wire::{Object, Raw, RpcError, Silent, code, raw, raw_of};

use super::reply::json_response;
use super::{App, LARGEST_BODY, overview};

pub(super) const VERBS: [&str; 5] = ["list", "search_tool_by_category", "search_nodes", "expand_tool", CALL];
const CALL: &str = "call_tool";
/// What a person or a program may look at.
pub(super) const VIEWS: [&str; 4] = ["status", "tools", "tree", "stats"];

/// Everything below `/v1`, and the document that describes it.
const OPENAPI: &str = include_str!("openapi.json");

pub(super) fn routes() -> Router<App> {
    let verbs = VERBS.iter().fold(Router::new(), |router, verb| {
        let handler = move |State(app): State<App>, request: Request| answer(app, verb, request);
        router.route(&format!("/v1/{verb}"), post(handler).fallback(wrong_method))
    });
    let [status, tools, tree, stats] = VIEWS.map(|view| format!("/v1/{view}"));
    verbs
        .route(&status, get(overview::status).fallback(wrong_method))
        .route(&tools, get(overview::tools).fallback(wrong_method))
        .route(&tree, get(overview::tree).fallback(wrong_method))
        .route(&stats, get(overview::stats).fallback(wrong_method))
        .route("/v1/{*rest}", any(nothing_here))
        .route("/openapi.json", get(|| async { json_response(StatusCode::OK, OPENAPI.to_owned()) }))
}

async fn answer(app: App, verb: &'static str, request: Request) -> Response {
    let arguments = match arguments(request).await {
        Ok(arguments) => arguments,
        Err(refusal) => return refused(&refusal),
    };
    let cancel = CancellationToken::new();
    // A client that goes away drops this future, and with it its call.
    let _guard = cancel.clone().drop_guard();
    let params = Object::new().with("name", verb).with("arguments", &arguments);
    let client = Arc::new(Client::inside(Principal::local(), Surface::Ontology));
    let mut request = toolfold_gateway::Request::new(client, Arc::new(Silent), "tools/call", params);
    request.cancel = cancel;
    match app.gateway.call(request).await {
        Ok(result) => json_response(StatusCode::OK, body(verb, result).get().to_owned()),
        Err(Failed::Refused(refusal)) => refused(&refusal),
        Err(Failed::Answered(error)) => failed(&error),
    }
}

/// The body as an object; none at all asks for everything.
async fn arguments(request: Request) -> Result<Raw, Refusal> {
    let bytes = to_bytes(request.into_body(), LARGEST_BODY).await.map_err(|_| {
        Refusal::new(Code::TooLarge, format!("The body is larger than {LARGEST_BODY} bytes, or broke off."))
    })?;
    let wrong = || Refusal::new(Code::InvalidRequest, "The body must be one JSON object.");
    let text = std::str::from_utf8(&bytes).map_err(|_| wrong())?.trim();
    if text.is_empty() {
        return Ok(raw(&json!({})));
    }
    raw_of(text).ok().filter(|body| Object::parse(body).is_some()).ok_or_else(wrong)
}

/// A tool's result is passed on whole. Of our own answers the JSON is the body; the text beside it says the same.
fn body(verb: &str, result: Raw) -> Raw {
    let own = Object::parse(&result).filter(|_| verb != CALL).and_then(|mut object| object.remove("structuredContent"));
    own.unwrap_or(result)
}

pub(super) fn refused(refusal: &Refusal) -> Response {
    let status = match refusal.code {
        Code::NoMatchInCategory | Code::UnknownPath | Code::ToolNotFound => StatusCode::NOT_FOUND,
        Code::NotAuthorized | Code::Quarantined => StatusCode::FORBIDDEN,
        Code::InvalidArguments | Code::InvalidRequest | Code::InvalidCursor => StatusCode::BAD_REQUEST,
        Code::ServerUnavailable => StatusCode::SERVICE_UNAVAILABLE,
        Code::ServerTimeout => StatusCode::GATEWAY_TIMEOUT,
        Code::RateLimited => StatusCode::TOO_MANY_REQUESTS,
        Code::TooLarge => StatusCode::PAYLOAD_TOO_LARGE,
    };
    json_response(status, refusal.to_json().to_string())
}

/// The server's own JSON-RPC error. What is wrong with the arguments is the caller's business, the rest the server's.
fn failed(error: &RpcError) -> Response {
    let (status, code) = match error.code {
        code::INVALID_PARAMS => (StatusCode::BAD_REQUEST, Code::InvalidArguments),
        _ => (StatusCode::BAD_GATEWAY, Code::ServerUnavailable),
    };
    let refusal = Refusal::new(code, error.message.clone()).details(json!({"rpc_code": error.code}));
    json_response(status, refusal.to_json().to_string())
}

async fn wrong_method(method: Method, request: Request) -> Response {
    let path = request.uri().path();
    let right = if VERBS.iter().any(|verb| path == format!("/v1/{verb}")) { "POST" } else { "GET" };
    let message = format!("{path} does not take {method}: use {right}.");
    let refusal = Refusal::new(Code::InvalidRequest, message);
    let mut response = json_response(StatusCode::METHOD_NOT_ALLOWED, refusal.to_json().to_string());
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(right));
    response
}

async fn nothing_here() -> Response {
    let all =
        VERBS.iter().map(|verb| format!("POST /v1/{verb}")).chain(VIEWS.iter().map(|view| format!("GET /v1/{view}")));
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
        let verbs = VERBS.iter().map(|verb| format!("post /v1/{verb}"));
        let views = VIEWS.iter().map(|view| format!("get /v1/{view}"));
        let mut expected: Vec<String> = verbs.chain(views).collect();
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
