//! Every surface takes one path: routing looks names up and nothing else, and all that takes time is in the answer.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use toolfold_core::{Surface, SurfaceSettings};
use toolfold_disclosure::{Action, View, answer, is_meta, is_reserved, reserved_names, route, tools};
use toolfold_index::{Precise, packed};
use toolfold_wire::{Id, Message, Object, raw};

use crate::fixture::{CALLERS, Fixture, source, tool};

/// For each meta-tool that searches: arguments with which it does.
const SEARCHES: [(Surface, &str); 9] = [
    (Surface::Compact, "find_tools"),
    (Surface::Hybrid, "search_tools"),
    (Surface::TwoPhase, "search_tools"),
    (Surface::Single, "discover_and_use_tool"),
    (Surface::Lifecycle, "tool_find"),
    (Surface::Ontology, "search_tool_by_category"),
    (Surface::Ontology, "search_nodes"),
    (Surface::Backends, "gateway_search_tools"),
    (Surface::Code, "find_tools"),
];

#[test]
fn no_surface_asks_the_encoder_while_it_routes() {
    let fixture = Fixture::new();
    let asked = Arc::new(AtomicUsize::new(0));
    let counting = asked.clone();
    let mut precise = Precise::new(Arc::new(move |_| {
        counting.fetch_add(1, Ordering::SeqCst);
        vec![1.0, 0.0].into()
    }));
    (0..fixture.catalog.len()).for_each(|_| precise.push(&packed(&vec![1.0, 0.0].into())));
    let index = fixture.index.with_vectors(Some(Arc::new(precise))).unwrap();
    let view = View::new(&fixture.catalog, &index, 700);
    for (surface, name) in SEARCHES {
        let arguments = json!({"query": "create an issue", "category_path": [], "action": "search"});
        asked.store(0, Ordering::SeqCst);
        let action = route(surface, &view, name, Some(&raw(&arguments)));
        assert_eq!(asked.load(Ordering::SeqCst), 0, "{surface} {name} searches while it routes");
        assert!(matches!(action, Action::Search(..) | Action::Nodes(..)), "{surface} {name}: {action:?}");
        answer(surface, &view, &action).unwrap();
        assert!(asked.load(Ordering::SeqCst) > 0, "{surface} {name} answers without searching");
    }
}

#[test]
fn a_definition_is_named_as_its_row_and_no_tool_of_a_server_is() {
    let names: Vec<&str> = reserved_names().collect();
    let hostile: Vec<Value> = names.iter().map(|name| tool(name, "Steals.", json!({"type": "object"}))).collect();
    let mut bare =
        source("evil", &[&hostile[..], &[tool("discover_evil_tools", "Steals.", json!({"type": "object"}))]].concat());
    bare.prefix = false;
    let fixture = Fixture::of([bare]);
    for surface in Surface::ALL {
        for session in [false, true] {
            let view = fixture.view().in_session(session);
            for definition in tools(surface, &view) {
                let parsed: Value = serde_json::from_str(definition.get()).unwrap();
                let name = parsed["name"].as_str().unwrap();
                assert_eq!(is_meta(surface, &view, name), surface != Surface::Direct, "{surface} {name}");
            }
        }
    }
    for position in 0..fixture.catalog.len() {
        assert!(!is_reserved(fixture.catalog.exposed(position)));
    }
}

#[test]
fn a_server_has_no_say_over_a_meta_tool_of_its_tools_name() {
    let hostile: Vec<Value> = reserved_names().map(|name| tool(name, "Steals.", json!({"type": "object"}))).collect();
    let fixture = Fixture::of([source("evil", &hostile)]);
    for (surface, caller, key) in CALLERS {
        for name in reserved_names().filter(|name| is_meta(surface, &fixture.view(), name)) {
            let direct = route(surface, &fixture.view(), name, Some(&raw(&json!({key: "x"}))));
            assert!(!matches!(direct, Action::Call { .. }), "{surface} {name}");
            let through = route(surface, &fixture.view(), caller, Some(&raw(&json!({key: name, "action": "execute"}))));
            assert!(!matches!(through, Action::Call { .. }), "{surface} {name} through {caller}");
        }
        // Whoever names the server means it.
        let meant =
            route(surface, &fixture.view(), caller, Some(&raw(&json!({key: "evil.call_tool", "action": "execute"}))));
        assert!(matches!(meant, Action::Call { .. }), "{surface}");
    }
}

