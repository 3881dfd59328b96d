//! A person logs in: documents found, a client chosen, scopes asked for, tokens got and renewed.

use serde_json::json;
use toolfold_oauth::{Answer, Demand, Given, Refreshed, Way};

use crate::world::{ISSUER, NOW, SERVER, World, answer, demand, metadata, plan, query, secret};

#[test]
fn the_whole_way() {
    let mut world = World::new();
    let (url, login) = world.log_in(plan(), Demand::default(), None).unwrap();
    assert_eq!(
        world.urls(),
        [
            "https://mcp.example/.well-known/oauth-protected-resource/mcp",
            "https://login.example/.well-known/oauth-authorization-server",
            "https://login.example/register",
            "https://login.example/token",
        ]
    );
    assert_eq!(query(&url, "resource").as_deref(), Some(SERVER));
    assert_eq!(query(&url, "code_challenge_method").as_deref(), Some("S256"));
    assert_eq!(query(&url, "client_id").as_deref(), Some("client-1"));
    assert_eq!(query(&url, "scope"), None, "nobody has named any");
    let token = world.asked.last().unwrap();
    assert_eq!(token.field("resource"), Some(SERVER));
    assert_eq!(token.field("redirect_uri"), Some("http://127.0.0.1:4000/callback"));
    assert_eq!(token.field("client_id"), Some("client-1"));
    assert!(token.field("code_verifier").unwrap().len() >= 43);
    assert_eq!(login.issuer, ISSUER);
    assert!(login.can_refresh() && !login.is_stale(NOW) && login.is_stale(NOW + 3590) && login.is_dead(NOW + 3600));
    assert!(!format!("{login:?} {:?} {token:?}", login.tokens).contains("at-1"));
}

