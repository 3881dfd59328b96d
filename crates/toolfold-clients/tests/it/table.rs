//! The table itself: every row makes sense, and the page says what it says.

use std::collections::BTreeSet;
use std::fs;
use std::path::Path;

use serde_json::Value;
use toolfold_clients::{
    Base, ENTRY_NAME, Environment, FileFormat, FilePlace, Scope, Shape, Slot, Way, clients, document, get, recognise,
    set, snippets, survey,
};

use crate::home::Home;

fn start() -> Way {
    Way::Start {
        command: "/opt/toolfold".to_owned(),
        args: vec!["serve".to_owned(), "--stdio".to_owned()],
        variables: Vec::new(),
    }
}

#[test]
fn every_row_is_whole() {
    let home = Home::new();
    let mut ids = BTreeSet::new();
    for client in clients() {
        assert!(ids.insert(client.id), "{} is there twice", client.id);
        assert!(!client.containers.is_empty() && !client.user.is_empty(), "{}", client.id);
        let file = client.own_file(&home.environment).unwrap_or_else(|| panic!("{} has no file on Linux", client.id));
        assert!(file.starts_with(home.path("home")), "{}", client.id);
        assert!(!client.is_present(&home.environment), "{}", client.id);
    }
    assert!(clients().filter(|client| client.is_written).count() >= 27);
}

#[test]
fn every_entry_can_be_written_and_read_again() {
    for client in clients().filter(|client| client.is_written) {
        for way in [start(), Way::Reach { url: "http://127.0.0.1:7420/mcp".to_owned() }] {
            let Some(entry) = client.entry(&way, false) else {
                assert!(client.spelling.url.is_none(), "{}", client.id);
                continue;
            };
            let slot = client.own_slot(&Value::Null);
            let text = set(client.format, "", &slot, &entry).unwrap().unwrap().text;
            let root = client.format.parse(&text).unwrap();
            assert_eq!(get(&root, &slot), Some(&entry), "{}: {text}", client.id);
            assert!(text.contains(ENTRY_NAME), "{}", client.id);
            if client.format == FileFormat::Json {
                assert!(serde_json::from_str::<Value>(&text).is_ok(), "{} would get more than JSON", client.id);
            }
        }
    }
}

/// Each file of each client that the table names, yours and the project's, is looked into.
#[test]
fn servers_are_found_in_every_file() {
    for client in clients() {
        let slot = Slot { name: "mine".to_owned(), ..client.own_slot(&Value::Null) };
        let mut entry = client.entry(&start(), false).unwrap();
        if slot.shape == Shape::List {
            entry["name"] = Value::from("mine");
        }
        let made = set(client.format, "", &slot, &entry).unwrap().unwrap().text;
        let text = made.replace("/opt/toolfold", "/opt/mine");
        let mut checked = 0;
        let yours = client.user.iter().map(|place| (Scope::User, *place));
        let projects = client.project.iter().map(|path| (Scope::Project, FilePlace::main(Base::Home, path)));
        for (scope, place) in yours.chain(projects) {
            let mut home = Home::new();
            if let Base::Variable(name) = place.base {
                let elsewhere = home.path("elsewhere").display().to_string();
                home.environment.variables.insert(name.to_owned(), elsewhere);
            }
            let around = match scope {
                Scope::Project => home.environment.directory.clone(),
                _ => home.environment.home.clone().unwrap(),
            };
            let there = Environment { home: Some(around), ..home.environment.clone() };
            let path: &'static str = place.path.replace('*', "any").leak();
            let Some(path) = (FilePlace { path, ..place }).paths(&there).pop() else { continue };
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, &text).unwrap();
            let seen = survey(&home.environment, &[client]);
            let found = seen
                .iter()
                .filter(|seen| seen.path == path && seen.scope == scope)
                .filter_map(|seen| seen.outcome.as_ref().ok());
            let names: Vec<&str> = found.flatten().map(|server| server.name.as_str()).collect();
            assert_eq!(names, ["mine"], "{}: {}", client.id, path.display());
            // And understood where it is named with --config; what is plain is left to Toolfold's own reader.
            let plain = serde_json::from_str::<Value>(&text)
                .is_ok_and(|root| ["mcpServers", "servers"].iter().any(|key| root.get(key).is_some()));
            let told = recognise(&path, &text, &home.environment);
            let is_known = told.is_some_and(|told| told.toml.contains("[servers.mine]"));
            assert!(is_known || plain, "{}: {text}", client.id);
            checked += 1;
        }
        assert!(checked > 0, "{}", client.id);
    }
}

