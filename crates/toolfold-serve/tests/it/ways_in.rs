//! Ways in beside calls by name: tools that were loaded, names that tools had before, subscriptions, addresses that a template makes. On each of them what may
//! not be called is refused and what may not be seen is not there; and what is held for being like something hidden does not
//! tell of it. `access.rs` has the plain ways, and programs are with the binary's own tests.

use serde_json::{Value, json};
use toolfold_config::Config;
use toolfold_core::{AccessRule, Pattern, RiskClass, RuleEffect, Surface};
use toolfold_test::{FakeServer, HttpClient};

use crate::access::{Team, code, on, rule};
use crate::interference::tool;
use crate::support::{config, names, text};

/// Alice sees the desk, calls what only reads there, and nothing of the vault exists for her. Bob may do everything.
fn rules() -> Vec<AccessRule> {
    let read = AccessRule { risk: vec![RiskClass::Read], ..on("desk", rule("alice", RuleEffect::Call)) };
    let bob = AccessRule { number: 3, ..rule("bob", RuleEffect::Call) };
    vec![on("desk", rule("alice", RuleEffect::See)), AccessRule { number: 2, ..read }, bob]
}

async fn said(client: &HttpClient, modern: bool, tool: &str, arguments: Value) -> Value {
    let params = json!({"name": tool, "arguments": arguments});
    if modern { client.modern("tools/call", params).await } else { client.request("tools/call", params).await }
}

#[tokio::test]
async fn a_tool_that_is_loaded_is_no_freer_than_it_was() {
    let team = Team::with(rules()).await;
    for modern in [false, true] {
        let alice = team.client_on("alice", "/mcp/lifecycle");
        if !modern {
            alice.initialize("2025-11-25").await;
        }
        for name in ["vault.open_vault", "vault__open_vault", "open_vault"] {
            let refused = said(&alice, modern, "tool_load", json!({"names": [name, "desk.read_note"]})).await;
            assert_eq!(code(&refused), "TOOL_NOT_FOUND", "{name}");
            assert!(!text(&refused).contains("Open the vault"), "{refused}");
        }
        let loaded = said(&alice, modern, "tool_load", json!({"names": ["desk.drop_note", "desk.read_note"]})).await;
        assert_eq!(loaded["isError"], json!(null), "what is seen can be listed: {loaded}");
        let given = json!({"id": "1"});
        assert_eq!(code(&said(&alice, modern, "desk__drop_note", given.clone()).await), "NOT_AUTHORIZED");
        assert_eq!(said(&alice, modern, "desk__read_note", given).await["isError"], json!(null));
    }
    assert!(team.desk.received("tools/call").iter().all(|call| call["params"]["name"] == "read_note"));
}

#[tokio::test]
async fn what_was_loaded_is_gone_with_the_right_to_see_it() {
    let everything = vec![rule("alice", RuleEffect::Call)];
    let team = Team::with(everything).await;
    let (session, stateless) = (team.client_on("alice", "/mcp/lifecycle"), team.client_on("alice", "/mcp/lifecycle"));
    session.initialize("2025-11-25").await;
    session.open_stream().await;
    let load = json!({"names": ["vault.open_vault"]});
    said(&session, false, "tool_load", load.clone()).await;
    assert!(names(&session.request("tools/list", json!({})).await).contains(&"vault__open_vault".to_owned()));
    let loaded: Value = serde_json::from_str(text(&said(&stateless, true, "tool_load", load).await)).unwrap();
    let handle = json!({"toolset": loaded["toolset"]});
    assert!(text(&said(&stateless, true, "tool_active", handle.clone()).await).contains("vault__open_vault"));

    let config = Config::clone(&team.gateway.config());
    team.gateway.reconfigure(Config { rules: vec![on("desk", rule("alice", RuleEffect::Call))], ..config });
    while names(&session.request("tools/list", json!({})).await).contains(&"vault__open_vault".to_owned()) {
        session.next_notification("notifications/tools/list_changed").await;
    }
    assert!(!text(&said(&stateless, true, "tool_active", handle).await).contains("vault"));
    for modern in [false, true] {
        let client = if modern { &stateless } else { &session };
        for (tool, arguments) in [
            ("vault__open_vault", json!({"id": "1"})),
            ("call_tool", json!({"tool": "vault__open_vault", "arguments": {"id": "1"}})),
            ("tool_describe", json!({"name": "vault__open_vault"})),
        ] {
            // Not every surface has every one of them for every era: none of them finds it.
            let answer = said(client, modern, tool, arguments).await.to_string();
            assert!(answer.contains("TOOL_NOT_FOUND") && !answer.contains("Open the vault"), "{tool}: {answer}");
        }
    }
    assert_eq!(team.vault.received("tools/call").len(), 0);
}

