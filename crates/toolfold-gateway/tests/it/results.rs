//! Results that are too long: kept whole for whoever they were for, read in parts, and never in the way of the others.

use std::sync::Arc;

use serde_json::{Value, json};
use toolfold_config::{Config, ResultSettings};
use toolfold_core::{Pattern, Principal, ServerName, Surface};
use toolfold_gateway::{Advertised, Client, Gateway, LocalServer, LocalTool, Options, Output, Request};
use toolfold_wire::{Object, Silent, raw};

/// `data.rows` answers with as many rows as it is asked for, `data.log` with lines, `data.typed` with what it promised.
fn start(settings: ResultSettings) -> Gateway {
    let tool = |name: &str, run: fn(usize) -> Output| {
        let definition =
            json!({"name": name, "description": format!("Many {name}."), "inputSchema": {"type": "object"}});
        LocalTool::blocking(definition, move |arguments| run(arguments["count"].as_u64().unwrap_or(0) as usize))
    };
    let mut typed = tool("typed", |count| Output::Json(json!({"text": "y".repeat(count)})));
    typed.definition["outputSchema"] = json!({"type": "object"});
    let tools = vec![
        tool("rows", |count| {
            let rows: Vec<Value> =
                (0..count).map(|n| json!({"id": n, "name": format!("row {n}"), "note": "x"})).collect();
            Output::Json(json!({"rows": rows, "total": count}))
        }),
        tool("log", |count| Output::Text((0..count).map(|n| format!("line {n}\n")).collect())),
        tool("fails", |count| Output::Failure("z".repeat(count))),
        typed,
    ];
    let config = Config { results: settings, toolbox: false, ..Config::default() };
    let data = LocalServer { name: ServerName::new("data").unwrap(), title: None, tools };
    Gateway::start(Options { config, local: vec![data] })
}

fn small() -> ResultSettings {
    ResultSettings { keep_over: Some(2_000), ..ResultSettings::default() }
}

fn session(principal: Principal) -> Arc<Client> {
    Arc::new(Client::session(principal, Surface::Compact, None, Advertised::ALL))
}

async fn ask(gateway: &Gateway, client: &Arc<Client>, method: &str, params: Value) -> Value {
    let params = Object::parse(&raw(&params)).unwrap();
    let request = Request::new(client.clone(), Arc::new(Silent), method, params);
    match gateway.handle(request).await {
        Ok(result) => serde_json::from_str(result.get()).unwrap(),
        Err(error) => json!({"rpc": error.message}),
    }
}

async fn call(gateway: &Gateway, client: &Arc<Client>, tool: &str, arguments: Value) -> Value {
    let through = json!({"name": "call_tool", "arguments": {"tool": tool, "arguments": arguments}});
    ask(gateway, client, "tools/call", through).await
}

fn text(result: &Value) -> &str {
    result["content"][0]["text"].as_str().unwrap()
}

fn link(result: &Value) -> &str {
    assert_eq!(result["content"][1]["type"], "resource_link", "{result}");
    result["content"][1]["uri"].as_str().unwrap()
}

#[tokio::test]
async fn a_long_result_is_kept_and_read_in_parts() {
    let gateway = start(small());
    let ada = session(Principal::local());
    let short = call(&gateway, &ada, "data.rows", json!({"count": 3})).await;
    assert_eq!(short["structuredContent"]["total"], 3, "what is short is untouched");
    let long = call(&gateway, &ada, "data.rows", json!({"count": 500})).await;
    assert_eq!(long["structuredContent"], Value::Null);
    assert!(text(&long).contains("rows: list of 500, each like: {id: number, name: string, note: string}"), "{long}");
    assert!(text(&long).contains("results.read through call_tool with {\"result\": \"r"), "{long}");
    let handle = link(&long).strip_prefix("toolfold://results/").unwrap().to_owned();
    let query = json!({"result": handle, "query": "rows[?id == `77`].name | [0]"});
    assert_eq!(text(&call(&gateway, &ada, "results.read", query).await), "\"row 77\"");
    let grep = json!({"result": link(&long), "grep": "row 499"});
    assert!(text(&call(&gateway, &ada, "results.read", grep).await).contains("499: {\"id\":499"));
    // Directly, too, and as the resource that the link is.
    let direct = json!({"name": "results.read", "arguments": {"result": handle, "offset": 498}});
    assert!(text(&ask(&gateway, &ada, "tools/call", direct).await).ends_with("That is the end."));
    let whole = ask(&gateway, &ada, "resources/read", json!({"uri": link(&long)})).await;
    let whole: Value = serde_json::from_str(whole["contents"][0]["text"].as_str().unwrap()).unwrap();
    assert_eq!(whole["rows"].as_array().unwrap().len(), 500);
}

async fn find(gateway: &Gateway, client: &Arc<Client>, arguments: Value) -> String {
    let found = ask(gateway, client, "tools/call", json!({"name": "find_tools", "arguments": arguments})).await;
    text(&found).to_owned()
}

