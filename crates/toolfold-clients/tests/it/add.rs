//! Servers from what people have in hand.

use std::io::Write;

use toolfold_clients::{AddError, NewServer, from_command, from_target, from_text};

use crate::home::Home;

fn told(server: &NewServer) -> String {
    let missing: Vec<String> = server
        .missing
        .iter()
        .map(|missing| format!("{}{}", missing.name, if missing.is_secret { " (secret)" } else { "" }))
        .collect();
    format!("{} {} missing [{}]", server.name, server.definition.to_value(), missing.join(", "))
}

fn target(home: &Home, text: &str) -> Result<String, String> {
    from_target(None, text, &home.environment).map(|server| told(&server)).map_err(|error| error.to_string())
}

#[test]
fn commands_urls_and_packages() {
    let home = Home::new();
    let words = |text: &str| text.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let command = from_command(None, &words("npx -y @modelcontextprotocol/server-github --x ${Y}")).unwrap();
    insta::assert_snapshot!(told(&command), @r#"github {"command":"npx","args":["-y","@modelcontextprotocol/server-github","--x","${Y}"]} missing []"#);
    assert_eq!(from_command(Some("gh"), &words("gh-mcp")).unwrap().name, "gh");
    assert!(from_command(None, &[]).is_err());
    let mut all = String::new();
    for text in [
        "https://mcp.linear.app/mcp",
        "http://127.0.0.1:9000/mcp",
        "npm:@scope/mcp-server-thing@1.2.3",
        "pypi:mcp-server-time",
        "oci:ghcr.io/github/github-mcp-server:v1",
        "npm:--evil",
        "https://user:pass@example.com/mcp",
        "nothing-of-the-kind",
    ] {
        all += &format!("{:?}\n", target(&home, text));
    }
    insta::assert_snapshot!(all, @r#"
    Ok("linear {\"url\":\"https://mcp.linear.app/mcp\"} missing []")
    Ok("local {\"url\":\"http://127.0.0.1:9000/mcp\"} missing []")
    Ok("thing {\"command\":\"npx\",\"args\":[\"-y\",\"@scope/mcp-server-thing@1.2.3\"]} missing []")
    Ok("time {\"command\":\"uvx\",\"args\":[\"mcp-server-time\"]} missing []")
    Ok("github {\"command\":\"docker\",\"args\":[\"run\",\"-i\",\"--rm\",\"ghcr.io/github/github-mcp-server:v1\"]} missing []")
    Err("\"--evil\" is not the name of a package")
    Err("the URL has a user name or password in it: give it as a header with --header")
    Err("\"nothing-of-the-kind\" is neither a URL, nor npm:…, pypi:… or oci:…, nor a file that is there")
    "#);
}

#[test]
fn a_server_json() {
    let home = Home::new();
    home.write(
        "project/server.json",
        r#"{"name": "io.github.acme/weather", "packages": [{"registryType": "mcpb", "identifier": "https://x"}, {
            "registryType": "npm", "identifier": "@acme/weather-mcp", "version": "1.0.2", "transport": {"type": "stdio"},
            "runtimeArguments": [{"type": "positional", "value": "-y"}],
            "packageArguments": [{"type": "named", "name": "--units", "default": "metric"}, {"type": "positional", "valueHint": "city", "isRequired": true}],
            "environmentVariables": [{"name": "WEATHER_KEY", "isRequired": true, "isSecret": true, "description": "Key of the service"}, {"name": "DEBUG"}]}]}"#,
    );
    insta::assert_snapshot!(target(&home, "server.json").unwrap(), @r#"weather {"command":"npx","args":["-y","@acme/weather-mcp@1.0.2","--units","metric","${CITY}"],"env":{"WEATHER_KEY":"${WEATHER_KEY}"}} missing [WEATHER_KEY (secret), CITY]"#);
    let remote = r#"{"name": "x/y", "remotes": [{"type": "streamable-http", "url": "https://{tenant}.example/mcp", "variables": {"tenant": {"isRequired": true}},
        "headers": [{"name": "Authorization", "value": "Bearer {token}", "variables": {"token": {"isSecret": true}}}, {"name": "X-Opt"}]}]}"#;
    insta::assert_snapshot!(told(&from_text(None, remote, &home.environment).unwrap()[0]), @r#"y {"url":"https://${TENANT}.example/mcp","headers":{"Authorization":"Bearer ${TOKEN}"}} missing [TENANT, TOKEN (secret)]"#);
}

