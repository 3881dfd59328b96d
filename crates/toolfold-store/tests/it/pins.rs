//! The record: made when it is needed, never replaced, and missed when it is gone.

use std::path::PathBuf;

use insta::assert_snapshot;
use tempfile::TempDir;
use toolfold_core::Fingerprint;
use toolfold_store::{NewPin, PinSource, Pinned, Store, StoreError, StoredPin, StoredPins};
use toolfold_test::Postgres;

use crate::{Home, key, open, save, server};

fn source(name: &str) -> PinSource {
    PinSource { server: server(name), key: key("program") }
}

fn pin(name: &str, looks: &str) -> NewPin {
    let pin = StoredPin {
        kind: "tool".to_owned(),
        name: name.to_owned(),
        accepted: Some(key(looks)),
        denied: None,
        by: None,
        findings: 0,
        raised: 0,
    };
    NewPin { pin, definition: Some(looks.to_owned()) }
}

/// The same, refused.
fn refused(name: &str, looks: &str) -> NewPin {
    let pin = pin(name, looks).pin;
    NewPin { pin: StoredPin { accepted: None, denied: pin.accepted, ..pin }, definition: None }
}

fn never() -> Pinned {
    Pinned::Never { former: Vec::new() }
}

async fn known(store: &Store, source: &PinSource) -> StoredPins {
    match store.pins(source).await.unwrap() {
        Pinned::Known(known) => known,
        other => panic!("{other:?}"),
    }
}

async fn accepted(store: &Store, name: &str) -> Option<Fingerprint> {
    match store.pins(&source("a")).await.unwrap() {
        Pinned::Known(known) => known.pins.into_iter().find(|pin| pin.name == name).and_then(|pin| pin.accepted),
        _ => None,
    }
}

struct Place {
    folder: TempDir,
    path: PathBuf,
    record: PathBuf,
}

fn place() -> Place {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toolfold.db");
    let record = folder.path().join("toolfold.record.db");
    Place { folder, path, record }
}

/// A record with one pin in it, closed.
async fn written() -> Place {
    let place = place();
    let store = open(&place.path).await;
    assert!(!store.pin_new(&source("a"), vec![pin("x", "1")]).await.unwrap().1);
    store.close().await;
    place
}

#[tokio::test]
async fn made_when_there_is_something_to_put_in_it() {
    let place = place();
    let store = open(&place.path).await;
    save(&store, "a", "1", "1").await.unwrap();
    assert_eq!(store.pins(&source("a")).await.unwrap(), never());
    assert!(!place.record.exists());
    store.pin_new(&source("a"), vec![pin("x", "1")]).await.unwrap();
    assert!(place.record.exists());
    store.close().await;

    let store = open(&place.path).await;
    assert_eq!(accepted(&store, "x").await, Some(key("1")));
    let elsewhere = PinSource { key: key("another program"), ..source("a") };
    assert_eq!(store.pins(&elsewhere).await.unwrap(), Pinned::Never { former: vec![pin("x", "1").pin] });
}

/// Whoever is killed in the first moment of a record leaves a file that has nothing in it, or nothing but its head.
#[tokio::test]
async fn one_of_which_only_the_beginning_was_made_is_a_new_one() {
    for begun in ["", "PRAGMA page_size = 16384; PRAGMA journal_mode = WAL;"] {
        let place = place();
        for path in [&place.path, &place.record] {
            std::fs::write(path, "").unwrap();
            rusqlite::Connection::open(path).unwrap().execute_batch(begun).unwrap();
        }
        let opened = Store::open(Some(&place.path)).await.unwrap();
        assert_eq!(opened.notice, None, "{begun}");
        assert!(!opened.store.pin_new(&source("a"), vec![pin("x", "1")]).await.unwrap().1);
        assert_eq!(accepted(&opened.store, "x").await, Some(key("1")));
    }
}

pub(crate) async fn what_is_pinned_stays_until_somebody_decides(home: Home) {
    let store = home.open().await;
    assert!(!store.pin_new(&source("a"), vec![pin("x", "1")]).await.unwrap().1);
    assert!(store.pin_new(&source("a"), vec![pin("x", "2"), pin("y", "1")]).await.unwrap().1, "x was there");
    assert_eq!((accepted(&store, "x").await, accepted(&store, "y").await), (Some(key("1")), Some(key("1"))));
    let both = vec![key("1"), key("2")];
    store.decide(&source("a"), (false, false), vec![pin("x", "2")]).await.unwrap();
    assert_eq!(accepted(&store, "x").await, Some(key("2")));
    let texts = store.accepted_definitions(both.clone()).await.unwrap();
    assert_eq!(texts, [(key("1"), "1".to_owned()), (key("2"), "2".to_owned())].into(), "y still refers to 1");
    store.decide(&source("a"), (false, false), vec![pin("y", "2")]).await.unwrap();
    assert_eq!(store.accepted_definitions(both).await.unwrap(), [(key("2"), "2".to_owned())].into());
    store.forget_pins(&source("a"), vec![("tool".to_owned(), "y".to_owned())]).await.unwrap();
    assert_eq!((accepted(&store, "x").await, accepted(&store, "y").await), (Some(key("2")), None));
}

