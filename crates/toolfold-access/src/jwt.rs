//! Tokens that an issuer signed: whether one is what it says, for this place and now.
//!
//! What a reader would get wrong: what is required is required. The library checks `aud` and `iss` where they are there, and
//! takes a token without them unless it is told otherwise; and which algorithm counts is said here, never by the token.

use std::collections::BTreeMap;
use std::sync::Once;

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use jsonwebtoken::crypto::{CryptoProvider, JwtSigner, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind, new_error};
use jsonwebtoken::jwk::{AlgorithmParameters, Jwk, KeyAlgorithm, PublicKeyUse};
use jsonwebtoken::signature::Verifier;
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind, EncodingKey, Validation, decode, decode_header};
use ring::signature::{self as rings, UnparsedPublicKey, VerificationAlgorithm};
use serde::Deserialize;
use serde_json::{Map, Value};
use toolfold_core::{Credential, Identity, Principal, Proof, RESERVED};

/// Signatures of issuers, all of them asymmetric: with a secret whoever can check a token can make one.
const ALGORITHMS: [Algorithm; 9] = [
    Algorithm::RS256,
    Algorithm::RS384,
    Algorithm::RS512,
    Algorithm::PS256,
    Algorithm::PS384,
    Algorithm::PS512,
    Algorithm::ES256,
    Algorithm::ES384,
    Algorithm::EdDSA,
];
/// Seconds by which clocks may differ.
const LEEWAY: u64 = 30;
const MOST_KEYS: usize = 100;
const LONGEST_NAME: usize = 256;
/// Values of one claim, and claims of one token, that rules can speak of.
const MOST_VALUES: usize = 512;
const MOST_CLAIMS: usize = 128;
/// Seconds that what an issuer says of a token is good for what stays open, where it does not say until when.
const UNSAID: u64 = 60 * 60;

/// Why a token is not accepted. For the record; whoever presented it hears that it is not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadToken {
    #[error("not a token that could be read")]
    Malformed,
    #[error("of an issuer that is not accepted")]
    Issuer,
    #[error("signed with an algorithm that is not accepted")]
    Algorithm,
    #[error("signed with a key that the issuer does not have")]
    UnknownKey,
    #[error("not signed by the issuer")]
    Signature,
    #[error("not for this place")]
    Audience,
    #[error("expired")]
    Expired,
    #[error("not valid yet")]
    Immature,
    #[error("without a claim that is required")]
    Missing,
    #[error("not an access token")]
    Kind,
    #[error("bound to a key, and shown without a proof of having it")]
    Bound,
    #[error("for a name that nobody may have")]
    Name,
    #[error("not active any more")]
    Inactive,
    #[error("of an issuer that cannot be asked now")]
    Unanswered,
}

/// Whose word is taken, and what is read out of it.
#[derive(Debug, Clone)]
pub struct Trusted<'a> {
    pub issuer: &'a str,
    /// What the token may be for; one of these must be said.
    pub audiences: &'a [String],
    pub name_claim: &'a str,
    pub groups_claim: &'a str,
}

/// The keys of an issuer.
#[derive(Debug, Clone, Default)]
pub struct Keys(Vec<Jwk>);

impl Keys {
    /// From a JWK set. Keys of kinds that nobody here knows are left out, and so is what is too much.
    pub fn parse(bytes: &[u8]) -> Option<Keys> {
        #[derive(Deserialize)]
        struct Set {
            keys: Vec<Value>,
        }
        let set: Set = serde_json::from_slice(bytes).ok()?;
        let known = set.keys.into_iter().take(MOST_KEYS).filter_map(|key| serde_json::from_value::<Jwk>(key).ok());
        let signs = |key: &Jwk| key.common.public_key_use.as_ref().is_none_or(|used| *used == PublicKeyUse::Signature);
        Some(Keys(known.filter(signs).collect()))
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether a token could be signed with one of these, by the name of its key.
    pub fn have(&self, kid: Option<&str>) -> bool {
        self.named(kid).next().is_some()
    }

    fn named<'k>(&'k self, kid: Option<&'k str>) -> impl Iterator<Item = &'k Jwk> {
        self.0.iter().filter(move |key| kid.is_none_or(|kid| key.common.key_id.as_deref() == Some(kid)))
    }
}

/// What a token says of its issuer and its key, not believed yet: whose keys to look at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Claimed {
    pub issuer: String,
    pub kid: Option<String>,
}