#[test]
fn variables_move_files() {
    let mut home = Home::new();
    home.environment.variables.insert("CODEX_HOME".to_owned(), "/elsewhere".to_owned());
    home.environment.variables.insert("XDG_CONFIG_HOME".to_owned(), "/xdg".to_owned());
    let file = |id: &str| toolfold_clients::client(id).unwrap().own_file(&home.environment).unwrap();
    assert_eq!(file("codex"), Path::new("/elsewhere/config.toml"));
    assert_eq!(file("goose"), Path::new("/xdg/goose/config.yaml"));
    assert_eq!(file("copilot"), home.path("home/.copilot/mcp-config.json"));
    assert_eq!(file("opencode"), Path::new("/xdg/opencode/opencode.json"));
}

#[test]
fn each_platform_has_its_folders() {
    use toolfold_clients::Platform::{Mac, Windows};
    let mut home = Home::new();
    let file = |home: &Home, id: &str| {
        let path = toolfold_clients::client(id).unwrap().own_file(&home.environment).unwrap();
        path.strip_prefix(home.path("home")).unwrap().to_owned()
    };
    home.environment.platform = Mac;
    assert_eq!(
        file(&home, "claude-desktop"),
        Path::new("Library/Application Support/Claude/claude_desktop_config.json")
    );
    assert_eq!(file(&home, "zed"), Path::new(".config/zed/settings.json"));
    home.environment.platform = Windows;
    assert_eq!(file(&home, "claude-desktop"), Path::new("AppData/Roaming/Claude/claude_desktop_config.json"));
    assert_eq!(file(&home, "zed"), Path::new("AppData/Roaming/Zed/settings.json"));
    let store = "AppData/Local/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude/claude_desktop_config.json";
    home.write(&format!("home/{store}"), "{}");
    assert_eq!(file(&home, "claude-desktop"), Path::new(store));
}

/// The part of the README between its two marks. Run with `UPDATE_DOCUMENTS=1` to write it.
#[test]
fn the_readme_has_what_to_write_for_every_client() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../README.md");
    let readme = fs::read_to_string(&path).unwrap();
    let (before, rest) = readme.split_once("<!-- clients -->\n").expect("a mark where they begin");
    let (_, after) = rest.split_once("<!-- end of clients -->\n").expect("a mark where they end");
    let whole = format!("{before}<!-- clients -->\n\n{}<!-- end of clients -->\n{after}", snippets());
    if std::env::var_os("UPDATE_DOCUMENTS").is_some() {
        fs::write(&path, &whole).unwrap();
    }
    assert!(readme == whole || std::env::var_os("UPDATE_DOCUMENTS").is_some(), "run this test with UPDATE_DOCUMENTS=1");
    let named = clients().filter(|client| client.is_written).filter(|client| snippets().contains(client.name)).count();
    assert!(named >= 27, "{named}");
}

/// Run with `UPDATE_DOCUMENTS=1` to write it.
#[test]
fn the_page_is_what_the_table_says() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/clients.md");
    if std::env::var_os("UPDATE_DOCUMENTS").is_some() {
        fs::write(&path, document()).unwrap();
    }
    let page = fs::read_to_string(&path).unwrap_or_default();
    assert!(page == document(), "docs/clients.md is not what the table says: run this test with UPDATE_DOCUMENTS=1");
}
