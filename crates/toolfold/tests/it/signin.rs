//! Clients that we did not write sign in with a provider that we did not write, knowing nothing but Toolfold's address. So
//! does another Toolfold.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use toolfold_test::{FakeServer, HttpClient};

use crate::clients::text;
use crate::fakes::world;
use crate::peers::{self, Beside, lines, node, script};
use crate::world::World;

/// An OpenID provider that ends with the value.
struct Provider {
    issuer: String,
    _runs: Beside,
}

impl Provider {
    fn start() -> Provider {
        Provider::with(&[])
    }

    /// One that does what these variables ask for.
    fn with(variables: &[&str]) -> Provider {
        let mut command = node();
        command.envs(variables.iter().map(|name| (name, "1"))).arg(script("provider.mjs"));
        let runs = Beside::start(command);
        Provider { issuer: runs.said["issuer"].as_str().unwrap().to_owned(), _runs: runs }
    }

    fn ask(&self, path: &str) -> Value {
        let output = Command::new("curl").args(["-s", &format!("{}{path}", self.issuer)]).output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        serde_json::from_str(&said).unwrap_or_else(|_| panic!("{path}: {said}"))
    }

    /// The clients that were granted something this way, in order.
    fn granted(&self, way: &str) -> Vec<String> {
        let all = self.ask("/granted");
        let those = all.as_array().unwrap().iter().filter(|one| one["grant"] == way);
        those.map(|one| one["client"].as_str().unwrap().to_owned()).collect()
    }
}

fn python() -> Command {
    let mut command = Command::new(peers::venv("python"));
    command.arg(script("signin.py"));
    command
}

fn typescript(version: &str) -> Command {
    let mut command = node();
    command.arg(script("signin.mjs")).arg(version);
    command
}

fn configured(provider: &Provider) -> World {
    World::with_config(&format!(
        "toolbox = true\n[[issuers]]\nissuer = \"{}\"\nscopes = [\"tools\"]\n[[rules]]\nwho = \"alice\"\nwhat = \"toolbox.text_*\"\neffect = \"call\"\n",
        provider.issuer
    ))
}

/// At the default endpoint and at one of a surface: tokens are for the one they were asked for.
fn check(client: impl Fn() -> Command) {
    let provider = Provider::start();
    let world = configured(&provider);
    let served = world.serve();
    for (path, tool) in [("", "find_tools"), ("/ontology", "list")] {
        let mut command = world.settle(client());
        command.arg(format!("{}{path}", served.url));
        let steps = [
            json!({"list": {}}),
            json!({"call": "toolbox.text_count", "arguments": {"text": "one two"}}),
            json!({"call": "toolbox.time_now", "arguments": {}}),
        ];
        let answers = lines(command, &steps);
        assert_eq!(answers[0]["protocol"], "signed in", "{path}: {:#}", answers[0]);
        assert!(answers[1]["tools"].as_array().unwrap().contains(&json!(tool)), "{path}: {:#}", answers[1]);
        assert_ne!(answers[2]["isError"], json!(true), "{path}: {:#}", answers[2]);
        assert!(text(&answers[3]).contains("TOOL_NOT_FOUND"), "{path}: {:#}", answers[3]);
    }
}

#[test]
fn the_python_sdk_signs_in() {
    check(python);
}

#[test]
fn the_first_typescript_sdk_signs_in() {
    check(|| typescript("v1"));
}

#[test]
fn the_second_typescript_sdk_signs_in() {
    check(|| typescript("v2"));
}

/// It waits on a port of its own for the browser to come back, and has no other way to sign in.
#[test]
fn the_inspector_signs_in() {
    let provider = Provider::start();
    let world = configured(&provider);
    let served = world.serve();
    // A browser that goes where it is sent, and agrees to everything on the way.
    let browser = world.path("xdg-open");
    let jar = world.path("cookies");
    let script = format!(
        "#!/bin/sh\nfor last; do url=$last; done\nexec curl -sL -o /dev/null -c {jar} -b {jar} \"$url\"\n",
        jar = jar.display()
    );
    fs::write(&browser, script).unwrap();
    fs::set_permissions(&browser, fs::Permissions::from_mode(0o755)).unwrap();
    for (path, tool) in [("", "find_tools"), ("/ontology", "expand_tool")] {
        let mut command = world.settle(node());
        command.arg(peers::module(".bin/mcp-inspector")).arg("--cli").arg(format!("{}{path}", served.url));
        command.args(["--transport", "http", "--method", "tools/list", "--format", "json"]);
        command.env("PATH", format!("{}:{}", world.path("").display(), std::env::var("PATH").unwrap_or_default()));
        command
            .env("BROWSER", &browser)
            .env("MCP_AUTO_OPEN_ENABLED", "true")
            .env("MCP_INSPECTOR_SECRET_STORE", "memory");
        let output = command.stdin(Stdio::null()).output().expect("the inspector can be started");
        let (said, complained) = (String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success() && said.contains(tool), "{path}: {}\n{said}\n{complained}", output.status);
    }
}