pub(crate) async fn sources_are_numbered_as_they_came(home: Home) {
    let store = home.open().await;
    assert!(!store.pin_new(&source("a"), vec![pin("x", "1")]).await.unwrap().1);
    store.pin_new(&source("0"), Vec::new()).await.unwrap();
    store.decide(&source("a"), (true, false), Vec::new()).await.unwrap();
    let known = async |name: &str| known(&store, &source(name)).await;
    assert!(known("a").await.number < known("0").await.number);
    assert_eq!((known("a").await.strict, known("0").await.strict), (true, false));
    store.pin_new(&source("a"), vec![pin("z", "1")]).await.unwrap();
    assert!(known("a").await.strict, "only a decision changes that");
}

/// Somebody who gives a server another argument has not taken back what was decided of it.
pub(crate) async fn what_was_decided_of_a_name_is_told_to_whoever_has_it_next(home: Home) {
    let store = home.open().await;
    store.decide(&source("a"), (false, false), vec![refused("x", "1"), pin("y", "1")]).await.unwrap();
    let next = PinSource { key: key("another program"), ..source("a") };
    let mut decided = vec![refused("x", "1").pin, pin("y", "1").pin];
    decided.sort_by(|a, b| a.name.cmp(&b.name));
    let sorted = |mut pins: Vec<StoredPin>| {
        pins.sort_by(|a, b| a.name.cmp(&b.name));
        pins
    };
    let Pinned::Never { former } = store.pins(&next).await.unwrap() else { panic!("it was never there") };
    assert_eq!(sorted(former), decided);
    assert_eq!(known(&store, &source("a")).await.former, []);
    store.pin_new(&next, vec![pin("y", "2")]).await.unwrap();
    assert_eq!(sorted(known(&store, &next).await.former), decided);
    assert_eq!(store.pins(&source("b")).await.unwrap(), never());
}

pub(crate) async fn a_source_goes_on_under_another_key(home: Home) {
    let store = home.open().await;
    let next = PinSource { key: key("another program"), ..source("a") };
    store.adopt(&next, &source("a").key).await.unwrap();
    assert_eq!(store.pins(&next).await.unwrap(), never());
    let (number, _) = store.pin_new(&source("a"), vec![pin("x", "1")]).await.unwrap();
    store.adopt(&next, &source("a").key).await.unwrap();
    let known = known(&store, &next).await;
    assert_eq!((known.number, known.pins), (number, vec![pin("x", "1").pin]));
    assert_eq!(store.pins(&source("a")).await.unwrap(), Pinned::Never { former: vec![pin("x", "1").pin] });
    // One that is known already stays as it is.
    store.pin_new(&source("a"), vec![pin("x", "2")]).await.unwrap();
    store.adopt(&next, &source("a").key).await.unwrap();
    assert_eq!(accepted(&store, "x").await, Some(key("2")));
}

pub(crate) async fn declared_risk_is_kept_until_somebody_decides(home: Home) {
    let store = home.open().await;
    store.pin_new(&source("a"), vec![pin("x", "1"), pin("y", "1")]).await.unwrap();
    store.raise(&source("a"), vec![("tool".to_owned(), "x".to_owned(), 2)]).await.unwrap();
    store.raise(&source("nobody"), vec![("tool".to_owned(), "x".to_owned(), 2)]).await.unwrap();
    store.close().await;
    let store = home.open().await;
    let raised = async || {
        let mut pins = known(&store, &source("a")).await.pins;
        pins.sort_by(|a, b| a.name.cmp(&b.name));
        pins.iter().map(|pin| pin.raised).collect::<Vec<_>>()
    };
    assert_eq!(raised().await, [2, 0]);
    store.decide(&source("a"), (false, false), vec![pin("x", "1")]).await.unwrap();
    assert_eq!(raised().await, [0, 0]);
}

/// What a disk, or a hand, does to rows of a database that stays whole.
const DAMAGE: [&str; 7] = [
    "UPDATE pins SET name = 'z' WHERE name = 'x'",
    "UPDATE pins SET accepted = denied, denied = accepted WHERE name = 'y'",
    "UPDATE pins SET denied = NULL WHERE name = 'y'",
    "DELETE FROM pins WHERE name = 'y'",
    "DELETE FROM pins",
    "UPDATE sources SET strict = NOT strict",
    "UPDATE sources SET seal = NULL",
];

