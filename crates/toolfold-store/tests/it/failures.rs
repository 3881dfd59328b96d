//! Why a server failed is remembered until it starts, for the configuration that failed.

use std::time::SystemTime;

use crate::{Home, key, server};

pub(crate) async fn remembered_until_it_starts(home: Home) {
    let store = home.open().await;
    let before = SystemTime::now();
    store.save_failure(&server("a"), &key("1"), "it ended with status 1").await.unwrap();
    store.save_failure(&server("a"), &key("1"), "the variable X is not set").await.unwrap();
    store.save_failure(&server("a"), &key("2"), "another configuration").await.unwrap();
    store.close().await;

    let store = home.open().await;
    let wanted = vec![(server("b"), key("1")), (server("a"), key("1"))];
    let found = store.load_failures(wanted.clone()).await.unwrap();
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].server.as_str(), found[0].why.as_str()), ("a", "the variable X is not set"));
    assert!(found[0].at <= SystemTime::now() && found[0].at + std::time::Duration::from_secs(1) > before);
    store.clear_failure(&server("a"), &key("1")).await.unwrap();
    assert_eq!(store.load_failures(wanted).await.unwrap(), []);
    assert_eq!(store.load_failures(vec![(server("a"), key("2"))]).await.unwrap().len(), 1);
}

pub(crate) async fn however_long_it_is_and_however_many_there_are(home: Home) {
    let store = home.open().await;
    for i in 0..20 {
        store.save_failure(&server("a"), &key(&i.to_string()), &"é".repeat(1_000_000)).await.unwrap();
    }
    let all: Vec<_> = (0..20).map(|i| (server("a"), key(&i.to_string()))).collect();
    let found = store.load_failures(all).await.unwrap();
    assert_eq!(found.len(), 8);
    assert!(found.iter().all(|failure| failure.why.chars().count() == 4_000));
}