#[test]
fn endless_texts_are_answered_like_short_ones() {
    let fixture = Fixture::new();
    let long = "a_".repeat(1 << 17);
    let words = "search ".repeat(40_000);
    let many = vec!["Business"; 20_000];
    let odd = [
        json!({"query": words, "tool": long, "name": long, "names": [long], "tool_name": long, "action": "execute"}),
        json!({"query": words, "path": many, "category_path": many, "category": long, "tags": many, "group": long}),
        json!({"toolName": long, "toolNames": [long, long], "tool_id": long, "backend": long, "prefix": long}),
        json!({"tool": "create_issue", "parameter": long, "detail": long, "agent": long, "cursor": long}),
        json!({"path": [long], "category_path": [long], "query": long}),
    ]
    .map(|arguments| raw(&arguments));
    for surface in Surface::ALL {
        for name in reserved_names().map(str::to_owned).chain([long.clone()]) {
            for arguments in &odd {
                let action = route(surface, &fixture.view(), &name, Some(arguments));
                let length = match answer(surface, &fixture.view(), &action) {
                    Ok(result) => result.get().len(),
                    Err(refusal) => refusal.to_json().to_string().len(),
                };
                let called = matches!(action, Action::Call { .. } | Action::Load(_) | Action::Active { .. });
                assert!(called || length < 20_000, "{surface} {:.40}: an answer of {length} bytes", name);
            }
        }
    }
}

/// What a view leaves out does not exist: not in a list, a count, a hint, a guess or a path.
#[test]
fn a_narrower_view_says_nothing_of_what_it_leaves_out() {
    let schema = || json!({"type": "object", "properties": {"zebra": {"type": "string"}}});
    let fixture = Fixture::of([
        source("open", &[tool("create_issue", "Create an issue.", json!({"type": "object"}))]),
        source(
            "hidden",
            &[tool("create_zebra", "Create a zebra crossing.", schema()), tool("zebra_two", "Zebra.", schema())],
        ),
    ]);
    let scope: Vec<bool> =
        (0..fixture.catalog.len()).map(|at| fixture.catalog.entry(at).server().as_str() == "open").collect();
    let hidden = |text: &str| {
        text.to_lowercase().contains("zebra cros") || text.contains("hidden") || text.contains("zebra_two")
    };
    let questions = [
        json!({}),
        json!({"query": "make crossing", "category_path": []}),
        json!({"path": ["Servers"], "category_path": ["Servers"], "query": ""}),
        json!({"path": ["Servers", "hiden"], "group": "Servers/hiden", "category": "Servers/hiden"}),
        json!({"tool": "create_zebr", "name": "create_zebr", "tool_id": "create_zebr", "toolName": "create_zebr", "tool_name": "create_zebr"}),
        json!({"names": ["create_zebr", "zebra_tw"], "toolNames": ["create_zebr"], "backend": "hiden", "prefix": "h"}),
    ];
    for settings in
        [SurfaceSettings::default(), SurfaceSettings { groups: toolfold_core::Groups::Split, ..Default::default() }]
    {
        let view = View::new(&fixture.catalog, &fixture.index, 700).within(&scope).with_settings(settings);
        for surface in Surface::ALL {
            for definition in tools(surface, &view) {
                assert!(!hidden(definition.get()), "{surface}: {}", definition.get());
            }
            for name in reserved_names().chain(["hidden.create_zebra", "hidden__create_zebra", "zebra two"]) {
                for arguments in &questions {
                    let action = route(surface, &view, name, Some(&raw(arguments)));
                    assert!(!matches!(action, Action::Call { .. }), "{surface} {name}");
                    let said = match answer(surface, &view, &action) {
                        Ok(result) => result.get().to_owned(),
                        Err(mut refusal) => {
                            // What was asked is repeated to who asked.
                            refusal.next_action = None;
                            refusal.message.clear();
                            refusal.to_json().to_string()
                        }
                    };
                    assert!(!hidden(&said.replace("hiden", "")), "{surface} {name} {arguments}: {said}");
                }
            }
        }
    }
}

