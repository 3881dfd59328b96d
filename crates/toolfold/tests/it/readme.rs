//! What the README shows is what one gets.

use std::process::Stdio;

use crate::world::{Served, World};

const README: &str = include_str!("../../../../README.md");

#[test]
fn the_first_run_looks_as_it_is_shown() {
    let world = World::without_config();
    let served = Served::start(world.toolfold(&["serve", "--listen", "127.0.0.1:0"]).stdin(Stdio::null()));
    let port = served.url.split([':', '/']).nth(4).expect("a URL with a port");
    for line in served.announcement.lines() {
        let line = line.replace(port, "7420");
        assert!(README.lines().any(|shown| shown.trim_end() == line.trim_end()), "not in the README: {line}");
    }
}

#[test]
fn commands_answer_as_they_are_shown() {
    let world = World::without_config();
    let mut shown = README.lines().skip_while(|line| !line.starts_with("$ toolfold")).peekable();
    while let Some(command) = shown.next_if(|line| line.starts_with("$ toolfold")) {
        let arguments: Vec<&str> = command.split_whitespace().skip(2).map(|word| word.trim_matches('\'')).collect();
        let output = world.toolfold(&arguments).output().expect("toolfold can be started");
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(!said.is_empty(), "{command}: {}", String::from_utf8_lossy(&output.stderr));
        for line in said.lines() {
            assert_eq!(shown.next(), Some(line), "{command}");
        }
    }
    assert_eq!(shown.next(), Some("```"), "every command of the block was run");
}

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
