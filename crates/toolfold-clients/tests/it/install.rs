//! Toolfold into clients' files and out again, whatever happens in between.

use std::fs;

use toolfold_clients::{
    InstallError, KnownClient, Way, apply_install, apply_undo, client, clients, plan_install, plan_undo, points_here,
    variables_in, withheld,
};

use crate::home::Home;

fn start() -> Way {
    Way::Start {
        command: "/opt/toolfold".to_owned(),
        args: vec!["serve".to_owned(), "--stdio".to_owned(), "--config".to_owned(), "/c/toolfold.toml".to_owned()],
        variables: Vec::new(),
    }
}

fn install(home: &Home, id: &str) -> Vec<std::path::PathBuf> {
    let plan = plan_install(&home.environment, client(id).unwrap(), &start(), false).unwrap();
    apply_install(&home.environment, &plan).unwrap()
}

fn undo(home: &Home, id: &str) -> usize {
    let plan = plan_undo(&home.environment, client(id).unwrap()).unwrap();
    apply_undo(&home.environment, &plan).unwrap();
    plan.changes.len()
}

/// A file of each client that has something foreign in it.
fn foreign(client: &KnownClient) -> String {
    use toolfold_clients::{FileFormat, Shape};
    let key = client.containers[0][0];
    match (client.format, client.shape) {
        (FileFormat::Toml, Shape::Map) => {
            format!("# mine\nmodel = \"x\"\n\n[{key}.other]\ncommand = \"o\"\nenv = {{ K = \"s3cret\" }}\n")
        }
        (FileFormat::Toml, _) => format!("# mine\n[[{key}]]\nname = \"other\"\ncommand = \"o\"\n"),
        (FileFormat::Yaml, Shape::Map) => {
            format!("# mine\nmodel: x\n{key}:\n  other:\n    type: stdio\n    cmd: o # s3cret\n")
        }
        (FileFormat::Yaml, _) => format!("# mine\n{key}:\n  - name: other\n    command: o\n"),
        (FileFormat::Jsonc, _) => format!(
            "{{\n    // mine\n    \"{key}\": {{\n        \"other\": {{\"command\": [\"o\"], \"type\": \"local\"}}, // s3cret\n    }},\n}}"
        ),
        (FileFormat::Json, _) => format!(
            "{{\n\t\"a\": 1,\n\t\"{key}\": {{\"other\": {{\"command\": \"o\", \"env\": {{\"K\": \"s3cret\"}}}}}}\n}}\n"
        ),
    }
}

/// Where a client hands few variables on, its entry names those that are needed, and what somebody wrote there stays.
#[test]
fn variables_reach_toolfold() {
    let start = |names: &[&str]| Way::Start {
        command: "/opt/toolfold".to_owned(),
        args: Vec::new(),
        variables: names.iter().map(|name| (*name).to_owned()).collect(),
    };
    let needed = variables_in(
        "budget = 900\n[servers.a]\ncommand = \"x\"\nargs = [\"$${NO}\", \"${A_KEY}\"] # ${COMMENT}\nenv = { B = \"${B:-${C}}\" }\n",
    );
    assert_eq!(needed, ["A_KEY", "B", "C"]);
    for (id, before, after) in [
        (
            "codex",
            "[mcp_servers.toolfold]\ncommand = \"/old/toolfold\"\nenv_vars = [\"MINE\"]\n",
            "[mcp_servers.toolfold]\ncommand = \"/opt/toolfold\"\nargs = []\nenv_vars = [\"MINE\", \"A_KEY\", \"B\", \"C\"]\n",
        ),
        (
            "gemini",
            r#"{"mcpServers": {"toolfold": {"command": "/old/toolfold", "env": {"B": "mine"}}}}"#,
            r#"{"mcpServers": {"toolfold": {"command":"/opt/toolfold","args":[],"env":{"A_KEY":"${A_KEY}","B":"mine","C":"${C}"}}}}"#,
        ),
        (
            "claude-code",
            r#"{"mcpServers": {}}"#,
            r#"{"mcpServers": {"toolfold":{"type":"stdio","command":"/opt/toolfold","args":[]}}}"#,
        ),
    ] {
        let (home, known) = (Home::new(), client(id).unwrap());
        let path = known.own_file(&home.environment).unwrap();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, before).unwrap();
        let needed: Vec<&str> = needed.iter().map(String::as_str).collect();
        let plan = plan_install(&home.environment, known, &start(&needed), false).unwrap();
        apply_install(&home.environment, &plan).unwrap();
        let written = fs::read_to_string(&path).unwrap();
        assert_eq!(known.format.parse(&written).unwrap(), known.format.parse(after).unwrap(), "{id}: {written}");
        assert!(plan_install(&home.environment, known, &start(&needed), false).unwrap().changes.is_empty(), "{id}");
        let asked = ["A_KEY", "NEW"].map(str::to_owned);
        let kept = withheld(&home.environment, known, &asked);
        assert_eq!(kept, if id == "claude-code" { vec![] } else { vec!["NEW"] }, "{id}");
    }
}

