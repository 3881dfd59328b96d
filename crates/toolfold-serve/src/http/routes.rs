//! Which path is answered by whom.

use std::sync::Arc;

use hyper::header::{self, HeaderValue};
use hyper::http::request::Parts;
use hyper::{HeaderMap, Method, StatusCode};
use toolfold_config::CLIENT_DOCUMENT;
use toolfold_core::{Principal, Surface};
use toolfold_gateway::RELAY;

use super::body::Coming;
use super::identity::is_metadata;
use super::post::Caller;
use super::reply::{Reply, json_response, text_response};
use super::{App, Whom, cluster, post, rest};
use crate::text::shown;

/// What the counters are written in.
const CLASSIC: &str = "text/plain; version=0.0.4; charset=utf-8";
const OPEN_METRICS: &str = "application/openmetrics-text; version=1.0.0; charset=utf-8";

pub(crate) async fn answer(app: &Arc<App>, admitted: Whom, parts: Parts, body: Coming) -> Reply {
    let Whom { principal, peer, passed } = admitted;
    let path = parts.uri.path();
    if path == "/mcp" {
        return post::mcp(app, Caller { principal, peer, surface: app.surface, passed }, parts, body).await;
    }
    if let Some(name) = path.strip_prefix("/mcp/") {
        return match Surface::parse(name) {
            Some(surface) => post::mcp(app, Caller { principal, peer, surface, passed }, parts, body).await,
            None => no_surface(name),
        };
    }
    // What is rare has a box of its own, or every call would be as large.
    if path == cluster::RESULTS && passed.is_some() {
        return Box::pin(cluster::kept_result(app, Whom { principal, peer, passed }, parts, body)).await;
    }
    if path == cluster::STATE && passed.is_some() {
        return cluster::state(app).await;
    }
    if let (Some(server), true) = (path.strip_prefix(RELAY), passed.is_some()) {
        let (server, whom) = (server.to_owned(), Whom { principal, peer, passed });
        return Box::pin(cluster::relay(app, whom, parts, body, &server)).await;
    }
    if path.starts_with("/v1/") {
        return Box::pin(rest::answer(app, principal, parts, body)).await;
    }
    let looks = parts.method == Method::GET || parts.method == Method::HEAD;
    if is_metadata(path) {
        return metadata(app, path, looks);
    }
    match path {
        "/" | "/healthz" | "/readyz" | "/metrics" | "/openapi.json" if !looks => not_allowed("GET"),
        "/" => front(app, &parts.headers),
        "/healthz" => json_response(StatusCode::OK, r#"{"status":"ok"}"#),
        "/readyz" => ready(app).await,
        "/metrics" => metrics(app, &principal, &parts.headers),
        "/openapi.json" => json_response(StatusCode::OK, rest::OPENAPI),
        _ => text_response(StatusCode::NOT_FOUND, "There is nothing here. The MCP endpoint is /mcp.\n"),
    }
}

/// Whether requests can be answered as they should be; `/healthz` says that there is somebody at all.
async fn ready(app: &App) -> Reply {
    let replicas = app.replicas.as_ref();
    if replicas.is_some_and(|replicas| replicas.is_draining()) {
        return json_response(StatusCode::SERVICE_UNAVAILABLE, r#"{"status":"draining"}"#);
    }
    let is_ready = match replicas {
        Some(replicas) if replicas.has_twin() || !app.gateway.has_catalog() => false,
        Some(replicas) => app.gateway.is_ready().await || !Box::pin(replicas.others_can()).await,
        None => app.gateway.is_ready().await,
    };
    match is_ready {
        true => json_response(StatusCode::OK, r#"{"status":"ready"}"#),
        false => json_response(StatusCode::SERVICE_UNAVAILABLE, r#"{"status":"not ready"}"#),
    }
}

/// How to be let in to an endpoint, where an issuer gives out tokens for it.
fn metadata(app: &App, path: &str, looks: bool) -> Reply {
    match app.identities.resources.document(path, &app.gateway) {
        Some(_) if !looks => not_allowed("GET"),
        Some(document) => {
            let mut response = json_response(StatusCode::OK, document.to_string());
            // Clients in browsers read it before they have anything to show.
            response.headers_mut().insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"));
            response
        }
        None if path == CLIENT_DOCUMENT => text_response(StatusCode::NOT_FOUND, "This client has no document here.\n"),
        None => text_response(StatusCode::NOT_FOUND, "No issuer gives out tokens for this.\n"),
    }
}

/// The newer format, unless somebody asks for the older one alone.
fn metrics(app: &App, principal: &Principal, headers: &HeaderMap) -> Reply {
    let accepted = headers.get(header::ACCEPT).and_then(|accept| accept.to_str().ok()).unwrap_or_default();
    let is_plain = accepted.contains("text/plain") && !accepted.contains("openmetrics");
    let text = app.gateway.metrics_for(principal);
    let (text, kind) = if is_plain { (classic(&text), CLASSIC) } else { (text, OPEN_METRICS) };
    let mut response = text_response(StatusCode::OK, text);
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// The older format: a counter is called as its samples are, and units and ends are not told.
fn classic(text: &str) -> String {
    let counters: Vec<&str> =
        text.lines().filter_map(|line| line.strip_prefix("# TYPE ")?.strip_suffix(" counter")).collect();
    let told = text.lines().filter(|line| !line.starts_with("# UNIT ") && *line != "# EOF");
    let lines = told.map(|line| {
        let about = ["# TYPE ", "# HELP "].into_iter().find_map(|mark| Some((mark, line.strip_prefix(mark)?)));
        match about.and_then(|(mark, rest)| Some((mark, rest.split_once(' ')?))) {
            Some((mark, (name, rest))) if counters.contains(&name) => format!("{mark}{name}_total {rest}\n"),
            _ => format!("{line}\n"),
        }
    });
    lines.collect()
}

fn no_surface(name: &str) -> Reply {
    let known: Vec<&str> = Surface::ALL.iter().map(|surface| surface.as_str()).collect();
    let message = format!("There is no surface {:?}. Use one of: {}.", shown(name), known.join(", "));
    text_response(StatusCode::NOT_FOUND, message)
}

fn front(app: &App, headers: &HeaderMap) -> Reply {
    let host = headers.get(header::HOST).and_then(|host| host.to_str().ok()).unwrap_or("127.0.0.1:7420");
    let base = app.gateway.config().http.public_url.clone().unwrap_or_else(|| format!("http://{}", shown(host)));
    text_response(
        StatusCode::OK,
        format!(
            "Toolfold {} is running.\n\nMCP endpoint: {base}/mcp\nHTTP API: {base}/openapi.json\nState of the servers: {base}/v1/status\n",
            env!("CARGO_PKG_VERSION")
        ),
    )
}

pub(crate) fn not_allowed(allowed: &'static str) -> Reply {
    let mut response = text_response(StatusCode::METHOD_NOT_ALLOWED, format!("Use {allowed} here.\n"));
    response.headers_mut().insert(header::ALLOW, HeaderValue::from_static(allowed));
    response
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_older_format_names_counters_as_their_samples() {
        let new = "# HELP a_calls Calls.\n# TYPE a_calls counter\na_calls_total 3\n# TYPE b_seconds histogram\n# UNIT b_seconds seconds\n# EOF\n";
        let old =
            "# HELP a_calls_total Calls.\n# TYPE a_calls_total counter\na_calls_total 3\n# TYPE b_seconds histogram\n";
        assert_eq!(classic(new), old);
    }
}