/// A source that was damaged is believed by nobody, and not made whole by whoever writes to it.
async fn a_damaged_source(home: &Home, damage: impl Fn(&str)) {
    let elsewhere = PinSource { key: key("another program"), ..source("a") };
    for sql in DAMAGE {
        let store = home.open().await;
        let before = vec![pin("x", "1"), refused("y", "1")];
        store.decide(&source("a"), (false, true), before).await.unwrap();
        store.close().await;
        damage(sql);
        let store = home.open().await;
        assert_eq!(store.pins(&source("a")).await.unwrap(), Pinned::Damaged, "{sql}");
        assert_eq!(store.pins(&elsewhere).await.unwrap(), Pinned::Damaged, "{sql}: what was refused is not known");
        assert_eq!(store.pins(&source("b")).await.unwrap(), never());
        let errors = [
            store.pin_new(&source("a"), vec![pin("w", "1")]).await.map(|_| ()),
            store.decide(&source("a"), (false, false), vec![pin("w", "1")]).await,
            store.raise(&source("a"), vec![("tool".to_owned(), "x".to_owned(), 1)]).await,
        ];
        for error in errors {
            assert!(matches!(error, Err(StoreError::RecordDamaged { .. })), "{sql}: {error:?}");
        }
        assert!(store.forget_pins(&source("a"), vec![("tool".to_owned(), "x".to_owned())]).await.unwrap());
        assert_eq!(store.pins(&source("a")).await.unwrap(), Pinned::Damaged, "{sql}");
        // Who decides after hearing that begins anew.
        store.decide(&source("a"), (true, true), vec![pin("v", "1")]).await.unwrap();
        let known = known(&store, &source("a")).await;
        assert_eq!((known.strict, known.pins), (true, vec![pin("v", "1").pin]), "{sql}");
        store.close().await;
    }
}

#[tokio::test]
async fn a_source_that_does_not_fit_its_seal_is_damaged() {
    let home = Home::file();
    let record = Store::record_path(home.place.file().unwrap());
    a_damaged_source(&home, |sql| rusqlite::Connection::open(&record).unwrap().execute_batch(sql).unwrap()).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_source_in_a_database_that_does_not_fit_its_seal_is_damaged() {
    let server = Postgres::start();
    let home = Home::database(&server.url("damaged"));
    let damage = |sql: &str| drop(server.sql("damaged", &format!("SET search_path = toolfold; {sql}")).unwrap());
    a_damaged_source(&home, damage).await;
}

/// A text where a fingerprint should be is no pin, and no reason not to read the others.
#[tokio::test]
async fn what_cannot_be_read_as_a_pin_is_damage_of_its_source_alone() {
    let place = written().await;
    let store = open(&place.path).await;
    store.pin_new(&source("b"), vec![pin("x", "1")]).await.unwrap();
    store.close().await;
    let odd = "UPDATE pins SET accepted = x'01' WHERE source = (SELECT number FROM sources WHERE server = 'a')";
    rusqlite::Connection::open(&place.record).unwrap().execute_batch(odd).unwrap();
    let store = open(&place.path).await;
    assert_eq!(store.pins(&source("a")).await.unwrap(), Pinned::Damaged);
    assert_eq!(known(&store, &source("b")).await.pins, [pin("x", "1").pin]);
}

/// What was written before there were seals is sealed when it is first opened, and goes on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_record_from_before_the_seals_goes_on() {
    let unsealed = "ALTER TABLE sources DROP COLUMN seal; ALTER TABLE pins DROP COLUMN raised;";
    let (server, file) = (Postgres::start(), Home::file());
    let record = Store::record_path(file.place.file().unwrap());
    let of_file = format!("{unsealed} PRAGMA user_version = 4;");
    let of_database = format!("SET search_path = toolfold; {unsealed} UPDATE format SET version = 2");
    for home in [file, Home::database(&server.url("older"))] {
        let store = home.open().await;
        store.pin_new(&source("a"), vec![pin("x", "1")]).await.unwrap();
        store.close().await;
        match home.place.file() {
            Some(_) => rusqlite::Connection::open(&record).unwrap().execute_batch(&of_file).unwrap(),
            None => drop(server.sql("older", &of_database).unwrap()),
        }
        let store = home.open().await;
        assert_eq!(known(&store, &source("a")).await.pins, [pin("x", "1").pin]);
        assert!(!store.pin_new(&source("a"), vec![pin("y", "1")]).await.unwrap().1);
        store.close().await;
    }
}

