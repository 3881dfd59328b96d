//! Who is let in, what exists for them, and that what belongs to somebody is of no use to anybody else.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;
use toolfold_access::NewToken;
use toolfold_audit::{AuditEvent, EventKind, Reader};
use toolfold_config::{AuditMode, Config};
use toolfold_core::{AccessRule, Pattern, RiskClass, RuleEffect, Secret, Surface};
use toolfold_gateway::Gateway;
use toolfold_store::{Store, StoredToken};
use toolfold_test::{FakeServer, HttpClient, plain_http};

use crate::support::{all_settled, config, names, over_http, start, text};

pub(crate) fn rule(who: &str, effect: RuleEffect) -> AccessRule {
    AccessRule {
        number: 1,
        line: Some(10),
        who: vec![Pattern::new(who)],
        groups: Vec::new(),
        scopes: Vec::new(),
        claims: BTreeMap::new(),
        what: Vec::new(),
        servers: Vec::new(),
        nodes: Vec::new(),
        kinds: Vec::new(),
        risk: Vec::new(),
        effect,
    }
}

pub(crate) fn on(server: &str, rule: AccessRule) -> AccessRule {
    AccessRule { servers: vec![Pattern::new(server)], ..rule }
}

/// Two fake servers, rules, and a store with tokens for alice and bob.
pub(crate) struct Team {
    pub(crate) address: SocketAddr,
    pub(crate) gateway: Gateway,
    pub(crate) folder: TempDir,
    pub(crate) desk: FakeServer,
    pub(crate) vault: FakeServer,
    pub(crate) tokens: BTreeMap<&'static str, String>,
}

impl Team {
    pub(crate) async fn with(rules: Vec<AccessRule>) -> Team {
        Team::of(rules, |_| {}).await
    }

