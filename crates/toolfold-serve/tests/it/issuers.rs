//! Tokens of issuers: a good one lets in, and every other one is answered with 401, reaches no server, and is counted.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use ring::rand::SystemRandom;
use ring::signature::{ECDSA_P256_SHA256_FIXED_SIGNING, EcdsaKeyPair, KeyPair};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use toolfold_config::{Config, Introspection, Issuer, Limits};
use toolfold_core::{AccessRule, Secret, Surface};
use toolfold_gateway::Gateway;
use toolfold_test::{FakeServer, plain_http};

use crate::support::{all_settled, config, over_http, start};

/// Where clients are told to find it: not where it is, which must not matter.
pub(crate) const PUBLIC: &str = "https://tools.example";

/// An issuer that signs whatever it is told to.
pub(crate) struct Provider {
    key: EcdsaKeyPair,
    /// The key by this name is in its set.
    kid: &'static str,
    issuer: String,
    asked: Arc<AtomicUsize>,
    /// What it says that its keys are.
    keys: Arc<Mutex<Value>>,
    /// How often it was asked about a token.
    pub(crate) introspected: Arc<AtomicUsize>,
    pub(crate) down: Arc<AtomicBool>,
}

fn base64(bytes: impl AsRef<[u8]>) -> String {
    const LETTERS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut text = String::new();
    for chunk in bytes.as_ref().chunks(3) {
        let bits = chunk.iter().fold(0u32, |bits, byte| (bits << 8) | u32::from(*byte)) << (8 * (3 - chunk.len()));
        for place in 0..=chunk.len() {
            text.push(LETTERS[(bits >> (18 - 6 * place)) as usize & 63] as char);
        }
    }
    text
}

fn new_key() -> EcdsaKeyPair {
    let random = SystemRandom::new();
    let document = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &random).unwrap();
    EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, document.as_ref(), &random).unwrap()
}

fn jwk(key: &EcdsaKeyPair, kid: &str) -> Value {
    let point = key.public_key().as_ref();
    json!({"kty": "EC", "crv": "P-256", "use": "sig", "alg": "ES256", "kid": kid, "x": base64(&point[1..33]), "y": base64(&point[33..])})
}

fn sign(key: &EcdsaKeyPair, header: &Value, claims: &Value) -> String {
    let message = format!("{}.{}", base64(header.to_string()), base64(claims.to_string()));
    let signature = key.sign(&SystemRandom::new(), message.as_bytes()).unwrap();
    format!("{message}.{}", base64(signature))
}

pub(crate) fn now() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs()
}

impl Provider {
    /// Answers with its metadata, its keys, and about the token `opaque-alice`.
    async fn start() -> Provider {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let issuer = format!("http://{}", listener.local_addr().unwrap());
        let provider = Provider {
            key: new_key(),
            kid: "first",
            issuer: issuer.clone(),
            asked: Arc::default(),
            keys: Arc::default(),
            introspected: Arc::default(),
            down: Arc::default(),
        };
        *provider.keys.lock().unwrap() = json!({"keys": [{"kty": "oct", "k": "c2VjcmV0", "kid": "shared"}, {"odd": true}, jwk(&provider.key, "first")]});
        let keys = provider.keys.clone();
        let (asked, down) = (provider.asked.clone(), provider.down.clone());
        let introspected = provider.introspected.clone();
        tokio::spawn(async move {
            while let Ok((mut socket, _)) = listener.accept().await {
                let (keys, issuer, asked, down) = (keys.clone(), issuer.clone(), asked.clone(), down.clone());
                let introspected = introspected.clone();
                tokio::spawn(async move {
                    let request = read(&mut socket).await;
                    let active = json!({
                        "active": request.contains("token=opaque-alice"),
                        "sub": "alice", "iss": issuer, "aud": format!("{PUBLIC}/mcp"), "exp": now() + 60, "scope": "tools",
                    });
                    let body = match request.split(' ').nth(1).unwrap_or_default() {
                        "/.well-known/oauth-authorization-server" => {
                            json!({"issuer": issuer, "jwks_uri": format!("{issuer}/keys")})
                        }
                        "/keys" => {
                            asked.fetch_add(1, Ordering::SeqCst);
                            keys.lock().unwrap().clone()
                        }
                        "/introspect" if request.contains("Basic dG9vbGZvbGQ6cGxhbnRlZA==") => {
                            introspected.fetch_add(1, Ordering::SeqCst);
                            active
                        }
                        _ => Value::Null,
                    };
                    let status = if body.is_null() || down.load(Ordering::SeqCst) { "500 No" } else { "200 OK" };
                    let body = body.to_string();
                    let head =
                        format!("HTTP/1.1 {status}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n", body.len());
                    let _ = socket.write_all(format!("{head}{body}").as_bytes()).await;
                });
            }
        });
        provider
    }

