//! What was called after a request comes a little earlier, and nothing else does.

use proptest::prelude::*;
use toolfold_catalog::Catalog;
use toolfold_core::ToolId;
use toolfold_index::{Habit, Hit, Index, Learned, Mark, Occasion, Query};

use crate::catalog;

fn habit(index: &Index, text: &str, tool: &str, occasions: &[(u32, u32)]) -> Habit {
    let occasions: Vec<Occasion> = occasions.iter().map(|&(who, when)| Occasion { who, when }).collect();
    let times = occasions.len() as u32;
    Habit { tool: ToolId::parse(tool).unwrap(), marks: Mark::all(index, text), occasions, times }
}

fn hits(catalog: &Catalog, index: &Index, text: &str, learned: &Learned) -> Vec<(String, Hit)> {
    let query = Query { text, limit: 10, explain: true, learned: Some(learned), ..Query::default() };
    let found = index.search(catalog, &query);
    found.hits.into_iter().map(|hit| (catalog.entry(hit.entry).id.to_string(), hit)).collect()
}

fn first(catalog: &Catalog, index: &Index, text: &str, habits: Vec<Habit>) -> String {
    hits(catalog, index, text, &Learned::new(habits))[0].0.clone()
}

const THREE: [(u32, u32); 3] = [(1, 1), (1, 2), (1, 3)];

#[test]
fn a_habit_lifts_what_was_called() {
    let (catalog, index) = (catalog(), Index::build(&catalog()));
    let text = "find bugs of the team";
    let before = first(&catalog, &index, text, Vec::new());
    assert_ne!(before, "github.list_issues");
    let habits = || vec![habit(&index, "find the bugs of our team", "github.list_issues", &THREE)];
    let after = hits(&catalog, &index, text, &Learned::new(habits()));
    assert_eq!(after[0].0, "github.list_issues");
    assert_eq!(after[0].1.explain.learned.unwrap().times, 3);
    // What has nothing to do with it stays as it was.
    assert_eq!(first(&catalog, &index, "will it rain", habits()), "weather.get_forecast");
}

#[test]
fn an_accident_changes_nothing() {
    let (catalog, index) = (catalog(), Index::build(&catalog()));
    let text = "find bugs of the team";
    let before = first(&catalog, &index, text, Vec::new());
    let after = |occasions: &[(u32, u32)]| {
        let learned = Learned::new(vec![habit(&index, text, "github.list_issues", occasions)]);
        let hits = hits(&catalog, &index, text, &learned);
        (hits[0].0.clone(), hits.iter().any(|(_, hit)| hit.explain.learned.is_some()))
    };
    // Once, and however often in one conversation; twice by one person.
    assert_eq!(after(&[(1, 1)]), (before.clone(), false));
    assert_eq!(after(&[(1, 1), (1, 1), (1, 1)]), (before.clone(), false));
    assert_eq!(after(&[(1, 1), (1, 2)]), (before, false));
    // Two people are enough.
    assert!(after(&[(1, 1), (2, 2)]).1);
}

#[test]
fn a_name_stays_first() {
    let (catalog, index) = (catalog(), Index::build(&catalog()));
    let often: Vec<(u32, u32)> = (0..100).map(|n| (n, n)).collect();
    for (text, named) in [("github search", "github.search"), ("get_forecast", "weather.get_forecast")] {
        let habits = vec![habit(&index, text, "github.delete_repository", &often)];
        assert_eq!(first(&catalog, &index, text, habits), named);
    }
}

#[test]
fn what_does_something_else_is_not_lifted() {
    let (catalog, index) = (catalog(), Index::build(&catalog()));
    let often: Vec<(u32, u32)> = (0..20).map(|n| (n, n)).collect();
    let text = "show the repository";
    let learned = Learned::new(vec![habit(&index, text, "github.delete_repository", &often)]);
    let hits = hits(&catalog, &index, text, &learned);
    let deleting = hits.iter().find(|(id, _)| id == "github.delete_repository");
    assert!(deleting.is_none_or(|(_, hit)| hit.explain.learned.is_none_or(|lift| lift.score < 0.01)));
}

#[test]
fn what_was_called_after_the_same_words_is_not_held_against_what_it_does() {
    let (catalog, index) = (catalog(), Index::build(&catalog()));
    let text = "show the issues of the team";
    let learned = |said: &str| Learned::new(vec![habit(&index, said, "github.create_issue", &THREE)]);
    let lift = |learned: &Learned| {
        let hits = hits(&catalog, &index, text, learned);
        let hit = hits.iter().find(|(id, _)| id == "github.create_issue");
        hit.and_then(|(_, hit)| hit.explain.learned).map_or(0.0, |lift| lift.score)
    };
    assert!(lift(&learned(text)) > 0.2);
    // The same words in another order are another request.
    assert!(lift(&learned("the issues that the team would show")) < 0.01);
}

#[test]
fn what_nobody_knows_leaves_no_mark() {
    let index = Index::build(&catalog());
    assert_eq!(Mark::all(&index, "issue 4711 of Xqzvyk"), Mark::all(&index, "issues"));
    assert!(Mark::all(&index, "please and thank you, 42").is_empty());
    assert!(Mark::all(&index, &"issue repository search weather ".repeat(500)).len() <= 12);
}

proptest! {
    /// Whatever was learned, a lift is small, and nothing appears for whom the filter does not let through.
    #[test]
    fn any_habits_lift_within_bounds(
        texts in proptest::collection::vec("(create|find|list|delete|open) (issue|repository|rain|code)s?", 1..12),
        tools in proptest::collection::vec(0usize..7, 12),
        times in proptest::collection::vec(1u32..9, 12),
        text in "(create|find|list|open) (issue|repository|rain|code)",
    ) {
        let (catalog, index) = (catalog(), Index::build(&catalog()));
        let habits = texts.iter().zip(tools).zip(times).map(|((text, tool), times)| {
            let occasions: Vec<(u32, u32)> = (0..times).map(|n| (n % 2, n)).collect();
            habit(&index, text, &catalog.entry(tool).id.to_string(), &occasions)
        });
        let learned = Learned::new(habits.collect());
        let scope = [true, true, false, true, true, false, true];
        let filter = toolfold_index::Filter { scope: Some(&scope), ..Default::default() };
        let query = Query { text: &text, limit: 10, explain: true, learned: Some(&learned), filter, ..Query::default() };
        for hit in index.search(&catalog, &query).hits {
            prop_assert!(scope[hit.entry]);
            prop_assert!(hit.explain.learned.is_none_or(|lift| (0.0..=0.4).contains(&lift.score)));
        }
    }
}