    pub(crate) async fn of(rules: Vec<AccessRule>, change: impl FnOnce(&mut Config)) -> Team {
        let folder = tempfile::tempdir().unwrap();
        let read = json!({"readOnlyHint": true});
        let schema = json!({"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]});
        let desk = FakeServer::script(json!({
            "tools": [
                {"name": "read_note", "description": "Read a note.", "inputSchema": schema, "annotations": read},
                {"name": "drop_note", "description": "Throw a note away.", "inputSchema": schema},
            ],
            "calls": {"ask": {"elicit": true}},
            "prompts": [{"name": "greet"}],
            "resources": [{"uri": "desk://top", "name": "Top"}],
            "answers": {"vendor/peek": {"peeked": true}},
        }));
        let vault = FakeServer::script(json!({
            "tools": [{"name": "open_vault", "description": "Open the vault.", "inputSchema": schema}],
            "prompts": [{"name": "whisper"}],
            "resources": [{"uri": "vault://gold", "name": "Gold"}],
        }));
        let mut config = config(Surface::Compact, &[("desk", &desk), ("vault", &vault)]);
        config.store = Some(folder.path().join("toolfold.db").into());
        config.audit.mode = AuditMode::On;
        config.audit.path = Some(folder.path().join("audit.db"));
        (config.rules, config.http.local) = (rules, Some(false));
        change(&mut config);
        let gateway = start(config);
        all_settled(&gateway).await;
        let mut tokens = BTreeMap::new();
        for (name, number) in [("alice", 1u8), ("bob", 2)] {
            tokens.insert(name, give_token(folder.path(), name, number).await);
        }
        let address = over_http(gateway.clone(), Surface::Compact).await;
        Team { address, gateway, folder, desk, vault, tokens }
    }

    pub(crate) fn client(&self, name: &str) -> HttpClient {
        self.client_on(name, "/mcp")
    }

    pub(crate) fn client_on(&self, name: &str, path: &str) -> HttpClient {
        HttpClient::new(format!("http://{}{path}", self.address))
            .with_header("authorization", &format!("Bearer {}", self.tokens[name]))
    }

    pub(crate) async fn call(&self, name: &str, tool: &str, arguments: Value) -> Value {
        let asked = json!({"name": "call_tool", "arguments": {"tool": tool, "arguments": arguments}});
        self.client(name).modern("tools/call", asked).await
    }

    pub(crate) async fn rest(&self, name: &str, path: &str, body: Option<Value>) -> (u16, Value) {
        let url = format!("http://{}{path}", self.address);
        let request = match body {
            Some(body) => plain_http().post(url).header("content-type", "application/json").body(body.to_string()),
            None => plain_http().get(url),
        };
        let reply = request.bearer_auth(&self.tokens[name]).send().await.unwrap();
        let status = reply.status().as_u16();
        (status, serde_json::from_str(&reply.text().await.unwrap()).unwrap_or_default())
    }

    pub(crate) async fn events(&self) -> Vec<AuditEvent> {
        self.gateway.audit().unwrap().flush().await;
        let reader = Reader::open(&self.folder.path().join("audit.db")).unwrap().unwrap();
        reader.tail(1000).unwrap().iter().filter_map(|stored| stored.event()).collect()
    }
}

pub(crate) async fn give_token(folder: &Path, name: &str, number: u8) -> String {
    let store = Store::open(Some(&folder.join("toolfold.db"))).await.unwrap().store;
    let token = NewToken::of([number; 32]);
    let stored = StoredToken {
        name: name.to_owned(),
        groups: vec![format!("{name}s")],
        beginning: token.beginning.clone(),
        created_at: number.into(),
        expires_at: None,
    };
    assert!(store.add_token(token.hash, stored).await.unwrap());
    store.close().await;
    token.secret.expose().to_owned()
}

pub(crate) fn code(result: &Value) -> &str {
    result["structuredContent"]["error"]["code"].as_str().unwrap_or_default()
}

#[tokio::test]
async fn a_token_lets_in_until_it_is_revoked() {
    let team = Team::with(Vec::new()).await;
    let status = async |token: &str| {
        let request = plain_http().get(format!("http://{}/v1/status", team.address)).bearer_auth(token);
        request.send().await.unwrap().status().as_u16()
    };
    let nobody = plain_http().get(format!("http://{}/v1/status", team.address)).send().await.unwrap();
    assert_eq!((nobody.status().as_u16(), nobody.headers()["www-authenticate"].to_str().unwrap()), (401, "Bearer"));
    let alice = &team.tokens["alice"];
    assert_eq!(status(alice).await, 200);
    assert_eq!(status(&alice.replacen('0', "1", 1)).await, 401);
    assert_eq!(status("anything").await, 401);
    let session = team.client("alice");
    session.initialize("2025-11-25").await;
    session.request("tools/list", json!({})).await;
    // Another process takes it back.
    let store = Store::open(Some(&team.folder.path().join("toolfold.db"))).await.unwrap().store;
    assert!(store.revoke_token("alice").await.unwrap());
    assert_eq!(status(alice).await, 401);
    let ping = json!({"jsonrpc": "2.0", "id": 9, "method": "ping"}).to_string();
    assert_eq!(session.post(&ping, Default::default()).await.status, 401, "nor does a session help");
    assert_eq!(status(&team.tokens["bob"]).await, 200);
    let told = team.events().await.into_iter().filter(|event| event.kind == EventKind::Login).count();
    assert!(told > 0, "who was not let in is on record");
}

#[tokio::test]
async fn what_belongs_to_one_is_unknown_in_the_hands_of_another() {
    let team = Team::of(Vec::new(), |config| config.surface = Surface::Lifecycle).await;
    let (alice, bob) = (team.client("alice"), team.client("bob"));
    alice.initialize("2025-11-25").await;
    let list = json!({"jsonrpc": "2.0", "id": 2, "method": "tools/list", "params": {}}).to_string();
    let mut stolen = reqwest::header::HeaderMap::new();
    stolen.insert("mcp-session-id", alice.session().unwrap().parse().unwrap());
    assert_eq!(bob.post(&list, stolen.clone()).await.status, 404, "a session");
    let stream = plain_http().get(bob.url()).bearer_auth(&team.tokens["bob"]).headers(stolen.clone());
    assert_eq!(stream.header("accept", "text/event-stream").send().await.unwrap().status(), 404, "its stream");
    let end = plain_http().delete(bob.url()).bearer_auth(&team.tokens["bob"]).headers(stolen);
    assert_eq!(end.send().await.unwrap().status(), 404, "its end");
    assert_eq!(alice.request("tools/list", json!({})).await["tools"].as_array().unwrap().len(), 2);

    let (alice, bob) = (team.client_on("alice", "/mcp/lifecycle"), team.client_on("bob", "/mcp/lifecycle"));
    let load = json!({"name": "tool_load", "arguments": {"names": ["desk.read_note"]}});
    let loaded = alice.modern("tools/call", load).await;
    let loaded: Value = serde_json::from_str(text(&loaded)).unwrap();
    let handle = loaded["toolset"].as_str().unwrap().to_owned();
    let active = json!({"name": "tool_active", "arguments": {"toolset": handle}});
    assert_eq!(alice.modern("tools/call", active.clone()).await["isError"], json!(null));
    let refused = bob.modern("tools/call", active).await;
    assert_eq!(code(&refused), "INVALID_REQUEST", "a set of tools");
}

#[tokio::test]
async fn the_inner_tool_is_what_is_authorised_on_every_way_in() {
    let see = on("desk", rule("alice", RuleEffect::See));
    let read = AccessRule { risk: vec![RiskClass::Read], ..on("desk", rule("alice", RuleEffect::Call)) };
    let team = Team::with(vec![see, AccessRule { number: 2, line: Some(20), ..read }]).await;
    let alice = team.client("alice");
    assert_eq!(team.call("alice", "desk.read_note", json!({"id": "1"})).await["isError"], json!(null));
    // Seen and not called: before its arguments are looked at, by whatever name it is called.
    for name in ["desk.drop_note", "desk__drop_note", "drop_note", "DESK.Drop-Note"] {
        let refused = team.call("alice", name, json!({"wrong": true})).await;
        assert_eq!(code(&refused), "NOT_AUTHORIZED", "{name}");
        assert!(!text(&refused).contains("\"id\""), "{name}: no schema");
        let direct = alice.modern("tools/call", json!({"name": name, "arguments": {"wrong": 1}})).await;
        assert_eq!(code(&direct), "NOT_AUTHORIZED", "{name}");
    }
    let (status, _) =
        team.rest("alice", "/v1/call_tool", Some(json!({"tool_id": "desk.drop_note", "arguments": {}}))).await;
    assert_eq!(status, 403);
    // What is not seen is not there.
    for name in ["vault.open_vault", "vault__open_vault", "open_vault"] {
        let refused = team.call("alice", name, json!({"id": "1"})).await;
        assert_eq!(code(&refused), "TOOL_NOT_FOUND", "{name}");
        assert!(!text(&refused).contains("Open the vault"), "{name}");
    }
    let (status, _) =
        team.rest("alice", "/v1/call_tool", Some(json!({"tool_id": "vault.open_vault", "arguments": {}}))).await;
    assert_eq!(status, 404);
    for (method, params) in [
        ("prompts/get", json!({"name": "vault__whisper"})),
        ("resources/read", json!({"uri": "vault://gold"})),
        ("resources/read", json!({"uri": "vault+vault://gold"})),
        (
            "completion/complete",
            json!({"ref": {"type": "ref/prompt", "name": "vault__whisper"}, "argument": {"name": "a", "value": ""}}),
        ),
        ("vendor/peek", json!({})),
    ] {
        assert!(alice.try_modern(method, params.clone()).await.is_err(), "{method} {params}");
    }
    // Prompts and resources have no risk, so they may be read.
    assert!(alice.try_modern("resources/read", json!({"uri": "desk://top"})).await.is_ok());
    assert_eq!(team.vault.received("tools/call").len() + team.vault.received("prompts/get").len(), 0);
    assert_eq!(team.vault.received("resources/read").len() + team.desk.received("vendor/peek").len(), 0);
    assert!(team.desk.received("tools/call").iter().all(|call| call["params"]["name"] == "read_note"));
    // For bob there is no rule at all.
    let bob = team.client_on("bob", "/mcp/direct");
    assert_eq!(names(&bob.modern("tools/list", json!({})).await), Vec::<String>::new());
    assert_eq!(
        names(&team.client_on("alice", "/mcp/direct").modern("tools/list", json!({})).await),
        ["desk__read_note", "desk__drop_note"]
    );
    // The record knows what was denied, and by which rule, whatever whoever asked was told.
    let events = team.events().await;
    let denied = |tool: &str| {
        let mut all = events.iter().filter(|event| event.tool.as_deref() == Some(tool));
        all.find(|event| event.outcome.as_deref() == Some("denied")).cloned()
    };
    let vault = denied("vault.open_vault").expect("it is on record");
    assert_eq!((vault.principal.as_deref(), vault.auth.as_deref()), (Some("alice"), Some("token")));
    assert_eq!(vault.rule.as_deref(), Some("no rule grants it"));
    assert_eq!(denied("desk.drop_note").expect("it is on record").rule.as_deref(), Some("rule 1 (line 10)"));
}

#[tokio::test]
async fn rights_that_change_hold_at_once_and_only_those_are_told_whose_list_changed() {
    let all = rule("alice", RuleEffect::Call);
    let desk = AccessRule { number: 2, ..on("desk", rule("bob", RuleEffect::Call)) };
    let team = Team::of(vec![all, desk.clone()], |config| config.surface = Surface::Direct).await;
    let (alice, bob) = (team.client_on("alice", "/mcp/direct"), team.client_on("bob", "/mcp/direct"));
    for client in [&alice, &bob] {
        client.initialize("2025-11-25").await;
        client.open_stream().await;
    }
    assert_eq!(names(&alice.request("tools/list", json!({})).await).len(), 4);
    assert_eq!(names(&bob.request("tools/list", json!({})).await), ["desk__read_note", "desk__drop_note"]);
    let less = on("desk", rule("alice", RuleEffect::Call));
    let config = Config::clone(&team.gateway.config());
    team.gateway.reconfigure(Config { rules: vec![less, desk], ..config });
    alice.next_notification("notifications/tools/list_changed").await;
    assert_eq!(names(&alice.request("tools/list", json!({})).await), ["desk__read_note", "desk__drop_note"]);
    let call = json!({"name": "vault.open_vault", "arguments": {"id": "1"}});
    assert_eq!(code(&alice.request("tools/call", call).await), "TOOL_NOT_FOUND");
    // Bob's list is as it was: the next thing he hears is the answer to his question, and nothing before it.
    assert_eq!(names(&bob.request("tools/list", json!({})).await), ["desk__read_note", "desk__drop_note"]);
    assert_eq!(bob.notifications(), Vec::<Value>::new());
}

#[tokio::test]
async fn who_uses_it_does_not_run_it() {
    let team = Team::with(vec![rule("*", RuleEffect::Call)]).await;
    for path in ["/v1/stop_server", "/v1/start_server", "/v1/approvals"] {
        assert_eq!(team.rest("alice", path, Some(json!({"server": "desk"}))).await.0, 403, "{path}");
    }
    let (status, calls) = team.rest("alice", "/v1/calls", None).await;
    assert_eq!((status, &calls["total"]), (200, &json!(0)));
}

#[tokio::test]
async fn calls_of_others_are_not_shown_to_who_may_not_see_everything() {
    let team = Team::with(vec![
        on("desk", rule("alice", RuleEffect::Call)),
        AccessRule { number: 2, ..rule("bob", RuleEffect::Call) },
    ])
    .await;
    team.call("bob", "vault.open_vault", json!({"id": "1"})).await;
    team.call("alice", "desk.read_note", json!({"id": "1"})).await;
    let tools = |calls: &Value| -> Vec<String> {
        calls["calls"]
            .as_array()
            .unwrap()
            .iter()
            .map(|call| call["tool"].as_str().unwrap_or_default().to_owned())
            .collect()
    };
    let (_, alices) = team.rest("alice", "/v1/calls", None).await;
    assert_eq!((tools(&alices), &alices["total"]), (vec!["desk.read_note".to_owned()], &json!(1)));
    let (_, bobs) = team.rest("bob", "/v1/calls", None).await;
    assert_eq!(tools(&bobs).len(), 2);
    let who = async |looking: &str| {
        let (_, told) = team.rest(looking, "/v1/clients", None).await;
        let mut all: Vec<String> =
            told["clients"].as_array().unwrap().iter().map(|client| client["principal"].to_string()).collect();
        all.sort();
        (all.join(" "), told["total"].clone())
    };
    assert_eq!(who("alice").await, ("\"alice\"".to_owned(), json!(1)));
    assert_eq!(who("bob").await, ("\"alice\" \"bob\"".to_owned(), json!(2)));
    let metrics = async |name: &str| {
        let request = plain_http().get(format!("http://{}/metrics", team.address)).bearer_auth(&team.tokens[name]);
        request.send().await.unwrap().text().await.unwrap()
    };
    assert!(metrics("bob").await.contains("server=\"vault\""));
    assert!(!metrics("alice").await.contains("vault"));
}

#[tokio::test]
async fn the_token_of_the_configuration_goes_on_working() {
    let team = Team::of(vec![on("desk", rule("token", RuleEffect::Call))], |config| {
        config.http.token = Some(Secret::new("of-the-house"));
    })
    .await;
    let house =
        HttpClient::new(format!("http://{}/mcp", team.address)).with_header("authorization", "bearer of-the-house");
    let call = json!({"name": "desk.read_note", "arguments": {"id": "1"}});
    assert_eq!(house.modern("tools/call", call).await["isError"], json!(null));
    let event = team.events().await.into_iter().find(|event| event.tool.as_deref() == Some("desk.read_note")).unwrap();
    assert_eq!((event.principal.as_deref(), event.auth.as_deref()), (Some("token"), Some("token")));
}

#[tokio::test]
async fn planted_secrets_are_nowhere() {
    let team = Team::of(vec![on("desk", rule("alice", RuleEffect::Call))], |config| {
        config.http.token = Some(Secret::new("planted-token-of-the-house"));
    })
    .await;
    let secrets: Vec<String> = team
        .tokens
        .values()
        .cloned()
        .chain(["planted-token-of-the-house".to_owned(), "planted-stranger".to_owned()])
        .collect();
    let mut said = String::new();
    for path in
        ["/v1/status", "/v1/servers", "/v1/calls", "/v1/tools", "/v1/approvals", "/metrics", "/openapi.json", "/mcp"]
    {
        for token in &secrets {
            let reply =
                plain_http().get(format!("http://{}{path}", team.address)).bearer_auth(token).send().await.unwrap();
            said.push_str(&format!("{:?}", reply.headers()));
            said.push_str(&reply.text().await.unwrap());
        }
    }
    team.call("alice", "desk.read_note", json!({"id": "1"})).await;
    team.call("alice", "vault.open_vault", json!({"id": "1"})).await;
    team.events().await;
    for file in std::fs::read_dir(team.folder.path()).unwrap() {
        said.push_str(&String::from_utf8_lossy(&std::fs::read(file.unwrap().path()).unwrap()));
    }
    for journal in [&team.desk, &team.vault] {
        said.push_str(&format!("{:?}", journal.journal()));
    }
    for secret in &secrets {
        assert!(!said.contains(secret.as_str()), "{}…", &secret[..16]);
        // Nor the part of it that is random.
        assert!(!said.contains(&secret[secret.len() - 16..]), "{}…", &secret[..16]);
    }
}
