//! Rules of hosts: into their files, again, and out, whatever else is in there and whoever writes in between.

use toolfold_clients::{
    HostRules, HostVerdict, InstallError, Way, apply_install, apply_undo, client, plan_install, plan_rules,
    plan_rules_undo, rules_text,
};

use crate::home::Home;

const HOSTS: [&str; 5] = ["claude-code", "codex", "cursor", "gemini", "vscode"];

fn rules() -> HostRules {
    HostRules {
        name: "toolfold".to_owned(),
        tools: vec![
            ("find_tools".to_owned(), HostVerdict::Allow),
            ("call_tool".to_owned(), HostVerdict::Ask),
            ("call_tool_readonly".to_owned(), HostVerdict::Allow),
            ("hr__fire".to_owned(), HostVerdict::Deny),
        ],
        reading: vec!["github.get_issue".to_owned(), "odd.a\"b|c".to_owned()],
    }
}

/// Where each keeps its rules, and such a file with rules of somebody else's, comments and odd line ends.
fn foreign(host: &str) -> (&'static str, &'static str) {
    match host {
        "claude-code" => (
            "home/.claude/settings.json",
            "{\r\n  \"model\": \"opus\",\r\n  \"permissions\": {\r\n    \"allow\": [\"Bash(ls:*)\", \"mcp__toolfold__find_tools\"],\r\n    \"deny\": []\r\n  }\r\n}\r\n",
        ),
        "codex" => (
            "home/.codex/config.toml",
            "# mine\r\nmodel = \"x\"\r\n\r\n[mcp_servers.toolfold]\r\ncommand = \"/opt/toolfold\" # s3cret\r\n\r\n[mcp_servers.other]\r\ncommand = \"o\"\r\n",
        ),
        "cursor" => (
            "home/.cursor/permissions.json",
            "{\n\t// mine\n\t\"mcpAllowlist\": [\"other:*\"], // all of it\n\t\"terminalAllowlist\": [\"git\"]\n}\n",
        ),
        "gemini" => (
            "home/.gemini/policies/toolfold.toml",
            "# mine\n[[rule]]\ntoolName = \"run_shell_command\"\ndecision = \"deny\"\npriority = 900\n",
        ),
        _ => (
            "home/.config/Code/User/settings.json",
            "{\n    // mine\n    \"editor.tabSize\": 4,\n    \"chat.tools.eligibleForAutoApproval\": {\n        \"fetch\": false, // never\n    },\n}\n",
        ),
    }
}

fn write(home: &Home, host: &str, rules: &HostRules) -> usize {
    let plan = plan_rules(&home.environment, client(host).unwrap(), rules).unwrap();
    apply_install(&home.environment, &plan).unwrap();
    plan.changes.len()
}

fn undo(home: &Home, host: &str) -> usize {
    let plan = plan_rules_undo(&home.environment, client(host).unwrap()).unwrap();
    apply_undo(&home.environment, &plan).unwrap();
    plan.changes.len()
}

#[test]
fn rules_go_in_once_and_out_to_the_byte() {
    for host in HOSTS {
        let (path, before) = foreign(host);
        let home = Home::new();
        home.write(path, before);
        let plan = plan_rules(&home.environment, client(host).unwrap(), &rules()).unwrap();
        assert_eq!(home.read(path), before, "{host}: a plan writes nothing");
        assert!(plan.changes[0].preview.contains("call_tool_readonly"), "{host}: {}", plan.changes[0].preview);
        assert!(!plan.changes[0].preview.contains("s3cret"), "{host}: nothing of the rest is shown");
        let backups = apply_install(&home.environment, &plan).unwrap();
        assert_eq!(std::fs::read_to_string(&backups[0]).unwrap(), before, "{host}");
        let after = home.read(path);
        // Every line of theirs is there, in its order.
        let mut rest = after.lines();
        for line in before.lines().map(|line| line.split("//").next().unwrap()) {
            let line = line.trim_end_matches([',', '"', ']', ' ']);
            assert!(rest.any(|kept| kept.contains(line)), "{host}: {line}\n{after}");
        }
        assert_eq!(before.contains("\r\n"), after.contains("\r\n"), "{host}");
        assert!(
            !after.replace("\r\n", "").contains('\r')
                && (!before.contains("\r\n") || !after.replace("\r\n", "").contains('\n')),
            "{host}: one kind of line end"
        );
        assert_eq!(write(&home, host, &rules()), 0, "{host}: again changes nothing");
        assert_eq!(home.read(path), after, "{host}");
        assert_eq!(undo(&home, host), 1, "{host}");
        assert_eq!(home.read(path), before, "{host}");
        assert_eq!(undo(&home, host), 0, "{host}: there is nothing left to undo");
    }
}