#[test]
fn a_readme_s_block() {
    let home = Home::new();
    let read = |text: &str| {
        let servers = from_text(None, text, &home.environment).map_err(|error| error.to_string())?;
        Ok::<_, String>(servers.iter().map(told).collect::<Vec<_>>().join("\n"))
    };
    let mut all = String::new();
    for text in [
        "Add this:\n\n```json\n{\n  // to the file\n  \"mcpServers\": {\"gh\": {\"command\": \"npx\", \"args\": [\"-y\", \"gh-mcp\"], \"env\": {\"GH_TOKEN\": \"<your token>\", \"MODE\": \"fast\"}}}\n}\n```\nand restart.",
        "\"alone\": {\"url\": \"https://a.example/mcp\"},",
        "{\"command\": \"uvx\", \"args\": [\"mcp-server-time\"]}",
        "{\"mcp\": {\"servers\": {\"vs\": {\"type\": \"http\", \"url\": \"https://v.example\"}}}}",
        "{\"context_servers\": {\"z\": {\"command\": {\"path\": \"z-mcp\", \"args\": [\"--stdio\"]}}}}",
        "[mcp_servers.cx]\ncommand = \"cx\"\n",
        "{\"mcpServers\": {\"a\": {\"command\": \"a\"}, \"b\": {\"url\": \"https://b.example\"}}}",
        "no JSON here",
        "{\"theme\": \"dark\"}",
    ] {
        all += &format!("{}\n", read(text).unwrap_or_else(|why| why));
    }
    insta::assert_snapshot!(all, @r#"
    gh {"command":"npx","args":["-y","gh-mcp"],"env":{"GH_TOKEN":"${GH_TOKEN}","MODE":"fast"}} missing [GH_TOKEN (secret)]
    alone {"url":"https://a.example/mcp"} missing []
    time {"command":"uvx","args":["mcp-server-time"]} missing []
    vs {"url":"https://v.example"} missing []
    z {"command":"z-mcp","args":["--stdio"]} missing []
    cx {"command":"cx"} missing []
    a {"command":"a"} missing []
    b {"url":"https://b.example"} missing []
    there is no JSON or TOML with servers in the text
    there is no JSON or TOML with servers in the text
    "#);
}

pub(crate) fn bundle(files: &[(&str, &str)]) -> Vec<u8> {
    let mut archive = zip::ZipWriter::new(std::io::Cursor::new(Vec::new()));
    for (name, text) in files {
        archive.start_file(*name, zip::write::SimpleFileOptions::default().unix_permissions(0o755)).unwrap();
        archive.write_all(text.as_bytes()).unwrap();
    }
    archive.finish().unwrap().into_inner()
}

#[test]
fn a_bundle_is_unpacked_and_run_from_there() {
    let home = Home::new();
    let manifest = r#"{"manifest_version": "0.3", "name": "acme-mcp", "server": {"type": "node", "entry_point": "server/index.js",
        "mcp_config": {"command": "node", "args": ["${__dirname}/server/index.js", "${user_config.folders}"], "env": {"KEY": "${user_config.api_key}", "LEVEL": "${user_config.level}"}}},
        "user_config": {"api_key": {"type": "string", "sensitive": true, "required": true}, "level": {"type": "number", "default": 3},
        "folders": {"type": "directory", "multiple": true, "default": ["${HOME}/a", "/b"]}}}"#;
    std::fs::write(
        home.path("project/acme.mcpb"),
        bundle(&[("manifest.json", manifest), ("server/index.js", "run()")]),
    )
    .unwrap();
    let server = from_target(None, "acme.mcpb", &home.environment).unwrap();
    let folder = server.definition.args[0].trim_end_matches("/server/index.js").to_owned();
    assert_eq!(std::fs::read_to_string(&server.definition.args[0]).unwrap(), "run()");
    let shown = told(&server).replace(&folder, "FOLDER").replace(&home.path("home").display().to_string(), "HOME");
    insta::assert_snapshot!(shown, @r#"acme {"command":"node","args":["FOLDER/server/index.js","HOME/a","/b"],"env":{"KEY":"${API_KEY}","LEVEL":"3"}} missing [API_KEY (secret)]"#);
}

#[test]
fn a_hostile_bundle_writes_nothing_outside() {
    let home = Home::new();
    let manifest =
        r#"{"name": "evil", "server": {"type": "binary", "entry_point": "x", "mcp_config": {"command": "x"}}}"#;
    std::fs::write(
        home.path("project/evil.mcpb"),
        bundle(&[("manifest.json", manifest), ("../../../../escaped", "x")]),
    )
    .unwrap();
    assert!(matches!(from_target(None, "evil.mcpb", &home.environment), Err(AddError::Unusable(_))));
    assert!(!home.path("escaped").exists() && !home.path("state/escaped").exists());
    std::fs::write(home.path("project/no.mcpb"), "PK no zip").unwrap();
    assert!(matches!(from_target(None, "no.mcpb", &home.environment), Err(AddError::Unusable(_))));
}
