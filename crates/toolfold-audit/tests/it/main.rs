//! The audit on real files: what is told is there, in order, and whatever is changed later shows.

#![allow(clippy::unwrap_used, reason = "a test that panics has said what it had to say")]
#![allow(clippy::print_stdout, reason = "a child process tells its parent what it did")]

mod chain;
mod children;
mod content;
mod kept;
mod many;
mod probed;
mod shipped;
mod slow;

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use serde_json::json;
use toolfold_audit::{Audit, AuditEvent, Ended, EventKind, Hides, Listing, Matter, Note, Reader, Settings, Shown, Who};
use toolfold_config::{AuditMode, Keep, Recorded};
use toolfold_core::{Entry, Principal, ServerName, Surface};
use toolfold_wire::{Raw, raw};

fn settings(path: &Path, mode: AuditMode) -> Settings {
    Settings {
        path: path.to_owned(),
        database: None,
        mode,
        record: Recorded::Names,
        keep: Keep::default(),
        hides: Arc::new(()) as Arc<dyn Hides>,
        count_tokens: str::len,
    }
}

fn who() -> Who {
    Who {
        principal: Principal::local(),
        client: Some("test 1".into()),
        session: Some(1),
        trace: None,
        request: Some("1".to_owned()),
        surface: Surface::Compact,
        catalog: 3,
        door: None,
    }
}

fn tool(name: &str) -> Arc<Entry> {
    let definition = raw(&json!({"name": name, "inputSchema": {"type": "object"}}));
    Arc::new(Entry::tool(&ServerName::new("github").unwrap(), &definition).unwrap())
}

fn note(what: Matter) -> Note {
    Note::now(Some(who()), what)
}

fn disclosed(kind: EventKind, query: &str, shown: &[(&str, f32)]) -> Note {
    let shown = shown.iter().map(|(tool, sure)| Shown { tool: (*tool).to_owned(), confidence: Some(*sure) }).collect();
    let took = Duration::from_micros(120);
    note(Matter::Disclosed { kind, query: Some(query.to_owned()), shown, answer: (&raw("four")).into(), took })
}

fn called(call: u64, name: &str, arguments: Raw) -> Note {
    note(Matter::Called {
        call,
        resumes: None,
        server: ServerName::new("github").unwrap(),
        method: "tools/call".to_owned(),
        tool: Some(tool(name)),
        target: None,
        listing: Listing::Unlisted,
        input: 10,
        arguments: Some(arguments),
    })
}

fn ended(call: u64, outcome: &'static str) -> Note {
    let result = Some(raw(&json!({"content": []})));
    note(Matter::Ended {
        call,
        ended: Ended { outcome, code: None, took: Duration::from_millis(3), output: 20, result },
    })
}

/// So many calls, each with its end: two events for each.
async fn fill(audit: &Audit, calls: u64) {
    for call in 0..calls {
        audit.tell(called(call, "create_issue", raw(&json!({})))).written().await.unwrap();
        audit.tell(ended(call, "done")).written().await.unwrap();
        if call % 1000 == 999 {
            audit.flush().await;
        }
    }
    audit.flush().await;
}

fn events(path: &Path) -> Vec<AuditEvent> {
    let reader = Reader::open(path).unwrap().unwrap();
    reader.tail(usize::MAX >> 1).unwrap().iter().map(|stored| stored.event().unwrap()).collect()
}