#[test]
fn a_host_that_wrote_since_keeps_what_it_wrote() {
    for host in HOSTS {
        let (path, before) = foreign(host);
        let home = Home::new();
        home.write(path, before);
        write(&home, host, &rules());
        // The host prints its file anew, or somebody adds to it.
        let (mine, now) = match host {
            "codex" | "gemini" => ("# and mine", format!("{}# and mine\n", home.read(path))),
            _ => {
                let text = home.read(path);
                let value: serde_json::Value = json_of(&text);
                let mut value = value.as_object().unwrap().clone();
                value.insert("mine".to_owned(), "too".into());
                ("\"mine\"", serde_json::to_string_pretty(&value).unwrap())
            }
        };
        home.write(path, &now);
        assert_eq!(undo(&home, host), 1, "{host}");
        let left = home.read(path);
        assert!(left.contains(mine), "{host}: {left}");
        for ours in ["call_tool_readonly", "hr__fire", "call_tool"] {
            assert!(!left.contains(ours), "{host} {ours}: {left}");
        }
        let (_, theirs) = foreign(host);
        for word in ["find_tools", "other", "run_shell_command", "fetch", "model"] {
            assert_eq!(left.contains(word), theirs.contains(word), "{host} {word}: {left}");
        }
    }
}

/// With the comments taken out.
fn json_of(text: &str) -> serde_json::Value {
    let plain: String = text.lines().map(|line| line.split("//").next().unwrap().to_owned() + "\n").collect();
    let mut plain = plain.replace("\r", "");
    for close in ["}", "]"] {
        while let Some(at) = plain.char_indices().find_map(|(at, c)| {
            let rest = plain[at + 1..].trim_start();
            (c == ',' && rest.starts_with(close)).then_some(at)
        }) {
            plain.remove(at);
        }
    }
    serde_json::from_str(&plain).unwrap_or_else(|error| panic!("{error}: {plain}"))
}

#[test]
fn what_is_no_longer_so_goes_and_what_somebody_changed_is_theirs() {
    let less = HostRules {
        tools: vec![("find_tools".to_owned(), HostVerdict::Allow), ("call_tool".to_owned(), HostVerdict::Ask)],
        reading: Vec::new(),
        ..rules()
    };
    for host in HOSTS {
        let (path, before) = foreign(host);
        let home = Home::new();
        home.write(path, before);
        write(&home, host, &rules());
        assert!(home.read(path).contains("call_tool_readonly"), "{host}");
        assert_eq!(write(&home, host, &less), 1, "{host}");
        let now = home.read(path);
        assert!(!now.contains("call_tool_readonly") && !now.contains("hr__fire"), "{host}: {now}");
        assert_eq!(undo(&home, host), 1, "{host}");
        assert_eq!(home.read(path), before, "{host}: back to what was there before the first time");
    }
    // Somebody lets a tool through that we ask about: that is their business, and stays.
    let home = Home::new();
    let (path, before) = foreign("vscode");
    home.write(path, before);
    write(&home, "vscode", &rules());
    home.write(path, &home.read(path).replace("\"call_tool\": false", "\"call_tool\": true"));
    assert_eq!(write(&home, "vscode", &rules()), 0);
    undo(&home, "vscode");
    assert!(home.read(path).contains("\"call_tool\": true"), "{}", home.read(path));
    assert!(!home.read(path).contains("call_tool_readonly"));
}

