//! The store on a real disk, with other processes in the way.

#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "a test that panics has said what it had to say")]

mod children;
mod damage;
mod failures;
mod habits;
mod logins;
mod manifests;
mod pins;
mod tokens;
mod toolsets;
mod usage;
mod vectors;

use std::path::Path;

use toolfold_core::{Fingerprint, ServerName};
use toolfold_store::{Store, StoreError};

async fn open(path: &Path) -> Store {
    let opened = Store::open(Some(path)).await.unwrap();
    assert_eq!(opened.notice, None);
    opened.store
}

fn server(name: &str) -> ServerName {
    ServerName::new(name).unwrap()
}

fn key(text: &str) -> Fingerprint {
    Fingerprint::of_text(text)
}

/// Remembers a list.
async fn save(store: &Store, name: &str, config: &str, json: &str) -> Result<(), StoreError> {
    let json = json.to_owned();
    store.save_manifest(&server(name), &key(config), move || json).await
}

/// Name and text of everything that is remembered, in order.
async fn remembered(store: &Store) -> Vec<(String, String)> {
    let mut all: Vec<_> =
        store.load_manifests().await.unwrap().into_iter().map(|m| (m.server.to_string(), m.json)).collect();
    all.sort();
    all
}
