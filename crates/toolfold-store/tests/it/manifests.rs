//! What is saved is what is loaded, for the right server in the right configuration.

use std::sync::Arc;

use toolfold_store::{StoreError, StoredManifest};

use crate::{Home, key, open, remembered, save, server};

pub(crate) async fn saved_replaced_and_forgotten(home: Home) {
    let store = home.open().await;
    save(&store, "a", "1", "{\"a\":1}").await.unwrap();
    save(&store, "a", "1", "{\"a\":2}").await.unwrap();
    save(&store, "b", "1", "\u{0}é not even JSON").await.unwrap();
    store.close().await;

    let store = home.open().await;
    let expected = [("a", "{\"a\":2}"), ("b", "\u{0}é not even JSON")].map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(remembered(&store).await, expected);
    store.forget_manifest(&server("a")).await.unwrap();
    store.forget_manifest(&server("never-seen")).await.unwrap();
    assert_eq!(remembered(&store).await, expected[1..]);
}

pub(crate) async fn one_name_in_two_projects(home: Home) {
    let store = home.open().await;
    save(&store, "git", "here", "1").await.unwrap();
    save(&store, "git", "there", "2").await.unwrap();
    assert_eq!(store.load_manifests().await.unwrap().len(), 2);
    let wanted = [(server("git"), key("there")), (server("git"), key("elsewhere")), (server("x"), key("here"))];
    let found = store.load_manifests_of(wanted.to_vec()).await.unwrap();
    assert_eq!(found, [StoredManifest { server: server("git"), config_key: key("there"), json: "2".to_owned() }]);
}

pub(crate) async fn old_configurations_of_a_name_are_dropped(home: Home) {
    let store = home.open().await;
    save(&store, "other", "x", "x").await.unwrap();
    for i in 0..20 {
        save(&store, "a", &i.to_string(), &i.to_string()).await.unwrap();
    }
    let newest = store.load_manifests_of(vec![(server("a"), key("19"))]).await.unwrap();
    assert_eq!(newest[0].json, "19");
    assert_eq!(store.load_manifests().await.unwrap().len(), 8 + 1);
}

pub(crate) async fn shared_between_threads(home: Home) {
    let store = Arc::new(home.open().await);
    let mut saving = tokio::task::JoinSet::new();
    for i in 0..8 {
        let store = Arc::clone(&store);
        saving.spawn(async move { save(&store, &format!("s{i}"), "k", "{}").await });
    }
    saving.join_all().await.into_iter().for_each(|saved| saved.unwrap());
    assert_eq!(store.load_manifests().await.unwrap().len(), 8);
}

/// Nobody has to wait for a write for it to be done, and a store that is closed says so.
pub(crate) async fn what_was_asked_before_it_closed_is_done(home: Home) {
    let store = home.open().await;
    for i in 0..20 {
        drop(store.save_manifest(&server(&format!("s{i}")), &key("k"), || "{}".to_owned()));
    }
    store.close().await;
    assert_eq!(save(&store, "late", "k", "{}").await, Err(StoreError::Closed));
    assert_eq!(home.open().await.load_manifests().await.unwrap().len(), 20);
}

/// A disk that hangs fills a queue with a bound; whoever comes after that hears it at once.
pub(crate) async fn more_than_can_wait_is_refused(home: Home) {
    let store = home.open().await;
    let (go, wait) = std::sync::mpsc::channel::<()>();
    let stuck = store.save_manifest(&server("stuck"), &key("k"), move || {
        let _ = wait.recv();
        String::new()
    });
    let waiting: Vec<_> = (0..1_000).map(|_| store.most_used(1, 1)).collect();
    drop(go);
    stuck.await.unwrap();
    let mut refused = 0;
    for answer in waiting {
        refused += usize::from(matches!(answer.await, Err(StoreError::Overloaded { waiting: 256, .. })));
    }
    assert!((744..=745).contains(&refused), "{refused}");
    assert_eq!(store.load_manifests().await.unwrap().len(), 1);
}

/// One question that goes wrong is one question that goes wrong.
pub(crate) async fn a_panic_does_not_end_it(home: Home) {
    let store = home.open().await;
    let lost = store.save_manifest(&server("a"), &key("k"), || panic!("on purpose"));
    assert_eq!(lost.await, Err(StoreError::Interrupted));
    save(&store, "a", "k", "{}").await.unwrap();
    assert_eq!(remembered(&store).await.len(), 1);
}

pub(crate) async fn fifty_servers_and_six_megabytes(home: Home) {
    let json = format!("{:?}", "x".repeat(120_000));
    let store = home.open().await;
    for i in 0..50 {
        save(&store, &format!("s{i}"), "k", &json).await.unwrap();
    }
    store.close().await;
    let store = home.open().await;
    let begin = std::time::Instant::now();
    let loaded = store.load_manifests().await.unwrap();
    println!("loaded {} manifests in {:?}", loaded.len(), begin.elapsed());
    assert!(loaded.len() == 50 && loaded.iter().all(|manifest| manifest.json == json));
}

#[cfg(unix)]
#[tokio::test]
async fn nobody_else_may_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sub/toolfold.db");
    let store = open(&path).await;
    save(&store, "a", "1", "1").await.unwrap();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    for entry in std::fs::read_dir(path.parent().unwrap()).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}
