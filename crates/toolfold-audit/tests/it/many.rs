//! Many events: what a person asks for stays quick. How many can be said in `TOOLFOLD_AUDIT_EVENTS`.

use std::time::Instant;

use serde_json::json;
use toolfold_audit::{Audit, Reader, Verified};
use toolfold_config::AuditMode;
use toolfold_wire::raw;

use crate::{called, ended, settings};

const EVENTS: &str = "TOOLFOLD_AUDIT_EVENTS";

#[tokio::test]
async fn the_end_and_one_tool_are_found_without_reading_all() {
    let events: u64 = std::env::var(EVENTS).ok().and_then(|number| number.parse().ok()).unwrap_or(20_000);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("audit.db");
    let audit = Audit::start(settings(&path, AuditMode::On));
    let begun = Instant::now();
    for call in 0..events / 2 {
        // One in a thousand is of the tool that is asked for.
        let tool = if call % 1000 == 7 { "rare".to_owned() } else { format!("tool{}", call % 300) };
        audit.mention(called(call, &tool, raw(&json!({}))));
        audit.mention(ended(call, "done"));
        if call % 2000 == 1999 {
            audit.flush().await;
        }
    }
    audit.close().await;
    let written = begun.elapsed();
    let reader = Reader::open(&path).unwrap().unwrap();
    let begun = Instant::now();
    assert_eq!(reader.tail(20).unwrap().len(), 20);
    let tail = begun.elapsed();
    let begun = Instant::now();
    assert_eq!(reader.trace("github.rare", 50).unwrap().len(), (events as usize / 1000).min(50));
    let trace = begun.elapsed();
    let begun = Instant::now();
    assert!(matches!(reader.verify(), Verified::Sound { .. }));
    let verify = begun.elapsed();
    let size = std::fs::metadata(&path).unwrap().len() >> 20;
    println!("{events} events, {size} MiB: written in {written:?}, tail {tail:?}, trace {trace:?}, verify {verify:?}");
    // Of the whole, these are next to nothing, however slow the machine.
    assert!(tail < verify && trace < verify, "{tail:?} {trace:?} {verify:?}");
}
