//! Logins that need no person, and tokens that are bound to a key.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use toolfold_oauth::{Answer, Demand, Enterprise, Flow, Given, Key, LoginKind, Plan, Problem, Proofs, Refreshed};

use crate::world::{ISSUER, NOW, SERVER, Stop, World, answer, demand, metadata, plan, secret};

fn claims(token: &str) -> (Value, Value) {
    let part = |text: &str| serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).unwrap()).unwrap();
    let mut parts = token.split('.');
    (part(parts.next().unwrap()), part(parts.next().unwrap()))
}

fn alone(world: &mut World, plan: Plan) -> Result<toolfold_oauth::Login, Problem> {
    let mut flow = Flow::new(plan, demand(r#"Bearer scope="read""#), None)?;
    match world.drive(&mut flow)? {
        Stop::Done(login) => Ok(*login),
        Stop::Visit(url) => panic!("a person is asked to visit {url}"),
    }
}

fn given(secret_text: Option<&str>, key: Option<String>) -> Option<Given> {
    Some(Given { id: "machine".into(), secret: secret_text.map(secret), key: key.map(|key| secret(&key)) })
}

#[test]
fn a_client_logs_in_with_its_secret_or_its_key() {
    let mut world = World::new();
    let with_secret = Plan { kind: LoginKind::Client, client: given(Some("s"), None), ..plan() };
    let login = alone(&mut world, with_secret).unwrap();
    let token = world.asked.last().unwrap();
    assert_eq!(token.field("grant_type"), Some("client_credentials"));
    assert_eq!((token.field("scope"), token.field("resource")), (Some("read"), Some(SERVER)));
    assert_eq!(token.headers[0].1, "Basic bWFjaGluZTpz");
    assert_eq!(login.issuer, ISSUER);

    let (_, der) = Key::generate().unwrap();
    let pem = format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----", STANDARD.encode(der));
    let mut world = World::new();
    let with_key = Plan { kind: LoginKind::Client, client: given(None, Some(pem)), ..plan() };
    alone(&mut world, with_key).unwrap();
    let token = world.asked.last().unwrap();
    let kind = token.field("client_assertion_type").unwrap();
    assert_eq!(kind, "urn:ietf:params:oauth:client-assertion-type:jwt-bearer");
    let (header, said) = claims(token.field("client_assertion").unwrap());
    assert_eq!(header["alg"], "ES256");
    assert_eq!((&said["iss"], &said["sub"], &said["aud"]), (&json!("machine"), &json!("machine"), &json!(ISSUER)));
    assert!(said["exp"].as_u64().unwrap() - NOW <= 60 && said["jti"].as_str().unwrap().len() > 20);
}

#[test]
fn a_workload_gives_its_token_and_does_not_try_twice() {
    let mut world = World::new();
    let kind = LoginKind::Workload { token: secret("workload.jwt.x") };
    let workload = || Plan { kind: kind.clone(), client: given(None, None), ..plan() };
    alone(&mut world, workload()).unwrap();
    let token = world.asked.last().unwrap();
    assert_eq!(token.field("grant_type"), Some("urn:ietf:params:oauth:grant-type:jwt-bearer"));
    assert_eq!((token.field("assertion"), token.field("client_id")), (Some("workload.jwt.x"), Some("machine")));
    let mut world = World::new();
    world.tokens = vec![answer(400, &json!({"error": "invalid_grant", "error_description": "expired\u{1b}[31m"}))];
    let problem = alone(&mut world, workload()).unwrap_err();
    assert_eq!(problem.to_string(), "the login server refused: invalid_grant (expired [31m)");
    assert!(!problem.may_pass());
    assert_eq!(world.urls().iter().filter(|url| url.ends_with("/token")).count(), 1);
}

#[test]
fn a_person_of_an_organisation_comes_by_way_of_its_identity_provider() {
    let provider = "https://idp.example";
    let mut world = World::new().issuer("token_endpoint_auth_methods_supported", json!(["client_secret_basic"]));
    world.documents.insert(format!("{provider}/.well-known/openid-configuration"), metadata(provider));
    let given_out = json!({"access_token": "id-jag.x.y", "token_type": "N_A"});
    world.tokens.insert(0, answer(200, &given_out));
    let enterprise = || Enterprise {
        provider: provider.into(),
        client: Given { id: "at-idp".into(), secret: None, key: None },
        id_token: secret("id.token.x"),
    };
    let whole = || Plan { kind: LoginKind::Enterprise(enterprise()), client: given(Some("s"), None), ..plan() };
    alone(&mut world, whole()).unwrap();
    let [.., exchange, token] = &world.asked[..] else { panic!("{:?}", world.asked) };
    assert_eq!(exchange.url, "https://idp.example/token");
    assert_eq!(
        ["requested_token_type", "audience", "resource", "subject_token", "subject_token_type", "client_id"]
            .map(|name| exchange.field(name).unwrap()),
        [
            "urn:ietf:params:oauth:token-type:id-jag",
            ISSUER,
            SERVER,
            "id.token.x",
            "urn:ietf:params:oauth:token-type:id_token",
            "at-idp"
        ]
    );
    assert_eq!((token.url.as_str(), token.field("assertion")), ("https://login.example/token", Some("id-jag.x.y")));

    let mut world = World::new();
    world.documents.insert(format!("{provider}/.well-known/openid-configuration"), metadata("https://evil.example"));
    assert!(matches!(alone(&mut world, whole()), Err(Problem::OtherIssuer { .. })));
}

#[test]
fn tokens_are_bound_to_a_key_where_the_server_wants_it_and_the_login_server_can() {
    let bound = json!({"access_token": "at-1", "token_type": "DPoP", "refresh_token": "rt-1"});
    let knows = || World::new().issuer("dpop_signing_alg_values_supported", json!(["ES256"]));
    let wants = || demand("DPoP algs=\"ES256\"");
    let mut world = knows();
    let nonce = Answer { nonce: Some("n-1".into()), ..answer(400, &json!({"error": "use_dpop_nonce"})) };
    world.tokens = vec![nonce.clone(), answer(200, &bound)];
    let (_, login) = world.log_in(plan(), wants(), None).unwrap();
    let proofs: Vec<(Value, Value)> = world
        .asked
        .iter()
        .filter_map(|ask| ask.headers.iter().find(|(name, _)| *name == "dpop"))
        .map(|(_, proof)| claims(proof))
        .collect();
    assert_eq!(proofs.len(), 2);
    assert_eq!((&proofs[0].1["nonce"], &proofs[1].1["nonce"]), (&Value::Null, &json!("n-1")));
    assert_ne!(proofs[0].1["jti"], proofs[1].1["jti"]);
    assert_eq!(proofs[0].0["typ"], "dpop+jwt");
    assert_eq!(proofs[0].0["jwk"]["d"], Value::Null);
    assert_eq!((&proofs[1].1["htm"], &proofs[1].1["htu"]), (&json!("POST"), &json!("https://login.example/token")));
    let key = login.key().expect("the tokens are bound");
    let proof = Proofs { key: &key, nonce: None };
    let (_, said) =
        claims(&proof.of("POST", "https://mcp.example/mcp?a=b#c", Some(&login.tokens.access), NOW).unwrap());
    assert_eq!(said["htu"], "https://mcp.example/mcp");
    assert!(said["ath"].as_str().unwrap().len() == 43);
    assert!(matches!(login.refreshed(&nonce, NOW).unwrap(), Refreshed::WithNonce(n) if n == "n-1"));

    let mut plain = World::new();
    let (_, login) = plain.log_in(plan(), wants(), None).unwrap();
    assert!(login.key().is_none(), "a login server that cannot gives what it has");
    let mut unasked = knows();
    let (_, login) = unasked.log_in(plan(), Demand::default(), None).unwrap();
    assert!(login.key().is_none(), "the server did not ask for it");
    let mut strange = World::new();
    strange.tokens = vec![answer(200, &bound)];
    assert!(strange.log_in(plan(), Demand::default(), None).is_err(), "bound to a key that nobody gave");
}

#[test]
fn a_login_server_that_never_has_enough_of_proofs_is_left() {
    let mut world = World::new().issuer("dpop_signing_alg_values_supported", json!(["ES256"]));
    let again = Answer { nonce: Some("n".into()), ..answer(400, &json!({"error": "use_dpop_nonce"})) };
    world.tokens = vec![again];
    assert!(matches!(world.log_in(plan(), demand("DPoP"), None), Err(Problem::Refused(_))));
}
