//! Single files that have gone wrong somewhere, each put in and taken out again.

use serde_json::{Value, json};
use toolfold_clients::{EditError, FileFormat, Shape, Slot, Traces, remove, set};

pub(crate) fn slot(container: &[&str], shape: Shape) -> Slot {
    let container = container.iter().map(|key| (*key).to_owned()).collect();
    Slot { container, shape, name: "toolfold".to_owned() }
}

fn entry() -> Value {
    json!({"command": "/opt/toolfold", "args": ["serve", "--stdio"]})
}

/// Puts the entry in, changes it, takes it out; the text with it.
#[track_caller]
fn round(format: FileFormat, text: &str, slot: &Slot, value: &Value) -> String {
    let added = set(format, text, slot, value).unwrap().expect("something changed");
    assert_eq!(set(format, &added.text, slot, value).unwrap(), None, "twice is once");
    let mut other = value.clone();
    other["command"] = json!("/elsewhere/toolfold");
    let changed = set(format, &added.text, slot, &other).unwrap().expect("something changed");
    let back = set(format, &changed.text, slot, value).unwrap().expect("something changed");
    for with in [&added.text, &changed.text, &back.text] {
        let removed = remove(format, with, slot, &added.traces).unwrap().expect("it is there");
        assert_eq!(removed.text, text, "from:\n{with}");
    }
    assert_eq!(remove(format, text, slot, &Traces::default()).unwrap(), None);
    added.text
}

