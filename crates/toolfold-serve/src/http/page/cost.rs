//! What tools cost in tokens: all of them in a list, against the few that a client of ours is shown.
//!
//! Exact for o200k_base, of what clients send to a model: name, description and input schema as compact JSON. How they
//! frame it is theirs, and not counted. Other vocabularies are told as ranges, as measured on the tools of a hundred
//! servers: half of what anybody reads about one of them is a guess.

use std::sync::Arc;

use bytes::Bytes;
use hyper::StatusCode;
use serde_json::{Value, json};
use tokio::sync::Mutex;
use toolfold_core::Principal;
use toolfold_disclosure::{View, tokens, tools};
use toolfold_gateway::{Client, Scope, aside};

use crate::http::App;
use crate::http::failure::refused;
use crate::http::reply::{Reply, json_response};

/// Tools that are named, the largest first.
const LARGEST: usize = 40;

/// Families of models, and how many tokens they make of one of o200k_base: in nine of ten servers between these.
const FAMILIES: [(&str, f64, f64); 5] = [
    ("GPT-4o and later", 1.0, 1.0),
    ("Claude 3 to 4.6", 1.115, 1.21),
    ("Claude 4.7 and later", 1.534, 1.768),
    ("Gemini", 1.011, 1.095),
    ("Mistral", 1.029, 1.088),
];

/// What was counted last: thousands of definitions take a while, and seldom change.
#[derive(Debug, Default)]
pub(crate) struct Costs(Arc<Mutex<Option<(Principal, u64, Bytes)>>>);

pub(crate) async fn tokens(app: &App, principal: Principal) -> Reply {
    let surface = app.surface;
    let client = Client::inside(principal.clone(), surface);
    let scope = app.gateway.settled(&client).await;
    let number = scope.view().number();
    // Held while counting, by whoever counts: who asks meanwhile waits for the same answer instead of counting too, and who
    // hangs up and asks again begins nothing anew.
    let mut last = app.page.costs.0.clone().lock_owned().await;
    if let Some((_, _, body)) =
        last.as_ref().filter(|(who, known, _)| who.says_the_same(&principal) && *known == number)
    {
        return json_response(StatusCode::OK, body.clone());
    }
    let told = tokens::count(&app.gateway.instructions(surface, &principal));
    let counted = aside(move || {
        let menu: Vec<Value> = tools(surface, &scope.view()).iter().filter_map(|tool| offered(tool.get())).collect();
        let mut answer = counted(&scope);
        answer["surface"] = json!(surface);
        answer["menu"] = json!(tokens::count(&Value::from(menu).to_string()));
        answer["instructions"] = json!(told);
        let body = Bytes::from(answer.to_string());
        *last = Some((principal, number, body.clone()));
        body
    });
    match counted.await {
        Ok(body) => json_response(StatusCode::OK, body),
        Err(refusal) => refused(&refusal),
    }
}

fn counted(scope: &Scope) -> Value {
    let view = scope.view();
    let mut largest: Vec<(usize, usize)> = Vec::new();
    let mut servers = Vec::new();
    for (server, positions) in view.tools_by_server() {
        let costs: Vec<(usize, usize)> = positions.iter().map(|&at| (direct(&view, at), at)).collect();
        servers.push(json!({
            "server": server,
            "tools": costs.len(),
            "direct": costs.iter().map(|(cost, _)| cost).sum::<usize>(),
        }));
        largest.extend(costs);
    }
    let all: usize = largest.iter().map(|(cost, _)| cost).sum();
    // By id where they cost the same.
    largest.sort_by_key(|&(cost, at)| (usize::MAX - cost, at));
    let largest: Vec<Value> = largest
        .into_iter()
        .take(LARGEST)
        .map(|(cost, at)| json!({"tool_id": view.entry(at).id.to_string(), "direct": cost}))
        .collect();
    let families: Vec<Value> =
        FAMILIES.iter().map(|(name, low, high)| json!({"name": name, "low": low, "high": high})).collect();
    json!({
        "encoding": "o200k_base",
        "catalog": view.number(),
        "direct": all,
        "answer": view.budget(),
        "servers": servers,
        "largest": largest,
        "families": families,
    })
}

/// What one tool costs in a list.
fn direct(view: &View<'_>, at: usize) -> usize {
    offered(view.entry(at).definition.get()).map_or(0, |tool| tokens::count(&tool.to_string()))
}

/// What clients pass on of a definition.
fn offered(definition: &str) -> Option<Value> {
    let mut whole: Value = serde_json::from_str(definition).ok()?;
    let mut part = json!({});
    for key in ["name", "description", "inputSchema"] {
        if let Some(value) = whole.get_mut(key) {
            part[key] = value.take();
        }
    }
    Some(part)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_model_sees_costs_nothing() {
        let bare = r#"{"name":"a","description":"b","inputSchema":{"type":"object"}}"#;
        let whole = r#"{ "name": "a", "description": "b", "inputSchema": {"type": "object"}, "outputSchema": {}, "_meta": {} }"#;
        assert_eq!(offered(whole), offered(bare));
        assert_eq!(offered("["), None);
    }
}