#[test]
fn files_that_are_not_there_come_and_go() {
    for host in HOSTS.into_iter().filter(|host| *host != "codex") {
        let (path, _) = foreign(host);
        let home = Home::new();
        assert_eq!(write(&home, host, &rules()), 1);
        assert_eq!(home.read(path), rules_text(client(host).unwrap(), &rules()).unwrap(), "{host}: as it is printed");
        assert_eq!(undo(&home, host), 1);
        assert!(!home.path(path).exists(), "{host}");
    }
    let home = Home::new();
    let refused = plan_rules(&home.environment, client("codex").unwrap(), &rules()).unwrap_err();
    assert!(matches!(refused, InstallError::NoEntry { .. }), "rules without a server would stop it: {refused}");
    assert!(matches!(plan_rules(&home.environment, client("zed").unwrap(), &rules()), Err(InstallError::NoRules(_))));
}

/// What `install --allow-search` wrote into the entry stays, and what comes beside it is read by the same parser.
#[test]
fn rules_stand_beside_what_install_wrote() {
    for host in ["codex", "claude-code"] {
        let home = Home::new();
        let way = Way::Start { command: "/opt/toolfold".to_owned(), args: Vec::new(), variables: Vec::new() };
        let plan = plan_install(&home.environment, client(host).unwrap(), &way, true).unwrap();
        apply_install(&home.environment, &plan).unwrap();
        let (path, _) = foreign(host);
        let installed = home.read(path);
        write(&home, host, &rules());
        let written = home.read(path);
        assert!(written.contains("call_tool_readonly"), "{host}: {written}");
        assert_eq!(written.matches("find_tools").count(), 1, "{host}: once is enough\n{written}");
        assert_eq!(undo(&home, host), 1);
        assert_eq!(home.read(path), installed, "{host}");
    }
}

#[test]
fn a_file_that_cannot_be_read_or_edited_is_left_alone() {
    for (host, broken) in [
        ("claude-code", "{\"permissions\": [}"),
        ("claude-code", "{\"permissions\": {\"allow\": \"all\"}}"),
        ("cursor", "[]"),
        ("gemini", "[[rule]\n"),
        ("gemini", "# Toolfold wrote what is from here\n"),
        ("vscode", "{\"chat.tools.eligibleForAutoApproval\": 7}"),
    ] {
        let (path, _) = foreign(host);
        let home = Home::new();
        home.write(path, broken);
        assert!(plan_rules(&home.environment, client(host).unwrap(), &rules()).is_err(), "{host} {broken}");
        assert_eq!(home.read(path), broken);
    }
}

/// The one host whose rules see arguments: it must be the tool that is called, and none that the arguments speak of.
#[test]
fn a_pattern_fits_the_tool_alone() {
    let text = rules_text(client("gemini").unwrap(), &rules()).unwrap();
    let table: toml::Table = toml::from_str(&text).unwrap();
    let all = table["rule"].as_array().unwrap();
    assert_eq!(all.len(), 5);
    let decisions: Vec<&str> = all.iter().map(|rule| rule["decision"].as_str().unwrap()).collect();
    assert_eq!(decisions, ["allow", "ask_user", "allow", "deny", "allow"]);
    assert!(all.iter().all(|rule| rule["mcpName"].as_str() == Some("toolfold")));
    let pattern = all[4]["argsPattern"].as_str().unwrap();
    let regex = regex::Regex::new(pattern).unwrap();
    for (arguments, fits) in [
        (r#"{"tool":"github.get_issue"}"#, true),
        (r#"{"arguments":{"a":1},"tool":"github.get_issue"}"#, true),
        (r#"{"tool":"odd.a\"b|c"}"#, true),
        (r#"{"arguments":{"tool":"github.get_issue"},"tool":"github.delete"}"#, false),
        (r#"{"arguments":{"tool":"github.get_issue"}}"#, false),
        (r#"{"arguments":{"x":"\"tool\":\"github.get_issue\"}"},"tool":"github.delete"}"#, false),
        (r#"{"tool":"githubxget_issue"}"#, false),
        (r#"{"tool":"github.get_issue","zzz":1}"#, false),
        (r#"{"tool":"odd.a"}"#, false),
    ] {
        assert_eq!(regex.is_match(arguments), fits, "{arguments}\n{pattern}");
    }
}
