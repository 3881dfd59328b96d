//! Documents and answers of servers and login servers that may be anything: a login ends, asks nobody who may not be asked, and
//! where it does not come about says why in words that fit on a screen.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolfold_oauth::{Answer, Demand, Flow, Given, Login, LoginKind, Plan, Problem, Refreshed, Step};
use url::Url;

use crate::world::{ISSUER, NOW, SERVER, World, answer, metadata, plan, query, secret};

/// Steps that the longest honest login takes, and some.
const MOST_STEPS: usize = 24;
const LONGEST_TOKEN: usize = 32 * 1024;
/// What a provider says that nobody is to see.
const PRIVATE: &str = "hush-hush";

fn text() -> impl Strategy<Value = String> {
    let likely = [
        ISSUER,
        SERVER,
        "https://mcp.example",
        "https://login.example/token",
        "https://other.example/a?b=c",
        "https://login.example:0/x",
        "https://me@login.example/x",
        "https://login.example/x#y",
        "http://login.example/x",
        "http://127.0.0.1/x",
        "https://",
        "javascript:alert(1)",
        "S256",
        "none",
        "client_secret_basic",
        "client_secret_post",
        "ES256",
        "Bearer",
        "DPoP",
        "mac",
        "offline_access",
        "invalid_grant",
        "use_dpop_nonce",
        "3600",
        "-1",
        "\u{1b}[2J\r\n",
    ];
    prop_oneof![
        4 => prop::sample::select(likely.to_vec()).prop_map(str::to_owned),
        1 => any::<String>(),
        1 => ("[a:/é ]", 1_000_usize..40_000).prop_map(|(text, times)| text.repeat(times)),
        1 => (prop::sample::select(vec!["https://login.example/", "a"]), 1_000_usize..40_000)
            .prop_map(|(start, times)| format!("{start}{}:x", "a".repeat(times))),
        1 => ("[a-z]{1,3}", 1_000_usize..3_000).prop_map(|(text, times)| {
            (0..times).map(|number| format!("{text}{number}")).collect::<Vec<_>>().join(" ")
        }),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        6 => text().prop_map(Value::from),
        1 => any::<bool>().prop_map(Value::from),
        1 => any::<u64>().prop_map(Value::from),
        1 => any::<f64>().prop_map(Value::from),
        1 => Just(Value::Null),
    ];
    prop_oneof![
        3 => leaf.clone(),
        2 => prop::collection::vec(leaf.clone(), 0..4).prop_map(Value::from),
        1 => leaf.prop_map(|value| json!({"issuer": value})),
    ]
}

fn member() -> impl Strategy<Value = (&'static str, Value)> {
    let keys = vec![
        "resource",
        "authorization_servers",
        "scopes_supported",
        "dpop_bound_access_tokens_required",
        "issuer",
        "authorization_endpoint",
        "token_endpoint",
        "registration_endpoint",
        "revocation_endpoint",
        "token_endpoint_auth_methods_supported",
        "code_challenge_methods_supported",
        "authorization_response_iss_parameter_supported",
        "client_id_metadata_document_supported",
        "dpop_signing_alg_values_supported",
        "access_token",
        "refresh_token",
        "token_type",
        "expires_in",
        "scope",
        "client_id",
        "client_secret",
        "token_endpoint_auth_method",
        "error",
        "error_description",
    ];
    (prop::sample::select(keys), value())
}

/// What anybody may answer: a good document or answer with some members of another kind, or something else altogether.
fn reply() -> impl Strategy<Value = Answer> {
    let base = prop::sample::select(vec![
        metadata(ISSUER),
        json!({"resource": SERVER, "authorization_servers": [ISSUER]}),
        json!({"access_token": PRIVATE, "refresh_token": PRIVATE, "token_type": "Bearer", "expires_in": 60}),
        json!({"client_id": "c", "client_secret": PRIVATE}),
        json!({"error": "use_dpop_nonce", "note": PRIVATE}),
        json!({}),
    ]);
    let odd = (base, prop::collection::vec(member(), 0..4)).prop_map(|(mut said, members)| {
        members.into_iter().for_each(|(key, value)| said[key] = value);
        said.to_string().into_bytes()
    });
    let body = prop_oneof![8 => odd, 1 => prop::collection::vec(any::<u8>(), 0..60)];
    let status = prop::sample::select(vec![200, 200, 200, 200, 201, 302, 400, 401, 404, 429, 500]);
    (status, proptest::option::of("[ -~é]{0,20}"), body).prop_map(|(status, nonce, body)| Answer {
        status,
        nonce,
        body,
    })
}

