//! Results that are too large to be taken down: what is read of them is what would be read of the same in memory.

use std::time::Duration;

use serde_json::json;
use toolfold_core::{Fuel, Principal, Stop};
use toolfold_results::{Notation, Reading, Room, Shelf, WrongReading, read, read_kept};

const LONG: usize = 9 << 20;
const ROOM: Room = Room { bytes: 64 << 20, age: Duration::from_secs(60) };

/// Asks the same of a kept text and of one in memory.
fn both(text: &str, format: Notation, readings: &[Reading]) {
    assert!(text.len() > LONG);
    let folder = tempfile::tempdir().unwrap();
    let (shelf, ada) = (Shelf::new(folder.path(), "").unwrap(), Principal::local());
    let (handle, surveyed) = shelf.put((&ada, "a.b"), text, ROOM, 400).unwrap();
    assert_eq!((surveyed.format, surveyed.bytes), (format, text.len() as u64));
    let kept = shelf.find(&ada, &handle, ROOM).unwrap();
    for reading in readings {
        // What is kept is not counted: a fuel that is empty does not end it.
        let (fuel, plenty) = (Fuel::new(0), Fuel::new(u64::MAX));
        let long = read_kept(&kept, reading, 400, (&fuel, &Stop::default())).unwrap();
        assert_eq!(long, read(format, text, reading, 400, &plenty), "{reading:?}");
    }
}

fn readings() -> Vec<Reading> {
    let page = |offset, limit| Reading { offset, limit, ..Reading::default() };
    let grep = |pattern: &str, offset| Reading { grep: Some(pattern.to_owned()), offset, ..Reading::default() };
    vec![page(7, Some(2)), page(30_000, None), page(10_000_000, None), grep("ä 1", 3), grep("(", 0)]
}

#[test]
fn pages_and_patterns_of_a_long_result_are_those_of_one_in_memory() {
    let people: Vec<_> =
        (0..40_000).map(|n| json!({"id": n, "name": format!("ä {n}"), "note": "x".repeat(240)})).collect();
    both(&json!({"total": 9, "people": people, "next": null}).to_string(), Notation::Json, &readings());
    let members: serde_json::Map<_, _> = people.into_iter().map(|one| (one["id"].to_string(), one)).collect();
    both(&json!(members).to_string(), Notation::Json, &readings());
    let lines: String =
        (0..80_000).map(|n| format!("ä {n} {}{}", "x".repeat(n % 230), ["\n", "\r\n"][n % 2])).collect();
    both(&lines, Notation::Text, &readings());
    let first = [Reading::default(), Reading { offset: 1, ..Reading::default() }];
    both(&format!("one\n{}\nend", "ä 1".repeat(LONG / 4)), Notation::Text, &first);
}

#[test]
fn a_long_result_is_not_read_into_values_and_reading_ends_when_nobody_waits() {
    let folder = tempfile::tempdir().unwrap();
    let (shelf, ada) = (Shelf::new(folder.path(), "").unwrap(), Principal::local());
    let text = json!([1, "x".repeat(LONG)]).to_string();
    let (handle, _) = shelf.put((&ada, "a.b"), &text, ROOM, 400).unwrap();
    let kept = shelf.find(&ada, &handle, ROOM).unwrap();
    let (fuel, stop) = (Fuel::new(u64::MAX), Stop::default());
    let query = Reading { query: Some("[0]".to_owned()), ..Reading::default() };
    let refused = read_kept(&kept, &query, 400, (&fuel, &stop)).unwrap().unwrap_err();
    assert!(refused.to_string().contains("more than a query can read: use `grep`"), "{refused}");
    stop.set();
    let stopped = read_kept(&kept, &Reading::default(), 400, (&fuel, &stop)).unwrap();
    assert_eq!(stopped, Err(WrongReading::TooMuch));
}
