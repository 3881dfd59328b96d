//! What there is, for people and programs that look: state of the servers, tools, nodes, counts.

use std::collections::BTreeMap;

use hyper::StatusCode;
use serde_json::{Value, json};
use toolfold_catalog::{Catalog, Node};
use toolfold_core::{Code, Kind, Refusal};
use toolfold_disclosure::level::summary;

use super::App;
use super::failure::refused;
use super::reply::{Reply, json_response};
use crate::text::shown as cut;

const USUAL_LIMIT: usize = 100;
const LARGEST_LIMIT: usize = 1000;
const KINDS: [Kind; 5] = [Kind::Tool, Kind::Agent, Kind::Skill, Kind::Prompt, Kind::Resource];

pub(super) async fn status(app: &App) -> Reply {
    let servers = app.gateway.status().await;
    let snapshot = app.gateway.snapshot().await;
    shown(&json!({
        "version": env!("CARGO_PKG_VERSION"),
        "surface": app.surface,
        "catalog": snapshot.catalog.number(),
        "tools": count(&snapshot.catalog, Kind::Tool),
        "servers": servers,
    }))
}

/// A page of entries by id: `?server=…&kind=…&limit=…&offset=…`.
pub(super) async fn tools(app: &App, query: &str) -> Reply {
    let asked = match Asked::read(query) {
        Ok(asked) => asked,
        Err(refusal) => return refused(&refusal),
    };
    let snapshot = app.gateway.settled().await;
    let catalog = &snapshot.catalog;
    let wanted = |at: &usize| {
        let entry = catalog.entry(*at);
        entry.kind == asked.kind && asked.server.as_ref().is_none_or(|server| entry.server().as_str() == server)
    };
    let all: Vec<usize> = (0..catalog.len()).filter(wanted).collect();
    let page: Vec<Value> = all.iter().skip(asked.offset).take(asked.limit).map(|&at| pointer(catalog, at)).collect();
    let next = asked.offset.saturating_add(page.len());
    let next = (!page.is_empty() && next < all.len()).then_some(next);
    shown(&json!({"total": all.len(), "tools": page, "next_offset": next}))
}

fn pointer(catalog: &Catalog, at: usize) -> Value {
    let entry = catalog.entry(at);
    let mut pointer = json!({
        "tool_id": entry.id.to_string(),
        "server": entry.server(),
        "kind": entry.kind,
        "summary": summary(entry),
    });
    if entry.is_tool() {
        pointer["name"] = catalog.exposed(at).into();
    }
    pointer
}

/// Every node with its children.
pub(super) async fn tree(app: &App) -> Reply {
    let snapshot = app.gateway.settled().await;
    let nodes: Vec<Value> = snapshot.catalog.root().children.iter().map(branch).collect();
    shown(&json!({"nodes": nodes}))
}

fn branch(node: &Node) -> Value {
    json!({
        "name": node.name(),
        "path": node.path,
        "summary": node.summary,
        "tags": node.tags,
        "entries": node.entries.len(),
        "nodes": node.children.iter().map(branch).collect::<Vec<_>>(),
    })
}

pub(super) async fn stats(app: &App) -> Reply {
    let snapshot = app.gateway.settled().await;
    let catalog = &snapshot.catalog;
    let kinds: BTreeMap<&str, usize> =
        KINDS.iter().map(|kind| (kind.as_str(), count(catalog, *kind))).filter(|(_, count)| *count > 0).collect();
    let servers: BTreeMap<&str, usize> =
        catalog.servers().iter().map(|server| (server.name.as_str(), server.entries.len())).collect();
    // The root itself is no node that anybody would count.
    let nodes = catalog.root().walk().len() - 1;
    shown(
        &json!({"catalog": catalog.number(), "entries": catalog.len(), "kinds": kinds, "servers": servers, "nodes": nodes}),
    )
}

fn count(catalog: &Catalog, kind: Kind) -> usize {
    catalog.entries().iter().filter(|entry| entry.kind == kind).count()
}

fn shown(body: &Value) -> Reply {
    json_response(StatusCode::OK, body.to_string())
}

struct Asked {
    server: Option<String>,
    kind: Kind,
    limit: usize,
    offset: usize,
}

impl Asked {
    fn read(query: &str) -> Result<Asked, Refusal> {
        let mut asked = Asked { server: None, kind: Kind::Tool, limit: USUAL_LIMIT, offset: 0 };
        for (key, value) in url::form_urlencoded::parse(query.as_bytes()) {
            let number = || value.parse::<usize>().map_err(|_| wrong(&key, "a number"));
            match &*key {
                "server" => asked.server = Some(value.into_owned()),
                "kind" => {
                    let kind = KINDS.into_iter().find(|kind| kind.as_str() == value);
                    asked.kind = kind.ok_or_else(|| wrong(&key, "tool, agent, skill, prompt or resource"))?;
                }
                "limit" => asked.limit = number()?.clamp(1, LARGEST_LIMIT),
                "offset" => asked.offset = number()?,
                _ => return Err(wrong(&key, "one of server, kind, limit and offset")),
            }
        }
        Ok(asked)
    }
}

fn wrong(key: &str, wanted: &str) -> Refusal {
    Refusal::new(Code::InvalidRequest, format!("The parameter {:?} must be {wanted}.", cut(key)))
}
