//! Calls are counted.

use crate::Home;

pub(crate) async fn the_most_called_come_first(home: Home) {
    let store = home.open().await;
    for tool in ["b.y", "a.x", "c.z", "b.y", "c.z", "b.y"] {
        store.count_use(tool).await.unwrap();
    }
    store.close().await;
    let store = home.open().await;
    assert_eq!(store.most_used(1, 10).await.unwrap(), ["b.y", "c.z", "a.x"]);
    assert_eq!(store.most_used(2, 1).await.unwrap(), ["b.y"]);
}
