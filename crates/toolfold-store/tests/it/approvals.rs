//! The record: made when it is needed, never replaced.

use std::path::PathBuf;

use insta::assert_snapshot;
use tempfile::TempDir;
use toolfold_core::Fingerprint;
use toolfold_store::{Approval, Store, StoreError};

use crate::{key, open, save};

fn approval(subject: &str, looks: &str) -> Approval {
    let (kind, by) = ("tool".to_owned(), "local".to_owned());
    Approval { kind, subject: subject.to_owned(), fingerprint: key(looks), by }
}

async fn approved(store: &Store, subject: &str) -> Option<Fingerprint> {
    store.approved("tool", subject).await.unwrap()
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

/// A record with one approval in it, closed.
async fn written() -> Place {
    let place = place();
    let store = open(&place.path).await;
    store.approve(approval("a.x", "1")).await.unwrap();
    store.close().await;
    place
}

#[tokio::test]
async fn made_when_there_is_something_to_put_in_it() {
    let place = place();
    let store = open(&place.path).await;
    save(&store, "a", "1", "1").await.unwrap();
    assert_eq!(approved(&store, "a.x").await, None);
    store.withdraw("tool", "a.x").await.unwrap();
    assert!(!place.record.exists());
    store.approve(approval("a.x", "1")).await.unwrap();
    assert!(place.record.exists());
    store.close().await;

    let store = open(&place.path).await;
    assert_eq!(approved(&store, "a.x").await, Some(key("1")));
    assert_eq!(store.approved("configuration", "a.x").await.unwrap(), None);
    store.approve(approval("a.x", "2")).await.unwrap();
    assert_eq!(approved(&store, "a.x").await, Some(key("2")));
    store.withdraw("tool", "a.x").await.unwrap();
    assert_eq!(approved(&store, "a.x").await, None);
}

#[tokio::test]
async fn without_a_file_it_lasts_as_long_as_the_store() {
    let store = Store::open(None).await.unwrap().store;
    store.approve(approval("a.x", "1")).await.unwrap();
    assert_eq!(approved(&store, "a.x").await, Some(key("1")));
}

#[tokio::test]
async fn a_damaged_one_is_refused_and_left_as_it_is() {
    let place = written().await;
    for damaged in [b"Dear diary, ".repeat(2_000), b"SQLite format 3\0".to_vec()] {
        std::fs::write(&place.record, &damaged).unwrap();
        let store = open(&place.path).await;
        for _ in 0..2 {
            let error = store.approve(approval("a.y", "1")).await.unwrap_err();
            assert!(matches!(error, StoreError::RecordDamaged { .. }), "{error}");
            let error = store.approved("tool", "a.x").await.unwrap_err();
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
    for i in 0..400 {
        store.approve(approval(&format!("{i} {}", "x".repeat(400)), "1")).await.unwrap();
    }
    store.close().await;
    let mut bytes = std::fs::read(&place.record).unwrap();
    assert!(bytes.len() > 5 * 16_384);
    bytes[3 * 16_384..].fill(0xA5);
    std::fs::write(&place.record, &bytes).unwrap();
    let store = open(&place.path).await;
    let error = store.approve(approval("a.y", "1")).await.unwrap_err();
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
    let error = store.approved("tool", "a.x").await.unwrap_err();
    let told = format!("{error}\nhint: {}", error.hint()).replace(&place.folder.path().display().to_string(), "");
    assert_snapshot!(told, @r"
    the record /toolfold.record.db is damaged (file is not a database) and is left as it is: it holds what cannot be had again
    hint: bring it back from a backup, or save what can be read with `sqlite3 FILE .recover`; to begin a new one, move it away yourself
    ");
    // Done as told, it is used again without a restart.
    std::fs::write(&place.record, whole).unwrap();
    assert_eq!(approved(&store, "a.x").await, Some(key("1")));
}

#[tokio::test]
async fn neither_file_is_taken_for_the_other() {
    let place = written().await;
    let error = Store::open(Some(&place.record)).await.unwrap_err();
    assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
    std::fs::copy(&place.path, &place.record).unwrap();
    let error = open(&place.path).await.approve(approval("a.x", "1")).await.unwrap_err();
    assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
}
