//! How long events are kept, and that the rest still vouches for itself.

use toolfold_audit::{Audit, EventKind, Reader, Settings, Verified};
use toolfold_config::{AuditMode, Keep};

use crate::{fill, settings};

#[tokio::test]
async fn too_many_go_from_the_beginning_and_leave_their_hash() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    let keep = Keep { events: 1000, ..Keep::default() };
    let audit = Audit::start(Settings { keep, ..settings(&path, AuditMode::On) });
    fill(&audit, 3000).await;
    audit.close().await;
    let reader = Reader::open(&path).unwrap().unwrap();
    let Verified::Sound { events, cut: Some(cut), head } = reader.verify() else { panic!("{:?}", reader.verify()) };
    // They are looked for now and then.
    assert!((1000..4000).contains(&events) && cut + events == head.number, "{events} after {cut}");
    let mut kinds = Vec::new();
    reader
        .each(Default::default(), |stored| {
            kinds.push(stored.event().unwrap().kind);
            true
        })
        .unwrap();
    assert!(kinds.contains(&EventKind::Cut));
    // What was cut off cannot be cut off further without being noticed.
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute("DELETE FROM events WHERE number = ?1", [cut as i64 + 1]).unwrap();
    let Verified::Broken(broken) = reader.verify() else { panic!("not noticed") };
    assert_eq!(broken.number, Some(cut + 1));
}

#[tokio::test]
async fn by_size_and_by_age() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    let keep = Keep { bytes: 1 << 20, ..Keep::default() };
    let audit = Audit::start(Settings { keep, ..settings(&path, AuditMode::On) });
    fill(&audit, 6000).await;
    audit.close().await;
    let size = std::fs::metadata(&path).unwrap().len();
    assert!(size < 3 << 20, "{size}");
    assert!(matches!(Reader::open(&path).unwrap().unwrap().verify(), Verified::Sound { .. }));

    // As if a year had passed since the first of them.
    let path = folder.path().join("old.db");
    let audit = Audit::start(settings(&path, AuditMode::On));
    let mut old = crate::called(1, "create_issue", toolfold_wire::raw("x"));
    old.at -= std::time::Duration::from_secs(365 * 24 * 3600);
    audit.mention(old);
    audit.close().await;
    let audit = Audit::start(settings(&path, AuditMode::On));
    fill(&audit, 2).await;
    audit.close().await;
    let reader = Reader::open(&path).unwrap().unwrap();
    let Verified::Sound { cut: Some(1), .. } = reader.verify() else { panic!("{:?}", reader.verify()) };
}
