//! Results that are longer than what should be in memory: put away while they come in, whatever they come on, and passed on
//! as they came where they are not to be kept.

use serde_json::{Value, json};
use toolfold_test::{FakeServer, HttpClient, RunningHttp};

use crate::fakes::{config, text};
use crate::world::{Served, World};

const WAYS: [&str; 3] = ["stdio", "json", "stream"];

/// Toolfold before a server that speaks over one of these.
struct Before {
    served: Served,
    client: HttpClient,
    _server: Option<RunningHttp>,
    _world: World,
}

impl Before {
    async fn server(fake: &FakeServer, way: &str, extra: &str) -> Before {
        let more = "max_message = \"128MiB\"\n";
        let (server, text) = match way {
            "stdio" => (None, config(extra, &[("fake", fake)]).trim_end().to_owned() + "\n" + more),
            _ => {
                let server = fake.http();
                let url = format!("http://127.0.0.1:{}/mcp", server.port());
                (Some(server), format!("{extra}\n[servers.fake]\nurl = \"{url}\"\n{more}"))
            }
        };
        let world = World::with_config(&text).learn();
        let served = world.serve();
        let client = HttpClient::new(&served.url);
        client.initialize("2025-11-25").await;
        Before { served, client, _server: server, _world: world }
    }

    async fn call(&self, tool: &str, arguments: Value) -> Value {
        let through = json!({"name": "call_tool", "arguments": {"tool": tool, "arguments": arguments}});
        self.client.request("tools/call", through).await
    }
}

fn script(way: &str, tools: &[&str], calls: Value) -> FakeServer {
    FakeServer::script(json!({"tools": tools, "calls": calls, "http": {"always_stream": way == "stream"}}))
}

fn rows(count: usize) -> Value {
    let row = |n: usize| json!({"id": n, "name": format!("Zeile \"{n}\" ä"), "note": "x".repeat(200)});
    json!({"rows": (0..count).map(row).collect::<Vec<_>>(), "total": count})
}

#[tokio::test]
async fn a_long_result_is_never_in_memory_as_a_whole() {
    let rows = rows(200_000).to_string();
    let size = rows.len();
    let said = json!({"content": [{"type": "text", "text": rows}, {"type": "text", "text": ""}], "_meta": {"mine": 1}});
    for way in WAYS {
        let fake = script(way, &["small", "long"], json!({"small": {"big": 10}, "long": {"result": said}}));
        let extra = "[search]\nprecise = \"off\"\n[limits]\nmemory = \"1GiB\"\n";
        let before = Before::server(&fake, way, extra).await;
        before.call("fake.small", json!({})).await;
        let mark = format!("/proc/{}/clear_refs", before.served.id());
        std::fs::write(&mark, "5").expect("the kernel forgets the highest mark");
        let was = highest_mark(before.served.id());
        let kept = before.call("fake.long", json!({})).await;
        let grown = highest_mark(before.served.id()).saturating_sub(was);
        assert!(
            text(&kept).starts_with(&format!("The result is JSON of {} characters.", size_of(&said) + 1)),
            "{kept}"
        );
        assert!(
            text(&kept).contains("rows: list of 200000, each like: {id: number, name: string, note: string}"),
            "{kept}"
        );
        assert!(text(&kept).contains(" to 199999 of 200000 of \"rows\":\n"), "{kept}");
        assert_eq!(kept["_meta"]["mine"], 1, "{way}: what is beside the text stays");
        assert!(grown < size / 4, "{way}: {grown} bytes more were held at once, of {size}");
        // Reading in it takes no more.
        std::fs::write(&mark, "5").expect("the kernel forgets the highest mark");
        let was = highest_mark(before.served.id());
        let uri = kept["content"][1]["uri"].as_str().unwrap();
        let page = before.call("results.read", json!({"result": uri, "offset": 150_000, "limit": 1})).await;
        assert!(text(&page).contains("150000: {\"id\":150000,\"name\":\"Zeile \\\"150000\\\" ä\""), "{page}");
        let found = before.call("results.read", json!({"result": uri, "grep": "\"id\":123456,"})).await;
        assert!(text(&found).starts_with("matching items 0 to 0 of 1 of \"rows\":\n123456: "), "{found}");
        let grown = highest_mark(before.served.id()).saturating_sub(was);
        assert!(grown < size / 4, "{way}: {grown} bytes more were held while it was read");
    }
}

/// The most memory that a process has had since the mark was reset.
fn highest_mark(pid: u32) -> usize {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() * 1024
}

