//! `run_code` as clients meet it: what it lists, what it answers, what it refuses, and who is asked and told meanwhile.

use serde_json::{Value, json};
use toolfold_test::{FakeServer, HttpClient};

use crate::fakes::{alive, error_code, text, until, world};
use crate::world::{Served, World};

fn tool(name: &str, of: &str, reads: bool) -> Value {
    json!({
        "name": name,
        "description": format!("Does {name} of the {of}."),
        "inputSchema": {"type": "object", "properties": {"n": {"type": "integer"}}},
        "annotations": {"readOnlyHint": reads},
    })
}

/// Tools that read (`get`, `list`, `ask`, `hang`, `fail`, `slow`) and tools that write (`put`, `drop`).
fn shop(era: &str) -> FakeServer {
    shop_like(era, "shop")
}

/// One that says of its tools whose they are: of two servers that say the same, whichever lists its tools later is held.
fn shop_like(era: &str, of: &str) -> FakeServer {
    let read = ["get", "list", "ask", "hang", "fail", "slow", "picture"];
    let tools: Vec<Value> =
        read.iter().map(|name| tool(name, of, true)).chain(["put", "drop"].map(|name| tool(name, of, false))).collect();
    let question = json!({"message": "Which colour?", "requestedSchema": {"type": "object", "properties": {"colour": {"type": "string"}}}});
    FakeServer::script(json!({
        "eras": [era],
        "tools": tools,
        "calls": {
            "get": {"result": {"content": [{"type": "text", "text": "{\"price\": 3}"}]}},
            "list": {"result": {"content": [{"type": "text", "text": "[1,2,3,4]"}], "structuredContent": {"items": [1, 2, 3, 4]}}},
            "ask": {"elicit": question},
            "hang": {"hang": true},
            "fail": {"result": {"content": [{"type": "text", "text": "No such thing."}], "isError": true}},
            "slow": {"progress": 3},
            "picture": {"result": {"content": [{"type": "text", "text": "here"}, {"type": "image", "data": "aGk=", "mimeType": "image/png"}]}},
        },
    }))
}

fn code(code: &str) -> Value {
    json!({"name": "run_code", "arguments": {"code": code}})
}

async fn session(served: &Served, capabilities: Value) -> HttpClient {
    let client = modern(served, capabilities);
    client.initialize("2025-11-25").await;
    client
}

fn modern(served: &Served, capabilities: Value) -> HttpClient {
    HttpClient::new(format!("{}/code", served.url)).with_capabilities(capabilities)
}

fn shop_world(extra: &str, fake: &FakeServer) -> World {
    world(extra, &[("shop", fake)])
}

