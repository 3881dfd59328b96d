//! Vectors are remembered by encoder and text.

use crate::{Home, key, open};

pub(crate) async fn each_text_has_its_own_from_each_encoder(home: Home) {
    let (large, small) = (key("large"), key("small"));
    let store = home.open().await;
    store.save_vectors(&large, vec![(key("a"), vec![1, 2]), (key("b"), vec![3])]).await.unwrap();
    store.save_vectors(&small, vec![(key("a"), vec![9])]).await.unwrap();
    store.save_vectors(&large, vec![(key("b"), vec![4, 5])]).await.unwrap();
    store.close().await;
    let store = home.open().await;
    let texts = [key("b"), key("none"), key("a"), key("b")];
    let loaded = store.load_vectors(&large, texts.to_vec()).await.unwrap();
    assert_eq!(loaded, [Some(vec![4, 5]), None, Some(vec![1, 2]), Some(vec![4, 5])]);
    assert_eq!(store.load_vectors(&small, texts.to_vec()).await.unwrap(), [None, None, Some(vec![9]), None]);
}

#[tokio::test]
async fn the_oldest_make_room() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toolfold.db");
    let (encoder, texts) = (key("encoder"), [key("old"), key("middle"), key("new")]);
    let store = open(&path).await;
    store.save_vectors(&encoder, vec![(texts[0], vec![1]), (texts[1], vec![2])]).await.unwrap();
    // As if there had been many more since the first one.
    let other = rusqlite::Connection::open(&path).unwrap();
    other.execute("UPDATE vectors SET rowid = 100000 WHERE vector = x'02'", []).unwrap();
    store.save_vectors(&encoder, vec![(texts[2], vec![3])]).await.unwrap();
    assert_eq!(store.load_vectors(&encoder, texts.to_vec()).await.unwrap(), [None, Some(vec![2]), Some(vec![3])]);
}

#[tokio::test]
async fn a_file_from_before_there_were_any_is_brought_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toolfold.db");
    open(&path).await.count_use("a.b").await.unwrap();
    let older = rusqlite::Connection::open(&path).unwrap();
    older
        .execute_batch(
            "DROP TABLE vectors; DROP TABLE failures; DROP TABLE pinned; DROP TABLE habits; PRAGMA user_version = 3;",
        )
        .unwrap();
    drop(older);
    let store = open(&path).await;
    store.save_vectors(&key("e"), vec![(key("a"), vec![1])]).await.unwrap();
    assert_eq!(store.most_used(1, 1).await.unwrap(), ["a.b"]);
}