#[test]
fn every_client_in_and_out_to_the_byte() {
    for client in clients().filter(|client| client.is_written) {
        let home = Home::new();
        let path = client.own_file(&home.environment).unwrap();
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        let before = foreign(client);
        fs::write(&path, &before).unwrap();
        assert!(!points_here(&home.environment, client));
        let plan = plan_install(&home.environment, client, &start(), false).unwrap();
        let shown = &plan.changes[0].preview;
        assert!(shown.contains("toolfold") && !shown.contains("s3cret"), "{}: {shown}", client.id);
        assert_eq!(fs::read_to_string(&path).unwrap(), before, "a plan writes nothing");
        let backups = apply_install(&home.environment, &plan).unwrap();
        assert_eq!(fs::read_to_string(&backups[0]).unwrap(), before);
        assert!(points_here(&home.environment, client), "{}", client.id);
        assert!(install(&home, client.id).is_empty(), "{}: twice is once", client.id);
        assert_eq!(undo(&home, client.id), 1);
        assert_eq!(fs::read_to_string(&path).unwrap(), before, "{}", client.id);
        assert_eq!(undo(&home, client.id), 0);
    }
}

#[test]
fn a_program_of_another_name_is_ours_all_the_same() {
    let (home, cursor) = (Home::new(), client("cursor").unwrap());
    let args = vec!["serve".to_owned(), "--stdio".to_owned()];
    let way = Way::Start { command: "/opt/tf-0.2".to_owned(), args, variables: Vec::new() };
    let plan = plan_install(&home.environment, cursor, &way, false).unwrap();
    apply_install(&home.environment, &plan).unwrap();
    assert!(points_here(&home.environment, cursor));
    assert!(plan_install(&home.environment, cursor, &way, false).unwrap().changes.is_empty());
    assert_eq!(undo(&home, "cursor"), 1);
}