/// Whether a token has the shape of a signed one: nobody is asked about such a one, whether or not it can be read.
pub fn is_signed(token: &str) -> bool {
    let mut parts = token.split('.');
    let header = parts.next().and_then(|header| BASE64.decode(header).ok());
    let header = header.and_then(|header| serde_json::from_slice::<Map<String, Value>>(&header).ok());
    parts.count() == 2 && header.is_some_and(|header| header.contains_key("alg"))
}

/// Reads where a token says it is from.
pub fn claimed(token: &str) -> Result<Claimed, BadToken> {
    #[derive(Deserialize)]
    struct Origin {
        iss: Option<String>,
    }
    let header = decode_header(token).map_err(|error| kind_of(&error))?;
    let origin: Origin = jsonwebtoken::dangerous::insecure_decode_claims(token).map_err(|_| BadToken::Malformed)?;
    Ok(Claimed { issuer: origin.iss.ok_or(BadToken::Missing)?, kid: header.kid })
}

/// Who a token says it is from, where all that it says holds.
pub fn verify(token: &str, keys: &Keys, trusted: &Trusted<'_>) -> Result<Principal, BadToken> {
    install();
    let header = decode_header(token).map_err(|error| kind_of(&error))?;
    if !ALGORITHMS.contains(&header.alg) {
        return Err(BadToken::Algorithm);
    }
    // Whoever wrote it says that it means something else to those who do not know these; and a list of none is none.
    if header.crit.is_some() {
        return Err(BadToken::Kind);
    }
    let typ = header.typ.as_deref().map(str::to_ascii_lowercase);
    let typ = typ.as_deref().map(|typ| typ.strip_prefix("application/").unwrap_or(typ));
    if !matches!(typ, None | Some("at+jwt" | "jwt")) {
        return Err(BadToken::Kind);
    }
    let mut validation = Validation::new(header.alg);
    validation.leeway = LEEWAY;
    validation.validate_nbf = true;
    validation.set_required_spec_claims(&["exp", "aud", "iss"]);
    validation.set_issuer(&[trusted.issuer]);
    validation.set_audience(trusted.audiences);
    let mut outcome = Err(BadToken::UnknownKey);
    for key in keys.named(header.kid.as_deref()).filter(|key| is_for(key, header.alg)) {
        let Ok(key) = DecodingKey::from_jwk(key) else { continue };
        outcome = decode::<Map<String, Value>>(token, &key, &validation).map_err(|error| kind_of(&error));
        if !matches!(outcome, Err(BadToken::Signature)) {
            break;
        }
    }
    let claims = outcome?.claims;
    // An issuer that does not mark access tokens may be asked to accept an ID token in their place.
    if typ != Some("at+jwt") && ["nonce", "at_hash", "c_hash"].iter().any(|claim| claims.contains_key(*claim)) {
        return Err(BadToken::Kind);
    }
    let ends_at = claims.get("exp").and_then(Value::as_f64).map(|end| (end as u64).saturating_add(LEEWAY));
    let principal = principal(&claims, trusted, Proof::Signed(trusted.issuer.to_owned()))?;
    Ok(principal.showing(Credential { given_at: None, ends_at }))
}

