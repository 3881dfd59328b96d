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