    pub(crate) fn claims(&self) -> Value {
        json!({
            "iss": self.issuer, "sub": "alice", "aud": format!("{PUBLIC}/mcp"), "exp": now() + 600, "iat": now(),
            "groups": ["readers"], "scope": "tools:read openid",
        })
    }

    pub(crate) fn token(&self, claims: &Value) -> String {
        sign(&self.key, &json!({"alg": "ES256", "typ": "at+jwt", "kid": self.kid}), claims)
    }

    /// Has another key from now on, which has no name; a token that is signed with it.
    pub(crate) fn renewed(&mut self) -> String {
        self.key = new_key();
        let mut key = jwk(&self.key, "");
        key.as_object_mut().unwrap().remove("kid");
        *self.keys.lock().unwrap() = json!({"keys": [key]});
        sign(&self.key, &json!({"alg": "ES256", "typ": "at+jwt"}), &self.claims())
    }

    pub(crate) fn with(&self, change: impl FnOnce(&mut Value)) -> String {
        let mut claims = self.claims();
        change(&mut claims);
        self.token(&claims)
    }

    fn configured(&self) -> Issuer {
        Issuer {
            issuer: self.issuer.clone(),
            audiences: vec!["api://toolfold".into()],
            jwks: None,
            name_claim: "sub".into(),
            groups_claim: "groups".into(),
            scopes: Vec::new(),
            introspection: Some(Introspection {
                url: format!("{}/introspect", self.issuer),
                client_id: "toolfold".into(),
                client_secret: Secret::new("planted"),
            }),
        }
    }
}

async fn read(socket: &mut TcpStream) -> String {
    let mut request = Vec::new();
    let mut piece = [0; 4096];
    loop {
        let read = socket.read(&mut piece).await.unwrap_or(0);
        request.extend_from_slice(&piece[..read]);
        let text = String::from_utf8_lossy(&request);
        let whole = text.split_once("\r\n\r\n").is_some_and(|(head, body)| {
            let length =
                head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ")?.parse().ok());
            body.len() >= length.unwrap_or(0)
        });
        if whole || read == 0 {
            return text.into_owned();
        }
    }
}

pub(crate) struct World {
    pub(crate) address: SocketAddr,
    gateway: Gateway,
    pub(crate) fake: FakeServer,
    pub(crate) provider: Provider,
}

pub(crate) async fn world(rules: Vec<AccessRule>) -> World {
    limited(rules, Limits::default()).await
}

pub(crate) async fn limited(rules: Vec<AccessRule>, limits: Limits) -> World {
    let provider = Provider::start().await;
    let fake = FakeServer::script(json!({
        "tools": ["read", "write", "ask", "wait"],
        "calls": {"ask": {"elicit": true}, "wait": {"progress": 1, "hang": true}},
        "prompts": [{"name": "greet"}], "resources": [{"uri": "desk://top", "name": "Top"}],
    }));
    let mut config: Config = config(Surface::Compact, &[("desk", &fake)]);
    config.issuers = vec![provider.configured()];
    config.http.public_url = Some(PUBLIC.to_owned());
    (config.rules, config.limits) = (rules, limits);
    let gateway = start(config);
    all_settled(&gateway).await;
    let address = over_http(gateway.clone(), Surface::Compact).await;
    World { address, gateway, fake, provider }
}

impl World {
    pub(crate) async fn post(&self, path: &str, headers: &[(&str, &str)]) -> (u16, String, String) {
        self.ask(path, headers, "tools/call", ("name", "desk.read"), json!({"arguments": {}})).await
    }

    /// Status, challenge and body of the answer to a request whose `key` names what it is about.
    pub(crate) async fn ask(
        &self,
        path: &str,
        headers: &[(&str, &str)],
        method: &str,
        (key, name): (&str, &str),
        mut params: Value,
    ) -> (u16, String, String) {
        params["_meta"] = json!(crate::support::modern_meta());
        params[key] = json!(name);
        let body = json!({"jsonrpc": "2.0", "id": 1, "method": method, "params": params});
        let mut request =
            plain_http().post(format!("http://{}{path}", self.address)).header("content-type", "application/json");
        request = request
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28");
        request = request.header("mcp-method", method).header("mcp-name", name);
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let reply = request.body(body.to_string()).send().await.unwrap();
        let challenge = reply.headers().get("www-authenticate").map_or("", |value| value.to_str().unwrap()).to_owned();
        (reply.status().as_u16(), challenge, reply.text().await.unwrap())
    }