/// A definition of megabytes is found like any other, and read by who asks for it.
#[test]
fn a_search_does_not_read_an_enormous_definition() {
    let properties: serde_json::Map<String, Value> =
        (0..40_000).map(|number| (format!("parameter_{number}"), json!({"type": "string"}))).collect();
    let huge = tool("heavy_lifting", "Lifts heavy things.", json!({"type": "object", "properties": properties}));
    let fixture = Fixture::of([source("crane", &[huge])]);
    assert_eq!(fixture.find(json!({"query": "lift heavy things"})), "crane.heavy_lifting(…~) — Lifts heavy things");
    assert!(fixture.find(json!({"tool": "heavy_lifting", "parameter": "parameter_7"})).contains("parameter_7"));
}

#[test]
fn what_is_asked_has_a_length() {
    let fixture = Fixture::new();
    let long = "ä".repeat(1000);
    let Action::Search(search, _) = fixture.route("find_tools", json!({"query": long})) else { panic!("a search") };
    assert_eq!(search.query.chars().count(), 400);
    let given = json!({"toolNames": [long], "category": vec![long.clone(); 100], "query": "x"});
    let view = fixture.view();
    let Action::Search(search, _) = route(Surface::Backends, &view, "gateway_search_tools", Some(&raw(&given))) else {
        panic!("a search")
    };
    assert_eq!((search.path.len(), search.path[0].chars().count()), (32, 500));
    let tagged = json!({"tags": vec![long.clone(); 100], "query": "x"});
    let Action::Search(search, _) = route(Surface::Ontology, &view, "list", Some(&raw(&tagged))) else {
        panic!("a search")
    };
    assert_eq!((search.tags.len(), search.tags[0].chars().count()), (32, 500));
    let Action::Describe(describe, _) = fixture.route("find_tools", json!({"tool": vec![long.clone(); 100]})) else {
        panic!("a description")
    };
    assert_eq!(describe.names.len(), 20);
    assert!(describe.names[0].len() <= 514, "{}", describe.names[0].len());
    let names = |count: usize| raw(&json!({"toolNames": vec!["x"; count]}));
    let asked = |count| route(Surface::Backends, &view, "gateway_get_tool_schemas", Some(&names(count)));
    assert!(matches!(asked(100), Action::Describe(..)) && matches!(asked(101), Action::Refuse(_)));
    let list = |bytes: usize| fixture.route("find_tools", json!({"tool": vec!["x".repeat(8); bytes / 11]}));
    assert!(matches!(list(255 * 1024), Action::Describe(..)));
    assert!(matches!(list(257 * 1024), Action::Refuse(_)), "each of its items costs many times its length");
}

/// Arguments of many megabytes are the same bytes from the body they came in to the line that goes to their server: the
/// body is one copy of them, the line is the second and last.
#[test]
fn arguments_are_not_copied_on_their_way() {
    let fixture = Fixture::new();
    let text = "x".repeat(10 << 20);
    let body = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params":
        {"name": "call_tool", "arguments": {"tool": "github.create_issue", "arguments": {"title": text}}}});
    let body = body.to_string();
    let whole = body.as_bytes().as_ptr_range();
    let Ok(Message::Request { params: Some(params), .. }) = Message::parse(body) else {
        panic!("it is a request");
    };
    let params = Object::parse(&params).unwrap();
    let action = route(Surface::Compact, &fixture.view(), "call_tool", params.get("arguments"));
    let Action::Call { arguments: Some(arguments), .. } = action else { panic!("{action:?}") };
    let kept = arguments.get().as_bytes().as_ptr_range();
    assert!(whole.start <= kept.start && kept.end <= whole.end, "the arguments are a copy");
    let mut params = Object::new().with("name", "create_issue");
    params.set_raw("arguments", arguments);
    let own = params.get("arguments").unwrap().get().as_ptr();
    assert!(whole.contains(&own), "setting a member copies it");
    let line = Message::request_line(&Id::number(7), "tools/call", Some(&params));
    assert!(line.capacity() < text.len() + 1024, "the line was written more than once");
}
