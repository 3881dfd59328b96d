//! Files that are not what they should be. A start never fails for a damaged store, and nothing is thrown away.

use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use toolfold_store::{Store, StoreError};

use crate::{open, remembered, save};

/// What a person is told, without the folder and the time of the test.
fn told(folder: &Path, text: &str) -> String {
    let text = text.replace(&folder.display().to_string(), "");
    let (before, after) = text.split_once(".broken-").unwrap_or((&text, ""));
    if after.is_empty() {
        text
    } else {
        format!("{before}.broken-TIME{}", after.trim_start_matches(|c: char| c.is_ascii_digit()))
    }
}

async fn refused(folder: &Path, path: &Path) -> String {
    let error = Store::open(Some(path)).await.unwrap_err();
    told(folder, &format!("{error}\nhint: {}", error.hint()))
}

fn kept(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    entries
        .filter(|path| path.display().to_string().contains(".broken-") && !path.display().to_string().ends_with("-wal"))
        .collect()
}

#[tokio::test]
async fn no_database_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toolfold.db");
    for round in 1..=3 {
        std::fs::write(&path, "Dear diary, today I was no database. ".repeat(100)).unwrap();
        let opened = Store::open(Some(&path)).await.unwrap();
        if round == 1 {
            assert_snapshot!(told(folder.path(), &opened.notice.unwrap()), @"the store /toolfold.db was damaged (file is not a database): it is kept as /toolfold.db.broken-TIME and a new one was begun");
        }
        save(&opened.store, "a", "1", "1").await.unwrap();
        assert_eq!(kept(folder.path()).len(), round, "each is kept under a name of its own");
        opened.store.close().await;
        for companion in ["toolfold.db-wal", "toolfold.db-shm"] {
            let _ = std::fs::remove_file(folder.path().join(companion));
        }
    }
    assert!(std::fs::read_to_string(&kept(folder.path())[0]).unwrap().starts_with("Dear diary"));
}

#[tokio::test]
async fn cut_short() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toolfold.db");
    for length in [0, 1, 50, 100, 1000, 16_384, 20_000, 32_768, 50_000] {
        let store = open(&path).await;
        save(&store, "a", "1", &"x".repeat(50_000)).await.unwrap();
        store.close().await;
        let file = std::fs::OpenOptions::new().write(true).open(&path).unwrap();
        file.set_len(length).unwrap();
        // Noticed at the start or at the first use; after that all is well.
        let store = Store::open(Some(&path)).await.unwrap().store;
        if let Err(error) = store.load_manifests().await {
            assert!(matches!(error, StoreError::Damaged { .. }), "{length}: {error}");
        }
        save(&store, "b", "1", "1").await.unwrap();
        assert!(remembered(&store).await.contains(&("b".to_owned(), "1".to_owned())), "{length}");
        store.close().await;
        std::fs::remove_file(&path).unwrap();
    }
}

#[tokio::test]
async fn damage_in_the_middle_is_noticed_when_it_is_read() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toolfold.db");
    let store = open(&path).await;
    for i in 0..40 {
        save(&store, &format!("s{i}"), "1", &"x".repeat(3000)).await.unwrap();
    }
    store.close().await;
    let mut bytes = std::fs::read(&path).unwrap();
    // The first two pages hold the schema and the root of the table; everything after them becomes noise.
    bytes[2 * 16_384..].fill(0xA5);
    std::fs::write(&path, bytes).unwrap();

    let store = open(&path).await;
    let error = store.load_manifests().await.unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    assert_eq!(store.load_manifests().await.unwrap(), [], "a new one has taken its place");
    save(&store, "a", "1", "1").await.unwrap();
    assert_eq!(kept(folder.path()).len(), 1);
}

#[tokio::test]
async fn somebody_elses_database_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bookmarks.db");
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute_batch("CREATE TABLE bookmarks (url TEXT)").unwrap();
    let before = std::fs::read(&path).unwrap();
    assert_snapshot!(refused(folder.path(), &path).await, @r#"
    /bookmarks.db is the database of another program
    hint: name another file with `store = "…"` or TOOLFOLD_STORE
    "#);
    assert_eq!(std::fs::read(&path).unwrap(), before);
}

#[tokio::test]
async fn from_the_future() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toolfold.db");
    open(&path).await.close().await;
    rusqlite::Connection::open(&path).unwrap().pragma_update(None, "user_version", 99).unwrap();
    assert_snapshot!(refused(folder.path(), &path).await, @r#"
    the store /toolfold.db was written by a newer Toolfold (its format is 99, this one knows 7)
    hint: update Toolfold, or name another file with TOOLFOLD_STORE
    "#);
    assert_eq!(kept(folder.path()).len(), 0);
}

#[tokio::test]
async fn places_where_no_store_can_be() {
    let folder = tempfile::tempdir().unwrap();
    assert_snapshot!(refused(folder.path(), folder.path()).await, @r#"
    the store  cannot be written: it is a folder
    hint: give yourself the right to write there, or name another file with `store = "…"` or TOOLFOLD_STORE
    "#);
    std::fs::write(folder.path().join("file"), "").unwrap();
    assert_snapshot!(refused(folder.path(), &folder.path().join("file/toolfold.db")).await, @r#"
    the store /file/toolfold.db cannot be written: the folder /file cannot be made: File exists (os error 17)
    hint: give yourself the right to write there, or name another file with `store = "…"` or TOOLFOLD_STORE
    "#);
    // Nobody, not even root, can make a folder there.
    assert_snapshot!(refused(folder.path(), Path::new("/proc/toolfold/toolfold.db")).await, @r#"
    the store /proc/toolfold/toolfold.db cannot be written: the folder /proc/toolfold cannot be made: No such file or directory (os error 2)
    hint: give yourself the right to write there, or name another file with `store = "…"` or TOOLFOLD_STORE
    "#);
}
