//! The record: made when it is needed, never replaced, and missed when it is gone.

use std::path::PathBuf;

use insta::assert_snapshot;
use tempfile::TempDir;
use toolfold_core::Fingerprint;
use toolfold_store::{NewPin, PinSource, Pinned, Store, StoreError, StoredPin};

use crate::{Home, key, open, save, server};

fn source(name: &str) -> PinSource {
    PinSource { server: server(name), key: key("program") }
}

fn pin(name: &str, looks: &str) -> NewPin {
    let pin = StoredPin {
        kind: "tool".to_owned(),
        name: name.to_owned(),
        accepted: Some(key(looks)),
        denied: None,
        by: None,
        findings: 0,
    };
    NewPin { pin, definition: Some(looks.to_owned()) }
}

async fn accepted(store: &Store, name: &str) -> Option<Fingerprint> {
    match store.pins(&source("a")).await.unwrap() {
        Pinned::Known(known) => known.pins.into_iter().find(|pin| pin.name == name).and_then(|pin| pin.accepted),
        _ => None,
    }
}

struct Place {
    folder: TempDir,
    path: PathBuf,
    record: PathBuf,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toolfold.db");
    let record = folder.path().join("toolfold.record.db");
    Place { folder, path, record }
}

/// A record with one pin in it, closed.
async fn written() -> Place {
    let place = place();
    let store = open(&place.path).await;
    assert!(!store.pin_new(&source("a"), vec![pin("x", "1")]).await.unwrap().1);
    store.close().await;
    place
}

#[tokio::test]
async fn made_when_there_is_something_to_put_in_it() {
    let place = place();
    let store = open(&place.path).await;
    save(&store, "a", "1", "1").await.unwrap();
    assert_eq!(store.pins(&source("a")).await.unwrap(), Pinned::Never);
    assert!(!place.record.exists());
    store.pin_new(&source("a"), vec![pin("x", "1")]).await.unwrap();
    assert!(place.record.exists());
    store.close().await;

    let store = open(&place.path).await;
    assert_eq!(accepted(&store, "x").await, Some(key("1")));
    let elsewhere = PinSource { key: key("another program"), ..source("a") };
    assert_eq!(store.pins(&elsewhere).await.unwrap(), Pinned::Never);
}

/// Whoever is killed in the first moment of a record leaves a file that has nothing in it, or nothing but its head.
#[tokio::test]
async fn one_of_which_only_the_beginning_was_made_is_a_new_one() {
    for begun in ["", "PRAGMA page_size = 16384; PRAGMA journal_mode = WAL;"] {
        let place = place();
        for path in [&place.path, &place.record] {
            std::fs::write(path, "").unwrap();
            rusqlite::Connection::open(path).unwrap().execute_batch(begun).unwrap();
        }
        let opened = Store::open(Some(&place.path)).await.unwrap();
        assert_eq!(opened.notice, None, "{begun}");
        assert!(!opened.store.pin_new(&source("a"), vec![pin("x", "1")]).await.unwrap().1);
        assert_eq!(accepted(&opened.store, "x").await, Some(key("1")));
    }
}

pub(crate) async fn what_is_pinned_stays_until_somebody_decides(home: Home) {
    let store = home.open().await;
    assert!(!store.pin_new(&source("a"), vec![pin("x", "1")]).await.unwrap().1);
    assert!(store.pin_new(&source("a"), vec![pin("x", "2"), pin("y", "1")]).await.unwrap().1, "x was there");
    assert_eq!((accepted(&store, "x").await, accepted(&store, "y").await), (Some(key("1")), Some(key("1"))));
    let both = vec![key("1"), key("2")];
    store.decide(&source("a"), false, vec![pin("x", "2")]).await.unwrap();
    assert_eq!(accepted(&store, "x").await, Some(key("2")));
    let texts = store.accepted_definitions(both.clone()).await.unwrap();
    assert_eq!(texts, [(key("1"), "1".to_owned()), (key("2"), "2".to_owned())].into(), "y still refers to 1");
    store.decide(&source("a"), false, vec![pin("y", "2")]).await.unwrap();
    assert_eq!(store.accepted_definitions(both).await.unwrap(), [(key("2"), "2".to_owned())].into());
    store.forget_pins(&source("a"), vec![("tool".to_owned(), "y".to_owned())]).await.unwrap();
    assert_eq!((accepted(&store, "x").await, accepted(&store, "y").await), (Some(key("2")), None));
}

