//! What a person who runs Toolfold without a token types into the page, before it starts or stops anything.
//!
//! Another user of the same machine, or a program in a sandbox, can reach loopback too: they may look, as they always
//! could. The key is shown where only whoever runs the process looks.

use std::sync::OnceLock;

use toolfold_core::{Secret, to_hex};

/// The key of this process, made when it is first asked for. None where the system has no randomness: then nothing can
/// be changed.
pub fn page_key() -> Option<&'static Secret> {
    static KEY: OnceLock<Option<Secret>> = OnceLock::new();
    KEY.get_or_init(made).as_ref()
}

fn made() -> Option<Secret> {
    let mut bytes = [0u8; 12];
    getrandom::fill(&mut bytes).ok()?;
    Some(Secret::new(to_hex(&bytes)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_stays_the_same_and_is_long() {
        let (one, other) = (page_key().unwrap(), page_key().unwrap());
        assert_eq!((one, one.expose().len()), (other, 24));
        assert_ne!(made(), made());
    }
}
