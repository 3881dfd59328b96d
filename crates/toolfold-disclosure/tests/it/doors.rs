//! Doors: meta-tools that call only some tools.

use serde_json::{Value, json};
use toolfold_core::{Code, Doors, Groups, Refusal, ServerName, Surface, SurfaceSettings};
use toolfold_disclosure::{Action, View, is_meta, is_reserved, is_reserved_beside, route, shut, tokens, tools};
use toolfold_wire::raw;

use crate::fixture::{CALLERS, Fixture, source, tool};

fn doors(by_risk: bool, servers: &[&str]) -> Doors {
    Doors { by_risk, servers: servers.iter().map(|name| ServerName::new(*name).unwrap()).collect() }
}

fn hinted(name: &str, annotations: Value) -> Value {
    json!({"name": name, "description": "Does it.", "inputSchema": {"type": "object"}, "annotations": annotations})
}

/// Two servers, one of which is called like the tool that calls everything.
fn fixture() -> Fixture {
    Fixture::of([
        source(
            "github",
            &[
                hinted("look", json!({"readOnlyHint": true})),
                hinted("wipe", json!({"destructiveHint": true})),
                hinted("write", json!({"readOnlyHint": false, "destructiveHint": false})),
                hinted("torn", json!({"readOnlyHint": true, "destructiveHint": true})),
                tool("silent", "Says nothing.", json!({"type": "object"})),
            ],
        ),
        source("gitlab", &[hinted("look", json!({"readOnlyHint": true})), hinted("own", json!({}))]),
        source("tool", &[hinted("look", json!({"readOnlyHint": true}))]),
    ])
}

fn listed(surface: Surface, view: &View<'_>) -> Vec<Value> {
    tools(surface, view).iter().map(|raw| serde_json::from_str(raw.get()).unwrap()).collect()
}

fn names(list: &[Value]) -> Vec<&str> {
    list.iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

/// The id that is called, or why not.
fn called(view: &View<'_>, surface: Surface, door: &str, arguments: &Value) -> Result<String, Refusal> {
    match route(surface, view, door, Some(&raw(arguments))) {
        Action::Call { entry, .. } => Ok(view.entry(entry).id.to_string()),
        Action::Shut { refusal, .. } | Action::Refuse(refusal) => Err(refusal),
        Action::Unknown(unknown) => Err(Refusal::new(Code::ToolNotFound, unknown.names.join(" "))),
        other => panic!("{other:?}"),
    }
}

#[test]
fn doors_are_listed_beside_what_calls_everything_and_change_nothing_else() {
    let fixture = fixture();
    let (risk, servers) = (doors(true, &[]), doors(false, &["github", "gitlab"]));
    for session in [false, true] {
        for surface in Surface::ALL {
            for groups in [Groups::Joined, Groups::Split] {
                let settings = SurfaceSettings { groups, ..Default::default() };
                let view = fixture.view().in_session(session).with_settings(settings);
                let (with_risk, with_servers) = (view.with_doors(&risk), view.with_doors(&servers));
                let plain = listed(surface, &view);
                let caller = CALLERS.iter().find(|(of, ..)| *of == surface);
                let calls = caller.is_some_and(|(_, name, _)| names(&plain).contains(name));
                let mut expected = names(&plain);
                let all = listed(surface, &with_risk);
                expected.extend(calls.then_some("call_tool_readonly"));
                assert_eq!(names(&all), expected, "{surface} {session}");
                assert_eq!(all[..plain.len()], plain[..], "{surface}");
                let mut expected = names(&plain);
                expected.extend(["call_github", "call_gitlab"].iter().filter(|_| calls));
                assert_eq!(names(&listed(surface, &with_servers)), expected, "{surface} {session}");
            }
        }
    }
    let view = fixture.view();
    let compact = |view: &View<'_>| {
        let all: Vec<String> = tools(Surface::Compact, view).iter().map(|raw| raw.get().to_owned()).collect();
        tokens::count(&format!("[{}]", all.join(",")))
    };
    assert!(compact(&view) <= 200, "{}", compact(&view));
    assert!(compact(&view.with_doors(&risk)) <= compact(&view) + 75, "{}", compact(&view.with_doors(&risk)));
    let reading = listed(Surface::Compact, &view.with_doors(&risk)).pop().unwrap();
    assert_eq!(reading["annotations"], json!({"readOnlyHint": true}));
    assert_eq!(reading["inputSchema"]["required"], json!(["tool"]));
    let github = listed(Surface::Compact, &view.with_doors(&servers));
    assert!(github.iter().filter(|tool| tool["name"] != "find_tools").all(|tool| tool["annotations"].is_null()));
}