#[tokio::test]
async fn a_program_finds_calls_and_answers() {
    let fake = shop("legacy");
    let served = shop_world("surface = \"code\"", &fake).serve();
    let client = session(&served, json!({})).await;
    let listed = client.request("tools/list", json!({})).await;
    let names: Vec<&str> =
        listed["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    assert_eq!(names, ["find_tools", "run_code", "call_tool"]);
    let answer = async |program: &str| client.request("tools/call", code(program)).await;

    let result = answer("const [a, b] = await Promise.all([tools.shop.get({n: 1}), call('shop.list', {})]); return {price: a.price, many: b.items.length}").await;
    assert_eq!(text(&result), "{\"price\":3,\"many\":4}");
    assert!(result["isError"].is_null() && result["structuredContent"].is_null(), "{result}");
    assert_eq!(text(&answer("return 'plain text'").await), "plain text");

    let found = answer("const hits = await find('get'); return hits[0]").await;
    let found: Value = serde_json::from_str(text(&found)).unwrap();
    assert_eq!(found["id"], "shop.get");
    assert_eq!(found["readOnly"], true);
    let described = answer("const d = await describe('shop.put'); return [d.id, d.inputSchema.properties.n.type, d.annotations.readOnlyHint]").await;
    assert_eq!(text(&described), "[\"shop.put\",\"integer\",false]");

    let shown = answer("const r = await tools.shop.picture({}); show(r.content[1]); print('seen'); return 1").await;
    assert_eq!(shown["content"][2], json!({"type": "image", "data": "aGk=", "mimeType": "image/png"}));
    assert_eq!(shown["content"][1]["text"], "Printed:\nseen");
    let nothing = answer("const x = 1").await;
    assert!(text(&nothing).contains("returned nothing"));

    // Other spellings, and the names that a program's own syntax makes of a tool's.
    assert_eq!(text(&answer("return (await call('get', {})).price").await), "3");
    let input = json!({"name": "run_code", "arguments": {"code": "return input.a + 1", "input": {"a": 41}}});
    assert_eq!(text(&client.request("tools/call", input).await), "42");
}

#[tokio::test]
async fn what_writes_is_refused_unless_it_is_allowed() {
    let fake = shop("legacy");
    let served = shop_world("surface = \"code\"\n[code]\nallow = [\"shop.pu*\"]", &fake).serve();
    let client = session(&served, json!({})).await;
    let refused = client.request("tools/call", code("return await tools.shop.drop({n: 1})")).await;
    assert_eq!(error_code(&refused), "NOT_AUTHORIZED");
    assert!(text(&refused).contains("call_tool") && refused["isError"] == true, "{refused}");
    // Neither by another spelling, nor through a meta-tool, nor caught.
    for program in [
        "await call('drop', {n: 1})",
        "await call('shop__drop', {n: 1})",
        "await call('call_tool', {tool: 'shop.drop', arguments: {n: 1}})",
        "await call('run_code', {code: 'return await tools.shop.drop({n: 1})'})",
        "try { await tools.shop.drop({n: 1}) } catch (e) { return e.code }",
    ] {
        client.request("tools/call", code(program)).await;
    }
    assert!(fake.received("tools/call").is_empty(), "{:?}", fake.received("tools/call"));
    let allowed = client.request("tools/call", code("await tools.shop.put({n: 1}); return 'put'")).await;
    assert_eq!(text(&allowed), "put");
    assert_eq!(fake.received("tools/call").len(), 1);
    let through = json!({"name": "call_tool", "arguments": {"tool": "shop.drop", "arguments": {"n": 1}}});
    assert!(client.request("tools/call", through).await["isError"].is_null());
}

/// A program has the rights of whoever runs it, whatever it calls by.
#[tokio::test]
async fn a_program_sees_and_calls_what_its_client_may() {
    let (fake, vault) = (shop("legacy"), shop_like("modern", "vault"));
    let rules = "surface = \"code\"\n[code]\nallow = [\"*\"]\n[http]\ntoken = \"unused\"\nlocal = true\n\
        [[rules]]\nwho = \"local\"\nservers = \"shop\"\neffect = \"see\"\n\
        [[rules]]\nwho = \"local\"\nwhat = [\"shop.get\", \"shop.put\"]\neffect = \"call\"\n";
    let served = world(rules, &[("shop", &fake), ("vault", &vault)]).serve();
    let legacy = session(&served, json!({})).await;
    let stateless = modern(&served, json!({}));
    for is_modern in [false, true] {
        let run = async |program: &str| match is_modern {
            true => stateless.modern("tools/call", code(program)).await,
            false => legacy.request("tools/call", code(program)).await,
        };
        assert_eq!(text(&run("await tools.shop.put({n: 1}); return 'put'").await), "put");
        for way in
            ["tools.shop.drop({n: 1})", "call('shop.drop', {n: 1})", "call('drop', {})", "call('shop__drop', {})"]
        {
            let caught = run(&format!("try {{ await {way} }} catch (e) {{ return e.code }}")).await;
            assert_eq!(text(&caught), "NOT_AUTHORIZED", "{way}");
        }
        for way in
            ["call('vault.get', {})", "call('vault__get', {})", "describe('vault.get')", "call('vault.none', {})"]
        {
            let caught = run(&format!("try {{ await {way} }} catch (e) {{ return e.code }}")).await;
            assert_eq!(text(&caught), "TOOL_NOT_FOUND", "{way}");
        }
        let found = run("return (await find('get')).map(hit => hit.id)").await;
        assert!(text(&found).contains("shop.get") && !text(&found).contains("vault"), "{found}");
        let there = run("return [typeof tools.shop, Object.keys(tools)]").await;
        assert!(!text(&there).contains("vault"), "{there}");
    }
    let called: Vec<Value> = fake.received("tools/call").iter().map(|call| call["params"]["name"].clone()).collect();
    assert_eq!(called, ["put", "put"]);
    assert!(vault.received("tools/call").is_empty());
}

#[tokio::test]
async fn errors_and_refusals_are_thrown_with_what_to_do() {
    let fake = shop("legacy");
    let served = shop_world("surface = \"code\"", &fake).serve();
    let client = session(&served, json!({})).await;
    let answer = async |program: &str| client.request("tools/call", code(program)).await;
    let caught = answer("try { await tools.shop.fail({}) } catch (e) { return [e.code, e.message] }").await;
    assert_eq!(text(&caught), "[\"TOOL_ERROR\",\"No such thing.\"]");
    let caught =
        answer("try { await tools.shop.get({n: 'x'}) } catch (e) { return [e.code, e.message.length > 20] }").await;
    assert_eq!(text(&caught), "[\"INVALID_ARGUMENTS\",true]");
    let caught = answer("try { await tools.shop.gett({}) } catch (e) { return [e.code, e.hints[0]] }").await;
    assert_eq!(text(&caught), "[\"TOOL_NOT_FOUND\",\"shop.get\"]", "{caught}");
    let caught = answer("try { await result('nowhere') } catch (e) { return [e.code, e.message] }").await;
    assert_eq!(text(&caught), "[\"INVALID_REQUEST\",\"There is no kept result \\\"nowhere\\\".\"]");

    let uncaught = answer("await tools.shop.get({});\nprint('got it');\nnull.x").await;
    let error = &uncaught["structuredContent"]["error"];
    assert_eq!((error["code"].as_str(), uncaught["isError"].as_bool()), (Some("SCRIPT_ERROR"), Some(true)));
    assert!(error["message"].as_str().unwrap().contains("line 3"), "{error}");
    assert_eq!(error["details"], json!({"calls": ["shop.get"], "printed": "got it\n"}));
    let network = answer("return await fetch('http://example.com')").await;
    assert!(text(&network).contains("no network"), "{network}");
    let typed = answer("const x: number = 1; return x").await;
    assert!(text(&typed).contains("plain JavaScript"), "{typed}");
}

#[tokio::test]
async fn every_limit_is_refused_in_its_own_words() {
    let fake = shop("legacy");
    let limits = "surface = \"code\"\n[code]\ncpu = \"200ms\"\nmemory = \"24MiB\"\ncalls = 3\ntime = \"300s\"\nanswer = 100\n[results]\nkeep_over = \"off\"";
    let served = shop_world(limits, &fake).serve();
    let client = session(&served, json!({})).await;
    let answer = async |program: &str| client.request("tools/call", code(program)).await;
    let told = async |program: &str| {
        let result = answer(program).await;
        (error_code(&result), text(&result).to_owned())
    };
    let (code_, said) = told("for (;;) {}").await;
    assert!(code_ == "TOO_LARGE" && said.contains("computed for longer than 0.2 s"), "{said}");
    let (code_, said) = told("const a = []; for (;;) a.push('x'.repeat(1e5) + a.length)").await;
    assert!(code_ == "TOO_LARGE" && said.contains("memory"), "{said}");
    let (code_, said) = told("await new Promise(() => {})").await;
    assert!(code_ == "INVALID_REQUEST" && said.contains("nothing will settle"), "{said}");
    let (code_, said) = told("for (let n = 0; n < 4; n++) await tools.shop.get({})").await;
    assert!(code_ == "TOO_LARGE" && said.contains("may ask for 3 things"), "{said}");
    let (code_, said) = told(&format!("return '{}'", "x".repeat(65 * 1024))).await;
    assert!(code_ == "TOO_LARGE" && said.contains("65536"), "{said}");
    let cut = answer("return Array.from({length: 1000}, (_, n) => 'word ' + n)").await;
    assert!(text(&cut).contains("… cut: ") && text(&cut).len() < 1500, "{}", text(&cut));
}

#[tokio::test]
async fn a_script_that_waits_too_long_says_what_for() {
    let fake = shop("legacy");
    let served = shop_world("surface = \"code\"\n[code]\ntime = \"1s\"", &fake).serve();
    let client = session(&served, json!({})).await;
    let late = client.request("tools/call", code("await tools.shop.hang({})")).await;
    let said = text(&late);
    assert!(error_code(&late) == "TOO_LARGE" && said.contains("took longer than 1 s"), "{said}");
}

/// Longer than a caller reads, and not lost: the next program has it whole.
#[tokio::test]
async fn an_answer_that_is_too_long_is_kept() {
    let fake = shop("legacy");
    let served = shop_world("surface = \"code\"\n[code]\nanswer = 200", &fake).serve();
    let client = session(&served, json!({})).await;
    let long = "return Array.from({length: 1000}, (_, n) => ({n, word: 'word ' + n}))";
    let told = client.request("tools/call", code(long)).await;
    let told = text(&told);
    assert!(told.contains("kept whole") && told.contains("results.read") && told.len() < 4_000, "{told}");
    let handle = told.split(|c: char| !c.is_ascii_alphanumeric()).find(|word| word.len() >= 22).expect("a handle");
    let again = format!("const all = await result('{handle}'); return [all.length, all[999].word]");
    let again = client.request("tools/call", code(&again)).await;
    assert_eq!(text(&again), "[1000,\"word 999\"]", "{told}");
}

/// What is too long for a model is not too long for a program.
#[tokio::test]
async fn a_program_gets_long_results_whole() {
    let fake = FakeServer::script(json!({"tools": [tool("much", "shop", true)], "calls": {"much": {"big": 300_000}}}));
    let served = shop_world("surface = \"code\"", &fake).serve();
    let client = session(&served, json!({})).await;
    let counted = client.request("tools/call", code("return (await tools.shop.much({})).length")).await;
    assert_eq!(text(&counted), "300000");
}

#[tokio::test]
async fn so_many_run_at_once_and_the_next_is_told_so() {
    let fake = shop("legacy");
    let served = shop_world("surface = \"code\"\n[code]\nat_once = 1", &fake).serve();
    let client = session(&served, json!({})).await;
    let waits = client.request("tools/call", code("await tools.shop.hang({})"));
    let refused = async {
        until("the first one has called", || !fake.received("tools/call").is_empty()).await;
        client.request("tools/call", code("return 1")).await
    };
    tokio::select! {
        _ = waits => panic!("nobody answers"),
        refused = refused => assert_eq!(error_code(&refused), "RATE_LIMITED"),
    }
}

#[tokio::test]
async fn a_client_of_either_era_is_asked_for_a_script() {
    let program = "const [answer, list] = await Promise.all([tools.shop.ask({}), tools.shop.list({})]); return [JSON.stringify(answer).includes('blue'), list.items.length]";
    let blue = json!({"action": "accept", "content": {"colour": "blue"}});
    for era in ["legacy", "modern"] {
        let fake = shop(era);
        let served = shop_world("surface = \"code\"", &fake).serve();
        let client = session(&served, json!({"elicitation": {}})).await;
        let answered = async {
            let question = client.next_request().await;
            assert_eq!(question.method, "elicitation/create");
            client.answer(&question, blue.clone()).await;
        };
        let (result, ()) = tokio::join!(client.request("tools/call", code(program)), answered);
        assert_eq!(text(&result), "[true,4]", "{era}");

        let client = modern(&served, json!({"elicitation": {}}));
        let first = client.modern("tools/call", code(program)).await;
        assert_eq!(first["resultType"], "input_required", "{era}: {first}");
        let (key, question) = first["inputRequests"].as_object().unwrap().iter().next().unwrap();
        assert_eq!(question["params"]["message"], "Which colour?");
        let mut again = code(program);
        again["requestState"] = first["requestState"].clone();
        again["inputResponses"] = json!({ key: blue });
        let last = client.modern("tools/call", again.clone()).await;
        assert_eq!(text(&last), "[true,4]", "{era}");
        // The state is used up, and nothing is done twice.
        let twice = client.modern("tools/call", again).await;
        assert_eq!(error_code(&twice), "INVALID_REQUEST");
    }
}

#[tokio::test]
async fn progress_reaches_the_client_and_grows() {
    let fake = shop("legacy");
    let served = shop_world("surface = \"code\"", &fake).serve();
    let client = session(&served, json!({})).await;
    let mut params = code("await Promise.all([tools.shop.slow({}), tools.shop.slow({n: 1})]); return 1");
    params["_meta"] = json!({"progressToken": "mine"});
    assert_eq!(text(&client.request("tools/call", params).await), "1");
    let all = client.notifications();
    let steps: Vec<u64> = all
        .iter()
        .filter(|told| told["method"] == "notifications/progress")
        .map(|told| {
            assert_eq!(told["params"]["progressToken"], "mine");
            told["params"]["progress"].as_u64().unwrap()
        })
        .collect();
    assert!(steps.len() >= 4 && steps.windows(2).all(|two| two[0] < two[1]), "{steps:?}");
}

/// The process of a script ends with the call that runs it, and its calls are cancelled.
#[tokio::test]
async fn cancelled_a_script_is_gone_and_so_are_its_calls() {
    let fake = shop("legacy");
    let world = shop_world("surface = \"code\"", &fake);
    let (program, arguments) = (env!("CARGO_BIN_EXE_toolfold"), ["serve", "--stdio"]);
    let folders: Vec<(&str, String)> = [
        ("XDG_CONFIG_HOME", "config"),
        ("XDG_STATE_HOME", "state"),
        ("HOME", "home"),
        ("TOOLFOLD_STORE", "store.db"),
        ("TOOLFOLD_CONFIG", "toolfold.toml"),
    ]
    .map(|(name, file)| (name, world.path(file).display().to_string()))
    .into();
    let variables: Vec<(&str, &str)> = folders.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let client = toolfold_test::StdioClient::start(program, &arguments, &variables);
    client.initialize("2025-11-25").await;
    let id = client.begin("tools/call", code("await tools.shop.hang({})")).await;
    until("the call has arrived", || !fake.received("tools/call").is_empty()).await;
    let scripts = scripts_of(client.pid());
    assert_eq!(scripts.len(), 1, "{scripts:?}");
    client.cancel(&id).await;
    until("its server is told", || !fake.received("notifications/cancelled").is_empty()).await;
    until("the process is gone", || !alive(scripts[0])).await;
}

/// Processes of scripts that a process has started.
fn scripts_of(parent: u32) -> Vec<u32> {
    let all =
        std::fs::read_dir("/proc").unwrap().flatten().filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    let is_one = |pid: &u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let of = stat.rsplit_once(')').and_then(|(_, rest)| rest.split_ascii_whitespace().nth(1)?.parse::<u32>().ok());
        let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        of == Some(parent) && line.contains("__script")
    };
    all.filter(is_one).collect()
}

#[test]
fn every_inner_call_is_on_record() {
    let fake = shop("legacy");
    let world = shop_world("surface = \"code\"\n[audit]\nmode = \"strict\"\npath = \"audit.db\"", &fake);
    let served = world.serve();
    let runtime = tokio::runtime::Runtime::new().unwrap();
    runtime.block_on(async {
        let client = session(&served, json!({})).await;
        let program = "await find('list things'); await Promise.all([tools.shop.get({}), tools.shop.list({})]); try { await tools.shop.drop({n: 1}) } catch {} return 1";
        assert_eq!(text(&client.request("tools/call", code(program)).await), "1");
    });
    served.stop();
    let output = world.toolfold(&["audit", "tail", "--json"]).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    for expected in ["shop.get", "shop.list", "run_code", "shop.drop", "NOT_AUTHORIZED", "search"] {
        assert!(said.contains(expected), "{expected} is missing in\n{said}");
    }
    let verified = world.toolfold(&["audit", "verify"]).output().unwrap();
    assert!(verified.status.success(), "{}", String::from_utf8_lossy(&verified.stderr));
}