#[tokio::test]
async fn what_reads_kept_results_is_found_and_described_by_who_asks_for_it_alone() {
    let gateway = start(small());
    let ada = session(Principal::local());
    let long = call(&gateway, &ada, "data.rows", json!({"count": 500})).await;
    let handle = link(&long).strip_prefix("toolfold://results/").unwrap().to_owned();
    let line = "results.read(result: string, ";
    for asked in [
        json!({"query": "results.read"}),
        json!({"query": "read more of a kept result"}),
        json!({"query": format!("read {handle}")}),
        json!({"path": ["results"]}),
        json!({"path": ["servers", "results"]}),
    ] {
        let found = find(&gateway, &ada, asked.clone()).await;
        assert!(found.contains(line), "{asked}: {found}");
    }
    for name in ["results.read", "results__read", "results/read"] {
        let details = find(&gateway, &ada, json!({"tool": name})).await;
        assert!(details.contains("Read on in a result that was too long"), "{details}");
    }
    let full: Value =
        serde_json::from_str(&find(&gateway, &ada, json!({"tool": "results.read", "detail": "full"})).await).unwrap();
    assert_eq!(full["input_schema"]["required"], json!(["result"]), "{full}");
    let parameter = find(&gateway, &ada, json!({"tool": "results.read", "parameter": "grep"})).await;
    assert!(parameter.contains("A regular expression"), "{parameter}");
    let both = find(&gateway, &ada, json!({"tool": ["data.rows", "results.read"]})).await;
    assert!(both.contains("Many rows.") && both.contains("Read on in a result"), "{both}");
    // Nobody else meets it, and nothing counts it.
    for asked in [
        json!({}),
        json!({"path": ["servers"]}),
        json!({"path": ["servers", "data"]}),
        json!({"query": "read the log"}),
        json!({"query": "many rows of results"}),
        json!({"query": "results.read", "kind": "agent"}),
    ] {
        let found = find(&gateway, &ada, asked.clone()).await;
        assert!(!found.contains("results.read("), "{asked}: {found}");
    }
    let listed = ask(&gateway, &ada, "tools/list", json!({})).await;
    assert!(!listed.to_string().contains("results.read"), "{listed}");
}

#[tokio::test]
async fn where_nothing_is_kept_there_is_nothing_to_read_it_with() {
    let off = ResultSettings { keep_over: None, ..ResultSettings::default() };
    let gateway = start(off.clone());
    let ada = session(Principal::local());
    let unknown = |text: &str| text.contains("UNKNOWN_PATH") || text.contains("TOOL_NOT_FOUND");
    assert!(unknown(&find(&gateway, &ada, json!({"path": ["results"]})).await));
    assert!(unknown(&find(&gateway, &ada, json!({"tool": "results.read"})).await));
    assert!(!find(&gateway, &ada, json!({"query": "read a kept result"})).await.contains("results.read"));
    assert!(unknown(text(&call(&gateway, &ada, "results.read", json!({"result": "r1"})).await)));
    // For one tool is enough.
    let some = start(ResultSettings { tools: vec![(Pattern::new("data.log"), Some(2_000))], ..off });
    assert!(find(&some, &ada, json!({"tool": "results.read"})).await.contains("Read on in a result"));
}

#[tokio::test]
async fn a_kept_result_is_its_owners_alone() {
    let gateway = start(small());
    let (ada, bob) = (session(Principal::local()), session(Principal::token()));
    let long = call(&gateway, &ada, "data.log", json!({"count": 1_000})).await;
    let read = json!({"result": link(&long)});
    let theirs = call(&gateway, &bob, "results.read", read.clone()).await;
    let never = call(&gateway, &bob, "results.read", json!({"result": "r00000000000000000000000000000000"})).await;
    assert_eq!(theirs, never, "another's is as good as none");
    assert_eq!(theirs["structuredContent"]["error"]["code"], "INVALID_ARGUMENTS");
    let resource = ask(&gateway, &bob, "resources/read", json!({"uri": link(&long)})).await;
    assert!(resource["rpc"].as_str().unwrap().starts_with("Resource not found"), "{resource}");
    assert!(text(&call(&gateway, &ada, "results.read", read).await).starts_with("lines 0 to "));
}

#[tokio::test]
async fn errors_promises_and_the_program_itself_get_everything() {
    let gateway = start(small());
    let ada = session(Principal::local());
    let failed = call(&gateway, &ada, "data.fails", json!({"count": 5_000})).await;
    assert_eq!((text(&failed).len(), &failed["isError"]), (5_000, &json!(true)));
    // Listed, a client holds it against the schema; through `call_tool` nobody does.
    let typed = json!({"name": "data__typed", "arguments": {"count": 5_000}});
    let listed = ask(&gateway, &ada, "tools/call", typed).await;
    assert_eq!(listed["structuredContent"]["text"].as_str().unwrap().len(), 5_000);
    link(&call(&gateway, &ada, "data.typed", json!({"count": 5_000})).await);
    let inside = Arc::new(Client::inside(Principal::local(), Surface::Compact));
    assert!(text(&call(&gateway, &inside, "data.log", json!({"count": 1_000})).await).len() > 8_000);
}

