//! Whatever somebody shows as a token, or an issuer says of one: it is read to its end, and believed only where it says all
//! that it must.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolfold_access::{BadToken, Keys, Trusted, claimed, introspected, is_named_token, verify};

const ISSUER: &str = "https://issuer.example";
const HERE: &str = "https://here.example/mcp";
const NOW: u64 = 1_800_000_000;

fn with_trust<T>(read: impl FnOnce(&Trusted<'_>) -> T) -> T {
    let audiences = [HERE.to_owned()];
    read(&Trusted { issuer: ISSUER, audiences: &audiences, name_claim: "sub", groups_claim: "groups" })
}

/// JSON of which parts are what claims, headers and keys are made of.
fn value() -> impl Strategy<Value = Value> {
    let words =
        ["RS256", "none", "HS256", "ES256", "EdDSA", "at+jwt", "RSA", "EC", "OKP", "P-256", "AQAB", ISSUER, HERE, ""];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".{0,12}".prop_map(Value::from),
        prop::sample::select(words.to_vec()).prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![prop::collection::vec(inner.clone(), 0..3).prop_map(Value::from), object(inner)]
    })
}

fn object(inner: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
    let names = "[a-z]{0,3}|alg|typ|kid|crit|jwk|iss|aud|exp|nbf|sub|groups|scope|active|keys|kty|crv|use|n|e|x|y";
    prop::collection::btree_map(names, inner, 0..8).prop_map(|map| Value::Object(map.into_iter().collect()))
}

/// Base64 as tokens have it, written out here: what is tested reads it with a library.
fn encoded(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let of = |group: &[u8]| {
        let bits = (0..3).fold(0_u32, |bits, at| bits << 8 | u32::from(group.get(at).copied().unwrap_or(0)));
        let digit = move |at: usize| char::from(DIGITS[(bits >> (18 - 6 * at)) as usize & 63]);
        (0..=group.len()).map(digit).collect::<String>()
    };
    bytes.chunks(3).map(of).collect()
}

/// As [`Keys::parse`] takes them: an issuer's, of kinds that nobody may know.
fn keys() -> impl Strategy<Value = Keys> {
    prop::collection::vec(object(value()), 0..4)
        .prop_map(|keys| Keys::parse(json!({ "keys": keys }).to_string().as_bytes()).unwrap())
}

proptest! {
    #[test]
    fn no_text_is_a_token(text in any::<String>(), keys in keys()) {
        let _ = (claimed(&text), is_named_token(&text));
        prop_assert!(with_trust(|trusted| verify(&text, &keys, trusted)).is_err());
    }

    #[test]
    fn no_claims_stand_without_a_signature(
        header in object(value()),
        claims in object(value()),
        signature in any::<Vec<u8>>(),
        keys in keys(),
    ) {
        let parts = [header.to_string().into_bytes(), claims.to_string().into_bytes(), signature];
        let token = parts.map(|part| encoded(&part)).join(".");
        if let Ok(said) = claimed(&token) {
            prop_assert_eq!(Some(said.issuer.as_str()), claims["iss"].as_str());
        }
        prop_assert!(with_trust(|trusted| verify(&token, &keys, trusted)).is_err());
    }

    #[test]
    fn no_bytes_are_keys_that_panic(bytes in any::<Vec<u8>>(), kid in any::<Option<String>>()) {
        if let Some(keys) = Keys::parse(&bytes) {
            prop_assert!(!keys.is_empty() || !keys.have(kid.as_deref()));
        }
    }

    #[test]
    fn who_is_introspected_is_active_and_for_this_place(claims in object(value()), bytes in any::<Vec<u8>>()) {
        prop_assert!(with_trust(|trusted| introspected(&bytes, NOW, trusted)).is_err());
        if let Ok((_, until)) = with_trust(|trusted| introspected(claims.to_string().as_bytes(), NOW, trusted)) {
            prop_assert!(until > NOW && claims["active"] == json!(true) && claims["aud"].to_string().contains(HERE));
        }
    }

    /// The cases above are almost never let in. This one is, and what it is changed by decides it.
    #[test]
    fn one_claim_decides(name in "active|exp|aud|sub", with in value()) {
        let mut claims = json!({"active": true, "exp": NOW + 60, "aud": HERE, "sub": "somebody", "iss": ISSUER});
        prop_assert!(with_trust(|trusted| introspected(claims.to_string().as_bytes(), NOW, trusted)).is_ok());
        claims.as_object_mut().unwrap().remove(&name);
        let without = with_trust(|trusted| introspected(claims.to_string().as_bytes(), NOW, trusted));
        match without {
            // That it is good now the issuer has said; until when, it need not.
            Ok((_, until)) => prop_assert!(name == "exp" && until > NOW),
            Err(why) => prop_assert!(name != "exp" && matches!(why, BadToken::Inactive | BadToken::Missing)),
        }
        claims[name.as_str()] = with.clone();
        if let Ok((principal, until)) = with_trust(|trusted| introspected(claims.to_string().as_bytes(), NOW, trusted)) {
            prop_assert!(until > NOW);
            prop_assert_eq!(claims["sub"].as_str(), Some(principal.name()), "{}", with);
        }
    }
}