#[test]
fn a_file_that_was_not_there_goes_again() {
    let home = Home::new();
    install(&home, "cursor");
    insta::assert_snapshot!(home.read("home/.cursor/mcp.json"), @r#"
    {
      "mcpServers": {
        "toolfold": {
          "command": "/opt/toolfold",
          "args": [
            "serve",
            "--stdio",
            "--config",
            "/c/toolfold.toml"
          ]
        }
      }
    }
    "#);
    undo(&home, "cursor");
    assert!(!home.path("home/.cursor/mcp.json").exists());
}

#[test]
fn what_the_client_wrote_since_is_kept() {
    let home = Home::new();
    home.write("home/.claude.json", "{\n  \"numStartups\": 1\n}\n");
    install(&home, "claude-code");
    let after =
        home.read("home/.claude.json").replace("\"numStartups\": 1", "\"numStartups\": 2,\n  \"userID\": \"u\"");
    home.write("home/.claude.json", &after);
    assert_eq!(undo(&home, "claude-code"), 1);
    assert_eq!(home.read("home/.claude.json"), "{\n  \"numStartups\": 2,\n  \"userID\": \"u\"\n}\n");
}

#[test]
fn changed_between_two_installs() {
    let home = Home::new();
    let before = "{\n  \"mcpServers\": {}\n}\n";
    home.write("home/.cursor/mcp.json", before);
    install(&home, "cursor");
    let url = Way::Reach { url: "http://127.0.0.1:9999/mcp".to_owned() };
    let plan = plan_install(&home.environment, client("cursor").unwrap(), &url, false).unwrap();
    apply_install(&home.environment, &plan).unwrap();
    assert!(
        home.read("home/.cursor/mcp.json").contains("9999") && !home.read("home/.cursor/mcp.json").contains("command")
    );
    undo(&home, "cursor");
    assert_eq!(home.read("home/.cursor/mcp.json"), before, "nobody else wrote in between");
    install(&home, "cursor");
    let edited = home.read("home/.cursor/mcp.json").replace("{\n  \"mcp", "{\n  \"new\": 1,\n  \"mcp");
    home.write("home/.cursor/mcp.json", &edited);
    let plan = plan_install(&home.environment, client("cursor").unwrap(), &url, false).unwrap();
    apply_install(&home.environment, &plan).unwrap();
    undo(&home, "cursor");
    assert_eq!(home.read("home/.cursor/mcp.json"), "{\n  \"new\": 1,\n  \"mcpServers\": {}\n}\n");
}

#[test]
fn what_somebody_added_to_our_entry_stays() {
    let home = Home::new();
    home.write(
        "home/.cursor/mcp.json",
        "{\"mcpServers\": {\"toolfold\": {\"command\": \"toolfold\", \"env\": {\"A\": \"1\"}, \"note\": 1}}}",
    );
    install(&home, "cursor");
    let text = home.read("home/.cursor/mcp.json");
    assert!(text.contains("/opt/toolfold") && text.contains("\"A\":\"1\"") && text.contains("\"note\":1"), "{text}");
}

#[test]
fn searching_is_let_through_where_that_can_be_said() {
    let home = Home::new();
    home.write(
        "home/.claude/settings.json",
        "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(ls)\"\n    ]\n  }\n}\n",
    );
    let claude = client("claude-code").unwrap();
    let plan = plan_install(&home.environment, claude, &start(), true).unwrap();
    apply_install(&home.environment, &plan).unwrap();
    let settings = home.read("home/.claude/settings.json");
    assert!(
        settings.contains("\"Bash(ls)\",\n      \"mcp__toolfold__find_tools\"") && !settings.contains("call_tool"),
        "{settings}"
    );
    assert_eq!(undo(&home, "claude-code"), 2);
    assert!(!home.read("home/.claude/settings.json").contains("toolfold"));
    let plan = plan_install(&home.environment, client("codex").unwrap(), &start(), true).unwrap();
    apply_install(&home.environment, &plan).unwrap();
    insta::assert_snapshot!(home.read("home/.codex/config.toml"), @r#"
    [mcp_servers.toolfold]
    command = "/opt/toolfold"
    args = ["serve", "--stdio", "--config", "/c/toolfold.toml"]
    tools = { find_tools = { approval_mode = "approve" } }
    "#);
    assert!(matches!(
        plan_install(&home.environment, client("zed").unwrap(), &start(), true),
        Err(InstallError::NoAllow(_))
    ));
}

#[test]
fn what_is_wrong_is_said_and_nothing_is_written() {
    let home = Home::new();
    let told = |text: &str| {
        let path = home.write("home/.cursor/mcp.json", text);
        let error = plan_install(&home.environment, client("cursor").unwrap(), &start(), false).unwrap_err();
        error.to_string().replace(&path.display().to_string(), "mcp.json")
    };
    insta::assert_snapshot!(told("{\"mcpServers\": {\"a\": {\"env\": {\"K\": \"hunter2\"}}"), @"mcp.json: it is not JSON: Unterminated object (line 1)");
    insta::assert_snapshot!(told("{\"mcpServers\": {\"toolfold\": {\"command\": \"something-else\"}}}"), @"mcp.json: there is an entry `toolfold` already, and it is not Toolfold");
    assert!(plan_install(&home.environment, client("roo").unwrap(), &start(), false).is_err());
    let url = Way::Reach { url: "http://127.0.0.1:7420/mcp".to_owned() };
    assert!(matches!(
        plan_install(&home.environment, client("claude-desktop").unwrap(), &url, false),
        Err(InstallError::NoUrl(_))
    ));
}

#[cfg(unix)]
#[test]
fn a_link_stays_a_link_and_a_mode_stays_a_mode() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let home = Home::new();
    let real = home.write("dotfiles/mcp.json", "{}\n");
    fs::set_permissions(&real, fs::Permissions::from_mode(0o640)).unwrap();
    fs::create_dir_all(home.path("home/.cursor")).unwrap();
    symlink(&real, home.path("home/.cursor/mcp.json")).unwrap();
    let backups = install(&home, "cursor");
    assert!(fs::symlink_metadata(home.path("home/.cursor/mcp.json")).unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("toolfold"));
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o640);
    assert_eq!(fs::metadata(&backups[0]).unwrap().permissions().mode() & 0o777, 0o600);
    undo(&home, "cursor");
    assert_eq!(fs::read_to_string(&real).unwrap(), "{}\n");
    let left: Vec<_> = fs::read_dir(home.path("dotfiles")).unwrap().collect();
    assert_eq!(left.len(), 1, "nothing is left beside it");
}

#[test]
fn a_file_that_changes_under_our_hands_is_not_overwritten() {
    let home = Home::new();
    home.write("home/.cursor/mcp.json", "{}");
    let plan = plan_install(&home.environment, client("cursor").unwrap(), &start(), false).unwrap();
    home.write("home/.cursor/mcp.json", "{\"new\": 1}");
    assert!(apply_install(&home.environment, &plan).is_err());
    assert_eq!(home.read("home/.cursor/mcp.json"), "{\"new\": 1}");
}

/// To open a pipe is to wait for ever.
#[cfg(unix)]
#[test]
fn a_pipe_in_place_of_a_file_is_said() {
    let home = Home::new();
    fs::create_dir_all(home.path("home/.cursor")).unwrap();
    let made = std::process::Command::new("mkfifo").arg(home.path("home/.cursor/mcp.json")).status().unwrap();
    assert!(made.success());
    let refused = plan_install(&home.environment, client("cursor").unwrap(), &start(), false).unwrap_err();
    assert!(refused.to_string().contains("not a file"), "{refused}");
}
