//! What a server shares with the others of its program.

use std::sync::Arc;

use toolfold_config::OAuthSettings;
use toolfold_core::Secret;
use toolfold_wire::Memory;

use crate::oauth::{MemoryVault, Vault};
use crate::only::Arbiter;

/// As much as one server may hold of the whole, in messages of its largest size and at least.
const LARGEST_MESSAGES: usize = 2;
const LEAST: usize = 64 * 1024 * 1024;

#[derive(Clone)]
pub struct House {
    /// The budget that everything on its way from and to servers is counted in.
    pub memory: Memory,
    /// What no server should know and nobody should read in what a server says: the token of the program itself.
    pub secrets: Vec<Secret>,
    /// Where logins are kept.
    pub vault: Arc<dyn Vault>,
    pub oauth: Arc<OAuthSettings>,
    /// Where servers run that one of several replicas runs; `None`: here.
    pub arbiter: Option<Arc<dyn Arbiter>>,
}

impl House {
    pub fn new(memory: Memory) -> Self {
        let vault = Arc::new(MemoryVault::default());
        House { memory, secrets: Vec::new(), vault, oauth: Arc::default(), arbiter: None }
    }

    pub(crate) fn part(&self, largest_message: usize) -> Memory {
        self.memory.part(largest_message.saturating_mul(LARGEST_MESSAGES).max(LEAST))
    }

    /// Whether a variable of our own environment is kept from servers: what is meant for Toolfold, and its token under any
    /// name.
    pub(crate) fn keeps(&self, name: &str, value: &str) -> bool {
        let is_secret = |secret: &Secret| !secret.expose().is_empty() && value.contains(secret.expose());
        name.starts_with("TOOLFOLD_") || self.secrets.iter().any(is_secret)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_do_not_inherit_what_is_meant_for_toolfold() {
        let house = House { secrets: vec![Secret::new("s3cret-token")], ..House::new(Memory::new(1)) };
        assert!(house.keeps("TOOLFOLD_TOKEN", "x") && house.keeps("MY_VARIABLE", "Bearer s3cret-token"));
        assert!(!house.keeps("PATH", "/bin") && !house.keeps("GITHUB_TOKEN", "another"));
    }
}
