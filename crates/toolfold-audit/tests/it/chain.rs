//! The chain: what was changed shows, whatever it was.

use std::path::Path;

use insta::assert_snapshot;
use proptest::prelude::*;
use toolfold_audit::{Audit, Break, EventKind, Reader, Settings, Verified, json_line};
use toolfold_config::{AuditMode, Keep};
use toolfold_store::StoreError;
use toolfold_wire::raw;

use crate::{called, disclosed, ended, events, fill, settings};

/// Some events, closed.
async fn written(path: &Path, calls: u64) {
    let audit = Audit::start(settings(path, AuditMode::On));
    fill(&audit, calls).await;
    audit.close().await;
}

fn exported(path: &Path) -> Vec<String> {
    let reader = Reader::open(path).unwrap().unwrap();
    reader.tail(10_000).unwrap().iter().map(json_line).collect()
}

fn verify(path: &Path) -> Verified {
    Reader::open(path).unwrap().unwrap().verify()
}

#[tokio::test]
async fn search_choose_expand_call_is_one_chain() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    let audit = Audit::start(settings(&path, AuditMode::On));
    let shown = [("github.list_issues", 0.9), ("github.create_issue", 0.7)];
    audit.mention(disclosed(EventKind::Search, "open an issue", &shown));
    audit.mention(disclosed(EventKind::Describe, "", &[("github.create_issue", 1.0)]));
    audit.mention(called(7, "create_issue", raw("x")));
    audit.mention(ended(7, "done"));
    audit.mention(called(8, "list_issues", raw("x")));
    audit.mention(called(9, "delete_repo", raw("x")));
    audit.mention(ended(9, "error"));
    audit.close().await;
    let shown: Vec<String> = events(&path)
        .iter()
        .map(|event| {
            let (kind, tool) = (event.kind.as_str(), event.tool.as_deref().unwrap_or("-"));
            let via = event.via.as_deref().unwrap_or("-");
            let (rank, follows, of) = (event.rank, event.follows, event.of);
            format!("{} {kind} {tool} via={via} rank={rank:?} follows={follows:?} of={of:?}", event.number)
        })
        .collect();
    assert_snapshot!(shown.join("\n"), @r"
    1 search - via=- rank=None follows=None of=None
    2 describe github.create_issue via=search rank=Some(2) follows=Some(1) of=None
    3 call github.create_issue via=describe rank=None follows=Some(2) of=None
    4 result github.create_issue via=describe rank=None follows=None of=Some(3)
    5 call github.list_issues via=search rank=Some(1) follows=Some(1) of=None
    6 call github.delete_repo via=direct rank=None follows=None of=None
    7 result github.delete_repo via=direct rank=None follows=None of=Some(6)
    ");
    let reader = Reader::open(&path).unwrap().unwrap();
    let numbers: Vec<u64> =
        reader.trace("github.create_issue", 100).unwrap().iter().map(|stored| stored.number).collect();
    assert_eq!(numbers, [1, 2, 3, 4], "with the search that led to it");
    let usage = reader.usage(Default::default()).unwrap();
    assert_eq!((usage.calls, usage.discovered, usage.direct, usage.searches), (2, 1, 1, 1));
    let issue = &usage.tools["github.create_issue"];
    assert_eq!((issue.calls, issue.failed, issue.via["describe"]), (1, 0, 1));
    assert!((2.7..3.4).contains(&issue.median), "{}", issue.median);
    assert_eq!(usage.tools["github.delete_repo"].failed, 1);
}

#[tokio::test]
async fn a_sound_one_is_said_to_be_so_and_goes_on() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    written(&path, 20).await;
    let Verified::Sound { events: 40, cut: None, head } = verify(&path) else { panic!("{:?}", verify(&path)) };
    assert_eq!(head.number, 40);
    written(&path, 1).await;
    let Verified::Sound { events: 42, head: later, .. } = verify(&path) else { panic!("{:?}", verify(&path)) };
    assert_ne!(head.hash, later.hash);
}

