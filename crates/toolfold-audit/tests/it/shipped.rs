//! The audit of replicas in one PostgreSQL: a chain each, nothing lost and nothing twice, whoever is away.

use std::path::Path;

use serde_json::json;
use toolfold_audit::{Audit, EventKind, Seen, Settings, SharedReader, Verified};
use toolfold_config::{AuditMode, Keep};
use toolfold_core::DatabaseUrl;
use toolfold_test::Postgres;
use toolfold_wire::raw;

use crate::{called, ended, fill, settings};

fn url(server: &Postgres) -> DatabaseUrl {
    DatabaseUrl::parse(&server.url("audit")).unwrap()
}

fn start(server: &Postgres, path: &Path, mode: AuditMode) -> Audit {
    Audit::start(Settings { database: Some(url(server)), ..settings(path, mode) })
}

/// Every chain is whole: how many events each has.
fn sound(server: &Postgres) -> Vec<u64> {
    let verdicts = SharedReader::open(&url(server)).unwrap().verify().unwrap();
    let one = |(chain, verdict): (String, Verified)| match verdict {
        Verified::Sound { events, .. } => events,
        Verified::Broken(broken) => panic!("{chain}: {broken:?}"),
    };
    verdicts.into_iter().map(one).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn replicas_have_a_chain_each_and_readers_see_all() {
    let (server, folder) = (Postgres::start(), tempfile::tempdir().unwrap());
    let replicas: Vec<Audit> = [AuditMode::On, AuditMode::Strict]
        .into_iter()
        .enumerate()
        .map(|(i, mode)| start(&server, &folder.path().join(format!("{i}.db")), mode))
        .collect();
    let (a, b) = (replicas[0].clone(), replicas[1].clone());
    tokio::join!(fill(&a, 200), fill(&b, 100));
    a.close().await;
    b.close().await;
    let mut counts = sound(&server);
    counts.sort_unstable();
    assert_eq!(counts, [200, 400]);
    let reader = SharedReader::open(&url(&server)).unwrap();
    let (last, mut seen) = reader.tail(7).unwrap();
    assert_eq!(last.len(), 7);
    assert!(reader.after(&mut seen, 10).unwrap().is_empty());
    let usage = reader.usage(toolfold_audit::Moment::default()).unwrap();
    assert_eq!(usage.calls, 300);
    let chain = last[0].chain.clone().unwrap();
    let shown = reader.show(Some(&chain), 1).unwrap();
    assert!(shown.len() == 1 && shown[0].event().unwrap().kind == EventKind::Call);
    assert_eq!(reader.show(None, 1).unwrap().len(), 2, "each chain has a first");
    assert_eq!(reader.trace("github.create_issue", 5).unwrap().len(), 5);
    assert_eq!(reader.heads().unwrap().len(), 2);

    // Whoever reads from the beginning sees everything, and everything once.
    let (mut from, mut all) = (Seen::default(), std::collections::BTreeSet::new());
    loop {
        let new = reader.after(&mut from, 97).unwrap();
        if new.is_empty() {
            break;
        }
        for stored in new {
            assert!(all.insert((stored.chain.unwrap(), stored.number)), "twice");
        }
    }
    assert_eq!(all.len(), 600);
    server.sql("audit", "UPDATE toolfold.audit SET body = body || '\\x20' WHERE number = 50").unwrap();
    let broken = reader.verify().unwrap();
    assert!(broken.iter().all(|(_, verdict)| matches!(verdict, Verified::Broken(broken) if broken.number == Some(50))));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn while_the_database_is_away_strict_refuses_and_others_catch_up() {
    let (mut server, folder) = (Postgres::start(), tempfile::tempdir().unwrap());
    let (path, strict) = (folder.path().join("on.db"), folder.path().join("strict.db"));
    let (on, strict) = (start(&server, &path, AuditMode::On), start(&server, &strict, AuditMode::Strict));
    tokio::join!(fill(&on, 10), fill(&strict, 10));
    server.stop();
    let refused = strict.tell(called(100, "create_issue", raw(&json!({})))).written().await;
    assert!(refused.is_err());
    fill(&on, 50).await;
    server.go_on();
    // Told again what was refused: it is taken now, and after it the word that something is missing.
    let mut written = Err(());
    for _ in 0..600 {
        written = strict.tell(called(101, "create_issue", raw(&json!({})))).written().await.map_err(|_| ());
        if written.is_ok() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    written.unwrap();
    strict.tell(ended(101, "done")).written().await.unwrap();
    strict.close().await;
    // The other one catches up by itself, in its own time.
    let mut counts = sound(&server);
    for _ in 0..600 {
        if counts.contains(&120) {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
        counts = sound(&server);
    }
    assert!(counts.contains(&120), "{counts:?}");
    on.close().await;
    let reader = SharedReader::open(&url(&server)).unwrap();
    let mut gaps = 0;
    reader
        .each(toolfold_audit::Moment::default(), |stored| {
            gaps += u64::from(stored.event().unwrap().kind == EventKind::Gap);
            true
        })
        .unwrap();
    assert_eq!(gaps, 1, "what was refused is said");
}

/// A write reached the database and the word of it was lost with the process: the next one goes on from there.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_older_file_goes_on_from_what_the_database_has() {
    let (server, folder) = (Postgres::start(), tempfile::tempdir().unwrap());
    let path = folder.path().join("audit.db");
    let audit = start(&server, &path, AuditMode::Strict);
    fill(&audit, 5).await;
    audit.close().await;
    let older = folder.path().join("older.db");
    std::fs::copy(&path, &older).unwrap();
    let audit = start(&server, &path, AuditMode::Strict);
    fill(&audit, 5).await;
    audit.close().await;
    assert_eq!(sound(&server), [20]);

    // As if the last five had been committed there and not here.
    let audit = start(&server, &older, AuditMode::Strict);
    fill(&audit, 5).await;
    audit.close().await;
    assert_eq!(sound(&server), [30], "one chain, without a fork");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn in_the_database_too_few_events_are_about_what_was_cut() {
    let (server, folder) = (Postgres::start(), tempfile::tempdir().unwrap());
    let path = folder.path().join("audit.db");
    let keep = Keep { events: 1000, ..Keep::default() };
    // Whoever begins looks for what is old, so each of these has a reason to.
    for calls in std::iter::once(500).chain([5; 12]) {
        let database = Some(url(&server));
        let audit = Audit::start(Settings { database, keep, ..settings(&path, AuditMode::On) });
        fill(&audit, calls).await;
        audit.close().await;
    }
    let kept = sound(&server);
    assert!(kept.len() == 1 && (900..=1010).contains(&kept[0]), "{kept:?}");
    let mut cuts = 0;
    let reader = SharedReader::open(&url(&server)).unwrap();
    reader
        .each(toolfold_audit::Moment::default(), |stored| {
            cuts += u64::from(stored.event().unwrap().kind == EventKind::Cut);
            true
        })
        .unwrap();
    assert!((1..=2).contains(&cuts), "{cuts}");
}
