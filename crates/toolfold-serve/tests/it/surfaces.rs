//! Every surface from search to result, as a client meets it: on a pipe and over HTTP, in both eras. What the answers
//! look like in detail is tested where they are made.

use serde_json::{Value, json};
use toolfold_config::Config;
use toolfold_core::{Groups, ServerName, Surface};
use toolfold_gateway::{Gateway, LocalServer, LocalTool, Options, Output};
use toolfold_test::HttpClient;

use crate::support::{Pipe, modern_meta, names, over_http, text};

const CHANGED: &str = "notifications/tools/list_changed";

/// A home with lights, and a project with more tools than anybody may load.
fn gateway(config: Config) -> Gateway {
    let tool = |name: &str, description: &str, schema: Value| {
        let definition = json!({"name": name, "description": description, "inputSchema": schema});
        let said = name.to_owned();
        LocalTool::blocking(definition, move |arguments| Output::Text(format!("{said} {arguments}")))
    };
    let light = json!({"type": "object", "properties": {"device_id": {"type": "string"}, "brightness": {"type": "integer"}}, "required": ["device_id"]});
    let home = vec![
        tool("get_states", "Get the current state of devices.", json!({"type": "object"})),
        tool("set_light", "Control light brightness, color, and power state.", light),
        tool("control_zone_lights", "Control all lights in a zone simultaneously.", json!({"type": "object"})),
    ];
    let many = (0..130).map(|i| tool(&format!("step_{i}"), "Takes a step of the project.", json!({"type": "object"})));
    let server = |name: &str, tools| LocalServer { name: ServerName::new(name).unwrap(), title: None, tools };
    Gateway::start(Options { config, local: vec![server("home", home), server("project", many.collect())] })
}

/// A client that hides how it speaks.
enum Client {
    Pipe { pipe: Box<Pipe>, modern: bool, next: u64, told: Vec<String> },
    Http { client: Box<HttpClient>, modern: bool },
}

impl Client {
    async fn pipe(gateway: &Gateway, surface: Surface, modern: bool) -> Client {
        let mut pipe = Pipe::to(gateway.clone(), surface);
        if !modern {
            pipe.initialize("2025-11-25").await;
        }
        Client::Pipe { pipe: Box::new(pipe), modern, next: 1, told: Vec::new() }
    }

    async fn http(gateway: &Gateway, surface: Surface, modern: bool) -> Client {
        let address = over_http(gateway.clone(), Surface::Compact).await;
        let client = HttpClient::new(format!("http://{address}/mcp/{surface}"));
        if !modern {
            client.initialize("2025-11-25").await;
        }
        Client::Http { client: Box::new(client), modern }
    }

    /// One of each kind.
    async fn all(gateway: &Gateway, surface: Surface) -> Vec<Client> {
        vec![
            Client::pipe(gateway, surface, false).await,
            Client::pipe(gateway, surface, true).await,
            Client::http(gateway, surface, false).await,
            Client::http(gateway, surface, true).await,
        ]
    }

    fn is_modern(&self) -> bool {
        matches!(self, Client::Pipe { modern: true, .. } | Client::Http { modern: true, .. })
    }

    async fn request(&mut self, method: &str, mut params: Value) -> Value {
        match self {
            Client::Http { client, modern: true } => client.modern(method, params).await,
            Client::Http { client, modern: false } => client.request(method, params).await,
            Client::Pipe { pipe, modern, next, told } => {
                if *modern {
                    params["_meta"] = modern_meta();
                }
                *next += 1;
                let message = json!({"jsonrpc": "2.0", "id": *next, "method": method, "params": params});
                pipe.send(&message.to_string()).await;
                loop {
                    let answer = pipe.receive().await;
                    if answer["id"] == *next {
                        return answer["result"].clone();
                    }
                    told.push(answer["method"].as_str().unwrap().to_owned());
                }
            }
        }
    }

    async fn call(&mut self, name: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({"name": name, "arguments": arguments})).await
    }

    /// The JSON that a meta-tool answers with.
    async fn say(&mut self, name: &str, arguments: Value) -> Value {
        serde_json::from_str(text(&self.call(name, arguments).await)).unwrap()
    }

    async fn listed(&mut self) -> Vec<String> {
        names(&self.request("tools/list", json!({})).await)
    }

    /// What the client was told since it last asked.
    fn told(&mut self) -> Vec<String> {
        match self {
            Client::Pipe { told, .. } => std::mem::take(told),
            Client::Http { client, .. } => {
                client.notifications().iter().map(|told| told["method"].as_str().unwrap().to_owned()).collect()
            }
        }
    }
}

