//! Logins, and who may renew one.

use std::time::Duration;

use toolfold_core::ServerName;
use toolfold_store::{Lease, LoginKey, StoredLogin};

use crate::Home;

const LONG: Duration = Duration::from_secs(60);

fn key(principal: &str) -> LoginKey {
    LoginKey {
        server: ServerName::new("linear").unwrap(),
        url: "https://mcp.linear.app/mcp".to_owned(),
        principal: principal.to_owned(),
    }
}

pub(crate) async fn a_login_is_whose_it_is_and_outlives_the_process(home: Home) {
    let store = home.open().await;
    assert_eq!(store.load_login(&key("local")).await.unwrap(), None);
    assert!(!home.has_record(), "nothing is made for a look");
    let first = store.save_login(&key("local"), "https://a.example", vec![1]).await.unwrap();
    let second = store.save_login(&key("local"), "https://b.example", vec![2]).await.unwrap();
    assert!(second > first);
    store.close().await;
    let store = home.open().await;
    let kept = StoredLogin { version: second, issuer: "https://b.example".to_owned(), sealed: vec![2] };
    assert_eq!(store.load_login(&key("local")).await.unwrap(), Some(kept));
    assert_eq!(store.load_login(&key("named alice")).await.unwrap(), None);
    assert!(!store.forget_login(&key("local"), Some(first)).await.unwrap(), "not the one that was meant");
    assert!(store.forget_login(&key("local"), None).await.unwrap());
    assert!(!store.forget_login(&key("local"), None).await.unwrap());
    let third = store.save_login(&key("local"), "", vec![3]).await.unwrap();
    assert!(third > second, "a version is never used twice");
}

pub(crate) async fn one_of_several_processes_renews_a_login(home: Home) {
    let (one, other) = (home.open().await, home.open().await);
    let version = one.save_login(&key("local"), "i", vec![1]).await.unwrap();
    assert_eq!(one.lease_login(&key("local"), version, "one", LONG).await.unwrap(), Lease::Ours);
    assert_eq!(other.lease_login(&key("local"), version, "other", LONG).await.unwrap(), Lease::Taken);
    assert_eq!(one.lease_login(&key("local"), version, "one", LONG).await.unwrap(), Lease::Ours, "again");
    other.release_login(&key("local"), "other").await.unwrap();
    assert_eq!(other.lease_login(&key("local"), version, "other", LONG).await.unwrap(), Lease::Taken);
    let renewed = one.save_login(&key("local"), "i", vec![2]).await.unwrap();
    let changed = other.lease_login(&key("local"), version, "other", LONG).await.unwrap();
    assert!(matches!(changed, Lease::Changed(Some(login)) if login.version == renewed && login.sealed == [2]));
    assert_eq!(other.lease_login(&key("local"), renewed, "other", LONG).await.unwrap(), Lease::Ours, "it was saved");
    other.release_login(&key("local"), "other").await.unwrap();
    assert_eq!(one.lease_login(&key("local"), renewed, "one", Duration::ZERO).await.unwrap(), Lease::Ours);
    let over = other.lease_login(&key("local"), renewed, "other", LONG).await.unwrap();
    assert_eq!(over, Lease::Ours, "who was killed does not hold it for ever");
    let replaced = other.replace_login(&key("local"), Some(renewed), "i", vec![3]).await.unwrap().unwrap();
    assert!(replaced > renewed);
    assert_eq!(one.replace_login(&key("local"), Some(renewed), "i", vec![4]).await.unwrap(), None, "it has changed");
    assert_eq!(one.replace_login(&key("local"), None, "i", vec![4]).await.unwrap(), None, "there is one");
    assert_eq!(one.load_login(&key("local")).await.unwrap().unwrap().sealed, [3]);
    one.forget_login(&key("local"), None).await.unwrap();
    assert_eq!(other.replace_login(&key("local"), Some(replaced), "i", vec![5]).await.unwrap(), None, "it has ended");
    assert_eq!(other.load_login(&key("local")).await.unwrap(), None);
    assert_eq!(other.lease_login(&key("local"), renewed, "other", LONG).await.unwrap(), Lease::Changed(None));
    let first = one.replace_login(&key("local"), None, "i", vec![6]).await.unwrap();
    assert!(first.is_some_and(|version| version > replaced), "there was none");
}
