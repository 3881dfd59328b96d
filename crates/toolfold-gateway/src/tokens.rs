//! Who somebody is that comes with a token, as far as the record knows.

use std::time::{SystemTime, UNIX_EPOCH};

use toolfold_core::{Credential, Principal};
use toolfold_store::{StoreError, StoredToken};

use crate::kept::Kept;
use crate::progress::Waiting;

/// The tokens that were given out.
pub struct GivenTokens<'a> {
    pub(crate) waiting: &'a Waiting,
    pub(crate) store: &'a Kept,
}

impl GivenTokens<'_> {
    /// Whoever was given the token with this hash; nobody where there is none, or none any more.
    pub async fn holder(&self, hash: [u8; 32]) -> Result<Option<Principal>, StoreError> {
        self.waiting.published().await;
        let Some(store) = self.store.get() else { return Ok(None) };
        let known = self.store.tokens().and_then(|tokens| tokens.get(&hash).cloned());
        let token = match known {
            Some(token) => Some(token).filter(|token| token.expires_at.is_none_or(|at| at > now())),
            // Given out a moment ago, perhaps.
            None => store.token(hash).await?,
        };
        Ok(token.map(presented))
    }

    /// Whose tokens there are that can still be used, and when each was given out.
    pub async fn holders(&self) -> Result<Vec<(String, i64)>, StoreError> {
        self.waiting.published().await;
        match self.store.tokens() {
            Some(known) => Ok(usable(known.values().cloned())),
            None => self.written().await,
        }
    }

    /// The same as the store has it now: what is known here may be older where others share it.
    pub async fn written(&self) -> Result<Vec<(String, i64)>, StoreError> {
        match self.store.get() {
            Some(store) => Ok(usable(store.tokens().await?.into_iter())),
            None => Ok(Vec::new()),
        }
    }

    /// Whoever has a token under this name, as they would come with it.
    pub async fn owner(&self, name: &str) -> Option<Principal> {
        self.waiting.published().await;
        let tokens = self.store.get()?.tokens().await.ok()?;
        tokens.into_iter().find(|token| token.name == name).map(|token| Principal::named(&token.name, token.groups))
    }

    /// Whether any was given out and can still be used.
    pub async fn any(&self) -> Result<bool, StoreError> {
        Ok(!self.holders().await?.is_empty())
    }
}

fn usable(tokens: impl Iterator<Item = StoredToken>) -> Vec<(String, i64)> {
    let tokens = tokens.filter(|token| token.expires_at.is_none_or(|at| at > now()));
    tokens.map(|token| (token.name, token.created_at)).collect()
}

/// Whoever comes with a token.
fn presented(token: StoredToken) -> Principal {
    let ends_at = token.expires_at.and_then(|at| u64::try_from(at.div_euclid(1000) + 1).ok());
    Principal::named(&token.name, token.groups).showing(Credential { given_at: Some(token.created_at), ends_at })
}

/// Milliseconds since 1970.
fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}