    pub(crate) async fn with_token(&self, path: &str, token: &str) -> u16 {
        self.post(path, &[("authorization", &format!("Bearer {token}"))]).await.0
    }
}

#[tokio::test]
async fn a_good_token_lets_in_and_the_documents_say_where_to_get_one() {
    let world = world(Vec::new()).await;
    let (status, challenge, _) = world.post("/mcp/ontology", &[]).await;
    let place = format!("{PUBLIC}/.well-known/oauth-protected-resource/mcp/ontology");
    assert_eq!((status, challenge), (401, format!("Bearer resource_metadata=\"{place}\"")));
    for path in ["/mcp", "/mcp/ontology", "/mcp/direct"] {
        // Whatever host somebody says.
        let url = format!("http://{}/.well-known/oauth-protected-resource{path}", world.address);
        let reply = plain_http().get(url).header("host", "localhost:1").send().await.unwrap();
        let document: Value = serde_json::from_str(&reply.text().await.unwrap()).unwrap();
        assert_eq!(document["resource"], format!("{PUBLIC}{path}"));
        assert_eq!(document["authorization_servers"], json!([world.provider.issuer]));
    }
    let other = plain_http().get(format!("http://{}/.well-known/oauth-protected-resource/other", world.address));
    assert_eq!(other.send().await.unwrap().status(), 404);
    let token = world.provider.token(&world.provider.claims());
    for path in ["/mcp", "/mcp/ontology"] {
        assert_eq!(world.with_token(path, &token).await, 200, "{path}");
    }
    let surface = world.provider.with(|claims| claims["aud"] = json!([format!("{PUBLIC}/mcp/ontology"), "elsewhere"]));
    assert_eq!(world.with_token("/mcp/ontology", &surface).await, 200);
    let own = world.provider.with(|claims| claims["aud"] = json!("api://toolfold"));
    assert_eq!(world.with_token("/mcp", &own).await, 200);
    assert_eq!(world.with_token("/mcp", "opaque-alice").await, 200, "the issuer was asked");
    let seen = world.fake.journal().iter().map(Value::to_string).collect::<String>();
    assert!(
        !seen.contains(&token) && !seen.contains("opaque-alice") && !seen.contains("planted"),
        "nothing is passed on"
    );
}

