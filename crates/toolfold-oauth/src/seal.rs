//! What is kept on a disk is sealed: nobody reads it without the key, and nothing sealed for one server, login server and
//! person opens as another's.

use std::fmt;

use ring::aead::{AES_256_GCM, Aad, LessSafeKey, NONCE_LEN, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, Salt};
use ring::rand::{SecureRandom, SystemRandom};
use toolfold_core::Secret;

/// Shorter keys can be guessed.
const SHORTEST: usize = 32;
const SALT: &[u8] = b"toolfold logins 1";

pub struct Seal(LessSafeKey);

/// Why something does not open, or cannot be sealed. Which of several reasons it is nobody can tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum BadSeal {
    #[error("the key for logins is too short: it takes 32 characters or more, as `openssl rand -base64 32` prints")]
    Short,
    #[error(
        "a login that is kept does not open: the key is another one than it was kept with, or the file was changed"
    )]
    Closed,
    #[error("the system has no random numbers")]
    NoChance,
}

impl Seal {
    /// A key made from any text that is long enough not to be guessed.
    pub fn new(key: &Secret) -> Result<Seal, BadSeal> {
        let text = key.expose().trim();
        if text.len() < SHORTEST {
            return Err(BadSeal::Short);
        }
        let derived = Salt::new(HKDF_SHA256, SALT).extract(text.as_bytes());
        let derived = derived.expand(&[b"seal"], &AES_256_GCM).map_err(|_| BadSeal::Closed)?;
        Ok(Seal(LessSafeKey::new(UnboundKey::from(derived))))
    }

    /// A text that is as good a key as any.
    pub fn generate() -> Result<Secret, BadSeal> {
        crate::text::chance().map(Secret::new).ok_or(BadSeal::NoChance)
    }

    /// Seals bytes for whoever names the same parts again.
    pub fn seal(&self, whose: &[&str], plain: &[u8]) -> Result<Vec<u8>, BadSeal> {
        let mut number = [0; NONCE_LEN];
        SystemRandom::new().fill(&mut number).map_err(|_| BadSeal::NoChance)?;
        let mut sealed = plain.to_vec();
        let nonce = Nonce::assume_unique_for_key(number);
        self.0.seal_in_place_append_tag(nonce, about(whose), &mut sealed).map_err(|_| BadSeal::Closed)?;
        Ok([&number[..], &sealed].concat())
    }

    pub fn open(&self, whose: &[&str], sealed: &[u8]) -> Result<Vec<u8>, BadSeal> {
        let (number, rest) = sealed.split_at_checked(NONCE_LEN).ok_or(BadSeal::Closed)?;
        let nonce = Nonce::try_assume_unique_for_key(number).map_err(|_| BadSeal::Closed)?;
        let mut rest = rest.to_vec();
        let plain = self.0.open_in_place(nonce, about(whose), &mut rest).map_err(|_| BadSeal::Closed)?;
        Ok(plain.to_vec())
    }
}

/// Each part with its length, so that no two lists of parts look the same.
fn about(whose: &[&str]) -> Aad<Vec<u8>> {
    let part = |text: &&str| [&(text.len() as u64).to_be_bytes()[..], text.as_bytes()].concat();
    Aad::from(whose.iter().flat_map(part).collect())
}

impl fmt::Debug for Seal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("…")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_same_key_for_the_same_owner_opens_it() {
        let seal = Seal::new(&Seal::generate().unwrap()).unwrap();
        let sealed = seal.seal(&["linear", "https://a.example", "local"], b"refresh-token").unwrap();
        assert!(!sealed.windows(7).any(|part| part == b"refresh"));
        assert_eq!(seal.open(&["linear", "https://a.example", "local"], &sealed).unwrap(), b"refresh-token");
        for whose in [
            ["linear", "https://a.example", "alice"],
            ["linear", "https://b.example", "local"],
            ["other", "https://a.example", "local"],
            ["linearh", "ttps://a.example", "local"],
        ] {
            assert_eq!(seal.open(&whose, &sealed), Err(BadSeal::Closed), "{whose:?}");
        }
        let other = Seal::new(&Seal::generate().unwrap()).unwrap();
        assert_eq!(other.open(&["linear", "https://a.example", "local"], &sealed), Err(BadSeal::Closed));
        for at in 0..sealed.len() {
            let mut changed = sealed.clone();
            changed[at] ^= 1;
            assert_eq!(seal.open(&["linear", "https://a.example", "local"], &changed), Err(BadSeal::Closed));
        }
        assert_eq!(seal.open(&[], &[]), Err(BadSeal::Closed));
    }

    #[test]
    fn a_key_that_can_be_guessed_is_none() {
        assert_eq!(Seal::new(&Secret::new("password")).unwrap_err(), BadSeal::Short);
    }
}