/// One Toolfold is the server and another its client: a login, a call with it, and calls that each need it renewed. Returns
/// who the provider took the client for.
fn toolfold_signs_in(provider: &Provider, settings: &str) -> String {
    let far = configured(provider);
    let far = far.serve();
    let near =
        World::with_config(&format!("{settings}[servers.far]\nurl = \"{}/direct\"\nauth = \"oauth\"\n", far.url));
    let near_served = near.serve();
    provider.ask(&format!("/documents?at={}", near_served.url.trim_end_matches("/mcp")));
    let try_run = |arguments: &[&str]| {
        let mut command = near.toolfold(arguments);
        let jar = near.path("cookies");
        command.env("BROWSER", format!("curl -sL -c {jar} -b {jar}", jar = jar.display()));
        let output = command.stdin(Stdio::null()).output().expect("toolfold can be started");
        let said = [&output.stdout, &output.stderr].map(|said| String::from_utf8_lossy(said).into_owned());
        (output.status.success(), said.concat())
    };
    let (logged_in, said) = try_run(&["login", "far"]);
    assert!(logged_in, "{said}");
    let first = provider.granted("authorization_code");
    assert_eq!(first.len(), 1, "{first:?}");
    for text in ["one two", "one two three"] {
        let before = provider.granted("refresh_token").len();
        let arguments = json!({"text": text}).to_string();
        let call = ["call", "far.toolbox__text_count", &arguments];
        let mut answered = try_run(&call);
        // Its tools are listed after the login, which takes a moment.
        while answered.1.contains("still starting") {
            answered = try_run(&call);
        }
        let (called, said) = answered;
        assert!(called, "{said}");
        assert!(said.contains(&format!("\"words\":{}", text.split(' ').count())), "{said}");
        let renewed = provider.granted("refresh_token");
        assert!(renewed.len() > before && renewed.iter().all(|client| *client == first[0]), "{renewed:?}");
    }
    // Alice may not call it, whoever asks for her.
    let (called, said) = try_run(&["call", "far.toolbox__time_now"]);
    assert!(!called && said.contains("There is no tool"), "{said}");
    first[0].clone()
}

#[test]
fn toolfold_signs_in_at_another_one_and_renews_its_login() {
    let provider = Provider::with(&["BRIEF"]);
    let client = toolfold_signs_in(&provider, "");
    assert!(!client.contains("://"), "it registered: {client}");
}

/// The document is the one that Toolfold serves of itself, read by the provider.
#[test]
fn toolfold_signs_in_as_the_client_that_its_document_describes() {
    let provider = Provider::with(&["BRIEF", "DOCUMENTS"]);
    let client =
        toolfold_signs_in(&provider, "[http]\npublic_url = \"https://tools.example\"\ntoken = \"shown-by-nobody\"\n");
    assert_eq!(client, "https://tools.example/oauth-client.json");
}

/// Against one that signs whatever it is told: what it says is believed only where all of it holds.
#[tokio::test]
async fn what_a_hostile_provider_signs_is_refused_and_reaches_nobody() {
    let audience = "https://tools.example/mcp";
    let mut command = node();
    command.arg(script("forger.mjs")).arg(audience);
    let forger = Beside::start(command);
    let fake = FakeServer::script(json!({"tools": ["look"]}));
    let settings =
        format!("[http]\npublic_url = \"https://tools.example\"\n[[issuers]]\nissuer = {}\n", forger.said["issuer"]);
    let served = world(&settings, &[("fake", &fake)]).serve();
    let ask = async |token: &str| {
        let client = HttpClient::new(served.url.clone()).with_header("authorization", &format!("Bearer {token}"));
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {
            "name": "call_tool", "arguments": {"tool": "fake.look", "arguments": {}},
            "_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28", "io.modelcontextprotocol/clientCapabilities": {},
                "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "1"}},
        }});
        let headers = [("mcp-protocol-version", "2026-07-28"), ("mcp-method", "tools/call"), ("mcp-name", "call_tool")];
        let client = headers.into_iter().fold(client, |client, (name, value)| client.with_header(name, value));
        client.post(&body.to_string(), Default::default()).await
    };
    let forged = forger.said["forged"].as_array().unwrap();
    assert!(forged.len() >= 17, "{}", forged.len());
    for one in forged {
        let reply = ask(one[1].as_str().unwrap()).await;
        assert_eq!(reply.status, 401, "{}: {}", one[0], reply.body);
    }
    assert!(fake.received("tools/call").is_empty(), "nothing got there");
    let good = ask(forger.said["good"].as_str().unwrap()).await;
    assert_eq!((good.status, fake.received("tools/call").len()), (200, 1), "{}", good.body);
}
