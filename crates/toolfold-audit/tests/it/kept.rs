//! How long events are kept, and that the rest still vouches for itself.

use toolfold_audit::{Audit, EventKind, Reader, Settings, Verified};
use toolfold_config::{AuditMode, Keep};

use crate::{events, fill, settings};

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
    // They are looked for now and then, and taken to some way below.
    assert!((900..4000).contains(&events) && cut + events == head.number, "{events} after {cut}");
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
async fn at_the_limit_few_events_are_about_what_was_cut() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    let keep = Keep { events: 1000, ..Keep::default() };
    let settings = Settings { keep, ..settings(&path, AuditMode::On) };
    let (mut seen, mut all, mut cuts, mut most) = (0, 0, 0, 0);
    // Whoever begins looks for what is old, so each of these has a reason to.
    for calls in std::iter::once(500).chain([5; 40]) {
        let audit = Audit::start(settings.clone());
        fill(&audit, calls).await;
        audit.close().await;
        let kept = events(&path);
        most = most.max(kept.len());
        for event in kept.iter().filter(|event| event.number > seen) {
            all += 1;
            cuts += usize::from(event.kind == EventKind::Cut);
        }
        seen = kept.last().unwrap().number;
    }
    assert!(all >= 1400 && (1..=all / 50).contains(&cuts), "{cuts} of {all}");
    assert!(most <= 1010, "{most}");
}

#[tokio::test]
async fn what_is_over_its_time_does_not_go_one_by_one() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    let day = std::time::Duration::from_secs(24 * 3600);
    let keep = Keep { days: 1000, ..Keep::default() };
    let audit = Audit::start(Settings { keep, ..settings(&path, AuditMode::On) });
    // Every quarter of an hour one, of which the first is just over its time.
    for quarters in 0..100u32 {
        let mut old = crate::called(1, "create_issue", toolfold_wire::raw("x"));
        old.at = old.at - day * 90 - day / 96 + day * quarters / 96;
        audit.mention(old);
    }
    audit.close().await;
    let audit = Audit::start(settings(&path, AuditMode::On));
    fill(&audit, 1).await;
    audit.close().await;
    let kept = events(&path);
    let cut: Vec<_> = kept.iter().filter(|event| event.kind == EventKind::Cut).collect();
    assert_eq!(cut.len(), 1, "{cut:?}");
    // A hundredth of ninety days is nearly one.
    assert!(cut[0].events.is_some_and(|gone| (80..=90).contains(&gone)), "{cut:?}");
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
