//! Clients that we did not write sign in with a provider that we did not write, knowing nothing but Toolfold's address.

use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::clients::text;
use crate::peers::{self, lines, node, script};
use crate::world::World;

/// An OpenID provider that ends with the value.
struct Provider {
    child: Child,
    issuer: String,
}

impl Provider {
    fn start() -> Provider {
        let mut command = node();
        command.arg(script("provider.mjs")).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().expect("node can be started");
        let mut first = String::new();
        BufReader::new(child.stdout.take().expect("a pipe")).read_line(&mut first).unwrap();
        let said: Value = serde_json::from_str(&first).unwrap_or_else(|_| panic!("no provider: {first:?}"));
        Provider { child, issuer: said["issuer"].as_str().unwrap().to_owned() }
    }
}

impl Drop for Provider {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
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

/// At the default endpoint and at one of a surface: tokens are for the one they were asked for.
fn check(client: impl Fn() -> Command) {
    let provider = Provider::start();
    let config = format!(
        "toolbox = true\n[[issuers]]\nissuer = \"{}\"\nscopes = [\"tools\"]\n[[rules]]\nwho = \"alice\"\nwhat = \"toolbox.text_*\"\neffect = \"call\"\n",
        provider.issuer
    );
    let world = World::with_config(&config);
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