/// Whoever has a text whole mends the one that is kept.
pub(crate) async fn a_text_is_kept_as_it_was_last_accepted(home: Home) {
    let store = home.open().await;
    let twice = |text: &str| NewPin { definition: Some(text.to_owned()), ..pin("x", "1") };
    store.pin_new(&source("a"), vec![twice("damaged")]).await.unwrap();
    let other = NewPin { pin: StoredPin { name: "y".to_owned(), ..twice("").pin }, ..twice("whole") };
    store.pin_new(&source("a"), vec![other.clone(), NewPin { pin: pin("z", "1").pin, ..other }]).await.unwrap();
    let texts = store.accepted_definitions(vec![key("1")]).await.unwrap();
    assert_eq!(texts, [(key("1"), "whole".to_owned())].into());
}

#[tokio::test]
async fn a_lost_record_is_missed() {
    let place = written().await;
    std::fs::remove_file(&place.record).unwrap();
    let store = open(&place.path).await;
    assert_eq!(store.pins(&source("a")).await.unwrap(), Pinned::Lost);
    assert_eq!(store.pins(&source("b")).await.unwrap(), never());
    // Another source begins a new record: this one is still missed.
    store.pin_new(&source("b"), vec![pin("x", "1")]).await.unwrap();
    assert_eq!(store.pins(&source("a")).await.unwrap(), Pinned::Lost);
}

#[tokio::test]
async fn without_a_file_it_lasts_as_long_as_the_store() {
    let store = Store::open(None).await.unwrap().store;
    assert_eq!(store.pins(&source("a")).await.unwrap(), never());
    store.pin_new(&source("a"), vec![pin("x", "1")]).await.unwrap();
    assert_eq!(accepted(&store, "x").await, Some(key("1")));
}

#[tokio::test]
async fn a_damaged_one_is_refused_and_left_as_it_is() {
    let place = written().await;
    for damaged in [b"Dear diary, ".repeat(2_000), b"SQLite format 3\0".to_vec()] {
        std::fs::write(&place.record, &damaged).unwrap();
        let store = open(&place.path).await;
        for _ in 0..2 {
            let error = store.pin_new(&source("a"), vec![pin("y", "1")]).await.unwrap_err();
            assert!(matches!(error, StoreError::RecordDamaged { .. }), "{error}");
            let error = store.pins(&source("a")).await.unwrap_err();
            assert!(matches!(error, StoreError::RecordDamaged { .. }), "{error}");
        }
        // What may be lost goes on.
        save(&store, "a", "1", "1").await.unwrap();
        store.close().await;
        assert!(std::fs::read(&place.record).unwrap() == damaged, "not a byte of it was changed");
    }
    let names = std::fs::read_dir(place.folder.path()).unwrap().map(|entry| entry.unwrap().file_name());
    assert!(names.into_iter().all(|name| !name.to_string_lossy().contains("broken")));
}

#[tokio::test]
async fn damage_in_the_middle_is_found_before_anything_is_written() {
    let place = place();
    let store = open(&place.path).await;
    let pins = (0..400).map(|i| pin(&format!("{i} {}", "x".repeat(400)), "1")).collect();
    store.pin_new(&source("a"), pins).await.unwrap();
    store.close().await;
    let mut bytes = std::fs::read(&place.record).unwrap();
    assert!(bytes.len() > 8 * 16_384);
    bytes[6 * 16_384..].fill(0xA5);
    std::fs::write(&place.record, &bytes).unwrap();
    let store = open(&place.path).await;
    let error = store.pin_new(&source("a"), vec![pin("y", "1")]).await.unwrap_err();
    assert!(matches!(error, StoreError::RecordDamaged { .. }), "{error}");
    store.close().await;
    assert!(std::fs::read(&place.record).unwrap() == bytes);
}

#[tokio::test]
async fn what_a_person_is_told() {
    let place = written().await;
    let whole = std::fs::read(&place.record).unwrap();
    std::fs::write(&place.record, "Dear diary, today I was no database. ".repeat(100)).unwrap();
    let store = open(&place.path).await;
    let error = store.pins(&source("a")).await.unwrap_err();
    let told = format!("{error}\nhint: {}", error.hint()).replace(&place.folder.path().display().to_string(), "");
    assert_snapshot!(told, @r"
    the record /toolfold.record.db is damaged (file is not a database) and is left as it is: it holds what cannot be had again
    hint: bring it back from a backup, or save what can be read with `sqlite3 FILE .recover`; to begin a new one, move it away yourself
    ");
    // Done as told, it is used again without a restart.
    std::fs::write(&place.record, whole).unwrap();
    assert_eq!(accepted(&store, "x").await, Some(key("1")));
}

#[tokio::test]
async fn neither_file_is_taken_for_the_other() {
    let place = written().await;
    let error = Store::open(Some(&place.record)).await.unwrap_err();
    assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
    std::fs::copy(&place.path, &place.record).unwrap();
    let error = open(&place.path).await.pin_new(&source("a"), vec![pin("x", "1")]).await.unwrap_err();
    assert!(matches!(error, StoreError::Foreign { .. }), "{error}");
}