/// A name that a tool had before leads to the tool, and no further than its new one.
#[tokio::test]
async fn an_old_name_leads_to_nothing_that_the_new_one_does_not() {
    let renamed = |prefix: &str| vec![tool(&format!("{prefix}_ledger"), "Look into the ledger."), json!("rename")];
    let office = FakeServer::script(json!({
        "tools": renamed("open"), "calls": {"rename": {"list_becomes": renamed("read")}},
    }));
    let hidden = FakeServer::script(json!({
        "tools": renamed("open"), "calls": {"rename": {"list_becomes": renamed("read")}},
    }));
    let mut all = rules();
    // By the name that it has at first: what was forbidden stays so under another one.
    let forbidden = AccessRule {
        number: 4,
        what: vec![Pattern::new("office.open_*")],
        ..on("office", rule("alice", RuleEffect::Forbid))
    };
    all.extend([AccessRule { number: 5, ..on("office", rule("alice", RuleEffect::See)) }, forbidden]);
    let team = Team::of(all, |change| {
        let more = config(Surface::Compact, &[("office", &office), ("crypt", &hidden)]).servers;
        change.servers.extend(more);
        change.servers.values_mut().for_each(|server| server.trust = toolfold_core::Trust::Always);
    })
    .await;
    let bob = team.client_on("bob", "/mcp/direct");
    bob.initialize("2025-11-25").await;
    bob.open_stream().await;
    for server in ["office", "crypt"] {
        team.call("bob", &format!("{server}.rename"), json!({})).await;
        while !names(&bob.request("tools/list", json!({})).await).contains(&format!("{server}__read_ledger")) {
            bob.next_notification("notifications/tools/list_changed").await;
        }
        let called = team.call("bob", &format!("{server}.open_ledger"), json!({"text": "x"})).await;
        assert_eq!(called["isError"], json!(null), "the old name leads there: {called}");
    }
    for name in ["office.open_ledger", "office__open_ledger", "office.read_ledger"] {
        assert_eq!(code(&team.call("alice", name, json!({"text": "x"})).await), "TOOL_NOT_FOUND", "{name}");
    }
    for name in ["crypt.open_ledger", "crypt__open_ledger", "crypt.read_ledger"] {
        assert_eq!(code(&team.call("alice", name, json!({"text": "x"})).await), "TOOL_NOT_FOUND", "{name}");
    }
    // Bob's, and nobody else's.
    for fake in [&office, &hidden] {
        let calls = fake.received("tools/call");
        assert_eq!(calls.iter().filter(|call| call["params"]["name"] == "read_ledger").count(), 1, "{calls:?}");
    }
}

#[tokio::test]
async fn nobody_listens_to_what_they_may_not_see() {
    let news = FakeServer::script(json!({
        "tools": ["touch"],
        "calls": {"touch": {"resource_updated": "news://a"}},
        "resources": [{"uri": "news://a", "name": "A"}],
    }));
    let team = Team::of(rules(), |change| {
        change.servers.extend(config(Surface::Compact, &[("news", &news)]).servers);
    })
    .await;
    let (alice, bob) = (team.client("alice"), team.client("bob"));
    for client in [&alice, &bob] {
        client.initialize("2025-11-25").await;
        client.open_stream().await;
    }
    bob.request("resources/subscribe", json!({"uri": "news://a"})).await;
    // As for what nobody lists: there is one server with resources for her, and that is asked for it.
    let ask = async |uri: &str| match alice.try_request("resources/subscribe", json!({"uri": uri})).await {
        Ok(result) => result.get().replace(uri, "#"),
        Err(error) => format!("{} {}", error.code, error.message).replace(uri, "#"),
    };
    let absent = ask("none://a").await;
    for uri in ["news://a", "news+news://a", "vault://gold", "vault+vault://gold"] {
        assert_eq!(ask(uri).await, absent, "{uri}");
    }
    bob.request("tools/call", json!({"name": "news.touch", "arguments": {}})).await;
    assert_eq!(bob.next_notification("notifications/resources/updated").await["uri"], "news://a");
    alice.request("tools/list", json!({})).await;
    assert!(!format!("{:?}", alice.notifications()).contains("news"), "{:?}", alice.notifications());
    let heard = news.journal().iter().filter(|message| message.to_string().contains("news://a")).count();
    assert_eq!((heard, team.vault.received("resources/subscribe").len()), (1, 0), "bob's alone: {:?}", news.journal());
}

