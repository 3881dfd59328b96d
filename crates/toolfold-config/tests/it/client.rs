//! Files of other programs: read for what we can use, warned about the rest.

use insta::assert_snapshot;
use toolfold_config::{Start, Transport};

use crate::{json, load_as, said};

#[test]
fn every_kind_of_entry() {
    let text = r#"{
  "mcpServers": {
    "a": {"command": "npx", "args": ["-y", "x"], "env": {"K": "${TOKEN}"}, "cwd": "sub"},
    "b": {"type": "http", "url": "https://example.com/mcp", "headers": {"Authorization": "Bearer ${env:TOKEN}"}},
    "c": {"serverUrl": "https://example.com/c"},
    "d": {"command": "d", "disabled": true}
  },
  "servers": {"e": {"type": "stdio", "command": "e"}}
}"#;
    let loaded = load_as("mcp.json", text).unwrap();
    assert_eq!(loaded.notices, []);
    assert!(!loaded.config.toolbox);
    let names: Vec<&str> = loaded.config.servers.keys().map(|name| name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c", "e"]);
    let mut servers = loaded.config.servers.into_values();
    let a = servers.next().unwrap();
    assert_eq!(a.start, Start::Lazy);
    let Transport::Stdio { command, args, env, cwd } = a.transport else { panic!("not stdio") };
    assert_eq!((command.as_str(), args), ("npx", vec!["-y".to_owned(), "x".to_owned()]));
    assert_eq!(env["K"].expose(), "hunter2");
    assert!(cwd.unwrap().ends_with("sub"));
    let b = servers.next().unwrap();
    assert_eq!(b.start, Start::Eager);
    let Transport::Http { headers, .. } = b.transport else { panic!("not HTTP") };
    assert_eq!(headers["Authorization"].expose(), "Bearer hunter2");
}

#[test]
fn dollars_of_other_programs_stay() {
    let text = r#"{"mcpServers": {"a": {"command": "a", "env": {"PASSWORD": "p$$w"}}}}"#;
    let config = load_as("mcp.json", text).unwrap().config;
    let Transport::Stdio { env, .. } = &config.servers.values().next().unwrap().transport else { panic!("not stdio") };
    assert_eq!(env["PASSWORD"].expose(), "p$$w");
}