/// Who an issuer says a token is of, which it was asked about (RFC 7662). `now` in seconds since 1970.
pub fn introspected(answer: &[u8], now: u64, trusted: &Trusted<'_>) -> Result<(Principal, u64), BadToken> {
    let claims: Map<String, Value> = serde_json::from_slice(answer).map_err(|_| BadToken::Malformed)?;
    if claims.get("active").and_then(Value::as_bool) != Some(true) {
        return Err(BadToken::Inactive);
    }
    // It may leave out when that ends: that it is good now it has said.
    let until = match claims.get("exp") {
        Some(end) => end.as_u64().ok_or(BadToken::Missing)?,
        None => now.saturating_add(UNSAID),
    };
    if until <= now {
        return Err(BadToken::Expired);
    }
    if claims.get("nbf").and_then(Value::as_u64).is_some_and(|from| from > now + LEEWAY) {
        return Err(BadToken::Immature);
    }
    if claims.get("iss").is_some_and(|issuer| issuer.as_str() != Some(trusted.issuer)) {
        return Err(BadToken::Issuer);
    }
    let audience = values(claims.get("aud"));
    if audience.is_empty() {
        return Err(BadToken::Missing);
    }
    if !audience.iter().any(|one| trusted.audiences.contains(one)) {
        return Err(BadToken::Audience);
    }
    let principal = principal(&claims, trusted, Proof::Introspected(trusted.issuer.to_owned()))?;
    Ok((principal.showing(Credential { given_at: None, ends_at: Some(until) }), until))
}

fn principal(claims: &Map<String, Value>, trusted: &Trusted<'_>, proof: Proof) -> Result<Principal, BadToken> {
    // Whoever has it and not its key has stolen it; and here nobody is asked to show that they have the key (DPoP).
    if claims.get("cnf").is_some_and(|bound| bound.get("jkt").is_some()) {
        return Err(BadToken::Bound);
    }
    let name = found(claims, trusted.name_claim).and_then(Value::as_str).ok_or(BadToken::Missing)?;
    let odd = name.is_empty() || name.len() > LONGEST_NAME || name.chars().any(char::is_control);
    if odd || RESERVED.contains(&name.to_lowercase().as_str()) {
        return Err(BadToken::Name);
    }
    let words = |claim: &str| -> Vec<String> {
        values(claims.get(claim)).iter().flat_map(|text| text.split_whitespace().map(str::to_owned)).collect()
    };
    let scopes = words("scope").into_iter().chain(words("scp")).take(MOST_VALUES).collect();
    let groups = values(found(claims, trusted.groups_claim));
    let claims: BTreeMap<String, Vec<String>> = claims
        .iter()
        .take(MOST_CLAIMS)
        .map(|(name, value)| (name.clone(), values(Some(value))))
        .filter(|(_, values)| !values.is_empty())
        .collect();
    Ok(Principal::new(Identity { name: name.to_owned(), proof, groups, scopes, claims }))
}

/// A claim by its name, or by the names that lead to it: `realm_access.roles`.
fn found<'c>(claims: &'c Map<String, Value>, name: &str) -> Option<&'c Value> {
    claims.get(name).or_else(|| {
        let (first, rest) = name.split_once('.')?;
        rest.split('.').try_fold(claims.get(first)?, |value, step| value.get(step))
    })
}

/// What a claim says: texts, numbers and truths, one or several.
fn values(value: Option<&Value>) -> Vec<String> {
    let text = |value: &Value| match value {
        Value::String(text) => Some(text.clone()),
        Value::Number(number) => Some(number.to_string()),
        Value::Bool(truth) => Some(truth.to_string()),
        _ => None,
    };
    match value {
        Some(Value::Array(several)) => several.iter().take(MOST_VALUES).filter_map(text).collect(),
        Some(one) => text(one).into_iter().collect(),
        None => Vec::new(),
    }
}

