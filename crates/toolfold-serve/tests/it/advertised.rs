//! What a client is told that can be asked for: tools always, the rest where some server has it.

use serde_json::{Value, json};
use toolfold_core::Surface;
use toolfold_gateway::Gateway;
use toolfold_test::FakeServer;

use crate::support::{Pipe, all_settled, config, http_client, local_gateway, modern_meta, start};

/// Capabilities as each era says them, which is the same.
async fn told(gateway: &Gateway) -> Value {
    let initialized = Pipe::to(gateway.clone(), Surface::Compact).initialize("2025-11-25").await;
    let discover = json!({"jsonrpc": "2.0", "id": 1, "method": "server/discover", "params": {"_meta": modern_meta()}});
    let discovered = Pipe::to(gateway.clone(), Surface::Compact).exchange(discover).await;
    let told = initialized["result"]["capabilities"].clone();
    assert_eq!(discovered["result"]["capabilities"], told);
    told
}

#[tokio::test]
async fn only_tools_where_nobody_has_more() {
    assert_eq!(told(&local_gateway(Surface::Compact)).await, json!({"tools": {"listChanged": true}}));
    let plain =
        FakeServer::script(json!({"tools": ["one"], "capabilities": {"tools": {}, "resources": {}, "prompts": {}}}));
    let gateway = start(config(Surface::Compact, &[("plain", &plain)]));
    all_settled(&gateway).await;
    assert_eq!(told(&gateway).await, json!({"tools": {"listChanged": true}}));
}

#[tokio::test]
async fn what_one_server_has_is_said_for_all() {
    let plain = FakeServer::script(json!({"tools": ["one"], "capabilities": {"tools": {}}}));
    let rich = FakeServer::script(json!({"resources": [{"uri": "x://a", "name": "a"}], "prompts": [{"name": "ask"}]}));
    let gateway = start(config(Surface::Compact, &[("plain", &plain), ("rich", &rich)]));
    all_settled(&gateway).await;
    let all = json!({
        "tools": {"listChanged": true}, "prompts": {"listChanged": true}, "completions": {}, "logging": {},
        "resources": {"listChanged": true, "subscribe": true},
    });
    assert_eq!(told(&gateway).await, all);
}

#[tokio::test]
async fn a_server_that_has_not_answered_yet_may_have_anything() {
    let silent = FakeServer::script(json!({"silent": ["server/discover", "initialize"]}));
    let told = told(&start(config(Surface::Compact, &[("silent", &silent)]))).await;
    assert!(told["resources"].is_object() && told["prompts"].is_object(), "{told}");
}

#[tokio::test]
async fn who_was_told_of_no_resources_does_not_hear_that_they_changed() {
    let plain = FakeServer::script(json!({"tools": ["one"], "capabilities": {"tools": {}}}));
    let rich = FakeServer::script(json!({"resources": [{"uri": "x://a", "name": "a"}], "tools": ["two"]}));
    let gateway = start(config(Surface::Direct, &[("plain", &plain)]));
    all_settled(&gateway).await;
    let mut early = Pipe::to(gateway.clone(), Surface::Direct);
    assert!(early.initialize("2025-11-25").await["result"]["capabilities"]["resources"].is_null());
    let listener = http_client(gateway.clone(), Surface::Direct).await;
    listener.listen(json!({"resourcesListChanged": true})).await;
    gateway.reconfigure(config(Surface::Direct, &[("plain", &plain), ("rich", &rich)]));
    // Whoever asks for it hears it, and whoever comes now is told.
    listener.next_notification("notifications/resources/list_changed").await;
    assert!(told(&gateway).await["resources"].is_object());
    let heard = early.close().await;
    let methods: Vec<&Value> = heard.iter().map(|message| &message["method"]).collect();
    assert!(methods.contains(&&json!("notifications/tools/list_changed")), "{methods:?}");
    assert!(!methods.contains(&&json!("notifications/resources/list_changed")), "{methods:?}");
}
