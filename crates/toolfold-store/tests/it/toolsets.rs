//! Sets of tools are kept by their handle, for a while.

use rusqlite::Connection;

use crate::{Home, open, remembered, save};

pub(crate) async fn kept_by_their_handle_across_a_restart(home: Home) {
    let store = home.open().await;
    store.save_toolset("a", r#"["x.y"]"#.to_owned()).await.unwrap();
    store.save_toolset("b", "[]".to_owned()).await.unwrap();
    store.close().await;
    let store = home.open().await;
    assert_eq!(store.load_toolset("a").await.unwrap().as_deref(), Some(r#"["x.y"]"#));
    assert_eq!(store.load_toolset("b").await.unwrap().as_deref(), Some("[]"));
    assert_eq!(store.load_toolset("' OR 1 --").await.unwrap(), None);
}

#[tokio::test]
async fn forgotten_after_a_month_without_use_and_where_there_are_too_many() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toolfold.db");
    let store = open(&path).await;
    store.save_toolset("old", "[]".to_owned()).await.unwrap();
    let other = Connection::open(&path).unwrap();
    other.execute("UPDATE toolsets SET used_at = 0", []).unwrap();
    assert_eq!(store.load_toolset("old").await.unwrap(), None);
    let many = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 10005)
                INSERT INTO toolsets SELECT 'many' || i, 9000000000000 + i, '[]' FROM n";
    other.execute(many, []).unwrap();
    store.save_toolset("new", "[]".to_owned()).await.unwrap();
    let left: i64 = other.query_row("SELECT count(*) FROM toolsets", [], |row| row.get(0)).unwrap();
    assert_eq!(left, 10_001, "the newest, and the one just made");
    assert_eq!(store.load_toolset("many1").await.unwrap(), None);
    assert!(store.load_toolset("new").await.unwrap().is_some());
}

/// A file from before there were sets gets them and keeps what it has.
#[tokio::test]
async fn an_older_file_is_brought_up_to_date() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toolfold.db");
    save(&open(&path).await, "a", "1", "kept").await.unwrap();
    let older = Connection::open(&path).unwrap();
    older
        .execute_batch(
            "DROP TABLE toolsets; DROP TABLE usage; DROP TABLE vectors; DROP TABLE failures; DROP TABLE pinned; DROP TABLE habits; PRAGMA user_version = 1;",
        )
        .unwrap();
    drop(older);
    let store = open(&path).await;
    store.save_toolset("a", "[]".to_owned()).await.unwrap();
    assert_eq!(remembered(&store).await, [("a".to_owned(), "kept".to_owned())]);
}
