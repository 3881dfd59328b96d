//! What was chosen after a request is remembered, counted by occasion, bounded and forgotten.

use toolfold_store::{Store, StoredChoice};

use crate::Home;

fn choice(catalog: &str, request: u64, tool: &str, occasion: u64) -> StoredChoice {
    StoredChoice {
        catalog: catalog.as_bytes().to_vec(),
        request: request.to_le_bytes().to_vec(),
        tool: tool.to_owned(),
        marks: vec![1, 2, 3],
        text: None,
        occasion: occasion.to_le_bytes(),
    }
}

async fn seen(store: &Store, catalog: &str) -> Vec<(String, u32)> {
    let habits = store.habits(catalog.as_bytes(), true).await.unwrap();
    habits.into_iter().map(|habit| (habit.tool, habit.times)).collect()
}

pub(crate) async fn an_occasion_counts_once_and_catalogs_are_apart(home: Home) {
    let store = home.open().await;
    assert!(store.remember_choice(choice("a", 1, "git.log", 7)).await.unwrap().is_some());
    assert!(store.remember_choice(choice("a", 1, "git.log", 7)).await.unwrap().is_none());
    let habit = store.remember_choice(choice("a", 1, "git.log", 8)).await.unwrap().unwrap();
    assert_eq!((habit.times, habit.occasions.len()), (2, 2));
    store.remember_choice(choice("b", 1, "git.show", 8)).await.unwrap();
    store.close().await;
    let store = home.open().await;
    assert_eq!(seen(&store, "a").await, [("git.log".to_owned(), 2)]);
    assert_eq!(seen(&store, "b").await, [("git.show".to_owned(), 1)]);
}

pub(crate) async fn texts_are_taken_out_for_who_must_not_keep_them(home: Home) {
    let store = home.open().await;
    let text = Some("show the log".to_owned());
    store.remember_choice(StoredChoice { text: text.clone(), ..choice("a", 1, "git.log", 7) }).await.unwrap();
    // A choice without a text takes none away.
    store.remember_choice(choice("a", 1, "git.log", 8)).await.unwrap();
    assert_eq!(store.habits(b"a", true).await.unwrap()[0].text, text);
    assert_eq!(store.habits(b"a", false).await.unwrap()[0].text, None);
    assert_eq!(store.habits(b"a", true).await.unwrap()[0].text, None);
}

pub(crate) async fn what_is_forgotten_is_gone(home: Home) {
    let store = home.open().await;
    for (catalog, tool) in [("a", "x.one"), ("a", "x.two"), ("b", "x.one")] {
        store.remember_choice(choice(catalog, 1, tool, 1)).await.unwrap();
    }
    assert_eq!(store.forget_habits(Some(b"a"), Some("x.one")).await.unwrap(), 1);
    assert_eq!(seen(&store, "a").await, [("x.two".to_owned(), 1)]);
    assert_eq!(seen(&store, "b").await.len(), 1);
    assert_eq!(store.forget_habits(None, None).await.unwrap(), 2);
    assert!(seen(&store, "b").await.is_empty());
}

pub(crate) async fn there_is_a_bound_and_habits_outlive_accidents(home: Home) {
    let store = home.open().await;
    for occasion in [1, 2] {
        store.remember_choice(choice("a", 0, "x.habit", occasion)).await.unwrap();
    }
    for request in 1..=4_200 {
        store.remember_choice(choice("a", request, "x.accident", 1)).await.unwrap();
    }
    let seen = seen(&store, "a").await;
    assert_eq!(seen.len(), 4_000);
    assert!(seen.contains(&("x.habit".to_owned(), 2)));
}
