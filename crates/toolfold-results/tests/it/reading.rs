//! Readings of kept results: pages of whole parts, patterns, queries, and summaries that say how to go on.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::json;
use toolfold_core::{Fuel, Principal};
use toolfold_results::{Notation, Reading, Room, Shelf, WrongReading, read, summary};

fn people(count: usize) -> String {
    let people: Vec<_> =
        (0..count).map(|n| json!({"id": n, "name": format!("person {n}"), "old": n % 2 == 0})).collect();
    json!({"people": people, "total": count}).to_string()
}

fn ask(format: Notation, text: &str, reading: Reading) -> Result<String, WrongReading> {
    read(format, text, &reading, 400, &Fuel::new(5_000_000))
}

#[test]
fn pages_are_of_whole_parts_and_say_where_they_go_on() {
    let text = people(100);
    let first = ask(Notation::Json, &text, Reading::default()).unwrap();
    assert!(first.starts_with("items 0 to "), "{first}");
    assert!(first.contains("of 100 of \"people\":\n0: {\"id\":0,\"name\":\"person 0\",\"old\":true}\n"), "{first}");
    let next: usize = first.rsplit_once("More: offset ").unwrap().1.trim_end_matches('.').parse().unwrap();
    let second = ask(Notation::Json, &text, Reading { offset: next, limit: Some(1), ..Reading::default() }).unwrap();
    assert!(second.contains(&format!("{next}: {{\"id\":{next},")), "{second}");
    let last = ask(Notation::Json, &text, Reading { offset: 99, ..Reading::default() }).unwrap();
    assert!(last.ends_with("That is the end."), "{last}");
    let beyond = ask(Notation::Json, &text, Reading { offset: 100, ..Reading::default() }).unwrap();
    assert_eq!(beyond, "There are 100 items of \"people\", numbered from 0: nothing is at 100 or after it.");
}

#[test]
fn patterns_and_queries_narrow_it() {
    let text = people(100);
    let grep = |pattern: &str| ask(Notation::Json, &text, Reading { grep: Some(pattern.into()), ..Reading::default() });
    assert!(grep("person 77").unwrap().starts_with("matching items 0 to 0 of 1 of \"people\":\n77: "));
    assert_eq!(grep("nobody").unwrap(), "There are no matching items of \"people\".");
    assert!(matches!(grep("("), Err(WrongReading::Pattern(_))));
    assert!(matches!(grep("(a{1000}){1000}"), Err(WrongReading::Pattern(_))));
    let query =
        |expression: &str| ask(Notation::Json, &text, Reading { query: Some(expression.into()), ..Reading::default() });
    assert_eq!(query("people[?id == `3`].name | [0]").unwrap(), "\"person 3\"");
    assert_eq!(query("length(people[?old])").unwrap(), "50");
    assert!(query("people[].name").unwrap().starts_with("items 0 to "));
    assert!(matches!(query("people[?"), Err(WrongReading::Query(_))));
    let on_text = ask(Notation::Text, "one\ntwo", Reading { query: Some("@".into()), ..Reading::default() });
    assert_eq!(on_text, Err(WrongReading::NotJson));
}

/// A query can name the same long part sixteen thousand times; what is done with each of them is counted by its length.
#[test]
fn long_parts_that_are_named_often_end_with_the_fuel() {
    let many = format!("[@,@,@,@]{}", " | map(&[@,@,@,@], @)[]".repeat(6));
    let text = json!("a".repeat(300_000)).to_string();
    let digits = json!("1".repeat(300_000)).to_string();
    let name = json!({"k".repeat(20_000): 1}).to_string();
    let members =
        json!((0..20_000).map(|n| (format!("k{n}"), json!(n))).collect::<serde_json::Map<_, _>>()).to_string();
    let ask = |text: &str, expression: String| {
        ask(Notation::Json, text, Reading { query: Some(expression), ..Reading::default() })
    };
    for (text, rest) in [
        (&text, "map(&length(@), @)"),
        (&text, "[?@ == @]"),
        (&text, "sort(@)"),
        (&text, "max(@)"),
        (&text, "map(&starts_with(@, @), @)"),
        (&digits, "map(&to_number(@), @)"),
        (&name, "map(&keys(@), @)"),
        (&name, "map(&values(@), @)"),
        (&name, "[].*"),
    ] {
        assert_eq!(ask(text, format!("{many} | {rest}")), Err(WrongReading::TooMuch), "{rest}");
    }
    // What was made here is looked through from the end, name by name.
    assert_eq!(ask(&members, format!("merge(@, `{{}}`) | {many} | [?k0 == k1]")), Err(WrongReading::TooMuch));
    // A name of the query itself is copied for each element.
    let numbers = json!(vec![1; 100_000]).to_string();
    assert_eq!(ask(&numbers, format!("[*].{{\"{}\": @}}", "k".repeat(900))), Err(WrongReading::TooMuch));
}

