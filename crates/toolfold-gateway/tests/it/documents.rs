//! Agents and skills: files that are found and read like tools, and never called.

use std::fs;
use std::path::Path;

use serde_json::json;
use tempfile::TempDir;
use toolfold_config::Config;
use toolfold_core::Surface;
use toolfold_gateway::{Change, Documents, Gateway, document_files};

use crate::{ask, call, found, me, number, start};

fn write(folder: &TempDir, name: &str, text: impl AsRef<[u8]>) {
    let path = folder.path().join(name);
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    fs::write(path, text).unwrap();
}

fn agent(name: &str, description: &str) -> String {
    format!("---\nname: {name}\ndescription: {description}\ntools: Read, Grep\n---\nYou are {name}.\n")
}

/// Two agents, two skills, and much that is neither.
fn folder() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(&folder, "agents/reviewer.md", agent("reviewer", "Reviews code quality. Use when a change is done."));
    write(&folder, "agents/deep/er/planner.md", "---\ndescription: Designs an implementation.\n---\nYou plan.");
    write(&folder, "agents/README.md", "Not an agent.");
    write(&folder, "agents/notes.txt", "Not an agent either.");
    write(&folder, "agents/.hidden/secret.md", agent("secret", "Hidden."));
    write(&folder, "skills/pdf/SKILL.md", "---\nname: pdf\ndescription: Fill in PDF forms.\n---\nRun scripts/fill.py.");
    write(&folder, "skills/pdf/reference.md", "More.");
    write(&folder, "skills/more/slides/skill.md", "---\ndescription: Make slides.\n---\nMake them.");
    folder
}

fn config(folder: &TempDir) -> Config {
    let path = |name: &str| vec![folder.path().join(name)];
    Config { agents: path("agents"), skills: path("skills"), ..Config::default() }
}

async fn ids(gateway: &Gateway) -> Vec<String> {
    gateway.view(&me()).await;
    crate::ids(gateway)
}

#[tokio::test]
async fn they_are_in_the_catalog_under_a_node_of_their_own() {
    let folder = folder();
    let gateway = start(config(&folder));
    let all = ["agents.planner", "agents.reviewer", "home.greet", "skills.pdf", "skills.slides"];
    assert_eq!(ids(&gateway).await, all);
    let listed = found(&gateway, json!({"path": ["Servers", "agents"]})).await;
    assert!(listed.contains("agents.planner") && listed.contains("agents.reviewer"), "{listed}");
}

#[tokio::test]
async fn they_are_found_by_kind_and_by_what_they_do() {
    let folder = folder();
    let gateway = start(config(&folder));
    let hits = found(&gateway, json!({"query": "review code quality", "kind": "agent"})).await;
    assert!(hits.starts_with("agents.reviewer"), "{hits}");
    let hits = found(&gateway, json!({"query": "fill in a form", "kind": "skill"})).await;
    assert!(hits.starts_with("skills.pdf"), "{hits}");
    let tools = found(&gateway, json!({"query": "review code quality", "kind": "tool"})).await;
    assert!(!tools.contains("agents."), "{tools}");
}

