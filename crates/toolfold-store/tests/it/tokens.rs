//! Tokens are kept as hashes, looked up anew each time, and gone for everybody once they are revoked.

use toolfold_store::StoredToken;

use crate::Home;

fn token(name: &str, expires_at: Option<i64>) -> StoredToken {
    StoredToken {
        name: name.to_owned(),
        groups: vec!["ops".to_owned(), "dev".to_owned()],
        beginning: "toolfold_ab12".to_owned(),
        created_at: 1,
        expires_at,
    }
}

pub(crate) async fn what_one_process_revokes_another_does_not_know_any_more(home: Home) {
    let (one, other) = (home.open().await, home.open().await);
    assert_eq!(other.token([1; 32]).await.unwrap(), None, "there is not even a file");
    assert!(!home.has_record(), "and looking makes none");
    assert!(one.add_token([1; 32], token("ci", None)).await.unwrap());
    assert!(!one.add_token([2; 32], token("ci", None)).await.unwrap(), "the name is taken");
    assert!(!one.add_token([1; 32], token("copy", None)).await.unwrap(), "and so is the token");
    assert_eq!(other.token([1; 32]).await.unwrap(), Some(token("ci", None)));
    assert!(other.revoke_token("ci").await.unwrap() && !other.revoke_token("ci").await.unwrap());
    assert_eq!(one.token([1; 32]).await.unwrap(), None);
}

pub(crate) async fn what_has_expired_is_listed_and_not_found(home: Home) {
    let store = home.open().await;
    assert!(store.add_token([1; 32], token("past", Some(1_000))).await.unwrap());
    assert!(store.add_token([2; 32], token("future", Some(i64::MAX))).await.unwrap());
    assert_eq!(store.token([1; 32]).await.unwrap(), None);
    assert_eq!(store.token([2; 32]).await.unwrap().map(|token| token.name).as_deref(), Some("future"));
    let names: Vec<String> = store.tokens().await.unwrap().into_iter().map(|token| token.name).collect();
    assert_eq!(names, ["future", "past"]);
}