#[test]
fn a_text_that_becomes_very_many_values_is_not_read_into_them() {
    let query = |text: &str| ask(Notation::Json, text, Reading { query: Some("[0]".into()), ..Reading::default() });
    assert_eq!(query(&json!(vec![1; 1_000_000]).to_string()).unwrap(), "1");
    assert!(matches!(query(&json!(vec![1; 1_600_000]).to_string()), Err(WrongReading::Query(_))));
    let members =
        |count: usize| json!([(0..count).map(|n| (n.to_string(), 1.into())).collect::<serde_json::Map<_, _>>()]);
    assert!(matches!(query(&members(400_000).to_string()), Err(WrongReading::Query(_))));
}

#[test]
fn a_part_that_is_longer_than_a_page_is_cut_and_says_so() {
    let text = format!("short\n{}\nend", "x".repeat(10_000));
    let page = ask(Notation::Text, &text, Reading { offset: 1, ..Reading::default() }).unwrap();
    assert!(page.contains("… (cut: it has 10000 characters; grep finds in it)\nMore: offset 2."), "{page}");
    assert!(page.len() < 600);
}

/// What is said of a text that is kept, with 200 characters for its beginning and end.
fn said(text: &str) -> String {
    let folder = tempfile::tempdir().unwrap();
    let shelf = Shelf::new(folder.path(), "").unwrap();
    let room = Room { bytes: 1 << 20, age: Duration::from_secs(60) };
    let (handle, surveyed) = shelf.put((&Principal::local(), "a.b"), text, room, 200).unwrap();
    summary(&surveyed, &handle, "results.read").replace(&handle.to_string(), "r0123")
}

#[test]
fn a_summary_says_what_it_is_and_how_to_go_on() {
    let people = said(&people(100));
    assert!(people.starts_with("The result is JSON of "), "{people}");
    assert!(people.contains("people: list of 100, each like: {id: number, name: string, old: boolean}"), "{people}");
    assert!(people.contains("items 0 to 2 of 100 of \"people\":"), "{people}");
    assert!(people.contains("items 99 to 99 of 100"), "{people}");
    assert!(people.contains("call results.read with {\"result\": \"r0123\"} and query (JMESPath)"), "{people}");
    let lines = said(&"line\n".repeat(1_000));
    assert!(lines.contains("lines 0 to 23 of 1000:") && lines.ends_with("grep (a regular expression)."), "{lines}");
    assert!(said(&"x".repeat(1_000)).contains("1 lines; the first has 1000 characters"));
    let members = said(r#"{"a": 1, "b": [2], "c": {"d": "e"}}"#);
    assert!(members.contains("members 0 to 2 of 3:\n\"a\": 1\n\"b\": [2]\n\"c\": {\"d\": \"e\"}\n"), "{members}");
}

proptest! {
    #[test]
    fn whatever_is_asked_of_whatever_text_is_answered_within_bounds(
        text in "\\PC{0,300}", query in proptest::option::of("\\PC{0,40}"), grep in proptest::option::of("\\PC{0,20}"),
        offset in 0usize..20, limit in proptest::option::of(0usize..20), json in any::<bool>(),
    ) {
        let format = if json { Notation::Json } else { Notation::Text };
        if let Ok(answer) = ask(format, &text, Reading { query, grep, offset, limit }) {
            prop_assert!(answer.chars().count() < 1_000);
        }
    }
}
