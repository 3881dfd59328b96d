//! Keys that sign: a client's own, and those that tokens are bound to.

use std::fmt;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use ring::rand::SystemRandom;
use ring::signature::{
    ECDSA_P256_SHA256_FIXED_SIGNING, ECDSA_P384_SHA384_FIXED_SIGNING, EcdsaKeyPair, Ed25519KeyPair, KeyPair,
    RSA_PKCS1_SHA256, RsaKeyPair,
};
use serde_json::{Value, json};

use crate::problem::Problem;
use crate::text::base64url;

pub struct Key(Pair);

enum Pair {
    P256(EcdsaKeyPair),
    P384(EcdsaKeyPair),
    Ed25519(Ed25519KeyPair),
    Rsa(Box<RsaKeyPair>),
}

const UNUSABLE: Problem =
    Problem::Key("it must be a private key of type EC (P-256, P-384), Ed25519 or RSA as PKCS#8: BEGIN PRIVATE KEY");
const BROKEN: Problem = Problem::Key("it does not sign");

impl Key {
    /// A private key as `openssl genpkey` writes it.
    pub fn from_pem(text: &str) -> Result<Key, Problem> {
        let body = text.split_once("-----BEGIN PRIVATE KEY-----").and_then(|(_, rest)| rest.split_once("-----END"));
        let (body, _) = body.ok_or(UNUSABLE)?;
        // A variable may hold the line breaks as `\n`.
        let body: String = body.replace("\\n", "").split_whitespace().collect();
        Key::from_pkcs8(&STANDARD.decode(body).map_err(|_| UNUSABLE)?)
    }

    pub fn from_pkcs8(der: &[u8]) -> Result<Key, Problem> {
        let chance = SystemRandom::new();
        let p256 = || EcdsaKeyPair::from_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, der, &chance).map(Pair::P256);
        let p384 = || EcdsaKeyPair::from_pkcs8(&ECDSA_P384_SHA384_FIXED_SIGNING, der, &chance).map(Pair::P384);
        let ed25519 = || Ed25519KeyPair::from_pkcs8_maybe_unchecked(der).map(Pair::Ed25519);
        let rsa = || RsaKeyPair::from_pkcs8(der).map(|pair| Pair::Rsa(Box::new(pair)));
        let pair = p256().or_else(|_| p384()).or_else(|_| ed25519()).or_else(|_| rsa());
        pair.map(Key).map_err(|_| UNUSABLE)
    }

    /// A new key for a token to be bound to, and how to have it again.
    pub fn generate() -> Result<(Key, Vec<u8>), Problem> {
        let made = EcdsaKeyPair::generate_pkcs8(&ECDSA_P256_SHA256_FIXED_SIGNING, &SystemRandom::new());
        let der = made.map_err(|_| BROKEN)?.as_ref().to_vec();
        Ok((Key::from_pkcs8(&der)?, der))
    }

    pub fn algorithm(&self) -> &'static str {
        match &self.0 {
            Pair::P256(_) => "ES256",
            Pair::P384(_) => "ES384",
            Pair::Ed25519(_) => "EdDSA",
            Pair::Rsa(_) => "RS256",
        }
    }

    /// The public half, where it is of the type that tokens are bound to.
    pub(crate) fn public(&self) -> Option<Value> {
        let Pair::P256(pair) = &self.0 else { return None };
        // 4, x, y.
        let point = pair.public_key().as_ref().get(1..65)?;
        let (x, y) = point.split_at(32);
        Some(json!({"kty": "EC", "crv": "P-256", "x": base64url(x), "y": base64url(y)}))
    }

    /// A signed token with this header, to which the algorithm is added.
    pub(crate) fn signed(&self, mut header: Value, claims: &Value) -> Result<String, Problem> {
        header["alg"] = json!(self.algorithm());
        let text = format!("{}.{}", base64url(header.to_string().as_bytes()), base64url(claims.to_string().as_bytes()));
        let signature = self.sign(text.as_bytes())?;
        Ok(format!("{text}.{}", base64url(&signature)))
    }

    fn sign(&self, text: &[u8]) -> Result<Vec<u8>, Problem> {
        let chance = SystemRandom::new();
        match &self.0 {
            Pair::P256(pair) | Pair::P384(pair) => {
                pair.sign(&chance, text).map(|signature| signature.as_ref().to_vec()).map_err(|_| BROKEN)
            }
            Pair::Ed25519(pair) => Ok(pair.sign(text).as_ref().to_vec()),
            Pair::Rsa(pair) => {
                let mut signature = vec![0; pair.public().modulus_len()];
                pair.sign(&RSA_PKCS1_SHA256, &chance, text, &mut signature).map_err(|_| BROKEN)?;
                Ok(signature)
            }
        }
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

#[cfg(test)]
mod tests {
    use ring::signature::{ECDSA_P256_SHA256_FIXED, UnparsedPublicKey};

    use super::*;

    #[test]
    fn what_is_signed_can_be_verified_with_the_public_half() {
        let (key, der) = Key::generate().unwrap();
        let again = Key::from_pkcs8(&der).unwrap();
        assert_eq!(key.public(), again.public());
        let pem = format!("-----BEGIN PRIVATE KEY-----\n{}\n-----END PRIVATE KEY-----\n", STANDARD.encode(&der));
        let token = Key::from_pem(&pem).unwrap().signed(json!({"typ": "x"}), &json!({"a": 1})).unwrap();
        let (text, signature) = token.rsplit_once('.').unwrap();
        let Pair::P256(pair) = &key.0 else { panic!("another type") };
        let public = UnparsedPublicKey::new(&ECDSA_P256_SHA256_FIXED, pair.public_key().as_ref());
        let signature = base64::engine::general_purpose::URL_SAFE_NO_PAD.decode(signature).unwrap();
        public.verify(text.as_bytes(), &signature).unwrap();
    }

    #[test]
    fn what_is_no_key_is_refused_in_words() {
        for text in
            ["", "x", "-----BEGIN PRIVATE KEY-----\n!!\n-----END PRIVATE KEY-----", "-----BEGIN EC PRIVATE KEY-----"]
        {
            let problem = Key::from_pem(text).unwrap_err().to_string();
            assert!(problem.contains("PKCS#8"), "{problem}");
        }
    }
}
