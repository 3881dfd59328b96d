//! Servers and login servers that are not what they say, or say what nobody should do.

use serde_json::{Value, json};
use toolfold_oauth::{Answer, Demand, Flow, Given, Plan, Problem};

use crate::world::{ISSUER, NOW, SERVER, Stop, World, answer, demand, metadata, plan, query, secret};

fn outcome(world: &mut World, plan: Plan) -> Result<(), Problem> {
    world.log_in(plan, Demand::default(), None).map(drop)
}

#[test]
fn a_server_that_says_it_is_another_is_not_believed() {
    for resource in [json!("https://evil.example/mcp"), json!("https://mcp.example/other"), json!(7), Value::Null] {
        let mut world = World::new().resource("resource", resource.clone());
        assert!(matches!(outcome(&mut world, plan()), Err(Problem::OtherResource { .. })), "{resource}");
        assert_eq!(world.asked.len(), 1, "nobody else is asked");
    }
}

#[test]
fn a_login_server_that_says_it_is_another_is_not_believed() {
    for issuer in [json!("https://evil.example"), json!("https://login.example/"), Value::Null] {
        let mut world = World::new().issuer("issuer", issuer.clone());
        assert!(matches!(outcome(&mut world, plan()), Err(Problem::OtherIssuer { .. })), "{issuer}");
        assert!(world.urls().iter().all(|url| !url.ends_with("/register")));
    }
}

#[test]
fn addresses_that_are_none_are_not_visited() {
    for endpoint in ["authorization_endpoint", "token_endpoint", "registration_endpoint"] {
        for url in [
            "javascript:alert(1)",
            "http://login.example/x",
            "file:///etc/passwd",
            "https://me:pw@login.example/x",
            "http://127.0.0.1:80/x",
            "data:text/html,x",
            "",
        ] {
            let mut world = World::new().issuer(endpoint, json!(url));
            assert!(matches!(outcome(&mut world, plan()), Err(Problem::Address { .. })), "{endpoint} {url}");
        }
    }
    for told in ["http://169.254.169.254/latest", "file:///etc/passwd", "gopher://x"] {
        let header = format!("Bearer resource_metadata=\"{told}\"");
        assert!(matches!(Flow::new(plan(), demand(&header), None).map(drop), Err(Problem::Address { .. })), "{told}");
    }
    let mut world = World::new().resource("authorization_servers", json!(["http://login.example"]));
    assert!(matches!(outcome(&mut world, plan()), Err(Problem::Address { .. })));
}

#[test]
fn a_login_without_protection_is_not_begun() {
    for methods in [Value::Null, json!([]), json!(["plain"])] {
        let mut world = World::new().issuer("code_challenge_methods_supported", methods);
        assert!(matches!(outcome(&mut world, plan()), Err(Problem::NoPkce { .. })));
    }
}

#[test]
fn whoever_cannot_register_is_told_what_to_do() {
    let mut world = World::new().issuer("registration_endpoint", Value::Null);
    let problem = outcome(&mut world, plan()).unwrap_err();
    assert!(problem.to_string().contains("`client_id`"), "{problem}");
    let mut world = World::new();
    world.registration = answer(400, &json!({"error": "invalid_redirect_uri"}));
    let problem = outcome(&mut world, plan()).unwrap_err();
    assert_eq!(problem.to_string(), "the login server did not register Toolfold: invalid_redirect_uri");
}

#[test]
fn the_way_back_is_believed_only_from_where_it_should_come() {
    let way_back = |supported: Value, make: &dyn Fn(&str) -> String| {
        let mut world = World::new().issuer("authorization_response_iss_parameter_supported", supported);
        let mut flow = Flow::new(plan(), Demand::default(), None).unwrap();
        let Stop::Visit(url) = world.drive(&mut flow).unwrap() else { panic!() };
        let outcome = flow.returned(&make(&query(&url, "state").unwrap()));
        assert!(world.urls().iter().all(|url| !url.ends_with("/token")), "nothing is redeemed yet");
        outcome
    };
    let good = |state: &str| format!("code=c&state={state}&iss={ISSUER}");
    let without = |state: &str| format!("code=c&state={state}");
    let wrong = |state: &str| format!("code=c&state={state}&iss=https://evil.example");
    let slash = |state: &str| format!("code=c&state={state}&iss={ISSUER}/");
    let twice = |state: &str| format!("code=c&state={state}&iss={ISSUER}&iss={ISSUER}");
    let error = |state: &str| format!("error=<b>&state={state}&iss=https://evil.example");
    assert_eq!(way_back(json!(true), &good), Ok(()));
    assert_eq!(way_back(json!(false), &good), Ok(()));
    assert_eq!(way_back(Value::Null, &without), Ok(()));
    for (supported, make) in [
        (json!(true), &without as &dyn Fn(&str) -> String),
        (json!(true), &wrong),
        (json!(false), &wrong),
        (json!(true), &slash),
        (json!(false), &slash),
        (Value::Null, &twice),
        (json!(true), &error),
    ] {
        assert_eq!(way_back(supported, make), Err(Problem::WrongIssuer));
    }
    assert_eq!(way_back(json!(true), &|_| format!("code=c&state=guess&iss={ISSUER}")), Err(Problem::WrongState));
    assert_eq!(way_back(json!(true), &|_| "code=c".to_owned()), Err(Problem::WrongState));
    let state_twice = |state: &str| format!("code=c&state={state}&state={state}&iss={ISSUER}");
    assert_eq!(way_back(json!(true), &state_twice), Err(Problem::WrongState));
    let denied = |state: &str| format!("error=access_denied&error_description=no%0Athanks&state={state}&iss={ISSUER}");
    assert_eq!(way_back(json!(true), &denied), Err(Problem::Denied("access_denied (no thanks)".into())));
}

