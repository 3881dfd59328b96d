//! What clients hold for us and bring back: authenticated, bound to whoever it was given to, and of use for a while only.
//! Nothing in it is a secret to them; what matters is that they cannot make one, nor use another's.

use base64::Engine;
use base64::prelude::BASE64_URL_SAFE_NO_PAD as BASE64;
use ring::hmac;

/// How what was sealed begins.
pub const SEALED: &str = "toolfold-state.";

pub struct Seal(hmac::Key);

impl Seal {
    pub fn new(key: [u8; 32]) -> Seal {
        Seal(hmac::Key::new(hmac::HMAC_SHA256, &key))
    }

    /// Seals a text for somebody, until a moment in seconds since 1970.
    pub fn close(&self, whose: &str, until: u64, text: &str) -> String {
        let body = BASE64.encode(format!("{until}\n{text}"));
        let tag = hmac::sign(&self.0, signed(whose, &body).as_bytes());
        format!("{SEALED}{body}.{}", BASE64.encode(tag.as_ref()))
    }

    /// What was sealed for this very somebody, where it is not over.
    pub fn open(&self, whose: &str, now: u64, sealed: &str) -> Option<String> {
        let (until, text) = self.opened(whose, sealed)?;
        (until > now).then_some(text)
    }

    /// The same and until when, whether or not that is over.
    pub(crate) fn opened(&self, whose: &str, sealed: &str) -> Option<(u64, String)> {
        let (body, tag) = sealed.strip_prefix(SEALED)?.split_once('.')?;
        hmac::verify(&self.0, signed(whose, body).as_bytes(), &BASE64.decode(tag).ok()?).ok()?;
        let text = String::from_utf8(BASE64.decode(body).ok()?).ok()?;
        let (until, text) = text.split_once('\n')?;
        Some((until.parse().ok()?, text.to_owned()))
    }
}

/// The length before it keeps whose it is apart from what it is.
fn signed(whose: &str, body: &str) -> String {
    format!("{}\n{whose}\n{body}", whose.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seal_is_good_for_one_and_for_a_while() {
        let seal = Seal::new([1; 32]);
        let sealed = seal.close("alice", 100, "state\nof a server");
        assert_eq!(seal.open("alice", 99, &sealed).as_deref(), Some("state\nof a server"));
        assert_eq!(seal.open("alice", 100, &sealed), None, "over");
        assert_eq!(seal.open("bob", 99, &sealed), None);
        assert_eq!(Seal::new([2; 32]).open("alice", 99, &sealed), None, "of another process");
        for place in 0..sealed.len() {
            let mut changed = sealed.clone().into_bytes();
            changed[place] ^= 1;
            let changed = String::from_utf8_lossy(&changed).into_owned();
            // The last character may have bits that nobody reads.
            assert!(seal.open("alice", 99, &changed).is_none_or(|_| place + 1 == sealed.len()), "{place}");
        }
    }
}