#[tokio::test]
async fn every_forged_token_is_refused_counted_and_reaches_nobody() {
    let world = world(Vec::new()).await;
    let provider = &world.provider;
    let claims = provider.claims();
    let stranger = new_key();
    let header = |alg: &str| json!({"alg": alg, "typ": "at+jwt", "kid": "first"});
    let unsigned = |alg: &str| format!("{}.{}.", base64(header(alg).to_string()), base64(claims.to_string()));
    let hmac = {
        let message = format!("{}.{}", base64(header("HS256").to_string()), base64(claims.to_string()));
        let key = ring::hmac::Key::new(ring::hmac::HMAC_SHA256, provider.key.public_key().as_ref());
        format!("{message}.{}", base64(ring::hmac::sign(&key, message.as_bytes())))
    };
    let good = provider.token(&claims);
    let mut flipped = good.clone().into_bytes();
    let middle = good.rfind('.').unwrap() + 10;
    flipped[middle] = if flipped[middle] == b'A' { b'B' } else { b'A' };
    let forged: Vec<(&str, String)> = vec![
        ("garbage", "garbage.of.sorts".into()),
        ("an opaque token that nobody gave out", "opaque-mallory".into()),
        ("alg none", unsigned("none")),
        ("no signature", unsigned("ES256")),
        ("HS256 with the public key", hmac),
        ("unknown kid", sign(&provider.key, &json!({"alg": "ES256", "kid": "other"}), &claims)),
        ("a key of the wrong kind", sign(&provider.key, &json!({"alg": "ES256", "kid": "shared"}), &claims)),
        ("another's key", sign(&stranger, &header("ES256"), &claims)),
        ("a changed signature", String::from_utf8(flipped).unwrap()),
        ("another issuer", provider.with(|claims| claims["iss"] = json!("https://evil.example"))),
        ("no issuer", provider.with(|claims| drop(claims.as_object_mut().unwrap().remove("iss")))),
        ("expired", provider.with(|claims| claims["exp"] = json!(now() - 3600))),
        ("without an end", provider.with(|claims| drop(claims.as_object_mut().unwrap().remove("exp")))),
        ("not yet valid", provider.with(|claims| claims["nbf"] = json!(now() + 3600))),
        ("no audience", provider.with(|claims| drop(claims.as_object_mut().unwrap().remove("aud")))),
        ("for another resource", provider.with(|claims| claims["aud"] = json!("https://other.example/mcp"))),
        ("for a sibling", provider.with(|claims| claims["aud"] = json!(format!("{PUBLIC}/mcp/ontology")))),
        ("for the host alone", provider.with(|claims| claims["aud"] = json!(PUBLIC))),
        (
            "an ID token",
            sign(&provider.key, &json!({"alg": "ES256", "typ": "JWT", "kid": "first"}), &{
                let mut claims = claims.clone();
                claims["nonce"] = json!("n");
                claims
            }),
        ),
        (
            "a token of another type",
            sign(&provider.key, &json!({"alg": "ES256", "typ": "logout+jwt", "kid": "first"}), &claims),
        ),
        (
            "one that must be understood otherwise",
            sign(&provider.key, &json!({"alg": "ES256", "kid": "first", "crit": ["strange"], "strange": 1}), &claims),
        ),
        ("a list of none", sign(&provider.key, &json!({"alg": "ES256", "kid": "first", "crit": []}), &claims)),
        (
            "bound to a key",
            provider.with(|claims| claims["cnf"] = json!({"jkt": "0ZcOCORZNYy-DWpqq30jZyJGHTN0d2HglBV3uiguA4I"})),
        ),
        ("nobody's", provider.with(|claims| drop(claims.as_object_mut().unwrap().remove("sub")))),
        ("whoever runs it", provider.with(|claims| claims["sub"] = json!("local"))),
        ("the house's", provider.with(|claims| claims["sub"] = json!("Token"))),
        ("64 KB", "x".repeat(64 * 1024)),
        ("20 KB", format!("{good}{}", "x".repeat(20 * 1024))),
        ("one of ours that was never given out", toolfold_access::NewToken::of([9; 32]).secret.expose().to_owned()),
    ];
    for (what, token) in &forged {
        let (status, challenge, _) = world.post("/mcp", &[("authorization", &format!("Bearer {token}"))]).await;
        assert_eq!(status, 401, "{what}");
        assert!(
            challenge.contains("error=\"invalid_token\"") && challenge.contains("resource_metadata="),
            "{what}: {challenge}"
        );
    }
    assert_eq!(world.post(&format!("/mcp?access_token={good}"), &[]).await.0, 401, "in the address");
    let twice = [("authorization", format!("Bearer {good}")), ("authorization", format!("Bearer {good}"))];
    let twice: Vec<(&str, &str)> = twice.iter().map(|(name, value)| (*name, value.as_str())).collect();
    assert_eq!(world.post("/mcp", &twice).await.0, 401, "twice");
    assert_eq!(world.post("/mcp", &[("authorization", &format!("Basic {good}"))]).await.0, 401, "another scheme");
    assert_eq!(world.fake.received("tools/call").len(), 0, "nothing got there");
    let counted = world.gateway.metrics();
    let line = counted.lines().find(|line| line.contains("NOT_AUTHORIZED")).expect("they are counted");
    assert!(line.ends_with(&format!(" {}", forged.len() + 3)), "{line}");
    assert_eq!(world.with_token("/mcp", &good).await, 200, "and the good one still is good");
}

#[tokio::test]
async fn keys_are_asked_for_seldom_and_kept_while_the_issuer_is_down() {
    let world = world(Vec::new()).await;
    let good = world.provider.token(&world.provider.claims());
    assert_eq!(world.with_token("/mcp", &good).await, 200);
    assert_eq!(world.provider.asked.load(Ordering::SeqCst), 1);
    world.provider.down.store(true, Ordering::SeqCst);
    // A flood of keys that nobody has.
    for number in 0..50 {
        let header = json!({"alg": "ES256", "kid": format!("made-up-{number}")});
        let token = sign(&world.provider.key, &header, &world.provider.claims());
        assert_eq!(world.with_token("/mcp", &token).await, 401);
    }
    assert!(world.provider.asked.load(Ordering::SeqCst) <= 3, "{:?}", world.provider.asked);
    assert_eq!(world.with_token("/mcp", &good).await, 200, "what was known is known");
}