#[test]
fn the_reading_door_serves_what_is_known_to_read_and_fails_closed() {
    let fixture = fixture();
    let risk = doors(true, &[]);
    let view = fixture.view().with_doors(&risk);
    for (surface, caller, key) in CALLERS {
        let through =
            |tool: &str| called(&view, surface, "call_tool_readonly", &json!({key: tool, "arguments": {"a": 1}}));
        assert_eq!(through("github.look").unwrap(), "github.look", "{surface}");
        assert_eq!(through("github__look").unwrap(), "github.look", "{surface}");
        for (closed, why) in [
            ("github.silent", "does not say whether it only reads"),
            ("github.wipe", "may change something"),
            ("github.write", "may change something"),
            ("github.torn", "may change something"),
            ("silent", "does not say"),
            ("github__silent", "does not say"),
        ] {
            let refusal = through(closed).unwrap_err();
            assert_eq!(refusal.code, Code::NotAuthorized, "{surface} {closed}");
            assert!(refusal.message.contains(why) && refusal.message.contains(caller), "{}", refusal.message);
            let next = refusal.next_action.unwrap();
            assert_eq!(next.tool, caller);
            assert!(next.arguments[key].as_str().unwrap().starts_with("github."), "{}", next.arguments);
            // And what it says to do does it.
            assert!(called(&view, surface, caller, &next.arguments).is_ok(), "{surface} {}", next.arguments);
        }
        assert_eq!(through("github.nothing").unwrap_err().code, Code::ToolNotFound);
        // No other meta-tool is reached through it, above all none that calls.
        for inner in [caller, "call_tool_readonly"] {
            let nested = json!({key: inner, "arguments": {key: "github.wipe"}});
            let refusal = called(&view, surface, "call_tool_readonly", &nested).unwrap_err();
            assert_eq!(refusal.code, Code::InvalidRequest, "{surface} {inner}");
        }
        // But a door may be named to what calls everything, and stays what it is.
        let outer = |tool: &str| {
            let inner = json!({key: tool, "arguments": {}});
            json!({key: "call_tool_readonly", "arguments": inner, "tool_args": inner, "action": "execute"})
        };
        assert_eq!(called(&view, surface, caller, &outer("github.look")).unwrap(), "github.look", "{surface}");
        assert_eq!(called(&view, surface, caller, &outer("github.wipe")).unwrap_err().code, Code::NotAuthorized);
    }
    let missing = called(&view, Surface::Compact, "call_tool_readonly", &json!({})).unwrap_err();
    assert!(missing.message.starts_with("call_tool_readonly needs `tool`"), "{}", missing.message);
    let code = json!({"tool": "run_code", "arguments": {"code": "return 1"}});
    assert_eq!(called(&view, Surface::Code, "call_tool_readonly", &code).unwrap_err().code, Code::InvalidRequest);
}