#[test]
fn documents_are_found_wherever_they_may_be() {
    // Where the server says, and a login server with a path that only speaks OpenID.
    let mut world = World::new();
    world.documents.clear();
    let tenant = "https://login.example/tenant1";
    let resource = json!({"resource": SERVER, "authorization_servers": [tenant]});
    world.documents.insert("https://mcp.example/custom/here.json".to_owned(), resource);
    world.documents.insert(format!("{tenant}/.well-known/openid-configuration"), metadata(tenant));
    // What is at the root is somebody else's.
    world.documents.insert(format!("{ISSUER}/.well-known/oauth-authorization-server"), metadata(ISSUER));
    let told = demand(r#"Bearer resource_metadata="https://mcp.example/custom/here.json""#);
    let (_, login) = world.log_in(plan(), told, None).unwrap();
    assert_eq!(login.issuer, tenant);
    assert!(!world.urls().contains(&"https://login.example/.well-known/oauth-authorization-server"));

    // For the whole host.
    let mut world = World::new();
    let root = json!({"resource": "https://mcp.example", "authorization_servers": [ISSUER]});
    world.documents.remove("https://mcp.example/.well-known/oauth-protected-resource/mcp");
    world.documents.insert("https://mcp.example/.well-known/oauth-protected-resource".to_owned(), root);
    let (url, _) = world.log_in(plan(), Demand::default(), None).unwrap();
    assert_eq!(query(&url, "resource").as_deref(), Some("https://mcp.example"), "as it is written, without a slash");
}

#[test]
fn servers_from_before_there_were_documents_about_servers() {
    let mut world = World::new();
    world.documents.clear();
    world.documents.insert(
        "https://mcp.example/.well-known/oauth-authorization-server".to_owned(),
        metadata("https://mcp.example"),
    );
    let (_, login) = world.log_in(plan(), Demand::default(), None).unwrap();
    assert_eq!(login.issuer, "https://mcp.example");

    let mut world = World::new();
    world.documents.clear();
    let (url, _) = world.log_in(plan(), Demand::default(), None).unwrap();
    assert_eq!(&url[..url::Position::AfterPath], "https://mcp.example/authorize");
    assert!(world.urls().ends_with(&["https://mcp.example/register", "https://mcp.example/token"]));
}

#[test]
fn scopes_are_the_servers_then_the_usual_ones_then_none() {
    let asked = |world: World, header: &str| {
        let mut world = world;
        let (url, _) = world.log_in(plan(), demand(header), None).unwrap();
        query(&url, "scope")
    };
    let usual = || World::new().resource("scopes_supported", json!(["a", "b"]));
    assert_eq!(asked(usual(), r#"Bearer scope="x y""#).as_deref(), Some("x y"));
    assert_eq!(asked(usual(), "Bearer").as_deref(), Some("a b"));
    assert_eq!(asked(World::new(), "Bearer"), None);
    let offline = usual().issuer("scopes_supported", json!(["a", "offline_access"]));
    assert_eq!(asked(offline, "Bearer").as_deref(), Some("a b offline_access"));
}

#[test]
fn more_is_asked_for_together_with_what_there_was() {
    let mut world = World::new();
    let (_, first) = world.log_in(plan(), demand(r#"Bearer scope="read""#), None).unwrap();
    let more = demand(r#"Bearer error="insufficient_scope", scope="write""#);
    let (url, second) = world.log_in(plan(), more, Some(first)).unwrap();
    assert_eq!(query(&url, "scope").as_deref(), Some("read write"));
    assert_eq!(second.requested, ["read", "write"]);
    let registered = world.urls().iter().filter(|url| url.ends_with("/register")).count();
    assert_eq!(registered, 1, "it is known there already");
}

#[test]
fn a_client_is_given_then_described_then_registered() {
    let given = Given { id: "mine".into(), secret: Some(secret("s")), key: None };
    let described = "https://toolfold.example/client.json";
    let knows = || World::new().issuer("client_id_metadata_document_supported", json!(true));
    let mut world = knows();
    let with_both = toolfold_oauth::Plan { client: Some(given), document: Some(described.into()), ..plan() };
    let (_, login) = world.log_in(with_both, Demand::default(), None).unwrap();
    assert_eq!((login.client.id.as_str(), login.client.way), ("mine", Way::Given));

    let with_document = || toolfold_oauth::Plan { document: Some(described.into()), ..plan() };
    let mut world = knows();
    let (url, login) = world.log_in(with_document(), Demand::default(), None).unwrap();
    assert_eq!((query(&url, "client_id").as_deref(), login.client.way), (Some(described), Way::Document));

    let mut world = World::new();
    let (_, login) = world.log_in(with_document(), Demand::default(), None).unwrap();
    assert_eq!(login.client.way, Way::Registered, "the login server does not read documents");
}

#[test]
fn a_client_says_who_it_is_the_way_that_is_taken() {
    for (way, basic, in_form) in
        [("client_secret_basic", true, false), ("client_secret_post", false, true), ("none", false, false)]
    {
        let mut world = World::new().issuer("token_endpoint_auth_methods_supported", json!([way]));
        let said = json!({"client_id": "id:1", "client_secret": "s&1", "token_endpoint_auth_method": way});
        world.registration = answer(201, &said);
        world.log_in(plan(), Demand::default(), None).unwrap();
        let token = world.asked.last().unwrap();
        let header = token.headers.iter().find(|(name, _)| *name == "authorization");
        // `id%3A1:s%261`
        assert_eq!(header.map(|(_, value)| value.as_str()), basic.then_some("Basic aWQlM0ExOnMlMjYx"), "{way}");
        assert_eq!(token.field("client_secret").is_some(), in_form, "{way}");
    }
}

#[test]
fn a_login_is_renewed_with_what_it_was_made_with() {
    let mut world = World::new();
    let (_, login) = world.log_in(plan(), Demand::default(), None).unwrap();
    let ask = login.refresh(None, None, NOW).unwrap();
    assert_eq!(ask.url, "https://login.example/token");
    assert_eq!(
        ["grant_type", "refresh_token", "resource", "client_id"].map(|name| ask.field(name).unwrap()),
        ["refresh_token", "rt-1", SERVER, "client-1"]
    );
    let renewed = |body| match login.refreshed(&answer(200, &body), NOW).unwrap() {
        Refreshed::Login(login) => login.refresh(None, None, NOW).unwrap().field("refresh_token").unwrap().to_owned(),
        other => panic!("{other:?}"),
    };
    assert_eq!(renewed(json!({"access_token": "at-2", "refresh_token": "rt-2"})), "rt-2");
    assert_eq!(renewed(json!({"access_token": "at-2"})), "rt-1", "one that is not replaced stays good");
    let over = login.refreshed(&answer(400, &json!({"error": "invalid_grant"})), NOW).unwrap();
    assert!(matches!(over, Refreshed::Over));
    for (status, body) in [
        (500, json!({"error": "invalid_grant"})),
        (400, json!({"error": "invalid_client"})),
        (429, json!({})),
        (200, json!("nonsense")),
        (200, json!({"access_token": "two words"})),
        (404, json!({})),
    ] {
        let outcome = login.refreshed(&answer(status, &body), NOW);
        assert!(outcome.is_err(), "{status} {body} does not end a login");
    }
    let broken = Answer { status: 200, nonce: None, body: vec![0xff; 10] };
    assert!(login.refreshed(&broken, NOW).is_err());
}

#[test]
fn what_is_kept_can_be_read_again() {
    let mut world = World::new();
    let (_, login) = world.log_in(plan(), Demand::default(), None).unwrap();
    let text = serde_json::to_string(&login).unwrap();
    let again: toolfold_oauth::Login = serde_json::from_str(&text).unwrap();
    assert_eq!(again.tokens.access.expose(), "at-1");
    assert_eq!(serde_json::to_string(&again).unwrap(), text);
}
