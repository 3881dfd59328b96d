//! A scripted MCP server over streamable HTTP that remembers every request it got.

use std::collections::HashMap;
use std::convert::Infallible;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{Redirect, Response};
use axum::routing::any;
use serde_json::{Value, json};
use tokio::sync::{mpsc, oneshot};
use toolfold_wire::Era;

use crate::kit::eventually;

pub(crate) struct Seen {
    pub(crate) verb: Method,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Value,
}

pub(crate) struct HttpServer {
    era: Era,
    pub(crate) url: String,
    seen: Mutex<Vec<Seen>>,
    /// Which session is valid. Raising it forgets the one before.
    pub(crate) session: AtomicUsize,
    /// The stream of a client that listens, for tests that speak unasked.
    listener: Mutex<Option<mpsc::UnboundedSender<String>>>,
    answers: Mutex<HashMap<String, oneshot::Sender<Value>>>,
    /// The calls of `cut` that a resumed stream may answer.
    cut: Mutex<Option<Value>>,
}

pub(crate) async fn serve(era: Era) -> Arc<HttpServer> {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let server = Arc::new(HttpServer {
        era,
        url,
        seen: Mutex::default(),
        session: AtomicUsize::new(1),
        listener: Mutex::default(),
        answers: Mutex::default(),
        cut: Mutex::default(),
    });
    let elsewhere = server.url.replace("127.0.0.1", "localhost");
    let app = Router::new()
        .route("/mcp", any(handle))
        .route("/moved", any(async || Redirect::permanent("/mcp")))
        .route("/see", any(async || Redirect::to("/mcp")))
        .route("/away", any(async move || Redirect::temporary(&elsewhere)))
        .with_state(server.clone());
    tokio::spawn(async move { axum::serve(listener, app).await });
    server
}

impl HttpServer {
    pub(crate) fn seen(&self, verb: &Method, method: Option<&str>) -> Vec<(HeaderMap, Value)> {
        let seen = self.seen.lock().unwrap();
        let fits = |seen: &&Seen| seen.verb == verb && method.is_none_or(|method| seen.body["method"] == method);
        seen.iter().filter(fits).map(|seen| (seen.headers.clone(), seen.body.clone())).collect()
    }

    pub(crate) fn posts(&self, method: &str) -> Vec<(HeaderMap, Value)> {
        self.seen(&Method::POST, Some(method))
    }

    /// Says something on the stream of whoever listens, once somebody does.
    pub(crate) async fn say(&self, message: Value) {
        let listener = eventually("a listener", || self.listener.lock().unwrap().clone()).await;
        listener.send(event(&message)).unwrap();
    }
}

async fn handle(State(server): State<Arc<HttpServer>>, verb: Method, headers: HeaderMap, body: Bytes) -> Response {
    let body: Value = serde_json::from_slice(&body).unwrap_or_default();
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).map(str::to_owned);
    let session = header("mcp-session-id");
    let last_event = header("last-event-id");
    let allowed = header("authorization").as_deref() == Some("Bearer open-sesame");
    server.seen.lock().unwrap().push(Seen { verb: verb.clone(), headers: headers.clone(), body: body.clone() });
    if !allowed {
        return plain(StatusCode::UNAUTHORIZED);
    }
    if body["method"] == "notifications/never" {
        std::future::pending::<()>().await;
    }
    match server.era {
        Era::Modern if verb == Method::POST => modern(&server, &body),
        Era::Modern => plain(StatusCode::METHOD_NOT_ALLOWED),
        Era::Legacy => legacy(&server, &verb, session, last_event, &body).await,
    }
}

