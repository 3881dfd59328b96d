//! Ways to what is held: whoever could use it hears on each of them that it is, and nobody else does.

use std::collections::BTreeMap;
use std::sync::Arc;

use serde_json::json;
use toolfold_config::Config;
use toolfold_core::{AccessRule, Pattern, Principal, RuleEffect, Surface, Trust};
use toolfold_gateway::{Client, Request};
use toolfold_test::FakeServer;
use toolfold_wire::{Object, Silent, raw};

use crate::call;
use crate::pins::{code, config, described, held, held_ids, start, tool, until};

/// `ada` may use everything, and `bob` does not see what is held.
fn rules() -> Vec<AccessRule> {
    let rule = |who: &str, server: &str| AccessRule {
        number: 1,
        line: None,
        who: vec![Pattern::new(who)],
        groups: Vec::new(),
        scopes: Vec::new(),
        claims: BTreeMap::new(),
        what: Vec::new(),
        servers: vec![Pattern::new(server)],
        nodes: Vec::new(),
        kinds: Vec::new(),
        risk: Vec::new(),
        effect: RuleEffect::Call,
    };
    vec![rule("local", "*"), rule("ada", "*"), rule("bob", "other")]
}

#[tokio::test]
async fn whoever_could_use_what_is_held_hears_it_on_every_way() {
    let script = json!({"tools": ["do"], "prompts": [{"name": "ask"}],
        "resources": [{"uri": "x://a", "name": "note"}], "templates": [{"uriTemplate": "y://{z}", "name": "kind"}]});
    let (folder, fake) = (tempfile::tempdir().unwrap(), FakeServer::script(script));
    let other = FakeServer::script(json!({"tools": ["keep"], "resources": [{"uri": "q://b", "name": "b"}]}));
    let servers = [("other", &other, Trust::FirstUse), ("s", &fake, Trust::Review)];
    let gateway = start(Config { rules: rules(), ..config(folder.path(), &servers) }).await;
    let argument = json!({"name": "z", "value": ""});
    let prompt = json!({"ref": {"type": "ref/prompt", "name": "s__ask"}, "argument": argument});
    let address = |uri: &str| json!({"ref": {"type": "ref/resource", "uri": uri}, "argument": argument});
    let through = |name: &str| json!({"name": "call_tool", "arguments": {"tool": name, "arguments": {"uri": "y://7"}}});
    let ways = [
        ("tools/call", through("s.do")),
        ("tools/call", through("s.ask")),
        ("tools/call", through("s.note")),
        ("tools/call", through("s.kind")),
        ("prompts/get", json!({"name": "s__ask"})),
        ("resources/read", json!({"uri": "x://a"})),
        ("resources/read", json!({"uri": "s+x://a"})),
        ("resources/read", json!({"uri": "y://7"})),
        ("resources/subscribe", json!({"uri": "x://a"})),
        ("completion/complete", prompt),
        ("completion/complete", address("x://a")),
        ("completion/complete", address("s+x://a")),
        ("completion/complete", address("y://{z}")),
    ];
    for (method, params) in &ways {
        let said = async |who: &str| {
            let client = Arc::new(Client::inside(Principal::named(who, Vec::new()), Surface::Compact));
            let params = Object::parse(&raw(params)).unwrap();
            match gateway.handle(Request::new(client, Arc::new(Silent), *method, params)).await {
                Ok(answer) => answer.get().to_owned(),
                Err(error) => error.to_string(),
            }
        };
        let (ada, bob) = (said("ada").await, said("bob").await);
        assert!(ada.contains("held back"), "{method} {params}: {ada}");
        assert!(!bob.contains("held back"), "{method} {params}: {bob}");
    }
}

#[tokio::test]
async fn whoever_asks_what_a_held_tool_is_hears_it_on_every_surface() {
    let (folder, fake) = (tempfile::tempdir().unwrap(), FakeServer::script(json!({"tools": ["do", "undo"]})));
    let other = FakeServer::script(json!({"tools": ["keep"]}));
    let servers = [("other", &other, Trust::FirstUse), ("s", &fake, Trust::Review)];
    let gateway = start(Config { rules: rules(), ..config(folder.path(), &servers) }).await;
    let ways = [
        (Surface::Compact, "find_tools", json!({"tool": "s.do"})),
        (Surface::Compact, "find_tools", json!({"tool": "s__do", "detail": "full"})),
        (Surface::Compact, "find_tools", json!({"tool": ["s.do", "other.keep"]})),
        (Surface::Ontology, "expand_tool", json!({"tool_id": "s.do"})),
        (Surface::Levels, "discover_tools", json!({"tool": "s.do", "detail": "full"})),
        (Surface::Single, "discover_and_use_tool", json!({"action": "execute", "tool_name": "s.do"})),
        (Surface::Lifecycle, "tool_describe", json!({"name": "s.do"})),
        (Surface::Lifecycle, "tool_load", json!({"names": ["other.keep", "s.do", "nobody.has"]})),
        (Surface::TwoPhase, "get_tool_definition", json!({"name": "s.do"})),
        (Surface::Backends, "gateway_get_tool_schema", json!({"toolName": "s.do"})),
        (Surface::Backends, "gateway_get_tool_schemas", json!({"toolNames": ["other.keep", "s.do"]})),
        (Surface::Direct, "s__do", json!({})),
    ];
    for (surface, name, arguments) in ways {
        let said = async |who: &str| {
            let client = Arc::new(Client::inside(Principal::named(who, Vec::new()), surface));
            let params = Object::parse(&raw(&json!({"name": name, "arguments": arguments}))).unwrap();
            match gateway.handle(Request::new(client, Arc::new(Silent), "tools/call", params)).await {
                Ok(answer) => answer.get().to_owned(),
                Err(error) => error.to_string(),
            }
        };
        let (ada, bob) = (said("ada").await, said("bob").await);
        assert!(ada.contains("QUARANTINED") && ada.contains("held back"), "{surface:?} {name} {arguments}: {ada}");
        assert!(!ada.contains("undo"), "what else is held is nobody's business: {ada}");
        assert!(!bob.contains("QUARANTINED") && !bob.contains("held back"), "{surface:?} {name} {arguments}: {bob}");
    }
}

#[tokio::test]
async fn what_a_server_no_longer_understands_does_not_serve_as_it_was() {
    let needs = |name: &str| {
        json!({"name": "report", "description": "Reports the weather.", "inputSchema": {"type": "object",
            "properties": {(name): {"type": "string"}}, "required": [name]}})
    };
    let list = |name: &str| json!([needs(name), tool("turn", "Turns."), tool("back", "Goes back.")]);
    let fake = FakeServer::script(json!({
        "tools": list("city"),
        "calls": {"turn": {"list_becomes": list("place")}, "back": {"list_becomes": list("city")}},
    }));
    let folder = tempfile::tempdir().unwrap();
    let gateway = start(config(folder.path(), &[("weather", &fake, Trust::FirstUse)])).await;
    call(&gateway, "weather.turn", json!({})).await;
    until("the change is held", async || held_ids(&gateway).await == ["weather.report"]).await;
    let entry = held(&gateway).await.remove(0);
    assert!(!entry.serves_old && entry.diff.contains("place"), "{entry:?}");
    assert_eq!(described(&gateway, "weather.report"), None, "no call after it could be right");
    assert_eq!(code(&gateway, "weather.report").await, "QUARANTINED");
    call(&gateway, "weather.back", json!({})).await;
    until("it is back", async || described(&gateway, "weather.report").is_some()).await;
    assert_eq!(held_ids(&gateway).await, [""; 0]);
}