#[tokio::test]
async fn the_first_event_that_was_changed_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    written(&path, 20).await;
    let change = |sql: &str| -> Break {
        let copy = folder.path().join("copy.db");
        std::fs::copy(&path, &copy).unwrap();
        let connection = rusqlite::Connection::open(&copy).unwrap();
        connection.execute_batch(sql).unwrap();
        drop(connection);
        let Verified::Broken(found) = verify(&copy) else { panic!("{sql} was not noticed") };
        found
    };
    let told = |sql: &str| {
        let Break { number, why } = change(sql);
        format!("{number:?}: {why}")
    };
    let body = "UPDATE events SET body = CAST(replace(CAST(body AS TEXT), 'local', 'other') AS BLOB) WHERE number = 7";
    assert_snapshot!(told(body), @"Some(7): its bytes, its hash or the hash before it are not what was written");
    assert_snapshot!(told("DELETE FROM events WHERE number IN (9, 12)"), @"Some(9): it is missing");
    assert_snapshot!(told("DELETE FROM events WHERE number < 5"), @"Some(1): it is missing");
    assert_snapshot!(told("UPDATE events SET tool = 'github.harmless' WHERE number = 11"), @"Some(11): what it is found by is not what it says");
    assert_snapshot!(told("UPDATE events SET time = time - 1 WHERE number = 13"), @"Some(13): what it is found by is not what it says");
    assert_snapshot!(told("UPDATE events SET hash = zeroblob(32) WHERE number = 40"), @"Some(40): its bytes, its hash or the hash before it are not what was written");
}

/// Whoever looks while others write and cut is not told that something is broken.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn one_that_is_being_written_is_sound_at_any_moment() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    written(&path, 100).await;
    let keep = Keep { events: 1000, ..Keep::default() };
    let audit = Audit::start(Settings { keep, ..settings(&path, AuditMode::On) });
    let writer = tokio::spawn(async move {
        for _ in 0..40 {
            fill(&audit, 100).await;
            audit.flush().await;
        }
        audit.close().await;
    });
    let reader = Reader::open(&path).unwrap().unwrap();
    let mut looks = 0;
    while !writer.is_finished() || looks < 3 {
        let verified = tokio::task::block_in_place(|| reader.verify());
        assert!(matches!(verified, Verified::Sound { .. }), "after {looks}: {verified:?}");
        looks += 1;
    }
    writer.await.unwrap();
}

/// A page that was divided has no second copy of what was on it, where a change would be seen by nobody.
#[test]
fn what_can_be_read_in_the_file_is_under_the_chain() {
    let Sound { bytes, exported } = sound();
    assert!(exported.len() >= 100);
    for number in 1..=exported.len() {
        let wanted = format!("{{\"number\":{number},").into_bytes();
        let found = bytes.windows(wanted.len()).filter(|part| *part == wanted).count();
        assert_eq!(found, 1, "event {number} stands {found} times in the file");
    }
}

#[tokio::test]
async fn nothing_is_added_to_one_that_is_broken_at_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    written(&path, 3).await;
    let connection = rusqlite::Connection::open(&path).unwrap();
    connection.execute("UPDATE events SET hash = zeroblob(32) WHERE number = 6", []).unwrap();
    drop(connection);
    let before = std::fs::read(&path).unwrap();
    let audit = Audit::start(settings(&path, AuditMode::Strict));
    let refused = audit.tell(called(1, "create_issue", raw("x"))).written().await.unwrap_err();
    assert!(refused.to_string().contains("is damaged"), "{refused}");
    audit.close().await;
    assert!(std::fs::read(&path).unwrap() == before, "not a byte of it was changed");
    std::fs::write(&path, "Dear diary, today I was no database. ".repeat(1000)).unwrap();
    assert!(matches!(Reader::open(&path), Err(StoreError::RecordDamaged { .. })));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    /// Whichever byte of the file is changed: either it is noticed, or it was one that says nothing.
    #[test]
    fn any_byte_that_says_something(place in 0.0..1.0f64, bit in 0u32..8) {
        let sound = sound();
        let at = ((sound.bytes.len() - 1) as f64 * place) as usize;
        let mut bytes = sound.bytes.clone();
        bytes[at] ^= 1 << bit;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.db");
        std::fs::write(&path, bytes).unwrap();
        let noticed = match Reader::open(&path) {
            Err(_) => true,
            Ok(reader) => matches!(reader.unwrap().verify(), Verified::Broken(_)),
        };
        prop_assert!(noticed || exported(&path) == sound.exported, "byte {at}");
    }
}

struct Sound {
    bytes: Vec<u8>,
    exported: Vec<String>,
}

fn sound() -> &'static Sound {
    static SOUND: std::sync::OnceLock<Sound> = std::sync::OnceLock::new();
    SOUND.get_or_init(|| {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("audit.db");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(written(&path, 60));
        Sound { bytes: std::fs::read(&path).unwrap(), exported: exported(&path) }
    })
}
