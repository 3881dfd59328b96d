//! The page in a real browser, in front of servers that would like it to be theirs. `cargo xtask page` runs this alone, and
//! keeps pictures.

use std::path::PathBuf;
use std::process::Command;

use serde_json::{Value, json};
use toolfold_test::FakeServer;

use crate::fakes::{self, config, until};
use crate::peers::{node, script};
use crate::world::World;

/// Where pictures go, if anybody wants them.
const PICTURES: &str = "TOOLFOLD_PICTURES";
/// One server may have 25,000.
const MANY: [(&str, usize); 3] = [("many", 20_000), ("more", 20_000), ("most", 10_000)];

/// Markup, direction, emoji, emptiness and length in every field that a server fills in.
fn hostile() -> Value {
    let run = "<img src=x onerror=\"window.ran=1\"><script>window.ran=1</script><b>bold</b>";
    let name = |name: &str| {
        json!({
            "name": name,
            "title": run,
            "description": format!("Hostile markup: {run} \u{202e}txet desrever \u{2066}isolated {}", "long ".repeat(2_000)),
            "inputSchema": {"type": "object", "title": run, "description": run, "properties": {run: {"type": "string", "description": run}}},
            "annotations": {"title": run, "destructiveHint": true},
        })
    };
    let names = [
        run,
        "plain",
        "javascript:window.ran=1",
        "\u{202e}gnp.exe",
        "עברית_كلمة",
        "👩\u{200d}🚀_launch",
        "${ran}{{ran}}",
    ];
    json!({"name": run, "instructions": run, "tools": names.map(name)})
}

#[test]
fn the_page_in_a_browser() {
    let hostile = FakeServer::script(hostile());
    let many = MANY.map(|(name, count)| {
        let word = if name == "many" { "tool" } else { name };
        let tools: Vec<String> = (0..count).map(|number| format!("{word}_{number}")).collect();
        FakeServer::script(json!({ "tools": tools }))
    });
    let broken = "\n[servers.broken]\ncommand = \"sh\"\nargs = [\"-c\", \"echo '<script>window.ran=1</script> \\u001b[31mno\\u202e' >&2; exit 3\"]\n";
    // Without somebody who vouches for it, it would be held for what is in it.
    let servers = MANY.iter().zip(&many).map(|((name, _), fake)| (*name, fake));
    let config = config("", &servers.chain([("hostile", &hostile)]).collect::<Vec<_>>());
    let config = config.replace("[servers.hostile]\n", "[servers.hostile]\ntrust = \"always\"\n");
    assert!(config.contains("always"), "{config}");
    let world = World::with_config(&(config + broken));
    // Not `learn`, which wants all of them to be well.
    let _ = world.toolfold(&["ls", "--wait"]).output().unwrap();
    let served = world.serve();
    let told = world.toolfold(&["page", "--json"]).output().unwrap();
    let told: Value = serde_json::from_slice(&told.stdout).unwrap_or_else(|_| panic!("{told:?}"));
    let base = served.url.strip_suffix("/mcp").unwrap();
    assert_eq!(told["page"], format!("{base}/"));
    let mut browser = browser(&world, base, told["key"].as_str().unwrap());
    browser.args(std::env::var_os(PICTURES).map(PathBuf::from));
    println!("{}", said(browser));
}

#[tokio::test]
async fn what_is_held_in_a_browser() {
    let script = |description: &str| json!({"tools": [{"name": "report", "description": description, "inputSchema": {"type": "object"}}, "other"]});
    let fake = FakeServer::script(script("Reports the weather."));
    let world = fakes::world("", &[("s", &fake)]).learn();
    let served = world.serve();
    fake.rewrite(script("Reports the weather\u{200b} to <img src=x onerror=window.ran=1>"));
    let held = || {
        let output = world.toolfold(&["approve", "--json"]).output().unwrap();
        let list: Value = serde_json::from_slice(&output.stdout).unwrap_or_else(|_| panic!("{output:?}"));
        list["total"].as_u64().unwrap_or_else(|| panic!("{list}"))
    };
    until("the change is held", || {
        assert!(world.toolfold(&["call", "s.other"]).output().unwrap().status.success());
        held() == 1
    })
    .await;
    let told = world.toolfold(&["page", "--json"]).output().unwrap();
    let told: Value = serde_json::from_slice(&told.stdout).unwrap();
    let base = served.url.strip_suffix("/mcp").unwrap();
    let mut browser = browser(&world, base, told["key"].as_str().unwrap());
    browser.args(std::env::var_os(PICTURES).map(PathBuf::from));
    println!("{}", said(browser));
    assert_eq!(held(), 0, "what was approved there serves");
}

#[test]
fn the_page_in_a_browser_behind_a_token() {
    let world = World::with_config("[http]\ntoken = \"a-token-of-its-own\"\n");
    let served = world.serve();
    println!("{}", said(browser(&world, served.url.strip_suffix("/mcp").unwrap(), "a-token-of-its-own")));
}

fn browser(world: &World, base: &str, key: &str) -> Command {
    let mut command = world.settle(node());
    // The browser unpacks itself into the folder for temporary files: each into one of its own.
    command.arg(script("page.mjs")).args([base, key]).env("TMPDIR", world.path("."));
    command
}

/// What the script says when all is well; otherwise what it complains about.
fn said(mut command: Command) -> String {
    let output = command.output().expect("the browser can be started");
    let complained = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{}\n{complained}", output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn where_the_page_is_and_its_key() {
    let world = World::without_config();
    let ask = |arguments: &[&str]| world.toolfold(arguments).output().unwrap();
    let before = ask(&["page"]);
    assert_eq!(before.status.code(), Some(1), "{before:?}");
    let served = world.serve();
    let told = String::from_utf8(ask(&["page"]).stdout).unwrap();
    let address = served.url.strip_suffix("mcp").unwrap();
    let (page, key) = told.trim_end().split_once("\nkey   ").unwrap();
    assert_eq!((page, key.len()), (format!("page  {address}").as_str(), 24));
    assert_eq!(String::from_utf8(ask(&["page"]).stdout).unwrap(), told, "the same key each time");
    assert!(!served.announcement.contains(key), "an announcement may end in a log");
}
