//! A store that is copied there and back is the store that it was.

use std::path::Path;
use std::time::Duration;

use rusqlite::types::Value;
use toolfold_core::{DatabaseUrl, StorePlace};
use toolfold_store::{LoginKey, NewPin, PinSource, Store, StoreError, StoredChoice, StoredPin, StoredToken, copy};
use toolfold_test::Postgres;

use crate::{key, remembered, save, server};

/// Something of everything, with what is hard to carry.
async fn fill(path: &Path) {
    let store = Store::open(Some(path)).await.unwrap().store;
    for i in 0..30 {
        save(&store, &format!("s{i}"), "k", &format!("{{\"n\":{i},\"text\":\"\u{0}é\"}}")).await.unwrap();
        store.save_vectors(&key("e"), vec![(key(&i.to_string()), vec![i; 300])]).await.unwrap();
        store.count_use(&format!("s{i}.\u{0}tool")).await.unwrap();
    }
    store.save_toolset("handle", "[\"a.b\"]".to_owned()).await.unwrap();
    store.save_failure(&server("broken"), &key("k"), "it said \u{0} and ended").await.unwrap();
    let choice = StoredChoice {
        catalog: vec![0, 1, 255],
        request: vec![7; 8],
        tool: "git.log".to_owned(),
        marks: vec![1, 2, 3],
        text: Some("show the log".to_owned()),
        occasion: [9; 8],
    };
    store.remember_choice(choice.clone()).await.unwrap();
    store.remember_choice(StoredChoice { text: None, tool: "git.show".to_owned(), ..choice }).await.unwrap();
    let source = PinSource { server: server("a"), key: key("program") };
    let pin = |name: &str, accepted: bool| NewPin {
        pin: StoredPin {
            kind: "tool".to_owned(),
            name: name.to_owned(),
            accepted: accepted.then(|| key(name)),
            denied: (!accepted).then(|| key("no")),
            by: (!accepted).then(|| "ada".to_owned()),
            findings: 2,
            raised: 1,
        },
        definition: accepted.then(|| format!("{{\"name\":\"{name}\"}}")),
    };
    store.pin_new(&source, vec![pin("x", true), pin("\u{0}y", false)]).await.unwrap();
    store.decide(&PinSource { server: server("b"), ..source }, (true, false), vec![pin("z", true)]).await.unwrap();
    for (name, expires_at) in [("ci", None), ("ada", Some(5))] {
        let token = StoredToken {
            name: name.to_owned(),
            groups: vec!["ops".to_owned(), "dev".to_owned()],
            beginning: "toolfold_ab".to_owned(),
            created_at: 1,
            expires_at,
        };
        assert!(store.add_token([name.len() as u8; 32], token).await.unwrap());
    }
    let login = LoginKey {
        server: server("linear"),
        url: "https://mcp.linear.app/mcp".to_owned(),
        principal: "named ada".to_owned(),
    };
    let version = store.save_login(&login, "https://issuer.example", vec![0, 255, 1]).await.unwrap();
    store.lease_login(&login, version, "me", Duration::ZERO).await.unwrap();
    store.release_login(&login, "me").await.unwrap();
    store.close().await;
}

/// Every cell of every table of both files.
fn dump(path: &Path) -> Vec<String> {
    let mut all = Vec::new();
    for file in [path.to_owned(), Store::record_path(path)] {
        let connection = rusqlite::Connection::open(file).unwrap();
        let names = "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name";
        let mut select = connection.prepare(names).unwrap();
        let names: Vec<String> = select.query_map([], |row| row.get(0)).unwrap().map(Result::unwrap).collect();
        for name in names {
            let mut select = connection.prepare(&format!("SELECT * FROM {name} ORDER BY 1, 2")).unwrap();
            let columns = select.column_count();
            let cells = |row: &rusqlite::Row<'_>| (0..columns).map(|i| row.get::<_, Value>(i)).collect();
            let rows = select.query_map([], cells).unwrap();
            all.extend(rows.map(|row: rusqlite::Result<Vec<Value>>| format!("{name} {:?}", row.unwrap())));
        }
    }
    all.sort();
    all
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn there_and_back_is_the_same() {
    let (server, folder) = (Postgres::start(), tempfile::tempdir().unwrap());
    let path = folder.path().join("toolfold.db");
    fill(&path).await;
    let here = StorePlace::File(path.clone());
    let there = StorePlace::Database(DatabaseUrl::parse(&server.url("copied")).unwrap());
    let mut told = Vec::new();
    let copied = copy(&here, &there, false, |text| told.push(text.to_owned())).await.unwrap();
    assert_eq!((copied.of("manifests"), copied.of("pins"), copied.of("logins")), (30, 3, 1));
    assert!(told.contains(&"tokens: 2".to_owned()), "{told:?}");
    let error = copy(&here, &there, false, |_| ()).await.unwrap_err();
    assert!(matches!(error, StoreError::Occupied { .. }), "{error}");
    assert_eq!(copy(&here, &there, true, |_| ()).await.unwrap(), copied);

    // What is new there gets a number after those that came with it.
    let store = Store::at(Some(&there)).await.unwrap().store;
    let new = PinSource { server: crate::server("new"), key: key("program") };
    assert!(store.pin_new(&new, Vec::new()).await.unwrap().0 > 2);
    store.close().await;
    copy(&here, &there, true, |_| ()).await.unwrap();

    let back = folder.path().join("back/toolfold.db");
    copy(&there, &StorePlace::File(back.clone()), false, |_| ()).await.unwrap();
    assert_eq!(dump(&back), dump(&path));
    let error = copy(&there, &StorePlace::File(back.clone()), false, |_| ()).await.unwrap_err();
    assert!(matches!(error, StoreError::Occupied { .. }), "{error}");
    copy(&there, &StorePlace::File(back.clone()), true, |_| ()).await.unwrap();
    assert_eq!(dump(&back), dump(&path));
    let names: Vec<String> = std::fs::read_dir(back.parent().unwrap())
        .unwrap()
        .map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned())
        .collect();
    let kept = names.iter().filter(|name| name.contains(".before-copy-")).count();
    assert!(kept >= 2 && !names.iter().any(|name| name.contains("copying")), "{names:?}");
}

/// One row at the end cannot be taken: nothing was.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn all_or_nothing() {
    let (server, folder) = (Postgres::start(), tempfile::tempdir().unwrap());
    let path = folder.path().join("toolfold.db");
    fill(&path).await;
    let there = StorePlace::Database(DatabaseUrl::parse(&server.url("picky")).unwrap());
    let store = Store::at(Some(&there)).await.unwrap().store;
    save(&store, "before", "k", "kept").await.unwrap();
    server.sql("picky", "ALTER TABLE toolfold.logins ADD CHECK (server <> 'linear')").unwrap();
    assert!(copy(&StorePlace::File(path), &there, true, |_| ()).await.is_err());
    assert_eq!(remembered(&store).await, [("before".to_owned(), "kept".to_owned())]);
    let missing = StorePlace::File(folder.path().join("nothing.db"));
    assert!(matches!(copy(&missing, &there, true, |_| ()).await, Err(StoreError::Missing { .. })));
    assert!(!folder.path().join("nothing.db").exists());
}
