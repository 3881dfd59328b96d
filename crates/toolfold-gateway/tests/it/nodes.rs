//! Capabilities in what is served, and a configuration that changes them while it runs.

use serde_json::json;
use toolfold_config::Config;
use toolfold_core::NodeRule;

use crate::{found, server, start};

#[tokio::test]
async fn a_changed_configuration_changes_the_tree_and_nothing_else() {
    let gateway = start(Config::default());
    gateway.register(server("post", &["send_email", "read_file"])).await.unwrap();
    let mail = found(&gateway, json!({"path": ["email"]})).await;
    assert!(mail.starts_with("post.send_email"), "by its meaning, under an alias: {mail}");

    let rule = NodeRule {
        path: vec!["Mine".to_owned()],
        summary: Some("What I use".to_owned()),
        matches: Some(vec!["post.*".to_owned()]),
        ..NodeRule::default()
    };
    gateway.reconfigure(Config { nodes: vec![rule], ..Config::default() });
    // A registration is behind the configuration in the writer's queue.
    gateway.register(server("later", &["write_file"])).await.unwrap();
    let mine = found(&gateway, json!({"path": ["Mine"]})).await;
    assert!(mine.contains("post.send_email") && mine.contains("post.read_file"), "{mine}");
    let root = found(&gateway, json!({})).await;
    assert!(root.starts_with("Mine — 2 tools: What I use"), "{root}");
    assert!(!root.contains("Messaging"), "what a pattern names is nowhere else: {root}");

    gateway.reconfigure(Config::default());
    gateway.register(server("last", &["a"])).await.unwrap();
    assert_eq!(found(&gateway, json!({"path": ["email"]})).await, mail, "as it was");
    let gone = found(&gateway, json!({"path": ["Mine"]})).await;
    assert!(gone.contains("UNKNOWN_PATH"), "{gone}");
}