#[tokio::test]
async fn a_definition_says_everything_but_where_it_came_from() {
    let folder = folder();
    let gateway = start(config(&folder));
    let scope = gateway.view(&me()).await;
    let position = scope.view().resolve("reviewer").unwrap();
    let definition = scope.view().entry(position).definition.get();
    insta::assert_snapshot!(definition, @r#"{"name":"reviewer","description":"Reviews code quality. Use when a change is done.","whenToUse":"Use when a change is done","systemPrompt":"You are reviewer.","tools":["Read","Grep"]}"#);
}

#[tokio::test]
async fn they_are_never_called_and_never_listed_as_tools() {
    let folder = folder();
    let gateway = start(Config { pin: vec!["agents.reviewer".into(), "home.greet".into()], ..config(&folder) });
    let refused = call(&gateway, "call_tool", json!({"tool": "agents.reviewer"})).await;
    assert_eq!(refused["isError"], true);
    insta::assert_snapshot!(refused["structuredContent"]["error"], @r#"{"code":"INVALID_REQUEST","message":"agents.reviewer is an agent: it is read, not called.","hints":["Read agents.reviewer in full, then do what it says with the tools it names."]}"#);
    for surface in Surface::ALL {
        let list = ask(&gateway, surface, "tools/list", json!({})).await.to_string();
        assert!(!list.contains("reviewer"), "{surface}: {list}");
    }
}

#[tokio::test]
async fn a_tool_wins_a_bare_name_from_an_agent() {
    let folder = tempfile::tempdir().unwrap();
    write(&folder, "agents/greet.md", agent("greet", "Greets."));
    let gateway = start(config(&folder));
    let result = call(&gateway, "greet", json!({})).await;
    assert_eq!(result["content"][0]["text"], "done");
}

#[test]
fn bad_files_are_reported_and_the_others_serve() {
    let folder = folder();
    write(&folder, "agents/a-bad.md", "---\nname: [\n---\n");
    write(&folder, "agents/binary.md", [0xff, 0xfe, 0]);
    write(&folder, "agents/large.md", vec![b'x'; 1024 * 1024 + 1]);
    write(&folder, "agents/zwin.md", agent("reviewer", "Another."));
    let mut config = config(&folder);
    config.agents.push(folder.path().join("missing"));
    let unusable = Documents::read(&config).unusable;
    let said: Vec<String> = unusable.iter().map(|odd| shown(folder.path(), &odd.to_string())).collect();
    insta::assert_snapshot!(said.join("\n"), @r#"
    …/missing does not exist
    …/agents/a-bad.md has front matter that is not YAML: unclosed bracket '[' at line 2, column 7
    …/agents/binary.md is not UTF-8 text
    …/agents/large.md is larger than 1 MiB
    …/agents/zwin.md is left out: an earlier file is called "reviewer" too
    "#);
    assert_eq!(document_files(&config).len(), 8);
}

fn shown(folder: &Path, text: &str) -> String {
    text.replace(folder.to_str().unwrap(), "…")
}

#[cfg(unix)]
#[test]
fn links_in_a_circle_end() {
    let folder = folder();
    std::os::unix::fs::symlink(folder.path(), folder.path().join("agents/round")).unwrap();
    assert!(document_files(&config(&folder)).len() < 100);
}

#[tokio::test]
async fn added_changed_and_removed_files_are_seen() {
    let folder = folder();
    let gateway = start(config(&folder));
    gateway.settled(&me()).await;
    let mut changes = gateway.changes();
    write(&folder, "agents/tester.md", agent("tester", "Writes tests."));
    write(&folder, "agents/reviewer.md", agent("reviewer", "Reviews prose."));
    fs::remove_dir_all(folder.path().join("skills/pdf")).unwrap();
    gateway.reread_documents();
    // A registration is behind the reading in the writer's queue.
    gateway.register(crate::server("later", &["tool"])).await.unwrap();
    let all = ["agents.planner", "agents.reviewer", "agents.tester", "home.greet", "later.tool", "skills.slides"];
    assert_eq!(ids(&gateway).await, all);
    let hits = found(&gateway, json!({"query": "reviews prose", "kind": "agent"})).await;
    assert!(hits.starts_with("agents.reviewer"), "{hits}");
    assert!(matches!(changes.try_recv(), Ok(Change::Tools { .. })), "the new tool is told");
}

#[tokio::test]
async fn a_changed_agent_is_no_changed_tool_list() {
    let folder = folder();
    let gateway = start(config(&folder));
    gateway.settled(&me()).await;
    let (before, mut changes) = (number(&gateway).await, gateway.changes());
    write(&folder, "agents/tester.md", agent("tester", "Writes tests."));
    gateway.reconfigure((*gateway.config()).clone());
    while number(&gateway).await == before {
        tokio::task::yield_now().await;
    }
    assert!(ids(&gateway).await.contains(&"agents.tester".to_owned()));
    assert!(changes.try_recv().is_err(), "nobody's list of tools changed");
}

#[tokio::test]
async fn paths_come_and_go_with_the_configuration() {
    let folder = folder();
    let gateway = start(config(&folder));
    gateway.settled(&me()).await;
    gateway.reconfigure(Config { agents: Vec::new(), ..config(&folder) });
    gateway.register(crate::server("later", &[])).await.unwrap();
    assert_eq!(ids(&gateway).await, ["home.greet", "skills.pdf", "skills.slides"]);
    let names: Vec<String> = gateway.status().await.iter().map(|server| server.name.to_string()).collect();
    assert_eq!(names, ["home", "later", "skills"]);
}
