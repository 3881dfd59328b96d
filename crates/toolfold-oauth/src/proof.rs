//! Proofs that whoever presents a token has the key it is bound to (DPoP, RFC 9449). A proof is for one request and is
//! made anew for each.

use serde_json::json;
use toolfold_core::Secret;
use url::Url;

use crate::key::Key;
use crate::problem::Problem;
use crate::text::{base64url, chance, sha256};

/// What makes proofs with one key.
pub struct Proofs<'a> {
    pub key: &'a Key,
    /// What the server that is asked wants in it, as far as it has said.
    pub nonce: Option<&'a str>,
}

impl Proofs<'_> {
    /// A proof for one request; `token`: the one that is presented with it, if one is.
    pub fn of(&self, method: &str, url: &str, token: Option<&Secret>, now: u64) -> Result<String, Problem> {
        let mut place = Url::parse(url).map_err(|_| Problem::Key("there is no address to prove it for"))?;
        place.set_query(None);
        place.set_fragment(None);
        let id = chance().ok_or(Problem::Key("the system has no random numbers"))?;
        let mut claims = json!({"jti": id, "htm": method, "htu": place.as_str(), "iat": now});
        if let Some(token) = token {
            claims["ath"] = json!(base64url(&sha256(token.expose().as_bytes())));
        }
        if let Some(nonce) = self.nonce {
            claims["nonce"] = json!(nonce);
        }
        let public = self.key.public().ok_or(Problem::Key("tokens are bound to keys of type P-256"))?;
        self.key.signed(json!({"typ": "dpop+jwt", "jwk": public}), &claims)
    }
}
