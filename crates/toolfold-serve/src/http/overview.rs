//! What there is, for people and programs that look: state of the servers, tools, nodes, counts.

use std::collections::BTreeMap;

use hyper::StatusCode;
use serde_json::{Value, json};
use toolfold_catalog::Node;
use toolfold_core::{Code, Entry, Kind, Principal, Refusal};
use toolfold_disclosure::View;
use toolfold_disclosure::level::summary;
use toolfold_gateway::{Client, Scope, aside};

use super::failure::refused;
use super::reply::{Reply, json_response};
use super::{App, rest};
use crate::text::{shown as cut, whole};

const USUAL_LIMIT: usize = 100;
const LARGEST_LIMIT: usize = 1000;
/// Of a path and of a filter; the rest is not looked at.
const MOST_STEPS: usize = 32;
const MOST_WORDS: usize = 16;
/// Characters of a description that a filter looks at.
const LOOKED_AT: usize = 4_000;
const KINDS: [Kind; 5] = [Kind::Tool, Kind::Agent, Kind::Skill, Kind::Prompt, Kind::Resource];

pub(super) async fn status(app: &App, principal: Principal) -> Reply {
    let servers = app.gateway.status_for(&principal).await;
    let scope = app.gateway.view(&asker(app, principal)).await;
    shown(&json!({
        "version": env!("CARGO_PKG_VERSION"),
        "surface": app.surface,
        "catalog": scope.view().number(),
        "tools": scope.view().count(Kind::Tool),
        "servers": servers,
        "views": rest::VIEWS.iter().chain([&rest::APPROVALS]).collect::<Vec<_>>(),
    }))
}

/// A page of entries by id: `?server=…&kind=…&path=…&filter=…&limit=…&offset=…`.
pub(super) async fn tools(app: &App, principal: Principal, query: &str) -> Reply {
    let listing = match Listing::read(query) {
        Ok(listing) => listing,
        Err(refusal) => return refused(&refusal),
    };
    let scope = app.gateway.settled(&asker(app, principal)).await;
    // Aside: every description is looked at, and every line that is shown may have to be made.
    let done = aside(move || listed(&scope, &listing)).await.and_then(|done| done);
    match done {
        Ok(page) => shown(&page),
        Err(refusal) => refused(&refusal),
    }
}

fn listed(scope: &Scope, listing: &Listing) -> Result<Value, Refusal> {
    let view = scope.view();
    let node = view.node(&listing.path).map_err(|nearest| {
        if let Some(absent) = view.absent_at(&listing.path) {
            return absent.refusal();
        }
        let message = format!("There is no node {:?}.", cut(&listing.path.join("/")));
        Refusal::new(Code::UnknownPath, message).hint(nearest.join("/"))
    })?;
    let in_node: Box<dyn Iterator<Item = usize>> =
        if node.path.is_empty() { Box::new(view.entries()) } else { Box::new(view.entries_in(node)) };
    let all: Vec<usize> = in_node.filter(|at| listing.wants(view.entry(*at))).collect();
    let page: Vec<Value> = all.iter().skip(listing.offset).take(listing.limit).map(|&at| pointer(&view, at)).collect();
    let next = listing.offset.saturating_add(page.len());
    let next = (!page.is_empty() && next < all.len()).then_some(next);
    Ok(json!({"total": all.len(), "tools": page, "next_offset": next}))
}

fn pointer(view: &View<'_>, at: usize) -> Value {
    let entry = view.entry(at);
    let mut pointer = json!({
        "tool_id": entry.id.to_string(),
        "server": entry.server(),
        "kind": entry.kind,
        "summary": summary(entry),
    });
    if entry.is_tool() {
        pointer["name"] = view.exposed(at).into();
    }
    pointer
}

/// Every node with its children.
pub(super) async fn tree(app: &App, principal: Principal) -> Reply {
    let scope = app.gateway.settled(&asker(app, principal)).await;
    let view = scope.view();
    let nodes: Vec<Value> = view.children(view.root()).map(|node| branch(&view, node)).collect();
    shown(&json!({"nodes": nodes}))
}

fn branch<'a>(view: &View<'a>, node: &'a Node) -> Value {
    json!({
        "name": node.name(),
        "path": node.path,
        "summary": node.summary,
        "tags": node.tags,
        "entries": view.entries_in(node).count(),
        "nodes": view.children(node).map(|child| branch(view, child)).collect::<Vec<_>>(),
    })
}

pub(super) async fn stats(app: &App, principal: Principal) -> Reply {
    let scope = app.gateway.settled(&asker(app, principal)).await;
    let view = scope.view();
    let kinds: BTreeMap<&str, usize> =
        KINDS.iter().map(|kind| (kind.as_str(), view.count(*kind))).filter(|(_, count)| *count > 0).collect();
    let servers: BTreeMap<&str, usize> =
        view.servers().map(|server| (server.as_str(), view.of_server(server).count())).collect();
    // The root itself is no node that anybody would count.
    let nodes = view.walk(view.root()).len() - 1;
    let entries = view.entries().count();
    shown(&json!({"catalog": view.number(), "entries": entries, "kinds": kinds, "servers": servers, "nodes": nodes}))
}

fn asker(app: &App, principal: Principal) -> Client {
    Client::inside(principal, app.surface)
}

fn shown(body: &Value) -> Reply {
    json_response(StatusCode::OK, body.to_string())
}

struct Listing {
    server: Option<String>,
    kind: Kind,
    /// The node it is in; empty for all.
    path: Vec<String>,
    /// Words that its id or its description must have, all of them, in small letters.
    filter: Vec<String>,
    limit: usize,
    offset: usize,
}

impl Listing {
    fn read(query: &str) -> Result<Listing, Refusal> {
        let mut listing = Listing {
            server: None,
            kind: Kind::Tool,
            path: Vec::new(),
            filter: Vec::new(),
            limit: USUAL_LIMIT,
            offset: 0,
        };
        for (key, value) in url::form_urlencoded::parse(query.as_bytes()) {
            let number = || whole(&value).ok_or_else(|| wrong(&key, "a number"));
            match &*key {
                "server" => listing.server = Some(value.into_owned()),
                "kind" => {
                    let kind = KINDS.into_iter().find(|kind| kind.as_str() == value);
                    listing.kind = kind.ok_or_else(|| wrong(&key, "tool, agent, skill, prompt or resource"))?;
                }
                "path" => {
                    let steps = value.split('/').take(MOST_STEPS).map(str::trim).filter(|step| !step.is_empty());
                    listing.path = steps.map(str::to_owned).collect();
                }
                "filter" => {
                    listing.filter = value.split_whitespace().take(MOST_WORDS).map(str::to_lowercase).collect();
                }
                "limit" => listing.limit = number()?.clamp(1, LARGEST_LIMIT),
                "offset" => listing.offset = number()?,
                _ => return Err(wrong(&key, "one of server, kind, path, filter, limit and offset")),
            }
        }
        Ok(listing)
    }

    fn wants(&self, entry: &Entry) -> bool {
        let is_one =
            entry.kind == self.kind && self.server.as_ref().is_none_or(|server| entry.server().as_str() == server);
        if !is_one || self.filter.is_empty() {
            return is_one;
        }
        let described: String = entry.description.chars().take(LOOKED_AT).collect();
        let text = format!("{}\n{described}", entry.id).to_lowercase();
        self.filter.iter().all(|word| text.contains(word))
    }
}

fn wrong(key: &str, wanted: &str) -> Refusal {
    Refusal::new(Code::InvalidRequest, format!("The parameter {:?} must be {wanted}.", cut(key)))
}