#[test]
fn the_door_of_a_server_serves_its_tools_alone() {
    let fixture = fixture();
    let servers = doors(false, &["github", "tool"]);
    let view = fixture.view().with_doors(&servers);
    let through = |tool: &str| called(&view, Surface::Compact, "call_github", &json!({"tool": tool}));
    assert_eq!(through("github.wipe").unwrap(), "github.wipe");
    assert_eq!(through("look").unwrap(), "github.look", "a bare name is that server's, whoever else has one");
    assert_eq!(
        called(&view, Surface::Compact, "call_tool", &json!({"tool": "look"})).unwrap_err().code,
        Code::ToolNotFound
    );
    for other in ["gitlab.look", "gitlab__own", "own"] {
        let refusal = through(other).unwrap_err();
        assert_eq!(refusal.code, Code::NotAuthorized, "{other}");
        assert!(refusal.message.contains("not a tool of github") && refusal.message.contains("call_tool"));
        assert_eq!(refusal.next_action.unwrap().tool, "call_tool");
    }
    // Of a server that is called `tool` the door is not called `call_tool`.
    let list = listed(Surface::Compact, &view);
    assert_eq!(names(&list)[..3], ["find_tools", "call_tool", "call_github"]);
    let odd = names(&list)[3];
    assert!(odd.starts_with("call_tool_") && odd != "call_tool_readonly" && odd.len() <= 64, "{odd}");
    assert!(odd.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-'), "{odd}");
    assert_eq!(called(&view, Surface::Compact, odd, &json!({"tool": "look"})).unwrap(), "tool.look");
    assert_eq!(called(&view, Surface::Compact, "call_tool", &json!({"tool": "gitlab.own"})).unwrap(), "gitlab.own");
}

#[test]
fn what_is_no_door_is_none() {
    let fixture = fixture();
    let github = doors(false, &["github"]);
    for (view, name) in [
        (fixture.view(), "call_tool_readonly"),
        (fixture.view(), "call_github"),
        (fixture.view().with_doors(&github), "call_gitlab"),
        (fixture.view().with_doors(&github), "call_tool_readonly"),
    ] {
        for surface in Surface::ALL {
            assert!(!is_meta(surface, &view, name), "{surface} {name}");
            let refusal = called(&view, surface, name, &json!({"tool": "github.look"})).unwrap_err();
            assert_eq!(refusal.code, Code::ToolNotFound, "{surface} {name}");
        }
    }
    let view = fixture.view().with_doors(&github);
    assert!(!is_meta(Surface::Direct, &view, "call_github"), "every tool has a name of its own there");
}

#[test]
fn no_tool_of_a_server_is_shown_under_the_name_of_a_door() {
    let longest = "l".repeat(64);
    let all = doors(true, &["github", "tool", &longest]);
    let view_of = fixture();
    let view = view_of.view().with_doors(&all);
    let doors_there: Vec<String> =
        names(&listed(Surface::Compact, &view)).iter().skip(2).map(|n| (*n).to_owned()).collect();
    assert_eq!(doors_there.len(), 4);
    let mut distinct = doors_there.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), 4, "{doors_there:?}");
    for name in &doors_there {
        assert!(name.len() <= 64, "{name}");
        assert!(is_reserved_beside(&all, name), "{name}");
        assert!(is_meta(Surface::Compact, &view, name), "{name}");
    }
    assert!(
        is_reserved("call_tool_readonly") && !is_reserved("call_github"),
        "nobody is renamed for a door that is not there"
    );
}

#[test]
fn a_call_that_goes_on_is_held_to_the_door_it_goes_on_through() {
    let fixture = fixture();
    let risk = doors(true, &[]);
    let view = fixture.view().with_doors(&risk);
    let entry = |name: &str| fixture.catalog.entry(fixture.catalog.resolve(name).unwrap());
    assert!(shut(Surface::Compact, &view, "call_tool_readonly", entry("github.look")).is_none());
    assert!(shut(Surface::Compact, &view, "call_tool_readonly", entry("github.wipe")).is_some());
    assert!(shut(Surface::Compact, &view, "call_tool", entry("github.wipe")).is_none());
    assert!(shut(Surface::Compact, &fixture.view(), "call_tool_readonly", entry("github.wipe")).is_none());
}

/// What a model is told to do next has the arguments that it gave, unless they would come back as others.
#[test]
fn arguments_are_repeated_where_they_survive_it() {
    let fixture = fixture();
    let risk = doors(true, &[]);
    let view = fixture.view().with_doors(&risk);
    let next = |arguments: &str| {
        let given = format!(r#"{{"tool":"github.wipe","arguments":{arguments}}}"#);
        let given = toolfold_wire::raw_of(&given).unwrap();
        match route(Surface::Compact, &view, "call_tool_readonly", Some(&given)) {
            Action::Shut { refusal, .. } => refusal.next_action.unwrap().arguments,
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(next(r#"{"a":1}"#), json!({"tool": "github.wipe", "arguments": {"a": 1}}));
    assert_eq!(next(r#"{"a":12345678901234567890123}"#), json!({"tool": "github.wipe"}));
    assert_eq!(next(&format!(r#"{{"a":"{}"}}"#, "x".repeat(5000))), json!({"tool": "github.wipe"}));
}