pub(crate) async fn sources_are_numbered_as_they_came(home: Home) {
    let store = home.open().await;
    assert!(!store.pin_new(&source("a"), vec![pin("x", "1")]).await.unwrap().1);
    store.pin_new(&source("0"), Vec::new()).await.unwrap();
    store.decide(&source("a"), true, Vec::new()).await.unwrap();
    let known = async |name: &str| match store.pins(&source(name)).await.unwrap() {
        Pinned::Known(known) => known,
        other => panic!("{other:?}"),
    };
    assert!(known("a").await.number < known("0").await.number);
    assert_eq!((known("a").await.strict, known("0").await.strict), (true, false));
    store.pin_new(&source("a"), vec![pin("z", "1")]).await.unwrap();
    assert!(known("a").await.strict, "only a decision changes that");
}

#[tokio::test]
async fn a_lost_record_is_missed() {
    let place = written().await;
    std::fs::remove_file(&place.record).unwrap();
    let store = open(&place.path).await;
    assert_eq!(store.pins(&source("a")).await.unwrap(), Pinned::Lost);
    assert_eq!(store.pins(&source("b")).await.unwrap(), Pinned::Never);
    // Another source begins a new record: this one is still missed.
    store.pin_new(&source("b"), vec![pin("x", "1")]).await.unwrap();
    assert_eq!(store.pins(&source("a")).await.unwrap(), Pinned::Lost);
}

#[tokio::test]
async fn without_a_file_it_lasts_as_long_as_the_store() {
    let store = Store::open(None).await.unwrap().store;
    assert_eq!(store.pins(&source("a")).await.unwrap(), Pinned::Never);
    store.pin_new(&source("a"), vec![pin("x", "1")]).await.unwrap();
    assert_eq!(accepted(&store, "x").await, Some(key("1")));
}

#[tokio::test]
async fn a_damaged_one_is_refused_and_left_as_it_is() {
    let place = written().await;
    for damaged in [b"Dear diary, ".repeat(2_000), b"SQLite format 3\0".to_vec()] {
        std::fs::write(&place.record, &damaged).unwrap();
        let store = open(&place.path).await;
        for _ in 0..2 {
            let error = store.pin_new(&source("a"), vec![pin("y", "1")]).await.unwrap_err();
            assert!(matches!(error, StoreError::RecordDamaged { .. }), "{error}");
            let error = store.pins(&source("a")).await.unwrap_err();
            assert!(matches!(error, StoreError::RecordDamaged { .. }), "{error}");
        }
        // What may be lost goes on.
        save(&store, "a", "1", "1").await.unwrap();
        store.close().await;
        assert!(std::fs::read(&place.record).unwrap() == damaged, "not a byte of it was changed");
    }
    let names = std::fs::read_dir(place.folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(names.into_iter().all(|name| !name.to_string_lossy().contains("broken")));
}

#[tokio::test]
async fn damage_in_the_middle_is_found_before_anything_is_written() {
    let place = place();
    let store = open(&place.path).await;
    let pins = (0..400).map(|i| pin(&format!("{i} {}", "x".repeat(400)), "1")).collect();
    store.pin_new(&source("a"), pins).await.unwrap();
    store.close().await;
    let mut bytes = std::fs::read(&place.record).unwrap();
    assert!(bytes.len() > 8 * 16_384);
    bytes[6 * 16_384..].fill(0xA5);
    std::fs::write(&place.record, &bytes).unwrap();
    let store = open(&place.path).await;
    let error = store.pin_new(&source("a"), vec![pin("y", "1")]).await.unwrap_err();
    assert!(matches!(error, StoreError::RecordDamaged { .. }), "{error}");
    store.close().await;
    assert!(std::fs::read(&place.record).unwrap() == bytes);
}

#[tokio::test]
async fn what_a_person_is_told() {
    let place = written().await;
    let whole = std::fs::read(&place.record).unwrap();
    std::fs::write(&place.record, "Dear diary, today I was no database. ".repeat(100)).unwrap();
    let store = open(&place.path).await;
    let error = store.pins(&source("a")).await.unwrap_err();
    let told = format!("{error}\nhint: {}", error.hint()).replace(&place.folder.path().display().to_string(), "");
    assert_snapshot!(told, @r"
    the record /toolfold.record.db is damaged (file is not a database) and is left as it is: it holds what cannot be had again
    hint: bring it back from a backup, or save what can be read with `sqlite3 FILE .recover`; to begin a new one, move it away yourself
    ");
    // Done as told, it is used again without a restart.
    std::fs::write(&place.record, whole).unwrap();
    assert_eq!(accepted(&store, "x").await, Some(key("1")));
}

#[tokio::test]
async fn neither_file_is_taken_for_the_other() {
    let place = written().await;
    let error = Store::open(Some(&place.record)).await.unwrap_err();
    assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
    std::fs::copy(&place.path, &place.record).unwrap();
    let error = open(&place.path).await.pin_new(&source("a"), vec![pin("x", "1")]).await.unwrap_err();
    assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
}
