//! What the README shows with other programs works; its own commands are run by `book.rs`.

use std::process::Stdio;

use crate::world::World;

const README: &str = include_str!("../../../../README.md");

/// Both eras, by hand. The block is run as it stands, but for the port.
#[test]
fn what_is_shown_with_curl_works() {
    let found = std::process::Command::new("curl").arg("--version").stdout(Stdio::null()).status();
    if !found.is_ok_and(|status| status.success()) {
        println!("skipped: there is no curl");
        return;
    }
    let world = World::without_config();
    let served = world.serve();
    let block =
        README.split("```sh\n").find(|block| block.starts_with("to=")).and_then(|block| block.split("```").next());
    let script = block.expect("a block with curl").replace("http://127.0.0.1:7420/mcp", &served.url);
    let output = std::process::Command::new("sh").args(["-ec", &script]).env("no_proxy", "*").output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{output:?}");
    assert_eq!(said.matches("\"name\":\"find_tools\"").count(), 2, "{said}");
}

/// The server reads this variable and no other; what it is called where the user has it is the user's.
#[test]
fn the_example_of_github_sets_the_variable_that_its_server_reads() {
    let section = README.split("[servers.github]").nth(1).and_then(|rest| rest.split("\n[").next()).unwrap();
    let section = section.split("```").next().unwrap();
    assert!(section.contains("@modelcontextprotocol/server-github"), "{section}");
    assert!(section.contains("env = { GITHUB_PERSONAL_ACCESS_TOKEN = "), "{section}");
}
