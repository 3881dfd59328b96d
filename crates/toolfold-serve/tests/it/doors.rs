//! Doors as clients see them, in both eras and for principals who may see different things.

use serde_json::{Value, json};
use toolfold_config::Config;
use toolfold_core::{AccessRule, Doors, RuleEffect, ServerName, Surface};

use crate::access::{Team, code, on, rule};
use crate::support::{names, text};

fn to(servers: &[&str]) -> Doors {
    Doors { by_risk: false, servers: servers.iter().map(|name| ServerName::new(*name).unwrap()).collect() }
}

const BY_RISK: Doors = Doors { by_risk: true, servers: Vec::new() };

fn through(door: &str, tool: &str, arguments: Value) -> Value {
    json!({"name": door, "arguments": {"tool": tool, "arguments": arguments}})
}

#[tokio::test]
async fn only_what_reads_is_called_through_the_reading_door() {
    let team = Team::of(Vec::new(), |config| config.doors = BY_RISK).await;
    let (legacy, modern) = (team.client("alice"), team.client("alice"));
    legacy.initialize("2025-11-25").await;
    let list = legacy.request("tools/list", json!({})).await;
    assert_eq!(names(&list), ["find_tools", "call_tool", "call_tool_readonly"]);
    assert_eq!(list["tools"], modern.modern("tools/list", json!({})).await["tools"]);
    assert_eq!(list["tools"][2]["annotations"]["readOnlyHint"], true);
    let look = through("call_tool_readonly", "desk.read_note", json!({"id": "1"}));
    let drop = through("call_tool_readonly", "desk.drop_note", json!({"id": "1"}));
    for modern_era in [false, true] {
        let ask = async |params: &Value| match modern_era {
            true => modern.modern("tools/call", params.clone()).await,
            false => legacy.request("tools/call", params.clone()).await,
        };
        assert_eq!(ask(&look).await["isError"], json!(null));
        let refused = ask(&drop).await;
        assert_eq!((code(&refused), &refused["isError"]), ("NOT_AUTHORIZED", &json!(true)));
        let next = &refused["structuredContent"]["error"]["next_action"];
        assert_eq!(next["tool"], "call_tool", "{refused}");
        assert!(text(&refused).contains("does not say whether it only reads"), "{refused}");
        let done = ask(&json!({"name": next["tool"], "arguments": next["arguments"]})).await;
        assert_eq!(done["isError"], json!(null), "what it says to do works: {done}");
        // Arguments are not looked at before the door is.
        let wrong = ask(&through("call_tool_readonly", "desk.drop_note", json!({"wrong": 1}))).await;
        assert_eq!(code(&wrong), "NOT_AUTHORIZED");
        assert!(
            ask(&through("call_tool_readonly", "desk.read_note", json!({})))
                .await
                .to_string()
                .contains("INVALID_ARGUMENTS")
        );
    }
    let received: Vec<Value> =
        team.desk.received("tools/call").iter().map(|call| call["params"]["name"].clone()).collect();
    assert_eq!(received, ["read_note", "drop_note", "read_note", "drop_note"]);
    // The record has the tool and the door that it was called through, or not.
    let events = team.events().await;
    let find = |tool: &str, outcome: Option<&str>| {
        let fits = |event: &&toolfold_audit::AuditEvent| {
            event.tool.as_deref() == Some(tool) && event.outcome.as_deref() == outcome && event.door.is_some()
        };
        events.iter().find(fits).unwrap_or_else(|| panic!("{tool} {outcome:?}"))
    };
    assert_eq!(find("desk.read_note", None).door.as_deref(), Some("call_tool_readonly"));
    assert_eq!(find("desk.read_note", Some("done")).door.as_deref(), Some("call_tool_readonly"));
    let denied = find("desk.drop_note", Some("denied"));
    assert_eq!((denied.door.as_deref(), denied.rule.as_deref()), (Some("call_tool_readonly"), Some("door")));
    assert!(events.iter().any(|event| event.tool.as_deref() == Some("desk.drop_note") && event.door.is_none()));
}

