//! Who somebody is that comes with a token, as far as the record knows.

use std::time::{SystemTime, UNIX_EPOCH};

use toolfold_core::Principal;
use toolfold_store::StoreError;

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
        Ok(token.map(|token| Principal::named(&token.name, token.groups)))
    }

    /// Whose tokens there are that can still be used.
    pub async fn names(&self) -> Result<Vec<String>, StoreError> {
        self.waiting.published().await;
        let Some(store) = self.store.get() else { return Ok(Vec::new()) };
        let tokens = match self.store.tokens() {
            Some(known) => known.values().cloned().collect(),
            None => store.tokens().await?,
        };
        let tokens = tokens.into_iter().filter(|token| token.expires_at.is_none_or(|at| at > now()));
        Ok(tokens.map(|token| token.name).collect())
    }

    /// Whoever has a token under this name, as they would come with it.
    pub async fn owner(&self, name: &str) -> Option<Principal> {
        self.waiting.published().await;
        let tokens = self.store.get()?.tokens().await.ok()?;
        tokens.into_iter().find(|token| token.name == name).map(|token| Principal::named(&token.name, token.groups))
    }

    /// Whether any was given out and can still be used.
    pub async fn any(&self) -> Result<bool, StoreError> {
        Ok(!self.names().await?.is_empty())
    }
}

/// Milliseconds since 1970.
fn now() -> i64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_millis() as i64)
}