/// Whether a key is of the kind that an algorithm needs, and not for another one.
fn is_for(key: &Jwk, algorithm: Algorithm) -> bool {
    use Algorithm::*;
    let fits = match &key.algorithm {
        AlgorithmParameters::RSA(_) => matches!(algorithm, RS256 | RS384 | RS512 | PS256 | PS384 | PS512),
        AlgorithmParameters::EllipticCurve(_) => matches!(algorithm, ES256 | ES384),
        AlgorithmParameters::OctetKeyPair(_) => algorithm == EdDSA,
        _ => false,
    };
    let said: Option<KeyAlgorithm> = key.common.key_algorithm;
    fits && said.is_none_or(|said| format!("{said:?}") == format!("{algorithm:?}"))
}

fn kind_of(error: &Error) -> BadToken {
    match error.kind() {
        ErrorKind::InvalidSignature => BadToken::Signature,
        ErrorKind::ExpiredSignature => BadToken::Expired,
        ErrorKind::ImmatureSignature => BadToken::Immature,
        ErrorKind::InvalidIssuer => BadToken::Issuer,
        ErrorKind::InvalidAudience => BadToken::Audience,
        ErrorKind::MissingRequiredClaim(_) | ErrorKind::InvalidClaimFormat(_) => BadToken::Missing,
        ErrorKind::InvalidAlgorithm | ErrorKind::InvalidAlgorithmName | ErrorKind::UnsupportedAlgorithm => {
            BadToken::Algorithm
        }
        _ => BadToken::Malformed,
    }
}

/// Makes ring check the signatures, once in a process. Nothing is ever signed this way.
fn install() {
    static PROVIDER: CryptoProvider = CryptoProvider {
        signer_factory: no_signer,
        verifier_factory: verifier,
        key_utils: KeyUtils::new_unimplemented(),
    };
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        // Another one in its place would be of this program too.
        let _ = PROVIDER.install_default();
    });
}

fn no_signer(_: &Algorithm, _: &EncodingKey) -> Result<Box<dyn JwtSigner>, Error> {
    Err(new_error(ErrorKind::UnsupportedAlgorithm))
}

fn verifier(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>, Error> {
    Ok(Box::new(Ring { algorithm: *algorithm, key: key.clone() }))
}

struct Ring {
    algorithm: Algorithm,
    key: DecodingKey,
}

impl JwtVerifier for Ring {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}

impl Verifier<Vec<u8>> for Ring {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), jsonwebtoken::signature::Error> {
        let bad = |_| jsonwebtoken::signature::Error::new();
        match self.key.kind() {
            DecodingKeyKind::RsaModulusExponent { n, e } => {
                let parameters = rsa(self.algorithm).ok_or(jsonwebtoken::signature::Error::new())?;
                rings::RsaPublicKeyComponents { n, e }.verify(parameters, message, signature).map_err(bad)
            }
            DecodingKeyKind::SecretOrDer(public) => {
                let algorithm = curve(self.algorithm).ok_or(jsonwebtoken::signature::Error::new())?;
                UnparsedPublicKey::new(algorithm, public).verify(message, signature).map_err(bad)
            }
        }
    }
}

/// Keys below 2048 bits are no keys.
fn rsa(algorithm: Algorithm) -> Option<&'static rings::RsaParameters> {
    Some(match algorithm {
        Algorithm::RS256 => &rings::RSA_PKCS1_2048_8192_SHA256,
        Algorithm::RS384 => &rings::RSA_PKCS1_2048_8192_SHA384,
        Algorithm::RS512 => &rings::RSA_PKCS1_2048_8192_SHA512,
        Algorithm::PS256 => &rings::RSA_PSS_2048_8192_SHA256,
        Algorithm::PS384 => &rings::RSA_PSS_2048_8192_SHA384,
        Algorithm::PS512 => &rings::RSA_PSS_2048_8192_SHA512,
        _ => return None,
    })
}

fn curve(algorithm: Algorithm) -> Option<&'static dyn VerificationAlgorithm> {
    Some(match algorithm {
        Algorithm::ES256 => &rings::ECDSA_P256_SHA256_FIXED,
        Algorithm::ES384 => &rings::ECDSA_P384_SHA384_FIXED,
        Algorithm::EdDSA => &rings::ED25519,
        _ => return None,
    })
}