fn modern(server: &Arc<HttpServer>, body: &Value) -> Response {
    let id = &body["id"];
    match body["method"].as_str().unwrap_or_default() {
        "server/discover" => answer(
            id,
            json!({"supportedVersions": ["2026-07-28"], "capabilities": {"tools": {"listChanged": true}}, "resultType": "complete"}),
        ),
        "tools/list" => answer(
            id,
            json!({"resultType": "complete", "tools": [
                {"name": "echo", "inputSchema": {"type": "object"}},
                {"name": "route", "inputSchema": {"type": "object", "properties": {"region": {"type": "string", "x-mcp-header": "Region"}}}},
                {"name": "invalid", "inputSchema": {"type": "object", "properties": {"o": {"type": "object", "x-mcp-header": "O"}}}},
            ]}),
        ),
        "tools/call" if body["params"]["name"] == "hang" => streamed(server),
        "tools/call" => answer(id, json!({"resultType": "complete", "content": [], "echo": body["params"]})),
        "subscriptions/listen" => {
            let response = streamed(server);
            let acknowledged = event(&json!({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged"}));
            let _ = server.listener.lock().unwrap().as_ref().unwrap().send(acknowledged);
            response
        }
        _ if id.is_null() => plain(StatusCode::ACCEPTED),
        method => error(StatusCode::NOT_FOUND, id, -32601, &format!("no {method}")),
    }
}

async fn legacy(
    server: &Arc<HttpServer>,
    verb: &Method,
    session: Option<String>,
    last_event: Option<String>,
    body: &Value,
) -> Response {
    let valid = format!("s{}", server.session.load(Ordering::SeqCst));
    let id = &body["id"];
    if body["method"] == "initialize" {
        let capabilities = json!({"tools": {"listChanged": true}});
        let result = json!({"protocolVersion": "2025-06-18", "capabilities": capabilities, "serverInfo": {"name": "h", "version": "1"}});
        let mut response = answer(id, result);
        response.headers_mut().insert("mcp-session-id", valid.parse().unwrap());
        return response;
    }
    match session {
        None => return error(StatusCode::BAD_REQUEST, id, -32000, "Bad Request: Server not initialized"),
        Some(session) if session != valid => return plain(StatusCode::NOT_FOUND),
        Some(_) => {}
    }
    if verb == Method::GET {
        return match last_event {
            Some(last) if last == "e1" => {
                let id = server.cut.lock().unwrap().take().unwrap();
                streamed_text(event(&json!({"jsonrpc": "2.0", "id": id, "result": {"resumed": true}})))
            }
            _ => streamed(server),
        };
    }
    if verb == Method::DELETE {
        return plain(StatusCode::OK);
    }
    if let Some(answered) = body.get("result").or(body.get("error")) {
        let waiting = server.answers.lock().unwrap().remove(id.as_str().unwrap_or_default());
        let _ = waiting.unwrap().send(answered.clone());
        return plain(StatusCode::ACCEPTED);
    }
    match (body["method"].as_str().unwrap_or_default(), body["params"]["name"].as_str().unwrap_or_default()) {
        ("tools/list", _) => answer(id, json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]})),
        ("resources/subscribe", _) => answer(id, json!({})),
        ("tools/call", "ask") => ask(server, id),
        ("tools/call", "cut") => {
            *server.cut.lock().unwrap() = Some(id.clone());
            streamed_text("id: e1\nretry: 30\ndata:\n\n".into())
        }
        // As a server that is restarted in the middle of a call.
        ("tools/call", "cut and forget") => {
            server.session.fetch_add(1, Ordering::SeqCst);
            streamed_text("id: e2\nretry: 30\ndata:\n\n".into())
        }
        ("tools/call", "talk") => {
            let said = event(&json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {}}));
            let said = said.repeat(body["params"]["arguments"]["times"].as_u64().unwrap_or_default() as usize);
            streamed_text(said + &event(&json!({"jsonrpc": "2.0", "id": id, "result": {}})))
        }
        ("tools/call", "break") => streamed_text(": nothing\n\n".into()),
        ("tools/call", "huge") => answer(id, json!({"content": "x".repeat(2 << 20)})),
        ("tools/call", "busy") => plain(StatusCode::SERVICE_UNAVAILABLE),
        ("tools/call", "hang") => streamed(server),
        ("tools/call", _) => answer(id, json!({"echo": body["params"]})),
        _ if id.is_null() => plain(StatusCode::ACCEPTED),
        (method, _) => error(StatusCode::OK, id, -32601, method),
    }
}

/// A log line and a question on the call's own stream, then the answer to it as the answer to the call.
fn ask(server: &Arc<HttpServer>, id: &Value) -> Response {
    let question = format!("q{id}");
    let (sender, answered) = oneshot::channel();
    server.answers.lock().unwrap().insert(question.clone(), sender);
    let (stream, response) = stream();
    let id = id.clone();
    tokio::spawn(async move {
        let log = json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {"level": "info", "data": id}});
        let ask =
            json!({"jsonrpc": "2.0", "id": question, "method": "elicitation/create", "params": {"message": "Colour?"}});
        let _ = stream.send(event(&log) + &event(&ask));
        if let Ok(answer) = answered.await {
            let _ = stream.send(event(&json!({"jsonrpc": "2.0", "id": id, "result": {"answer": answer}})));
        }
    });
    response
}

/// A stream on which nothing is said until a test does.
fn streamed(server: &Arc<HttpServer>) -> Response {
    let (stream, response) = stream();
    *server.listener.lock().unwrap() = Some(stream);
    response
}

fn stream() -> (mpsc::UnboundedSender<String>, Response) {
    let (sender, receiver) = mpsc::unbounded_channel::<String>();
    let chunks = futures_util::stream::unfold(receiver, |mut receiver| async {
        let text = receiver.recv().await?;
        Some((Ok::<_, Infallible>(text), receiver))
    });
    let response = Response::builder().header("content-type", "text/event-stream").body(Body::from_stream(chunks));
    (sender, response.unwrap())
}

fn streamed_text(text: String) -> Response {
    Response::builder().header("content-type", "text/event-stream").body(Body::from(text)).unwrap()
}

fn event(message: &Value) -> String {
    format!("data: {message}\n\n")
}

fn answer(id: &Value, result: Value) -> Response {
    json_response(StatusCode::OK, &json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

fn error(status: StatusCode, id: &Value, code: i64, message: &str) -> Response {
    json_response(status, &json!({"jsonrpc": "2.0", "id": id, "error": {"code": code, "message": message}}))
}

fn json_response(status: StatusCode, body: &Value) -> Response {
    let response = Response::builder().status(status).header("content-type", "application/json");
    response.body(Body::from(body.to_string())).unwrap()
}

fn plain(status: StatusCode) -> Response {
    Response::builder().status(status).body(Body::empty()).unwrap()
}