#[test]
fn what_we_do_not_know_is_ignored() {
    assert_snapshot!(json(r#"{
  "theme": "dark", "b": 1, "c": 1, "d": 1, "e": 1, "f": 1, "g": 1,
  "mcpServers": {
    "a": {
      "command": "a",
      "autoApprove": ["x"],
      "timeout": 60000
    },
    "b": {"type": "sse", "url": "https://example.com/sse"},
    "c": {"type": "carrier-pigeon", "command": "c"}
  }
}"#), @r#"
    mcp.json:2:12: warning: ignored, as Toolfold has no use for it: theme, b, c, d, e and 2 more
    mcp.json:6:22: warning: mcpServers.a: ignored, as Toolfold has no use for it: autoApprove, timeout
    mcp.json:9:19: warning: mcpServers.b.type: the old SSE transport is spoken as streamable HTTP
      hint: most servers answer there too; if this one does not, ask for the URL that usually ends in /mcp
    mcp.json:10:19: warning: mcpServers.c.type: "carrier-pigeon" is not a kind of server Toolfold knows
    "#);
}

#[test]
fn names_are_made_to_fit() {
    assert_snapshot!(json(r#"{"mcpServers": {
  "My Server": {"command": "a"},
  "": {"command": "a"}
}}"#), @r#"
    mcp.json:2:16: warning: mcpServers."My Server": is called `My_Server` here
    mcp.json:3:7: mcpServers."": a server's name is 1 to 64 letters, digits, `_` or `-`
    "#);
    assert_snapshot!(json(r#"{"mcpServers": {
  "My Server": {"command": "a"},
  "My_Server": {"command": "a"}
}}"#), @r#"
    mcp.json:2:16: warning: mcpServers."My Server": is called `My_Server` here
    mcp.json:3:16: mcpServers.My_Server: is called `My_Server`, and so is "My Server"
      hint: rename one of the two
    "#);
    assert_snapshot!(json(r#"{"mcpServers": {
  "a": {"command": "a"},
  "a": {"command": "a"}
}}"#), @"mcp.json:3:8: mcpServers.a: is given twice");
}

#[test]
fn mistakes_have_places_too() {
    assert_snapshot!(json(r#"{
  "mcpServers": {
    "a": {
      "command": 7,
      "args": ["a", null]
    },
    "b": {},
    "c": {"url": "nowhere", "headers": {"A b": "c"}},
    "d": {"command": "d", "env": {"KEY": "${input:key}", "X": "${X}"}},
    "e": "npx"
  }
}"#), @r#"
    mcp.json:4:18: mcpServers.a.command: expected a string, found an integer
      hint: put it in quotes
    mcp.json:5:21: mcpServers.a.args[1]: expected a string, found null
    mcp.json:7:10: mcpServers.b: has neither `command` nor `url`
      hint: `command` names a program to start, `url` a server that runs elsewhere
    mcp.json:8:18: mcpServers.c.url: is not a URL: relative URL without a base
      hint: write it whole: "https://example.com/mcp"
    mcp.json:8:48: mcpServers.c.headers."A b": cannot be the name of an HTTP header
    mcp.json:9:42: mcpServers.d.env.KEY: `${input:key}` is asked for by an editor
      hint: Toolfold cannot ask for it: put the value into an environment variable and name that
    mcp.json:9:63: mcpServers.d.env.X: the variable `X` is not set
      hint: set it, or give a default: `${X:-…}`
    mcp.json:10:10: mcpServers.e: expected an object, found a string
    "#);
}

#[test]
fn not_such_a_file() {
    assert_snapshot!(json("{}"), @r#"
    mcp.json: has neither `mcpServers` nor `servers`
      hint: a JSON configuration looks like {"mcpServers": {"name": {"command": "…"}}}
    "#);
    assert_snapshot!(json("[]"), @"mcp.json: expected an object, found a list");
    assert_snapshot!(json(""), @r#"
    mcp.json:1:1: EOF while parsing a value
      hint: check the quotes, commas and brackets there
    "#);
    assert_snapshot!(json("{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"a\" \"b\"}\n  }\n}"), @r#"
    mcp.json:3:26: expected `,` or `}`
      hint: check the quotes, commas and brackets there
    "#);
    assert_snapshot!(json("{\"mcpServers\": {\"a\": {\"command\": \"\\ud800\"}}}"), @r#"
    mcp.json:1:34: mcpServers.a.command: expected a string, found broken Unicode or a number out of range
    "#);
    assert_snapshot!(json("{\"mcpServers\": 1e999}"), @"mcp.json:1:16: mcpServers: expected an object, found broken Unicode or a number out of range");
}

#[test]
fn files_of_every_client() {
    let names = |file: &str, text: &str| -> Vec<String> {
        let config = load_as(file, text).unwrap().config;
        config.servers.keys().map(|name| name.to_string()).collect()
    };
    assert_eq!(names("codex.toml", "model = \"x\"\n[mcp_servers.a]\ncommand = \"a\"\n"), ["a"]);
    assert_eq!(
        names("opencode.jsonc", "{\"mcp\": {\"b\": {\"type\": \"local\", \"command\": [\"b\", \"c\"]}}} // end"),
        ["b"]
    );
    assert_eq!(names("goose.yaml", "extensions:\n  c:\n    type: stdio\n    cmd: c\n"), ["c"]);
    assert_eq!(names("mcp.json", "{\"mcpServers\": {\"d\": {\"command\": \"d\"},},}"), ["d"]);
    assert_eq!(names("settings.json", "{\"mcpServers\": {\"e\": {\"httpUrl\": \"https://e.example/mcp\"}}}"), ["e"]);
    // What a translation has no line for is told by its key.
    assert_snapshot!(said("codex.toml", "[mcp_servers.a]\nurl = \"nowhere\"\n[mcp_servers.b]\ntype = \"ws\"\nurl = \"wss://x\"\n"), @r#"
    codex.toml: warning: servers.b: is left out: it speaks over WebSocket, which Toolfold does not
    codex.toml: servers.a.url: is not a URL: relative URL without a base
      hint: write it whole: "https://example.com/mcp"
    "#);
    assert_snapshot!(said("goose.yaml", "extensions:\n  d:\n    type: builtin\n"), @r#"
    goose.yaml: warning: servers.d: is left out: it is a part of that program, not a server
    goose.yaml: warning: is a file of Goose, and has no server in it that can be used
    "#);
}

#[test]
fn the_format_is_seen_where_the_name_does_not_tell() {
    assert_eq!(said("config", "{\"mcpServers\": {}}"), "");
    assert_eq!(said("config", "budget = 900"), "");
}