#[test]
fn json_of_every_layout() {
    let map = slot(&["mcpServers"], Shape::Map);
    let round = |text: &str| round(FileFormat::Jsonc, text, &map, &entry());
    insta::assert_snapshot!(round("{\n\t// mine\n\t\"theme\": \"dark\", /* keep */\n\t\"mcpServers\": {\n\t\t\"other\": { \"command\": \"x\" }, // last\n\t},\n}\n"), @r#"
    {
    	// mine
    	"theme": "dark", /* keep */
    	"mcpServers": {
    		"other": { "command": "x" }, // last
    		"toolfold": {
    			"command": "/opt/toolfold",
    			"args": [
    				"serve",
    				"--stdio"
    			]
    		},
    	},
    }
    "#);
    assert_eq!(
        round("{\"a\":1,\"mcpServers\":{\"x\":{\"command\":\"y\"}}}"),
        "{\"a\":1,\"mcpServers\":{\"x\":{\"command\":\"y\"},\"toolfold\":{\"command\":\"/opt/toolfold\",\"args\":[\"serve\",\"--stdio\"]}}}"
    );
    let crlf = round("\u{feff}{\r\n    \"mcpServers\": {}\r\n}");
    assert!(crlf.starts_with("\u{feff}{\r\n    \"mcpServers\": {\r\n        \"toolfold\": {\r\n"), "{crlf:?}");
    assert!(crlf.ends_with("    }\r\n}") && !crlf.replace("\r\n", "").contains('\n'), "{crlf:?}");
    for text in [
        "{}",
        "{ }",
        "{\n}\n",
        "{\"mcpServers\": {\n\n  }}",
        "{ // only a comment\n}",
        "{\"a\": 1 // no comma\n}",
        "{\"a\": 1, // a comma\n}",
        "{\n  \"mcpServers\": { /* nothing */ }\n}",
        "{\n  \"mcpServers\": {\n    // \"off\": {}\n  }\n}",
        "{\"mcpServers\": {\"a\": {}, \"b\": {},}}",
        "{\n  \"mcpServers\": {\n    \"a\": {},\n    // after a\n    \"b\": {}\n    // after b\n  }\n}",
        "// top\n{\n  \"x\": [1, 2,],\n  \"mcpServers\"  :  {\n  \"a\":{}  ,\n  }  ,\n  \"z\": null\n} // end",
    ] {
        round(text);
    }
}

#[test]
fn an_empty_file_becomes_one_with_the_entry() {
    for (format, container, shape) in [
        (FileFormat::Json, "mcpServers", Shape::Map),
        (FileFormat::Toml, "mcp_servers", Shape::Map),
        (FileFormat::Toml, "mcp_servers", Shape::List),
        (FileFormat::Yaml, "extensions", Shape::Map),
        (FileFormat::Yaml, "mcpServers", Shape::List),
    ] {
        let mut value = entry();
        if shape == Shape::List {
            value = json!({"name": "toolfold", "command": "/opt/toolfold"});
        }
        let slot = slot(&[container], shape);
        let made = set(format, "", &slot, &value).unwrap().unwrap().text;
        assert_eq!(set(format, &made, &slot, &value).unwrap(), None, "{made}");
        assert!(made.ends_with('\n'), "{made}");
    }
}

#[test]
fn an_entry_among_others_is_taken_out_alone() {
    let map = slot(&["mcpServers"], Shape::Map);
    let check = |with: &str, without: &str| {
        assert_eq!(remove(FileFormat::Jsonc, with, &map, &Traces::default()).unwrap().unwrap().text, without);
    };
    check("{\"mcpServers\":{\"toolfold\":{},\"b\":2}}", "{\"mcpServers\":{\"b\":2}}");
    check("{\"mcpServers\":{\"a\":1,\"toolfold\":{},\"b\":2}}", "{\"mcpServers\":{\"a\":1,\"b\":2}}");
    check("{\"mcpServers\":{\"a\":1, // c\n\"toolfold\":{}, \"b\":2}}", "{\"mcpServers\":{\"a\":1, // c\n \"b\":2}}");
    check("{\"mcpServers\":{\"a\":1 // c\n,\"toolfold\":{}}}", "{\"mcpServers\":{\"a\":1 // c\n}}");
    check("{\"mcpServers\":{\"toolfold\":{}}, \"x\": 1}", "{\"mcpServers\":{}, \"x\": 1}");
}

#[test]
fn lists_of_strings() {
    let slot = Slot { name: "mcp__toolfold__find_tools".to_owned(), ..slot(&["permissions", "allow"], Shape::Strings) };
    let value = json!("mcp__toolfold__find_tools");
    for text in [
        "{}\n",
        "{\n  \"permissions\": {\n    \"allow\": [\n      \"Bash(ls)\"\n    ]\n  }\n}\n",
        "{\"permissions\": {\"allow\": []}}",
    ] {
        let added = set(FileFormat::Json, text, &slot, &value).unwrap().unwrap();
        assert!(added.text.contains("\"mcp__toolfold__find_tools\""));
        assert_eq!(remove(FileFormat::Json, &added.text, &slot, &added.traces).unwrap().unwrap().text, text);
    }
}

#[test]
fn toml_of_every_layout() {
    let map = slot(&["mcp_servers"], Shape::Map);
    let round = |text: &str| round(FileFormat::Toml, text, &map, &entry());
    insta::assert_snapshot!(round("# mine\nmodel = \"x\"  # keep\n\n[mcp_servers.other]\ncommand = \"y\" # z\n# about projects\n\n[projects.\"/a\"]\ntrust_level = \"trusted\"\n"), @r#"
    # mine
    model = "x"  # keep

    [mcp_servers.other]
    command = "y" # z

    [mcp_servers.toolfold]
    command = "/opt/toolfold"
    args = ["serve", "--stdio"]
    # about projects

    [projects."/a"]
    trust_level = "trusted"
    "#);
    for text in [
        "\n",
        "# only a comment",
        "# only a comment\n\n\n",
        "a = 1\r\n[b]\r\nc = '''\r\n[mcp_servers.no]\r\n'''",
        "[mcp_servers]\nx = { command = \"y\" }\n",
        "mcp_servers = {}\nb = 1\n",
        "mcp_servers.x.command = \"y\"\n[z]\n",
        "\u{feff}[mcp_servers.\"o.k\".env]\nA = \"1\"\n[[z]]\n[[z]]\n",
    ] {
        round(text);
    }
}

#[test]
fn toml_that_a_program_has_written_anew() {
    let map = slot(&["mcp_servers"], Shape::Map);
    let check = |with: &str, without: &str| {
        assert_eq!(remove(FileFormat::Toml, with, &map, &Traces::default()).unwrap().unwrap().text, without);
    };
    check(
        "[mcp_servers]\n\n[mcp_servers.toolfold]\ncommand = \"t\"\n\n[mcp_servers.toolfold.env]\nA = \"1\"\n\n[x]\n",
        "[mcp_servers]\n\n[x]\n",
    );
    check(
        "[mcp_servers.toolfold]\ncommand = \"t\"\n[x]\n[mcp_servers.toolfold.tools.find_tools]\napproval_mode = \"approve\"\n",
        "[x]\n",
    );
    check(
        "[mcp_servers]\ntoolfold = { command = \"t\" }\nb = { command = \"u\" }\n",
        "[mcp_servers]\nb = { command = \"u\" }\n",
    );
}

#[test]
fn toml_lists() {
    let list = slot(&["mcp_servers"], Shape::List);
    let value = json!({"name": "toolfold", "transport": "stdio", "command": "/opt/toolfold"});
    let added =
        round(FileFormat::Toml, "[[mcp_servers]]\nname = \"a\"\n\n[[mcp_servers]]\nname = \"b\"\n[x]\n", &list, &value);
    assert!(added.contains("\"b\"\n\n[[mcp_servers]]\nname = \"toolfold\""), "{added}");
    round(FileFormat::Toml, "mcp_servers = []\nactive = true\n", &list, &value);
    round(FileFormat::Toml, "active = true", &list, &value);
}

#[test]
fn yaml_of_every_layout() {
    let map = slot(&["extensions"], Shape::Map);
    let value = json!({"enabled": true, "type": "stdio", "name": "toolfold", "command": "/opt/toolfold", "args": ["serve"], "envs": {"A": "no"}});
    let round = |text: &str| round(FileFormat::Yaml, text, &map, &value);
    insta::assert_snapshot!(round("# mine\nGOOSE_PROVIDER: openai   # keep\nextensions:\n    developer:\n        enabled: true # yes\n\n# after\nother: 1\n"), @r#"
    # mine
    GOOSE_PROVIDER: openai   # keep
    extensions:
        developer:
            enabled: true # yes
        toolfold:
          enabled: true
          type: "stdio"
          name: "toolfold"
          command: "/opt/toolfold"
          args: ["serve"]
          envs:
            A: "no"

    # after
    other: 1
    "#);
    for text in [
        "a: 1",
        "a: 1\r\n",
        " ",
        "extensions:\n",
        "extensions: {}\nb: 2\n",
        "extensions:\n  x:\n    text: |\n      # no comment\n      more\nz: 1\n",
        "extensions:\n  x: {a: 1}\n  # last\n",
        "---\n\"extensions\":\n  'x y': {a: 1}\n",
    ] {
        round(text);
    }
}

#[test]
fn yaml_lists() {
    let list = slot(&["mcpServers"], Shape::List);
    let value = json!({"name": "toolfold", "command": "/opt/toolfold", "args": ["serve", "--stdio"]});
    insta::assert_snapshot!(round(FileFormat::Yaml, "name: local\nmcpServers:\n  - name: a   # first\n    command: x\nmodels: []\n", &list, &value), @r#"
    name: local
    mcpServers:
      - name: a   # first
        command: x
      - name: "toolfold"
        command: "/opt/toolfold"
        args: ["serve","--stdio"]
    models: []
    "#);
    for text in [
        "mcpServers:\n- name: a\n  command: x\nz: 1\n",
        "mcpServers: []\n",
        "a: 1\n",
        "mcpServers:\n- command: x\n  name: a\n",
    ] {
        round(FileFormat::Yaml, text, &list, &value);
    }
}

#[test]
fn what_cannot_be_changed_safely_is_refused() {
    let map = slot(&["mcpServers"], Shape::Map);
    let refused = |format, text: &str, slot: &Slot| match set(format, text, slot, &entry()) {
        Err(error) => error.to_string(),
        Ok(made) => panic!("made {made:?} of {text:?}"),
    };
    let json = |text: &str| refused(FileFormat::Json, text, &map);
    insta::assert_snapshot!(json("{\n  \"a\": 1\n  \"b\": \"hunter2\"\n}"), @"it is not JSON: Expected comma (line 2)");
    insta::assert_snapshot!(json("[]"), @"`the file` is not what it should be there: expected an object");
    insta::assert_snapshot!(json("{\"mcpServers\": []}"), @"`mcpServers` is not what it should be there: expected an object");
    insta::assert_snapshot!(json("{\"mcpServers\": {}, \"mcpServers\": {}}"), @"`mcpServers` is there twice");
    insta::assert_snapshot!(json(&"[".repeat(100_000)), @"it is not JSON: Maximum nesting depth exceeded (line 1)");
    let toml = slot(&["mcp_servers"], Shape::Map);
    insta::assert_snapshot!(refused(FileFormat::Toml, "a = hunter2", &toml), @"it is not TOML: string values must be quoted, expected literal string (line 1)");
    insta::assert_snapshot!(refused(FileFormat::Toml, "mcp_servers = { a = {} }", &toml), @"`mcp_servers` is written in a way that cannot be changed without touching the rest");
    let yaml = slot(&["extensions"], Shape::Map);
    insta::assert_snapshot!(refused(FileFormat::Yaml, "a: [hunter2", &yaml), @"it is not YAML: it cannot be read (line 1)");
    insta::assert_snapshot!(refused(FileFormat::Yaml, "extensions: {a: 1}", &yaml), @"`extensions` is written in a way that cannot be changed without touching the rest");
    insta::assert_snapshot!(refused(FileFormat::Yaml, "a: 1\n---\nb: 2\n", &yaml), @"it is not YAML: it cannot be read (line 3)");
    for text in ["- a\n", "!", "just words"] {
        assert!(matches!(set(FileFormat::Yaml, text, &yaml, &entry()), Err(EditError::Strange(..))), "{text}");
    }
}
