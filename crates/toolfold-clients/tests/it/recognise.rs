//! Whose file it is, and what it says in Toolfold's words.

use toolfold_clients::recognise;

use crate::home::Home;

#[test]
fn every_kind_of_file_is_somebody_s() {
    let home = Home::new();
    let folder = home.environment.directory.display().to_string();
    let claude = format!(
        "{{\"mcpServers\": {{}}, \"projects\": {{\"{folder}\": {{\"mcpServers\": {{\"l\": {{\"command\": \"l\"}}}}}}, \"/other\": {{\"mcpServers\": {{\"no\": {{\"command\": \"no\"}}}}}}}}}}"
    );
    let mut all = String::new();
    for (path, text) in [
        ("/h/.codex/config.toml", "model = \"x\"\n[mcp_servers.a]\ncommand = \"a\"\nenv_vars = [\"K\"]\n"),
        ("/h/anything.toml", "[mcp_servers.a]\nurl = \"https://a.example/$X\"\n"),
        ("/h/vibe.toml", "[[mcp_servers]]\nname = \"v\"\ncommand = \"v\"\n"),
        ("/h/x.jsonc", "{\"mcp\": {\"o\": {\"type\": \"local\", \"command\": [\"o\", \"{env:K}\"]}}}"),
        ("/h/settings.json", "{// c\n\"context_servers\": {\"z\": {\"command\": \"z\"}}}"),
        ("/h/.gemini/settings.json", "{\"mcpServers\": {\"g\": {\"httpUrl\": \"https://g.example/$T\"}}}"),
        ("/h/mcp.json", "{\"mcpServers\": {\"c\": {\"command\": \"c\"},}}"),
        ("/h/config.yaml", "extensions:\n  d:\n    type: builtin\n  e:\n    type: stdio\n    cmd: e\n"),
        ("/h/cn.yaml", "mcpServers:\n  - name: my server\n    command: m\n"),
        ("/h/.claude.json", &claude),
        ("/h/mcp.json", "{\"mcpServers\": {\"plain\": {\"command\": \"c\"}}}"),
        ("/h/toolfold.toml", "[mcp_servers.a]\ncommand = \"a\"\n"),
        ("/h/other.toml", "[servers.a]\ncommand = \"a\"\n"),
        (
            "/h/.config/Code/User/mcp.json",
            "{\"servers\": {\"a\": {\"command\": \"a\", \"env\": {\"K\": \"${input:k}\"}}, \"b\": {\"command\": \"b\"}}}",
        ),
        ("/h/.codex/config.toml", "model = \"x\"\n"),
        ("/h/.gemini/settings.json", "{\"theme\": \"dark\"}"),
        ("/p/.mcp.json", "{\"name\": \"x\"}"),
        ("/h/nobody.json", "{\"name\": \"x\"}"),
        ("/h/broken.json", "{\"mcpServers\": "),
    ] {
        let told = match recognise(path.as_ref(), text, &home.environment) {
            Some(found) => {
                format!("{}: {} {:?}", found.client, found.toml.replace('\n', " ").replace("  ", " "), found.notes)
            }
            None => "nobody's, or plain".to_owned(),
        };
        all += &format!("{path}: {told}\n");
    }
    insta::assert_snapshot!(all, @r#"
    /h/.codex/config.toml: Codex: [servers] [servers.a] command = "a" env = { K = "${K}" }  []
    /h/anything.toml: Codex: [servers] [servers.a] url = "https://a.example/$X"  []
    /h/vibe.toml: Mistral Vibe: [servers] [servers.v] command = "v"  []
    /h/x.jsonc: opencode: [servers] [servers.o] command = "o" args = ["${K}"]  []
    /h/settings.json: Zed: [servers] [servers.z] command = "z"  []
    /h/.gemini/settings.json: Gemini CLI: [servers] [servers.g] url = "https://g.example/${T}"  []
    /h/mcp.json: a shared mcp.json: [servers] [servers.c] command = "c"  []
    /h/config.yaml: Goose: [servers] [servers.e] command = "e"  [("d", "is left out: it is a part of that program, not a server")]
    /h/cn.yaml: Continue: [servers] [servers.my_server] command = "m"  [("my_server", "is called \"my server\" there")]
    /h/.claude.json: Claude Code: [servers] [servers.l] command = "l"  []
    /h/mcp.json: nobody's, or plain
    /h/toolfold.toml: nobody's, or plain
    /h/other.toml: nobody's, or plain
    /h/.config/Code/User/mcp.json: VS Code: [servers] [servers.a] command = "a" env = { K = "$${input:k}" } enabled = false [servers.b] command = "b"  [("a", "off for now: a value is asked for by the editor there (`${input:k}`)")]
    /h/.codex/config.toml: Codex: [servers]  []
    /h/.gemini/settings.json: Gemini CLI: [servers]  []
    /p/.mcp.json: nobody's, or plain
    /h/nobody.json: nobody's, or plain
    /h/broken.json: nobody's, or plain
    "#);
}