fn kind() -> impl Strategy<Value = Plan> {
    let given = || Some(Given { id: "mine".to_owned(), secret: Some(secret("s")), key: None });
    prop::sample::select(vec![0, 1, 2, 3]).prop_map(move |kind| match kind {
        0 => plan(),
        1 => Plan { document: Some("https://me.example/c".to_owned()), ..plan() },
        2 => Plan { kind: LoginKind::Client, client: given(), ..plan() },
        _ => Plan { kind: LoginKind::Workload { token: secret("t") }, client: given(), ..plan() },
    })
}

fn is_fit(problem: &Problem) -> Result<(), TestCaseError> {
    let told = problem.to_string();
    prop_assert!(!told.is_empty() && told.chars().count() < 1_200, "{} characters", told.chars().count());
    prop_assert!(!told.chars().any(char::is_control) && !told.contains(PRIVATE), "{told}");
    Ok(())
}

fn may_be_asked(address: &str) -> Result<(), TestCaseError> {
    let url = Url::parse(address).map_err(|why| TestCaseError::fail(format!("{address}: {why}")))?;
    prop_assert!(url.scheme() == "https" && url.host().is_some() && url.username().is_empty(), "{address}");
    prop_assert!(address.len() < 200_000, "{} bytes", address.len());
    Ok(())
}

fn is_login(login: &Login) -> Result<(), TestCaseError> {
    let token = login.tokens.access.expose();
    prop_assert!((1..=LONGEST_TOKEN).contains(&token.len()) && token.bytes().all(|byte| byte.is_ascii_graphic()));
    let printed = format!("{login:?} {:?}", login.tokens);
    prop_assert!(!printed.contains(PRIVATE));
    may_be_asked(&login.issuer)?;
    // What is of no use any more is renewed before it is used.
    prop_assert!(login.is_stale(2 * NOW) || !login.is_dead(2 * NOW));
    Ok(())
}

/// The login where it comes about; nobody but the answers decides.
fn go(plan: Plan, odd: &[Option<Answer>], back: &str) -> Result<Option<Login>, TestCaseError> {
    let mut world = World::new();
    let mut flow = Flow::new(plan, Demand::default(), None).unwrap();
    let mut odd = odd.iter();
    for _ in 0..MOST_STEPS {
        let problem = match flow.step(NOW) {
            Ok(Step::Done(login)) => {
                is_login(&login)?;
                return Ok(Some(*login));
            }
            Ok(Step::Fetch(ask)) => {
                may_be_asked(&ask.url)?;
                let answer = odd.next().cloned().flatten().unwrap_or_else(|| world.reply(ask));
                flow.heard(&answer, NOW).err()
            }
            Ok(Step::Visit(page)) => {
                may_be_asked(&page)?;
                prop_assert!(flow.returned(back).is_err(), "a state was guessed");
                let state = query(&Url::parse(&page).unwrap(), "state").unwrap();
                flow.returned(&format!("code=c&state={state}&iss={ISSUER}&{back}")).err()
            }
            Err(problem) => Some(problem),
        };
        if let Some(problem) = problem {
            is_fit(&problem)?;
            return Ok(None);
        }
    }
    Err(TestCaseError::fail("the login does not end"))
}

proptest! {
    #[test]
    fn a_login_with_anybody_ends_and_says_why(
        plan in kind(), odd in prop::collection::vec(proptest::option::of(reply()), 0..6), back in "[a-z=&%é]{0,20}",
    ) {
        go(plan, &odd, &back)?;
    }

    #[test]
    fn a_login_is_renewed_or_kept_whatever_is_answered(answers in prop::collection::vec(reply(), 1..4)) {
        let mut login = go(plan(), &[], "")?.unwrap();
        for answer in answers {
            match login.refreshed(&answer, NOW) {
                Ok(Refreshed::Login(next)) => {
                    is_login(&next)?;
                    prop_assert!(next.can_refresh() && next.issuer == login.issuer);
                    login = *next;
                }
                Ok(Refreshed::WithNonce(nonce)) => prop_assert_eq!(Some(nonce), answer.nonce),
                Ok(Refreshed::Over) => prop_assert!((300..500).contains(&answer.status) || answer.status < 200),
                Err(problem) => is_fit(&problem)?,
            }
            may_be_asked(&login.refresh(None, None, NOW).unwrap().url)?;
        }
    }
}

/// A list of scopes has a place in an address, and one of very many would be compared with itself.
#[test]
fn of_very_many_scopes_as_many_are_asked_for_as_anybody_means() {
    let scopes: Vec<String> = (0..60_000).map(|number| format!("{number:x}")).collect();
    let mut world = World::new().resource("scopes_supported", json!(scopes));
    world.tokens = vec![answer(200, &json!({"access_token": "a", "scope": scopes.join(" ")}))];
    let (page, login) = world.log_in(plan(), Demand::default(), None).unwrap();
    assert_eq!(query(&page, "scope").unwrap().split(' ').count(), 1_000);
    assert_eq!((login.requested.len(), login.tokens.granted.len()), (1_000, 1_000));
    assert_eq!(login.requested[999], scopes[999]);
}
