//! Servers out of clients' files: what becomes of each, and what is never shown.

use toolfold_clients::{FileFormat, ImportOptions, ImportPlan, plan_import, survey};

use crate::home::Home;

const OPTIONS: ImportOptions = ImportOptions { port: 7420, keep_secrets: false };

fn plan(home: &Home, existing: &str) -> ImportPlan {
    plan_import(&survey(&home.environment, &[]), existing, &OPTIONS, &home.environment, &|_| None).unwrap()
}

/// What a person would see of a plan, without values.
fn told(plan: &ImportPlan) -> String {
    let mut text = String::new();
    for server in &plan.servers {
        let from: Vec<String> = server.from.iter().map(|from| format!("{} ({})", from.client, from.scope)).collect();
        text += &format!("{} = {} from {}", server.name, server.definition.told(), from.join(", "));
        text += &server.known_as.as_ref().map(|name| format!(", there as {name}")).unwrap_or_default();
        text += &server.notes.iter().map(|note| format!("; {note}")).collect::<String>();
        text += &server
            .secrets
            .iter()
            .map(|secret| format!("; {} to {}", secret.place, secret.variable))
            .collect::<String>();
        text += "\n";
    }
    for left in &plan.left_out {
        text += &format!("not {}: {}\n", left.name, left.why);
    }
    for (path, why) in &plan.unreadable {
        text += &format!("unreadable {}: {why}\n", path.file_name().unwrap().to_string_lossy());
    }
    text
}

