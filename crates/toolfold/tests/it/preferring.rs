//! `prefer` in the configuration, as whoever asks sees it: over MCP on two surfaces, with and without a number of hits, and on
//! the command line, which says why. And the mark of what destroys, where a person reads it.

use serde_json::{Value, json};
use toolfold_test::{FakeServer, HttpClient};

use crate::fakes::{text, world};
use crate::world::World;

const REQUEST: &str = "close the page of the browser";

fn two_ways(extra: &str) -> (World, [FakeServer; 2]) {
    let definition = |name: &str, description: &str, takes: &str| {
        json!({"name": name, "description": description,
        "inputSchema": {"type": "object", "properties": {takes: {"type": "string"}}, "required": [takes]}})
    };
    let near = FakeServer::script(json!({"tools": [
        definition("close_page", "Close the page of a browser", "page"),
        definition("open_page", "Open a page in a browser", "url"),
        definition("delete_page", "Delete a page of the notebook", "page"),
    ]}));
    let far = FakeServer::script(json!({"tools": [
        definition("browser_close", "Close the page", "target"),
        definition("browser_open", "Open a page", "target"),
        definition("browser_resize", "Resize the browser window", "size"),
    ]}));
    let world = world(&format!("toolbox = false\n{extra}"), &[("near", &near), ("far", &far)]).learn();
    (world, [near, far])
}

fn run(world: &World, arguments: &[&str]) -> String {
    let output = world.toolfold(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_preferred_server_comes_first_wherever_one_asks() {
    for (extra, expected) in [("", "near.close_page"), ("prefer = [\"far\"]", "far.browser_close")] {
        let (world, _servers) = two_ways(extra);
        let served = world.serve();
        let compact = HttpClient::new(&served.url);
        for more in [json!({}), json!({"limit": 1}), json!({"limit": 5}), json!({"detail": "summary"})] {
            let mut arguments = more;
            arguments["query"] = json!(REQUEST);
            let answer = compact.modern("tools/call", json!({"name": "find_tools", "arguments": arguments})).await;
            assert!(text(&answer).starts_with(expected), "{arguments}: {}", text(&answer));
        }
        let hybrid = HttpClient::new(format!("{}/hybrid", served.url));
        let search = json!({"name": "search_tools", "arguments": {"query": REQUEST}});
        let answer = hybrid.modern("tools/call", search).await;
        assert_eq!(answer["structuredContent"]["tools"][0]["name"], expected.replace('.', "__"), "{answer}");
        drop(served);
        assert!(run(&world, &["search", REQUEST]).starts_with(expected), "{}", run(&world, &["search", REQUEST]));
    }
}

#[test]
fn the_command_line_says_why_one_comes_first() {
    let (world, _servers) = two_ways("prefer = [\"far\"]");
    let told = run(&world, &["search", REQUEST, "--explain"]);
    let why = "comes first and counts as much because its server is preferred: near.close_page does the same";
    assert!(told.lines().any(|line| line.trim() == why), "{told}");
    let found: Value = serde_json::from_str(&run(&world, &["search", REQUEST, "--explain", "--json"])).unwrap();
    let hits = found["hits"].as_array().unwrap();
    assert_eq!((&hits[0]["preferred_to"], &hits[1]["preferred_to"]), (&json!("near.close_page"), &Value::Null));
    assert_eq!(hits[0]["confidence"], hits[1]["confidence"]);
}

#[test]
fn a_person_sees_what_destroys() {
    let (world, _servers) = two_ways("");
    for (arguments, marked) in [
        (&["search", "delete a page of the notebook"][..], "near.delete_page(page: string) — ! Delete a page"),
        (&["ls", "Servers/near"], "! Delete a page of the notebook"),
        (&["show", "near.delete_page"], "near.delete_page  ! may destroy something"),
    ] {
        let told = run(&world, arguments);
        assert!(told.contains(marked), "{told}");
        assert_eq!(told.matches('!').count(), 1, "what closes or opens a page carries none: {told}");
    }
}