#[tokio::test]
async fn how_long_is_too_long_can_be_said_for_all_and_for_some() {
    let tools = vec![(Pattern::new("data.log"), None), (Pattern::new("data.*"), Some(1_000_000))];
    let gateway = start(ResultSettings { tools, ..small() });
    let ada = session(Principal::local());
    for tool in ["data.log", "data.rows"] {
        let whole = call(&gateway, &ada, tool, json!({"count": 1_000})).await;
        assert_eq!(whole["content"].as_array().unwrap().len(), 1, "{tool}");
    }
    let none = start(ResultSettings { keep_bytes: 1 << 20, ..small() });
    let too_large = call(&none, &ada, "data.log", json!({"count": 200_000})).await;
    assert!(text(&too_large).len() > 1 << 20, "what there is no room for is passed on");
}

#[tokio::test]
async fn fields_cut_a_result_before_it_is_read() {
    let gateway = start(small());
    let ada = session(Principal::local());
    let cut = |tool: &str, fields: Value| {
        let arguments = json!({"tool": tool, "arguments": {"count": 3}, "fields": fields});
        let (gateway, ada) = (gateway.clone(), ada.clone());
        async move { ask(&gateway, &ada, "tools/call", json!({"name": "call_tool", "arguments": arguments})).await }
    };
    let rows = cut("data.rows", json!(["rows.name", "total"])).await;
    let expected = json!({"rows": [{"name": "row 0"}, {"name": "row 1"}, {"name": "row 2"}], "total": 3});
    assert_eq!(rows["structuredContent"], expected);
    assert_eq!(serde_json::from_str::<Value>(text(&rows)).unwrap(), expected);
    let log = cut("data.log", json!("name")).await;
    assert_eq!(log["_meta"]["toolfold/fields"], "not applied: the result is no JSON");
    assert_eq!(text(&log), "line 0\nline 1\nline 2\n");
    let wrong = cut("data.rows", json!(7)).await;
    assert_eq!(wrong["structuredContent"]["error"]["code"], "INVALID_REQUEST");
    // A result that the fields make short is not kept.
    let many = json!({"tool": "data.rows", "arguments": {"count": 500}, "fields": ["total"]});
    let many = ask(&gateway, &ada, "tools/call", json!({"name": "call_tool", "arguments": many})).await;
    assert_eq!(many["structuredContent"], json!({"total": 500}));
}

#[tokio::test]
async fn whatever_is_wrong_with_a_reading_is_said_with_its_schema() {
    let gateway = start(small());
    let ada = session(Principal::local());
    let long = call(&gateway, &ada, "data.rows", json!({"count": 500})).await;
    // What fits no parameter is said as it is of any tool.
    for (wrong, says) in [
        (json!({}), "/result: is required and missing"),
        (json!({"result": link(&long), "where": 1}), "\"where\" is not a parameter"),
        (json!({"result": link(&long), "offset": "x"}), "/offset"),
        (json!({"result": link(&long), "offset": -1}), "/offset"),
    ] {
        let answer = call(&gateway, &ada, "results.read", wrong).await;
        let error = &answer["structuredContent"]["error"];
        let message = "The arguments do not fit results.read. Correct what the hints say and call again.";
        assert_eq!((error["code"].as_str(), error["message"].as_str()), (Some("INVALID_ARGUMENTS"), Some(message)));
        assert!(error["hints"].to_string().replace("\\\"", "\"").contains(says), "{answer}");
        assert_eq!(error["details"]["schema"]["required"], json!(["result"]), "{answer}");
    }
    let spelled =
        call(&gateway, &ada, "results.read", json!({"result": link(&long), "offset": "3", "limit": null})).await;
    assert!(spelled["content"][0]["text"].as_str().unwrap().contains("items 3 to"), "{spelled}");
    let doubling = format!("{}@", "[@,@][]|".repeat(120));
    for (wrong, says) in [
        (
            json!({"result": link(&long), "grep": "("}),
            "`grep` is no regular expression that can be used: unclosed group",
        ),
        (
            json!({"result": link(&long), "query": doubling}),
            "That takes more work than is allowed: ask for a smaller part.",
        ),
    ] {
        let answer = call(&gateway, &ada, "results.read", wrong).await;
        let error = &answer["structuredContent"]["error"];
        assert_eq!((error["code"].as_str(), error["message"].as_str()), (Some("INVALID_ARGUMENTS"), Some(says)));
        assert_eq!(error["details"]["schema"]["required"], json!(["result"]), "{answer}");
    }
}