const LIGHT: &str = r#"set_light {"device_id":"abc","brightness":80}"#;

fn light() -> Value {
    json!({"device_id": "abc", "brightness": 80})
}

#[tokio::test]
async fn hybrid_searches_and_uses() {
    let config = Config { pin: vec!["home.get_states".into()], ..Config::default() };
    let gateway = gateway(config);
    for mut client in Client::all(&gateway, Surface::Hybrid).await {
        assert_eq!(client.listed().await, ["search_tools", "use_tool", "home__get_states"]);
        let found = client.say("search_tools", json!({"query": "light brightness"})).await;
        assert_eq!(found["tools"][0]["name"], "home__set_light");
        let used = client.call("use_tool", json!({"name": "home__set_light", "arguments": light()})).await;
        assert_eq!(text(&used), LIGHT);
        assert_eq!(text(&client.call("home__get_states", json!({})).await), "get_states {}");
        let wrong = client.say("use_tool", json!({"name": "set_light", "arguments": {}})).await;
        assert_eq!(wrong["error"]["code"], "INVALID_ARGUMENTS");
        assert_eq!(wrong["error"]["next_action"]["tool"], "search_tools");
    }
}

#[tokio::test]
async fn two_phases_list_what_was_read_where_there_is_a_session() {
    let gateway = gateway(Config::default());
    for mut client in Client::all(&gateway, Surface::TwoPhase).await {
        let before = client.listed().await;
        assert_eq!(before[..2], ["search_tools", "get_tool_definition"]);
        client.say("search_tools", json!({"query": "lights"})).await;
        let read = client.say("get_tool_definition", json!({"name": "home__set_light"})).await;
        assert_eq!(read["inputSchema"]["required"], json!(["device_id"]));
        let after = client.listed().await;
        if client.is_modern() {
            assert_eq!((before.last().unwrap().as_str(), &after), ("call_tool", &before));
            assert_eq!(
                text(&client.call("call_tool", json!({"tool": "home__set_light", "arguments": light()})).await),
                LIGHT
            );
        } else {
            assert_eq!(after, ["search_tools", "get_tool_definition", "home__set_light"]);
            assert_eq!(client.told(), [CHANGED]);
        }
        assert_eq!(text(&client.call("home__set_light", light()).await), LIGHT);
    }
}

#[tokio::test]
async fn a_single_tool_does_it_all() {
    let gateway = gateway(Config::default());
    for mut client in Client::all(&gateway, Surface::Single).await {
        assert_eq!(client.listed().await, ["discover_and_use_tool"]);
        let found = client.say("discover_and_use_tool", json!({"action": "search", "query": "light color"})).await;
        let arguments = json!({"action": "execute", "tool_name": found["tools"][0]["name"], "tool_args": light()});
        assert_eq!(text(&client.call("discover_and_use_tool", arguments).await), LIGHT);
    }
}

#[tokio::test]
async fn a_session_loads_tools_into_its_own_list() {
    let gateway = gateway(Config::default());
    for mut client in [
        Client::pipe(&gateway, Surface::Lifecycle, false).await,
        Client::http(&gateway, Surface::Lifecycle, false).await,
    ] {
        let mut other = Client::http(&gateway, Surface::Lifecycle, false).await;
        let found = client.say("tool_find", json!({"query": "light brightness", "limit": 3})).await;
        assert_eq!((&found[0]["name"], &found[0]["active"]), (&json!("home__set_light"), &json!(false)));
        assert_eq!(client.say("tool_describe", json!({"name": "home__set_light"})).await["active"], false);
        let loaded = client.say("tool_load", json!({"names": ["set_light", "step_7"]})).await;
        assert_eq!(loaded["active"], json!(["home__set_light", "project__step_7"]));
        assert_eq!(client.told(), [CHANGED]);
        let list = client.listed().await;
        assert_eq!(list[4..], ["home__set_light", "project__step_7"]);
        // Again, and in part: nothing changes.
        client.say("tool_load", json!({"names": ["project.step_7"]})).await;
        assert!(client.told().is_empty());
        let refused = client.say("tool_load", json!({"names": ["get_states", "no_such_tool"]})).await;
        assert_eq!(refused["error"]["code"], "TOOL_NOT_FOUND");
        assert_eq!(client.listed().await, list);
        assert_eq!(client.say("tool_describe", json!({"name": "home__set_light"})).await["active"], true);
        assert_eq!(text(&client.call("home__set_light", light()).await), LIGHT);
        assert_eq!(client.say("tool_active", json!({})).await[4]["name"], "home__set_light");
        let all: Vec<String> = (0..128).map(|i| format!("step_{i}")).collect();
        assert_eq!(client.say("tool_load", json!({"names": all})).await["error"]["code"], "TOO_LARGE");
        assert_eq!(client.listed().await, list, "all or nothing");
        assert_eq!(other.listed().await.len(), 4, "nobody else's list");
        assert!(other.told().is_empty());
    }
}