#[test]
fn every_client_s_spelling() {
    let home = Home::new();
    let folder = home.environment.directory.display().to_string();
    home.write(
        "home/.claude.json",
        &format!(
            r#"{{"numStartups": 3, "mcpServers": {{
                "github": {{"type": "stdio", "command": "npx", "args": ["-y", "@modelcontextprotocol/server-github"], "env": {{"GITHUB_TOKEN": "ghp_sEcret0123456789abcdef"}}}},
                "toolfold": {{"type": "stdio", "command": "/usr/bin/toolfold", "args": ["serve", "--stdio"]}},
                "waits": {{"type": "ws", "url": "wss://x.example"}}
            }}, "projects": {{"{folder}": {{"mcpServers": {{"local": {{"command": "./run.sh"}}}}}}, "/other": {{}}}}}}"#
        ),
    );
    home.write(
        "home/.cursor/mcp.json",
        r#"{"mcpServers": {"github": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-github"], "env": {"GITHUB_TOKEN": "ghp_sEcret0123456789abcdef"}},
            "linear": {"url": "https://mcp.linear.app/mcp", "headers": {"Authorization": "Bearer ${env:LINEAR_TOKEN}"}},
            "proxy": {"url": "http://localhost:7420/mcp"}}}"#,
    );
    home.write(
        "home/.codex/config.toml",
        "model = \"x\"\n[mcp_servers.docs]\nurl = \"https://docs.example/mcp\"\nbearer_token_env_var = \"DOCS_TOKEN\"\ntool_timeout_sec = 90\n\n\
         [mcp_servers.github]\ncommand = \"gh-mcp\"\nenv_vars = [\"GH_TOKEN\"]\nenv = { NOTE = \"costs ${5}\" }\n",
    );
    home.write("home/.gemini/settings.json", "{ // mine\n \"mcpServers\": {\"g\": {\"httpUrl\": \"https://g.example/$TENANT/mcp\", \"timeout\": 1500, \"excludeTools\": [\"rm\"]}}}");
    home.write(
        "home/.config/opencode/opencode.jsonc",
        "{\"mcp\": {\"oc\": {\"type\": \"local\", \"command\": [\"uvx\", \"mcp-server-time\"], \"environment\": {\"TZ\": \"{env:TZ}\"}, \"enabled\": false,},\n \
         \"keyed\": {\"type\": \"remote\", \"url\": \"https://k.example\", \"headers\": {\"X-Key\": \"{file:~/.key}\"}}}}",
    );
    home.write("home/.config/goose/config.yaml", "extensions:\n  developer:\n    type: builtin\n    enabled: true\n  mem:\n    type: stdio\n    cmd: uvx\n    args: [mem-mcp]\n    envs: {}\n    env_keys: [MEM_KEY]\n    timeout: 300\n");
    home.write("home/.continue/config.yaml", "name: x\nmcpServers:\n  - name: my server\n    command: cont\n");
    home.write(
        "home/.vibe/config.toml",
        "[[mcp_servers]]\nname = \"vb\"\ntransport = \"http\"\nurl = \"https://v.example/mcp?api_key=s3cretkey\"\n",
    );
    home.write(
        "home/.cline/data/settings/cline_mcp_settings.json",
        r#"{"mcpServers": {"cl": {"transport": {"type": "streamableHttp", "url": "https://c.example/mcp"}}}}"#,
    );
    home.write("project/.vscode/mcp.json", "{\"servers\": {\"vs\": {\"type\": \"stdio\", \"command\": \"${workspaceFolder}/bin/vs\", \"env\": {\"K\": \"${input:key}\"}}}, \"inputs\": []}");
    home.write("home/.kimi-code/mcp.json", "{\"mcpServers\": {\"a\": {\"command\": \"hunter2\"");
    let plan = plan(&home, "");
    insta::assert_snapshot!(told(&plan).replace(&folder, "PROJECT"), @r#"
    github = npx @modelcontextprotocol/server-github from Claude Code (user), Cursor (user); variable GITHUB_TOKEN to GITHUB_TOKEN
    local = run.sh from Claude Code (only in PROJECT)
    docs = https://docs.example/… from Codex (user)
    github-codex = gh-mcp from Codex (user); it is called "github" there
    g = https://g.example/… from Gemini CLI (user)
    oc = uvx mcp-server-time from opencode (user); it is switched off there, and so it is here
    keyed = https://k.example/… from opencode (user); off for now: a value is read from a file there (`{file:…}`); header X-Key to KEYED_X_KEY
    mem = uvx mem-mcp from Goose (user)
    vb = https://v.example/… from Mistral Vibe (user); URL parameter api_key to VB_API_KEY
    linear = https://mcp.linear.app/… from Cursor (user)
    vs = vs from VS Code (project); off for now: a value is asked for by the editor there (`${input:key}`)
    cl = https://c.example/… from Cline (user)
    my_server = cont from Continue (user); it is called "my server" there
    not toolfold: it is Toolfold itself
    not waits: it speaks over WebSocket, which Toolfold does not
    not developer: it is a part of that program, not a server
    not proxy: it is Toolfold itself
    unreadable mcp.json: it is not JSON: Unterminated object (line 1)
    "#);
    insta::assert_snapshot!(plan.text.replace(&folder, "PROJECT"), @r#"
    [servers.github]
    command = "npx"
    args = ["-y", "@modelcontextprotocol/server-github"]
    env = { GITHUB_TOKEN = "${GITHUB_TOKEN}" }

    [servers.local]
    command = "PROJECT/run.sh"
    cwd = "PROJECT"

    [servers.docs]
    url = "https://docs.example/mcp"
    headers = { Authorization = "Bearer ${DOCS_TOKEN}" }
    timeout = "90s"

    [servers.github-codex]
    command = "gh-mcp"
    env = { NOTE = "costs $${5}", GH_TOKEN = "${GH_TOKEN}" }

    [servers.g]
    url = "https://g.example/${TENANT}/mcp"
    timeout = "1500ms"
    forbid = ["rm"]

    [servers.oc]
    command = "uvx"
    args = ["mcp-server-time"]
    env = { TZ = "${TZ}" }
    enabled = false

    [servers.keyed]
    url = "https://k.example"
    headers = { X-Key = "${KEYED_X_KEY}" }
    enabled = false

    [servers.mem]
    command = "uvx"
    args = ["mem-mcp"]
    env = { MEM_KEY = "${MEM_KEY}" }
    timeout = "300s"

    [servers.vb]
    url = "https://v.example/mcp?api_key=${VB_API_KEY}"

    [servers.linear]
    url = "https://mcp.linear.app/mcp"
    headers = { Authorization = "Bearer ${LINEAR_TOKEN}" }

    [servers.vs]
    command = "PROJECT/bin/vs"
    env = { K = "$${input:key}" }
    enabled = false

    [servers.cl]
    url = "https://c.example/mcp"

    [servers.my_server]
    command = "cont"
    "#);
    let all = format!("{}{plan:?}", told(&plan));
    for secret in ["sEcret", "s3cret", "hunter2"] {
        assert!(!all.contains(secret), "{secret}: {all}");
    }
}

#[test]
fn a_file_that_is_there_keeps_its_bytes() {
    let home = Home::new();
    home.write(
        "home/.cursor/mcp.json",
        r#"{"mcpServers": {"a": {"command": "a-mcp", "args": ["--token", "s3cr3t99"]}, "b": {"command": "b-mcp"}}}"#,
    );
    let existing = "# mine\nsurface = \"compact\"   # keep\r\n\n[servers.b]   # another one\ncommand = \"other\"\n\n[http]\nlisten = \"127.0.0.1:1\"\n";
    let first = plan(&home, existing);
    assert_eq!(
        told(&first),
        "a = a-mcp from Cursor (user); argument --token to A_TOKEN\nb-cursor = b-mcp from Cursor (user); it is called \"b\" there\n"
    );
    let kept: String =
        first.text.replace("\n\n[servers.a]\ncommand = \"a-mcp\"\nargs = [\"--token\", \"${A_TOKEN}\"]", "");
    assert_ne!(kept, first.text);
    assert_eq!(kept.replace("\n\n[servers.b-cursor]\ncommand = \"b-mcp\"", ""), existing);
    let second = plan(&home, &first.text);
    assert_eq!(second.text, first.text, "a second time changes nothing");
    assert!(second.servers.iter().all(|server| server.known_as.is_some()), "{}", told(&second));
}

#[test]
fn one_variable_never_stands_for_two_secrets() {
    let mut home = Home::new();
    home.environment.variables.insert("OTHER_KEY".to_owned(), "set to something else".to_owned());
    home.write(
        "home/.cursor/mcp.json",
        r#"{"mcpServers": {"a": {"command": "a", "env": {"API_KEY": "one1"}}, "b": {"command": "b", "env": {"API_KEY": "two2"}},
            "c": {"command": "c", "env": {"API_KEY": "one1", "OTHER_KEY": "three3"}}}}"#,
    );
    let plan = plan(&home, "");
    let names: Vec<Vec<&str>> = plan
        .servers
        .iter()
        .map(|server| server.secrets.iter().map(|secret| secret.variable.as_str()).collect())
        .collect();
    assert_eq!(names, [vec!["API_KEY"], vec!["B_API_KEY"], vec!["API_KEY", "C_OTHER_KEY"]]);
}

