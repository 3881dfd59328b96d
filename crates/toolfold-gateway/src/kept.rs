//! What outlives the process, for whoever needs it: empty until the writer has opened it, and where it cannot be opened.

use std::sync::{Arc, OnceLock};

use toolfold_store::Store;

#[derive(Clone, Default)]
pub(crate) struct Kept(Arc<OnceLock<Arc<Store>>>);

impl Kept {
    pub(crate) fn get(&self) -> Option<&Arc<Store>> {
        self.0.get()
    }

    /// Once: a writer opens one store.
    pub(crate) fn set(&self, store: Arc<Store>) {
        let _ = self.0.set(store);
    }
}
