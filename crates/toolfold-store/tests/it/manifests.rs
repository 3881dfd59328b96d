//! What is saved is what is loaded, for the right server in the right configuration.

use std::sync::Arc;

use toolfold_store::{Store, StoredManifest};

use crate::{key, open, remembered, server};

#[test]
fn saved_replaced_and_forgotten() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("deep/er/toolfold.db");
    let store = open(&path);
    store.save_manifest(&server("a"), &key("1"), "{\"a\":1}").unwrap();
    store.save_manifest(&server("a"), &key("1"), "{\"a\":2}").unwrap();
    store.save_manifest(&server("b"), &key("1"), "\u{0}é not even JSON").unwrap();
    drop(store);

    let store = open(&path);
    let expected = [("a", "{\"a\":2}"), ("b", "\u{0}é not even JSON")].map(|(a, b)| (a.to_owned(), b.to_owned()));
    assert_eq!(remembered(&store), expected);
    store.forget_manifest(&server("a")).unwrap();
    store.forget_manifest(&server("never-seen")).unwrap();
    assert_eq!(remembered(&store), expected[1..]);
}

#[test]
fn one_name_in_two_projects() {
    let store = Store::open(None).unwrap().store;
    store.save_manifest(&server("git"), &key("here"), "1").unwrap();
    store.save_manifest(&server("git"), &key("there"), "2").unwrap();
    assert_eq!(store.load_manifests().unwrap().len(), 2);
    let wanted = [(server("git"), key("there")), (server("git"), key("elsewhere")), (server("x"), key("here"))];
    let found = store.load_manifests_of(&wanted).unwrap();
    assert_eq!(found, [StoredManifest { server: server("git"), config_key: key("there"), json: "2".to_owned() }]);
}

#[test]
fn old_configurations_of_a_name_are_dropped() {
    let store = Store::open(None).unwrap().store;
    store.save_manifest(&server("other"), &key("x"), "x").unwrap();
    for i in 0..20 {
        store.save_manifest(&server("a"), &key(&i.to_string()), &i.to_string()).unwrap();
    }
    let newest = store.load_manifests_of(&[(server("a"), key("19"))]).unwrap();
    assert_eq!(newest[0].json, "19");
    assert_eq!(store.load_manifests().unwrap().len(), 8 + 1);
}

#[test]
fn shared_between_threads() {
    let store = Arc::new(Store::open(None).unwrap().store);
    std::thread::scope(|scope| {
        for i in 0..8 {
            let store = Arc::clone(&store);
            scope.spawn(move || store.save_manifest(&server(&format!("s{i}")), &key("k"), "{}").unwrap());
        }
    });
    assert_eq!(store.load_manifests().unwrap().len(), 8);
}

#[test]
fn fifty_servers_and_six_megabytes() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toolfold.db");
    let json = format!("{:?}", "x".repeat(120_000));
    let store = open(&path);
    for i in 0..50 {
        store.save_manifest(&server(&format!("s{i}")), &key("k"), &json).unwrap();
    }
    drop(store);
    let store = open(&path);
    let begin = std::time::Instant::now();
    let loaded = store.load_manifests().unwrap();
    println!("loaded {} manifests in {:?}", loaded.len(), begin.elapsed());
    assert!(loaded.len() == 50 && loaded.iter().all(|manifest| manifest.json == json));
}

#[cfg(unix)]
#[test]
fn nobody_else_may_read_it() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("sub/toolfold.db");
    let store = open(&path);
    store.save_manifest(&server("a"), &key("1"), "1").unwrap();
    let mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode(path.parent().unwrap()), 0o700);
    for entry in std::fs::read_dir(path.parent().unwrap()).unwrap() {
        let path = entry.unwrap().path();
        assert_eq!(mode(&path), 0o600, "{}", path.display());
    }
}