#[test]
fn a_way_back_is_good_once() {
    let mut world = World::new();
    let mut flow = Flow::new(plan(), Demand::default(), None).unwrap();
    let Stop::Visit(url) = world.drive(&mut flow).unwrap() else { panic!() };
    let back = format!("code=c&state={}&iss={ISSUER}", query(&url, "state").unwrap());
    assert!(flow.is_ours(&back));
    flow.returned(&back).unwrap();
    assert!(!flow.is_ours(&back));
    assert_eq!(flow.returned(&back), Err(Problem::WrongState));
}

#[test]
fn nothing_of_one_login_server_is_used_at_another() {
    let mut world = World::new();
    let (_, first) = world.log_in(plan(), demand(r#"Bearer scope="read""#), None).unwrap();
    let moved = "https://other.example";
    let mut world = World::new().resource("authorization_servers", json!([moved]));
    world.documents.insert(format!("{moved}/.well-known/oauth-authorization-server"), metadata(moved));
    world.registration = answer(201, &json!({"client_id": "client-2"}));
    let (url, login) = world.log_in(plan(), Demand::default(), Some(first)).unwrap();
    assert_eq!(query(&url, "client_id").as_deref(), Some("client-2"));
    assert_eq!((login.issuer.as_str(), login.requested.len()), (moved, 0));
    assert!(world.asked.iter().all(|ask| ask.field("client_id") != Some("client-1")));
}

#[test]
fn a_client_that_somebody_registered_does_not_follow_a_server_elsewhere() {
    let given = || Plan { client: Some(Given { id: "mine".into(), secret: Some(secret("s")), key: None }), ..plan() };
    let mut world = World::new();
    let (_, first) = world.log_in(given(), Demand::default(), None).unwrap();
    let mut moved = World::new().resource("authorization_servers", json!(["https://other.example"]));
    let outcome = moved.log_in(given(), Demand::default(), Some(first.clone())).map(drop);
    assert!(matches!(outcome, Err(Problem::IssuerChanged { .. })), "{outcome:?}");
    assert_eq!(moved.asked.len(), 1);
    // Nor where nothing is left of the login but that it was there.
    let over = Plan { used: first.used(), ..given() };
    let mut moved = World::new().resource("authorization_servers", json!(["https://other.example"]));
    let outcome = moved.log_in(over, Demand::default(), None).map(drop);
    assert!(matches!(outcome, Err(Problem::IssuerChanged { .. })), "{outcome:?}");
    assert_eq!(moved.asked.len(), 1);
    // Another client may have been registered there since.
    let moved = "https://other.example";
    let mut world = World::new().resource("authorization_servers", json!([moved]));
    world.documents.insert(format!("{moved}/.well-known/oauth-authorization-server"), metadata(moved));
    let client = Some(Given { id: "another".into(), secret: Some(secret("t")), key: None });
    let (url, _) = world.log_in(Plan { client, used: first.used(), ..plan() }, Demand::default(), Some(first)).unwrap();
    assert_eq!(query(&url, "client_id").as_deref(), Some("another"));
    // Where somebody says which one it is for, only that one will do.
    let bound = Plan { issuer: Some("https://right.example".into()), ..given() };
    assert!(matches!(World::new().log_in(bound, Demand::default(), None), Err(Problem::OtherIssuer { .. })));
}

#[test]
fn of_several_login_servers_the_known_one_is_used() {
    let mut world = World::new();
    let (_, first) = world.log_in(plan(), Demand::default(), None).unwrap();
    let mut world = World::new().resource("authorization_servers", json!(["https://other.example", ISSUER]));
    let (_, second) = world.log_in(plan(), Demand::default(), Some(first)).unwrap();
    assert_eq!(second.issuer, ISSUER);
}

#[test]
fn pages_for_everything_and_failures_are_no_documents() {
    let mut flow = Flow::new(plan(), Demand::default(), None).unwrap();
    let page = Answer { status: 200, nonce: None, body: b"<html>".to_vec() };
    for _ in 0..2 {
        flow.step(NOW).unwrap();
        flow.heard(&page, NOW).unwrap();
    }
    let failing = Answer { status: 503, nonce: None, body: Vec::new() };
    flow.step(NOW).unwrap();
    let problem = flow.heard(&failing, NOW).unwrap_err();
    assert!(problem.may_pass(), "{problem}");
}

#[test]
fn a_server_elsewhere_does_not_lead_to_this_machine_and_one_here_may() {
    let local = |server: &str| Plan { server: url::Url::parse(server).unwrap(), ..plan() };
    assert!(Flow::new(local("http://mcp.example/mcp"), Demand::default(), None).is_err(), "not without TLS");
    assert!(Flow::new(local("http://127.0.0.1:9/mcp"), Demand::default(), None).is_ok());
    assert!(Flow::new(local(SERVER), demand("Bearer resource_metadata=\"http://127.0.0.1/x\""), None).is_err());
}