#[tokio::test]
async fn without_a_session_a_handle_stands_for_what_was_loaded_and_survives_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let config = || Config { store: Some(folder.path().join("toolfold.db").into()), ..Config::default() };
    let first = gateway(config());
    let mut handles = Vec::new();
    for mut client in
        [Client::pipe(&first, Surface::Lifecycle, true).await, Client::http(&first, Surface::Lifecycle, true).await]
    {
        let before = client.listed().await;
        assert_eq!(before, ["tool_find", "tool_describe", "tool_load", "tool_active", "call_tool"]);
        let loaded = client.say("tool_load", json!({"names": ["set_light"]})).await;
        assert_eq!(loaded["tools"][0]["inputSchema"]["required"], json!(["device_id"]));
        let handle = loaded["toolset"].as_str().unwrap().to_owned();
        assert_eq!(handle.len(), 32);
        let same = client.say("tool_load", json!({"names": ["set_light"], "toolset": handle})).await;
        assert_eq!(same["toolset"], handle, "nothing new, so the same set");
        let more = client.say("tool_load", json!({"names": ["step_1"], "toolset": handle})).await;
        assert_ne!(more["toolset"], handle);
        assert_eq!(client.say("tool_active", json!({"toolset": more["toolset"]})).await.as_array().unwrap().len(), 7);
        assert_eq!(client.say("tool_active", json!({"toolset": handle})).await.as_array().unwrap().len(), 6);
        assert_eq!(client.say("tool_active", json!({})).await.as_array().unwrap().len(), 5);
        assert_eq!(client.listed().await, before);
        assert!(client.told().is_empty());
        let called = client.call("call_tool", json!({"tool": "home__set_light", "arguments": light()})).await;
        assert_eq!(text(&called), LIGHT);
        let unknown = client.say("tool_active", json!({"toolset": "0".repeat(32)})).await;
        assert_eq!(unknown["error"]["next_action"]["tool"], "tool_find");
        handles.push(handle);
    }
    first.stop().await;
    let second = gateway(config());
    let mut client = Client::http(&second, Surface::Lifecycle, true).await;
    for handle in handles {
        let active = client.say("tool_active", json!({"toolset": handle})).await;
        assert_eq!(active[5]["name"], "home__set_light");
    }
}

#[tokio::test]
async fn levels_are_asked_for_one_after_the_other() {
    let mut config = Config::default();
    config.settings.groups = Groups::Split;
    let (joined, split) = (gateway(Config::default()), gateway(config));
    for mut client in Client::all(&joined, Surface::Levels).await {
        assert_eq!(client.listed().await, ["discover_tools", "discover_agents", "call_tool"]);
        let all = client.say("discover_tools", json!({})).await;
        let listed = all["tools"].as_array().unwrap().len() as u64;
        assert!(listed > 0 && all["more"].as_u64() == Some(133 - listed) && all["cursor"].is_string(), "{all}");
        let browsed = client.say("discover_tools", json!({"group": "home"})).await;
        assert_eq!(browsed["tools"][2]["name"], "home__set_light");
        let details = client.say("discover_tools", json!({"tool": "home__set_light"})).await;
        assert_eq!(details["parameters"], json!(["device_id", "brightness"]));
        let full = client.say("discover_tools", json!({"tool": "home__set_light", "detail": "full"})).await;
        assert_eq!(full["parameters"]["device_id"]["required"], true);
        assert_eq!(client.say("discover_agents", json!({})).await, json!([]));
        assert_eq!(
            text(&client.call("call_tool", json!({"tool": "home__set_light", "arguments": light()})).await),
            LIGHT
        );
    }
    for mut client in Client::all(&split, Surface::Levels).await {
        assert_eq!(client.listed().await[..2], ["discover_home_tools", "discover_project_tools"]);
        assert_eq!(client.say("discover_home_tools", json!({})).await["tools"].as_array().unwrap().len(), 3);
    }
}