/// Characters of the first text.
fn size_of(result: &Value) -> usize {
    result["content"][0]["text"].as_str().unwrap().chars().count()
}

#[tokio::test]
async fn what_is_not_kept_is_passed_on_as_it_came_however_long_it_is() {
    let long = rows(12_000);
    assert!(long.to_string().len() > 2 << 20);
    let said = json!({"content": [{"type": "text", "text": long.to_string()}], "structuredContent": long});
    let failed = json!({"content": [{"type": "text", "text": long.to_string()}], "isError": true});
    let picture = json!({"content": [{"type": "image", "data": "QUJD".repeat(1 << 20), "mimeType": "image/png"}]});
    let half = json!({"content": [{"type": "text", "text": "HALF ".repeat(1 << 19)}]});
    for way in WAYS {
        let calls = json!({"said": {"result": said}, "off": {"result": said}, "failed": {"result": failed},
            "picture": {"result": picture}, "half": {"result": half}});
        let fake = script(way, &["said", "off", "failed", "picture", "half"], calls);
        let before =
            Before::server(&fake, way, "[results]\ntools = { \"fake.off\" = \"off\", \"fake.half\" = 4000000 }\n")
                .await;
        let same = async |tool: &str, whole: &Value| {
            let mut result = before.call(tool, json!({})).await;
            result.as_object_mut().unwrap().retain(|key, _| key != "resultType");
            assert!(result == *whole, "{way}: {tool} is not as it came: {:.300}", result.to_string());
        };
        same("fake.off", &said).await;
        same("fake.failed", &failed).await;
        same("fake.picture", &picture).await;
        same("fake.half", &half).await;
        let kept = before.call("fake.said", json!({})).await;
        assert!(text(&kept).contains("It is kept whole"), "{way}: {:.300}", kept.to_string());
        assert_eq!(kept.get("structuredContent"), None);
        let uri = kept["content"][1]["uri"].as_str().unwrap();
        let whole = before.client.request("resources/read", json!({"uri": uri})).await;
        let whole: Value = serde_json::from_str(whole["contents"][0]["text"].as_str().unwrap()).unwrap();
        assert!(whole == long, "{way}: what is kept is the structured content");
    }
}

/// Where nothing can be written, nothing is kept, and nothing is lost either.
#[tokio::test]
async fn what_there_is_no_room_for_is_passed_on_whole() {
    let said = json!({"content": [{"type": "text", "text": rows(12_000).to_string()}]});
    for way in WAYS {
        let fake = script(way, &["said"], json!({"said": {"result": said}}));
        let before = Before::server(&fake, way, "[results]\nkeep_bytes = \"1500KiB\"\n").await;
        let result = before.call("fake.said", json!({})).await;
        assert!(result["content"] == said["content"], "{way}: {:.300}", result.to_string());
    }
}

/// A stateless client is asked something in the middle; the rest of its call has no slot to look into any more.
#[tokio::test]
async fn a_long_result_after_a_question_is_kept_too() {
    let said = json!({"content": [{"type": "text", "text": rows(12_000).to_string()}]});
    let ask = json!({"message": "Really?", "requestedSchema": {"type": "object", "properties": {}}});
    for way in WAYS {
        let calls = json!({"asks": {"elicit": ask, "result": said}});
        let fake = FakeServer::script(json!({"eras": ["legacy"], "tools": ["asks"], "calls": calls,
            "http": {"always_stream": way == "stream"}}));
        let before = Before::server(&fake, way, "").await;
        let client = HttpClient::new(&before.served.url).with_capabilities(json!({"elicitation": {}}));
        let call = json!({"name": "call_tool", "arguments": {"tool": "fake.asks", "arguments": {}}});
        let asked = client.modern("tools/call", call.clone()).await;
        assert_eq!(asked["resultType"], "input_required", "{asked:.300}");
        let mut again = call;
        again["requestState"] = asked["requestState"].clone();
        again["inputResponses"] = json!({"0": {"action": "accept", "content": {}}});
        let kept = client.modern("tools/call", again).await;
        assert!(text(&kept).contains("rows: list of 12000"), "{way}: {:.300}", kept.to_string());
        let uri = kept["content"][1]["uri"].as_str().unwrap();
        let read = json!({"tool": "results.read", "arguments": {"result": uri, "query": "length(rows)"}});
        let counted = client.modern("tools/call", json!({"name": "call_tool", "arguments": read})).await;
        assert_eq!(text(&counted), "12000");
    }
}