#[tokio::test]
async fn the_door_of_a_server_exists_for_those_alone_for_whom_the_server_does() {
    let desk = on("desk", rule("alice", RuleEffect::Call));
    let all = AccessRule { number: 2, line: Some(20), ..rule("bob", RuleEffect::Call) };
    let team = Team::of(vec![desk, all], |config| config.doors = to(&["vault", "desk"])).await;
    for surface in Surface::ALL {
        let list = async |name: &str| {
            let list = team.client_on(name, &format!("/mcp/{surface}")).modern("tools/list", json!({})).await;
            let doors = names(&list).into_iter().filter(|name| name == "call_desk" || name == "call_vault");
            doors.collect::<Vec<_>>()
        };
        let none = surface == Surface::Direct;
        assert_eq!(list("alice").await, if none { vec![] } else { vec!["call_desk"] }, "{surface}");
        assert_eq!(list("bob").await, if none { vec![] } else { vec!["call_vault", "call_desk"] }, "{surface}");
    }
    let alice = team.client("alice");
    // What is behind it does not exist for her, and so neither does the door: it is any unknown name.
    let hidden = alice.modern("tools/call", through("call_vault", "vault.open_vault", json!({"id": "1"}))).await;
    let absent = alice.modern("tools/call", through("call_vaulz", "vault.open_vault", json!({"id": "1"}))).await;
    assert_eq!(code(&hidden), "TOOL_NOT_FOUND");
    assert_eq!(
        hidden.to_string(),
        absent.to_string().replace("call_vaulz", "call_vault").replace("call vaulz", "call vault")
    );
    let other = alice.modern("tools/call", through("call_desk", "vault.open_vault", json!({"id": "1"}))).await;
    assert_eq!(code(&other), "TOOL_NOT_FOUND");
    assert_eq!(
        alice.modern("tools/call", through("call_desk", "drop_note", json!({"id": "1"}))).await["isError"],
        json!(null)
    );
    let bob = team.client("bob");
    let other = bob.modern("tools/call", through("call_desk", "vault.open_vault", json!({"id": "1"}))).await;
    assert_eq!(code(&other), "NOT_AUTHORIZED");
    assert_eq!(team.vault.received("tools/call").len(), 0);
}

#[tokio::test]
async fn what_may_not_be_called_is_refused_by_its_rule_and_not_by_the_door() {
    let see = on("desk", rule("alice", RuleEffect::See));
    let team = Team::of(vec![see], |config| config.doors = BY_RISK).await;
    let refused =
        team.client("alice").modern("tools/call", through("call_tool_readonly", "desk.drop_note", json!({}))).await;
    assert_eq!(code(&refused), "NOT_AUTHORIZED");
    assert!(!text(&refused).contains("Use call_tool"), "no other door leads there: {refused}");
    let events = team.events().await;
    let denied = events.iter().find(|event| event.outcome.as_deref() == Some("denied")).unwrap();
    assert_eq!(
        (denied.rule.as_deref(), denied.door.as_deref()),
        (Some("rule 1 (line 10)"), Some("call_tool_readonly"))
    );
}

#[tokio::test]
async fn doors_that_come_and_go_are_told() {
    let team = Team::of(Vec::new(), |_| {}).await;
    let alice = team.client("alice");
    alice.initialize("2025-11-25").await;
    alice.open_stream().await;
    assert_eq!(names(&alice.request("tools/list", json!({})).await), ["find_tools", "call_tool"]);
    let config = Config::clone(&team.gateway.config());
    team.gateway.reconfigure(Config { doors: to(&["desk"]), ..config.clone() });
    alice.next_notification("notifications/tools/list_changed").await;
    assert_eq!(names(&alice.request("tools/list", json!({})).await), ["find_tools", "call_tool", "call_desk"]);
    team.gateway.reconfigure(config);
    alice.next_notification("notifications/tools/list_changed").await;
    assert_eq!(names(&alice.request("tools/list", json!({})).await), ["find_tools", "call_tool"]);
}
