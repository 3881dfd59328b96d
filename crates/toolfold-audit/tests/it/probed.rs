//! Whether something could be written, asked before there is anything to write.

use std::fs;
use std::future::Future;

use rusqlite::Connection;
use toolfold_audit::{Audit, EventKind};
use toolfold_config::AuditMode;

use crate::{disclosed, events, settings};

/// What was found out holds for a moment, so whoever wants the next answer asks until it comes.
async fn until<F: Future<Output = bool>>(wanted: bool, ask: impl Fn() -> F) {
    while ask().await != wanted {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_place_that_cannot_be_written_is_known_before_anything_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("place");
    fs::write(&place, "a file where a folder should be").unwrap();
    let audit = Audit::start(settings(&place.join("audit.db"), AuditMode::Strict));
    assert!(!audit.can_write().await);
    fs::remove_file(&place).unwrap();
    fs::create_dir(&place).unwrap();
    until(true, || audit.can_write()).await;
    // To ask is no event, and whoever tells something is no worse off for it.
    assert_eq!(events(&place.join("audit.db")).len(), 0);
    audit.tell(disclosed(EventKind::Search, "anything", &[])).written().await.unwrap();
    assert_eq!(events(&place.join("audit.db")).len(), 1);
    audit.close().await;
    assert!(!audit.can_write().await, "what is closed is not written");
}

/// The last that was told is on the disk, and the next would not be.
#[tokio::test]
async fn what_was_written_last_does_not_say_that_the_next_can_be() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    let audit = Audit::start(settings(&path, AuditMode::Strict));
    audit.tell(disclosed(EventKind::Search, "anything", &[])).written().await.unwrap();
    assert!(audit.can_write().await);
    let other = Connection::open(&path).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    until(false, || audit.can_write()).await;
    other.execute_batch("ROLLBACK").unwrap();
    until(true, || audit.can_write()).await;
    assert_eq!(events(&path).len(), 1);
    audit.close().await;
}