/// Who may not see what a tool imitates is told what anybody is told of something new: not of the other, not that it is there.
#[tokio::test]
async fn what_is_held_for_its_likeness_does_not_tell_of_what_it_is_like() {
    let original = tool("read_salary", "Read the salary of an employee from the payroll.");
    let payroll = FakeServer::script(json!({"tools": [original]}));
    let team = Team::of(rules(), |change| {
        change.servers.extend(config(Surface::Compact, &[("payroll", &payroll)]).servers);
    })
    .await;
    // It comes later, so it is the copy.
    let copy = FakeServer::script(json!({"tools": [original, tool("file_letter", "Put a letter into its folder.")]}));
    let before = Config::clone(&team.gateway.config());
    let mut servers = before.servers.clone();
    servers.extend(config(Surface::Compact, &[("post", &copy)]).servers);
    let mut rules = before.rules.clone();
    rules.push(AccessRule { number: 6, ..on("post", rule("alice", RuleEffect::Call)) });
    team.gateway.reconfigure(Config { servers, rules, ..before });
    let alice = team.client("alice");
    while team.call("alice", "post.file_letter", json!({"text": "x"})).await["isError"] == json!(true) {
        tokio::task::yield_now().await;
    }
    let refused = team.call("alice", "post.read_salary", json!({"text": "x"})).await;
    assert_eq!(code(&refused), "QUARANTINED", "{refused}");
    assert!(text(&refused).contains("it is new, and nobody has approved it yet"), "{refused}");
    let (status, held) = team.rest("alice", "/v1/approvals", None).await;
    assert_eq!((status, &held["held"][0]["why"]), (200, &json!("it is new and has to be approved")), "{held}");
    for answer in [refused.to_string(), held.to_string(), alice.modern("tools/list", json!({})).await.to_string()] {
        assert!(!answer.contains("payroll.read_salary") && !answer.contains("which was there before"), "{answer}");
    }
    // Whoever sees both is told.
    let (_, held) = team.rest("bob", "/v1/approvals", None).await;
    assert!(held["held"][0]["why"].as_str().unwrap().contains("payroll.read_salary"), "{held}");
    assert_eq!(copy.received("tools/call").iter().filter(|call| call["params"]["name"] == "read_salary").count(), 0);
}

/// Who may not use a template may not use what it makes, whoever else may read every address.
#[tokio::test]
async fn an_address_is_forbidden_with_the_template_that_makes_it() {
    let mail = FakeServer::script(json!({
        "templates": [{"uriTemplate": "mail://{box}/{id}", "name": "Mail"}],
        "resources": [{"uri": "mail://open/1", "name": "Open"}],
        "answers": {"resources/read": {"contents": [{"uri": "mail://x", "text": "a letter"}]}},
    }));
    let forbid = AccessRule {
        number: 2,
        what: vec![Pattern::new("mail.mail://{box}/{id}")],
        ..rule("alice", RuleEffect::Forbid)
    };
    let team = Team::of(vec![rule("*", RuleEffect::Call), forbid], |all| {
        let more = config(Surface::Compact, &[("mail", &mail)]);
        all.servers.extend(more.servers);
    })
    .await;
    for uri in ["mail://bob/1", "mail://open/1"] {
        let read = team.client("bob").try_modern("resources/read", json!({"uri": uri})).await;
        assert!(read.is_ok(), "{uri}: {read:?}");
        let before = mail.received("resources/read").len();
        for method in ["resources/read", "resources/subscribe"] {
            let refused = team.client("alice").try_modern(method, json!({"uri": uri})).await;
            assert!(refused.is_err(), "{method} {uri}: {refused:?}");
        }
        assert_eq!(mail.received("resources/read").len(), before);
        // Nor does what completes an address tell that there is one.
        let complete = |uri: &str| {
            let about = json!({"ref": {"type": "ref/resource", "uri": uri}, "argument": {"name": "x", "value": ""}});
            let (asked, uri) = (team.client("alice"), uri.to_owned());
            async move {
                let error = asked.try_modern("completion/complete", about).await.unwrap_err();
                format!("{} {}", error.code, error.message).replace(&uri, "#")
            }
        };
        assert_eq!(complete(uri).await, complete("none://a").await, "{uri}");
    }
    // What is said of it is said in the words that a rule takes.
    let alice = toolfold_core::Principal::named("alice", Vec::new());
    let all = team.gateway.access().permissions(&alice).await;
    let level = |id: &str| all.iter().find(|one| one.id == id).map(|one| one.level);
    assert_eq!(level("mail.mail://{box}/{id}"), Some("nothing"));
    assert_eq!(level("desk.desk://top"), Some("call"));
    assert_eq!(level("desk.greet"), Some("call"));
}
