//! A disk that does not keep up: what waits for it is bounded in number and in bytes, and whoever waits is told in the end.

use std::sync::OnceLock;
use std::time::Duration;

use toolfold_audit::{Audit, AuditError, EventKind, Settings};
use toolfold_config::AuditMode;
use toolfold_wire::raw;

use crate::{disclosed, note, settings};

/// Whoever counts tokens here is held up until this is set, and with it the thread that writes.
static LET_GO: OnceLock<()> = OnceLock::new();

fn held_up(text: &str) -> usize {
    LET_GO.wait();
    text.len()
}

fn slow(folder: &std::path::Path, mode: AuditMode) -> Audit {
    Audit::start(Settings { count_tokens: held_up, ..settings(&folder.join("audit.db"), mode) })
}

#[tokio::test(start_paused = true)]
async fn what_waits_for_a_disk_has_16_megabytes_and_whoever_waits_20_seconds() {
    let folder = tempfile::tempdir().unwrap();
    let audit = slow(folder.path(), AuditMode::On);
    let large = raw(&"x".repeat(60_000));
    for _ in 0..2_000 {
        let mut told = disclosed(EventKind::Search, "anything", &[]);
        let toolfold_audit::Matter::Disclosed { answer, .. } = &mut told.what else { panic!("an answer") };
        *answer = (&large).into();
        audit.mention(told);
    }
    assert!(audit.waiting() <= (16 << 20) / 60_000 + 1, "{} wait", audit.waiting());
    assert!(audit.missed() >= 2_000 - (16 << 20) / 60_000 - 1, "{} are missed", audit.missed());
    // What is small is let in all the same.
    let before = audit.missed();
    audit.mention(note(toolfold_audit::Matter::Happened {
        kind: EventKind::Server,
        server: None,
        tool: None,
        fingerprint: None,
        by: None,
        outcome: Some("ready".to_owned()),
        about: None,
        times: None,
    }));
    assert_eq!(audit.missed(), before);

    let other = tempfile::tempdir().unwrap();
    let strict = slow(other.path(), AuditMode::Strict);
    let begun = tokio::time::Instant::now();
    let told = strict.tell(disclosed(EventKind::Search, "anything", &[])).written().await;
    assert_eq!(told, Err(AuditError::Late));
    assert_eq!(begun.elapsed(), Duration::from_secs(20));
    LET_GO.set(()).unwrap();
    audit.close().await;
    strict.close().await;
}
