//! Worlds whose servers are fakes that follow a script.

use serde_json::Value;
use toolfold_test::FakeServer;

use crate::world::World;

/// A configuration with these servers over stdio; `extra` goes before them.
pub(crate) fn world(extra: &str, servers: &[(&str, &FakeServer)]) -> World {
    World::with_config(&config(extra, servers))
}

pub(crate) fn config(extra: &str, servers: &[(&str, &FakeServer)]) -> String {
    let sections = servers.iter().map(|(name, fake)| {
        let (command, args) = fake.stdio_command();
        format!("[servers.{name}]\ncommand = {command:?}\nargs = {args:?}\nstop_timeout = \"200ms\"\n\n")
    });
    format!("{extra}\n\n{}", sections.collect::<String>())
}

pub(crate) fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap_or_else(|| panic!("no text in {result}"))
}

pub(crate) fn error_code(result: &Value) -> String {
    let error: Value = serde_json::from_str(text(result)).unwrap_or_else(|_| panic!("not an error: {result}"));
    error["error"]["code"].as_str().unwrap_or_default().to_owned()
}

/// Whether a process is still there (and not only a name waiting to be collected).
pub(crate) fn alive(pid: u32) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().next());
    state.is_some_and(|state| state != "Z" && state != "X")
}

/// Waits until something is so. The wait is bounded by the test runner, not by a number here.
pub(crate) async fn until(what: &str, mut so: impl FnMut() -> bool) {
    let begun = std::time::Instant::now();
    while !so() {
        assert!(begun.elapsed().as_secs() < 60, "still not so: {what}");
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
}
