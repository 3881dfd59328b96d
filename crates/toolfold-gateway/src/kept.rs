//! What outlives the process, for whoever needs it: empty until the writer has opened it, and where it cannot be opened.
//!
//! Where several replicas share it, it is far away and may be gone for a while: what every request needs of it is held here
//! too, as it was when somebody last looked (`following.rs`).

use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

use arc_swap::ArcSwapOption;
use toolfold_store::{Store, StoredToken};

#[derive(Clone, Default)]
pub(crate) struct Kept(Arc<Inside>);

#[derive(Default)]
struct Inside {
    store: OnceLock<Arc<Store>>,
    tokens: ArcSwapOption<TokenBook>,
}

/// All tokens by their hash.
pub(crate) type TokenBook = HashMap<[u8; 32], StoredToken>;

impl Kept {
    pub(crate) fn get(&self) -> Option<&Arc<Store>> {
        self.0.store.get()
    }

    /// Once: a writer opens one store.
    pub(crate) fn set(&self, store: Arc<Store>) {
        let _ = self.0.store.set(store);
    }

    /// The tokens as they were when somebody last looked; `None` where the store is near, and always asked itself.
    pub(crate) fn tokens(&self) -> Option<Arc<TokenBook>> {
        self.0.tokens.load_full()
    }

    pub(crate) fn set_tokens(&self, tokens: TokenBook) {
        self.0.tokens.store(Some(Arc::new(tokens)));
    }
}
