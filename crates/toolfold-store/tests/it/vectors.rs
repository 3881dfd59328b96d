//! Vectors are remembered by encoder and text.

use crate::{key, open};

#[test]
fn each_text_has_its_own_from_each_encoder() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toolfold.db");
    let (large, small) = (key("large"), key("small"));
    let store = open(&path);
    store.save_vectors(&large, &[(key("a"), vec![1, 2]), (key("b"), vec![3])]).unwrap();
    store.save_vectors(&small, &[(key("a"), vec![9])]).unwrap();
    store.save_vectors(&large, &[(key("b"), vec![4, 5])]).unwrap();
    drop(store);
    let store = open(&path);
    let texts = [key("b"), key("none"), key("a"), key("b")];
    let loaded = store.load_vectors(&large, &texts).unwrap();
    assert_eq!(loaded, [Some(vec![4, 5]), None, Some(vec![1, 2]), Some(vec![4, 5])]);
    assert_eq!(store.load_vectors(&small, &texts).unwrap(), [None, None, Some(vec![9]), None]);
}

#[test]
fn the_oldest_make_room() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toolfold.db");
    let (encoder, texts) = (key("encoder"), [key("old"), key("middle"), key("new")]);
    let store = open(&path);
    store.save_vectors(&encoder, &[(texts[0], vec![1]), (texts[1], vec![2])]).unwrap();
    // As if there had been many more since the first one.
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute("UPDATE vectors SET rowid = 100000 WHERE vector = x'02'", []).unwrap();
    store.save_vectors(&encoder, &[(texts[2], vec![3])]).unwrap();
    assert_eq!(store.load_vectors(&encoder, &texts).unwrap(), [None, Some(vec![2]), Some(vec![3])]);
}

#[test]
fn a_file_from_before_there_were_any_is_brought_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toolfold.db");
    open(&path).count_use("a.b").unwrap();
    let older = rusqlite::Connection::open(&path).unwrap();
    older.execute_batch("DROP TABLE vectors; PRAGMA user_version = 3;").unwrap();
    drop(older);
    let store = open(&path);
    store.save_vectors(&key("e"), &[(key("a"), vec![1])]).unwrap();
    assert_eq!(store.most_used(1, 1).unwrap(), ["a.b"]);
}