#[tokio::test]
async fn the_ontology_is_walked_searched_expanded_and_called() {
    let gateway = gateway(Config::default());
    for mut client in Client::all(&gateway, Surface::Ontology).await {
        assert_eq!(
            client.listed().await,
            ["list", "search_tool_by_category", "search_nodes", "expand_tool", "call_tool"]
        );
        assert!(!client.say("list", json!({})).await["nodes"].as_array().unwrap().is_empty());
        let nodes = client.say("search_nodes", json!({"query": "lights in a zone"})).await;
        assert!(!nodes["results"].as_array().unwrap().is_empty());
        let found = json!({"query": "light brightness", "category_path": ["Servers", "home"]});
        let found = client.say("search_tool_by_category", found).await;
        assert_eq!(found["results"][0]["tool_id"], "home.set_light");
        let expanded = client.say("expand_tool", json!({"tool_id": "home.set_light"})).await;
        assert_eq!(expanded["args_schema"]["required"], json!(["device_id"]));
        let called = client.call("call_tool", json!({"tool_id": "home.set_light", "arguments": light()})).await;
        assert_eq!(text(&called), LIGHT);
        let wrong = client.say("call_tool", json!({"tool_id": "home.set_light", "arguments": {}})).await;
        assert_eq!(
            wrong["error"]["next_action"],
            json!({"tool": "expand_tool", "arguments": {"tool_id": "home.set_light"}})
        );
        let call = client.call("list", json!({"path": ["nowhere"]})).await;
        assert_eq!(
            (&call["isError"], &call["structuredContent"]["error"]["code"]),
            (&json!(true), &json!("UNKNOWN_PATH"))
        );
    }
}

#[tokio::test]
async fn the_gateway_surface_filters_and_calls() {
    let gateway = gateway(Config::default());
    for mut client in Client::all(&gateway, Surface::Backends).await {
        assert_eq!(client.listed().await.len(), 9);
        let found = client
            .say("gateway_search_tools", json!({"query": "lights", "backend": "home", "detailLevel": "micro_schema"}))
            .await;
        assert!(found["tools"][0]["estimatedTokens"].is_u64());
        let schema =
            client.say("gateway_get_tool_schema", json!({"toolName": "home__set_light", "mode": "micro"})).await;
        assert_eq!(schema["inputSchema"]["p"]["device_id"], json!({"t": "s", "r": 1}));
        assert_eq!(client.say("gateway_get_tool_stats", json!({})).await["project"]["toolCount"], 130);
        let called =
            client.call("gateway_call_tool", json!({"toolName": "home__set_light", "arguments": light()})).await;
        assert_eq!(text(&called), LIGHT);
    }
}

#[tokio::test]
async fn several_surfaces_are_served_at_once_and_their_rules_differ() {
    let gateway = gateway(Config::default());
    let address = over_http(gateway, Surface::Compact).await;
    for surface in Surface::ALL {
        let client = HttpClient::new(format!("http://{address}/mcp/{surface}"));
        let hello = client.initialize("2025-06-18").await;
        let rules = hello["instructions"].as_str().unwrap().to_owned();
        let own = names(&client.request("tools/list", json!({})).await).first().unwrap().clone();
        assert!(
            surface == Surface::Direct || rules.contains(&own) || rules.contains("discover tools"),
            "{surface}: {rules}"
        );
    }
}

#[tokio::test]
async fn what_is_called_most_is_pinned_from_the_next_start_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toolfold.db");
    let config = || Config { pin_used: true, store: Some(path.clone().into()), ..Config::default() };
    let first = gateway(config());
    let mut client = Client::http(&first, Surface::Compact, false).await;
    for _ in 0..4 {
        client.call("home__get_states", json!({})).await;
    }
    client.call("home__set_light", light()).await;
    assert_eq!(client.listed().await, ["find_tools", "call_tool"], "a list stays as it is while it is used");
    // Counted beside the calls: what has not arrived yet is waited for, where it arrives.
    let store = toolfold_store::Store::open(Some(&path)).await.unwrap().store;
    while store.most_used(4, 1).await.unwrap().is_empty() {
        tokio::task::yield_now().await;
    }
    first.stop().await;
    let second = gateway(config());
    let mut client = Client::http(&second, Surface::Compact, false).await;
    assert_eq!(client.listed().await, ["find_tools", "call_tool", "home__get_states"]);
}
