//! Calls are counted.

use crate::open;

#[test]
fn the_most_called_come_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toolfold.db");
    let store = open(&path);
    for tool in ["b.y", "a.x", "c.z", "b.y", "c.z", "b.y"] {
        store.count_use(tool).unwrap();
    }
    drop(store);
    let store = open(&path);
    assert_eq!(store.most_used(1, 10).unwrap(), ["b.y", "c.z", "a.x"]);
    assert_eq!(store.most_used(2, 1).unwrap(), ["b.y"]);
}
