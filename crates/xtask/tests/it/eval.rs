//! The comparison with recorded figures notices what is worse, and nothing else.

use serde_json::{Value, json};
use xtask::eval::{Set, table, worse};

fn set(name: &str, figures: Value) -> Set {
    Set { name: name.to_owned(), tools: 30, figures: figures.as_object().cloned().unwrap_or_default() }
}

#[test]
fn a_worse_figure_is_found() {
    let recorded = json!({"ours": {"hit_1": 71.3, "ndcg_10": 80.0, "answer_tokens": 120.0}});
    let found = |figures: Value| worse(&[set("ours", figures)], &recorded);
    assert!(found(json!({"hit_1": 71.26, "ndcg_10": 80.0, "answer_tokens": 120.04})).is_empty(), "rounded");
    assert!(found(json!({"hit_1": 90.0, "ndcg_10": 90.0, "answer_tokens": 90.0})).is_empty(), "better");
    assert_eq!(
        found(json!({"hit_1": 71.2, "ndcg_10": 80.0, "answer_tokens": 130.0})),
        ["eval/ours: Hit@1 is 71.2, recorded is 71.3", "eval/ours: tokens is 130.0, recorded is 120.0"]
    );
    assert_eq!(worse(&[set("new", json!({}))], &recorded), ["eval/new: nothing is recorded for it"]);
}

#[test]
fn several_sets_have_a_mean() {
    let one = set("one", json!({"queries": 8, "unanswerable": 2, "hit_1": 60.0, "mistaken": 10.0}));
    let two = set("two", json!({"queries": 5, "unanswerable": 0, "hit_1": 70.0}));
    let text = table(&[one, two]);
    let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().take(4).collect()).collect();
    assert_eq!(rows[0], ["set", "tools", "queries", "Hit@1"]);
    assert_eq!(rows[1], ["one", "30", "10", "60.0"]);
    assert_eq!(rows[2], ["two", "30", "5", "70.0"]);
    assert_eq!(rows[3][..2], ["mean", "65.0"]);
}
