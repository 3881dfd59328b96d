//! Readings of kept results: pages of whole parts, patterns, queries, and summaries that say how to go on.

use proptest::prelude::*;
use serde_json::json;
use toolfold_core::Fuel;
use toolfold_results::{Body, Handle, Notation, Reading, WrongReading, body_of, read, summary};

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

#[test]
fn a_part_that_is_longer_than_a_page_is_cut_and_says_so() {
    let text = format!("short\n{}\nend", "x".repeat(10_000));
    let page = ask(Notation::Text, &text, Reading { offset: 1, ..Reading::default() }).unwrap();
    assert!(page.contains("… (cut: it has 10000 characters; grep finds in it)\nMore: offset 2."), "{page}");
    assert!(page.len() < 600);
}

fn kept(text: &str) -> Body {
    body_of(&json!({"content": [{"type": "text", "text": text}]}).to_string(), 0).expect("something to read")
}

#[test]
fn a_summary_says_what_it_is_and_how_to_go_on() {
    let handle = Handle::spelled("r0123");
    let body = kept(&people(100));
    let said = summary(&body, &handle, 200, "results.read");
    assert!(said.starts_with("The result is JSON of "), "{said}");
    assert!(said.contains("people: list of 100, each like: {id: number, name: string, old: boolean}"), "{said}");
    assert!(said.contains("items 0 to 2 of 100 of \"people\":"), "{said}");
    assert!(said.contains("items 99 to 99 of 100"), "{said}");
    assert!(said.contains("call results.read with {\"result\": \"r0123\"} and query (JMESPath)"), "{said}");
    let lines = kept(&"line\n".repeat(1_000));
    let said = summary(&lines, &handle, 200, "results.read");
    assert!(said.contains("lines 0 to 23 of 1000:") && said.ends_with("grep (a regular expression)."), "{said}");
    let one = kept(&"x".repeat(1_000));
    assert!(summary(&one, &handle, 200, "results.read").contains("1 lines; the first has 1000 characters"));
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