#[test]
fn a_broken_toolfold_toml_is_left_alone() {
    let home = Home::new();
    home.write("home/.cursor/mcp.json", r#"{"mcpServers": {"a": {"command": "a"}}}"#);
    assert!(
        plan_import(&survey(&home.environment, &[]), "servers = 1 = 2", &OPTIONS, &home.environment, &|_| None)
            .is_err()
    );
}

#[test]
fn what_is_written_is_read_by_toolfold() {
    let home = Home::new();
    home.write(
        "home/.cursor/mcp.json",
        "{\"mcpServers\": {\"we ird\\u0007\": {\"command\": \"c\\n\\\"$${X}\", \"args\": [\"\\u0000\", \"é\"]}}}",
    );
    let plan = plan(&home, "");
    let root = FileFormat::Toml.parse(&plan.text).unwrap();
    assert_eq!(root["servers"]["we_ird"]["command"], "c\n\"$$${X}", "{}", plan.text);
}

#[test]
fn what_toolfold_would_refuse_is_left_out_alone() {
    let home = Home::new();
    home.write(
        "home/.cursor/mcp.json",
        r#"{"mcpServers": {"good": {"command": "a"}, "odd": {"url": "ftp://x.example"}, "login": {"url": "https://ada:s3cret@x.example/mcp"}}}"#,
    );
    home.write("home/.kiro/settings/mcp.json", r#"{"mcpServers": {"odd too": {"url": "ftp://x.example"}}}"#);
    let refused = |text: &str| text.contains("ftp:").then(|| "url: is odd".to_owned());
    let seen = survey(&home.environment, &[]);
    let plan = plan_import(&seen, "", &OPTIONS, &home.environment, &refused).unwrap();
    insta::assert_snapshot!(told(&plan), @r#"
    good = a from Cursor (user)
    not login: its URL has a user name or password in it: write it by hand, with them as a header
    not odd: url: is odd
    not odd too: url: is odd
    "#);
    assert_eq!(plan.text, "[servers.good]\ncommand = \"a\"\n");
}
