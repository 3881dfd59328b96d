//! What is only true of PostgreSQL: many who come at once, a database that goes away and comes back, and addresses that are wrong.

use toolfold_core::{DatabaseUrl, StorePlace};
use toolfold_store::{Store, StoreError};
use toolfold_test::Postgres;

use crate::{Home, remembered, save};

fn place(url: &str) -> StorePlace {
    StorePlace::Database(DatabaseUrl::parse(url).unwrap())
}

async fn refused(url: &str) -> StoreError {
    Store::at(Some(&place(url))).await.unwrap_err()
}

/// Eight come to an empty database at once: its tables are made once, and nobody fails.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whoever_comes_first_makes_the_tables() {
    let server = Postgres::start();
    let url = server.url("many");
    let mut opening = tokio::task::JoinSet::new();
    for i in 0..8 {
        let place = place(&url);
        opening.spawn(async move {
            let store = Store::at(Some(&place)).await.unwrap().store;
            save(&store, &format!("s{i}"), "k", "{}").await.unwrap();
            store.close().await;
        });
    }
    opening.join_all().await;
    assert_eq!(remembered(&Home::database(&url).open().await).await.len(), 8);

    // One that a newer program has made is left alone, and so is one that is somebody else's.
    let newest: i64 = server.sql("many", "SELECT version FROM toolfold.format").unwrap().parse().unwrap();
    server.sql("many", "UPDATE toolfold.format SET version = 99").unwrap();
    let error = refused(&url).await;
    assert!(matches!(error, StoreError::TooNew { found: 99, known, .. } if known == newest), "{error}");
    let url = server.url("other");
    server.sql("other", "CREATE SCHEMA toolfold; CREATE TABLE toolfold.bookmarks (url TEXT)").unwrap();
    assert!(matches!(refused(&url).await, StoreError::Foreign { .. }));
    assert_eq!(server.sql("other", "SELECT count(*) FROM pg_tables WHERE schemaname = 'toolfold'").unwrap(), "1");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_goes_away_is_said_and_found_again() {
    let mut server = Postgres::start();
    let url = server.url("away");
    let store = Home::database(&url).open().await;
    save(&store, "a", "1", "kept").await.unwrap();
    server.stop();
    for _ in 0..2 {
        let error = save(&store, "b", "1", "lost").await.unwrap_err();
        assert!(matches!(error, StoreError::Unreachable { .. }), "{error}");
    }
    assert!(matches!(refused(&url).await, StoreError::Unreachable { .. }));
    server.go_on();
    save(&store, "c", "1", "again").await.unwrap();
    let names: Vec<String> = remembered(&store).await.into_iter().map(|(name, _)| name).collect();
    assert_eq!(names, ["a", "c"]);
}

/// More at once than there are links, and not one more link than there may be.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn links_have_a_bound() {
    let server = Postgres::start();
    let store = Home::database(&server.url("bound")).open().await;
    let asked: Vec<_> = (0..100).map(|i| store.token([i; 32])).collect();
    for answer in asked {
        assert_eq!(answer.await.unwrap(), None);
    }
    let links = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'toolfold'";
    let links: usize = server.sql("bound", links).unwrap().parse().unwrap();
    assert!((1..=8).contains(&links), "{links}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_wrong_with_an_address_is_said_without_the_password() {
    let server = Postgres::with_port();
    let url = server.tcp_url("tools").replace("toolfold@", "toolfold:sesame@");
    Store::at(Some(&place(&format!("{url}?sslmode=disable")))).await.unwrap();
    Store::at(Some(&place(&format!("{url}?sslmode=prefer")))).await.unwrap();
    let said = async |url: &str| {
        let error = refused(url).await;
        let told = format!("{error}\nhint: {}", error.hint());
        assert!(!format!("{told} {error:?}").contains("sesame"), "{told}");
        told
    };
    // This one has no certificate.
    for mode in ["require", "verify-ca", "verify-full"] {
        assert!(said(&format!("{url}?sslmode={mode}")).await.contains("does not support TLS"), "{mode}");
    }
    for (url, part) in [
        (format!("{url}?sslmode=maybe"), "there is no sslmode \"maybe\""),
        (url.replace("/tools", "/nothing"), "database \"nothing\" does not exist"),
        ("postgres://ada:sesame@127.0.0.1:1/tools".to_owned(), "Connection refused"),
        (
            format!("{url}?sslmode=verify-full&sslrootcert=/nowhere.pem"),
            "the certificates in /nowhere.pem cannot be read",
        ),
        ("postgres://ada:sesame@db:port/tools".to_owned(), "is wrong"),
    ] {
        let told = said(&url).await;
        assert!(told.contains(part), "{told}");
    }
}
