//! Tokens that Toolfold gives out itself: 256 random bits behind a word that scanners for leaked secrets can look for,
//! and a checksum that lets them, and us, tell a token from something of the same shape without asking anybody.
//!
//! What a reader would get wrong: a plain hash is enough here. Slow hashes are for passwords, which can be guessed.

use sha2::{Digest, Sha256};
use toolfold_core::{Secret, to_hex};

/// How every token begins.
pub const TOKEN_PREFIX: &str = "toolfold_";

/// Bytes of the random part, as digits of base 16, and of the checksum.
const RANDOM: usize = 64;
const CHECK: usize = 8;
/// Characters of a token that are shown to tell it from others.
const SHOWN: usize = TOKEN_PREFIX.len() + 6;

/// A token that was just made: the only moment at which it is there as it is.
#[derive(Debug, Clone)]
pub struct NewToken {
    pub secret: Secret,
    pub hash: [u8; 32],
    pub beginning: String,
}

impl NewToken {
    pub fn of(random: [u8; 32]) -> NewToken {
        let body = to_hex(&random);
        let whole = format!("{TOKEN_PREFIX}{body}{}", check(&body));
        NewToken { hash: hash(&whole), beginning: whole[..SHOWN].to_owned(), secret: Secret::new(whole) }
    }
}

/// Whether this is meant to be one of ours.
pub fn is_named_token(token: &str) -> bool {
    token.starts_with(TOKEN_PREFIX)
}

/// What a token is looked up by; `None` where it cannot be one of ours.
pub fn digest(token: &str) -> Option<[u8; 32]> {
    let body = token.strip_prefix(TOKEN_PREFIX).filter(|body| body.len() == RANDOM + CHECK && body.is_ascii())?;
    let (random, given) = body.split_at(RANDOM);
    (check(random) == given).then(|| hash(token))
}

fn hash(token: &str) -> [u8; 32] {
    Sha256::digest(token.as_bytes()).into()
}

fn check(body: &str) -> String {
    to_hex(&Sha256::digest(body.as_bytes())[..CHECK / 2])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_is_known_by_its_hash_and_a_slip_of_the_pen_is_seen() {
        let token = NewToken::of([7; 32]);
        let text = token.secret.expose();
        assert!(text.starts_with("toolfold_0707") && text.len() == 81);
        assert_eq!(digest(text), Some(token.hash));
        assert!(!to_hex(&token.hash).contains(&text[9..20]));
        for wrong in ["", "toolfold_", "tool", &text[1..], &text[..80], &format!("{text}0")] {
            assert_eq!(digest(wrong), None, "{wrong}");
        }
        assert_eq!(digest(&text.replacen("0707", "0708", 1)), None);
        assert_eq!(digest(&format!("toolfold_{}", "é".repeat(36))), None);
    }
}
