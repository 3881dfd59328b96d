//! Results of any shape, kept and asked anything: what is said of them fits, what cannot be answered says so, and what is kept
//! says what it would have said in memory.

use std::time::Duration;

use proptest::prelude::*;
use serde_json::{Map, Value};
use toolfold_core::{Fuel, Principal, Stop};
use toolfold_results::{Notation, Reading, Room, Shelf, query, read, read_kept, summary};

const ROOM: Room = Room { bytes: 1 << 24, age: Duration::from_secs(60) };
const WORK: u64 = 3_000_000;
const SHOWN: usize = 300;

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        4 => "[a-c]{1,2}",
        2 => any::<String>(),
        1 => ("[a\"\n\\\\é😀]", 1_usize..400).prop_map(|(text, times)| text.repeat(times)),
    ]
}

fn json() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text().prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 8, |inner| {
        let name = prop_oneof![6 => "[a-c]{1,2}", 1 => text()];
        let members = prop::collection::vec((name, inner.clone()), 0..8);
        prop_oneof![
            prop::collection::vec(inner, 0..8).prop_map(Value::from),
            members.prop_map(|some| some.into_iter().collect::<Map<_, _>>().into()),
        ]
    })
}

/// What queries are made of, in any order.
fn pieces() -> impl Strategy<Value = String> {
    let pieces = [
        "a",
        "b",
        ".",
        "@",
        "[]",
        "[*]",
        "*",
        "[0]",
        "[::-1]",
        "[?",
        "[",
        "]",
        "(",
        ")",
        "{",
        "}",
        "{a: @}",
        "|",
        "&&",
        "||",
        "!",
        "&",
        "`1`",
        "'x'",
        "\"b\"",
        ",",
        ":",
        "==",
        "<",
        "keys(@)",
        "sort_by(@, &a)",
        "é",
        "`",
        "\"",
    ];
    prop::collection::vec(prop::sample::select(pieces.to_vec()), 1..8).prop_map(|pieces| pieces.concat())
}

/// Queries that can be read, whatever comes of them.
fn sentence() -> impl Strategy<Value = String> {
    let words = [
        "a",
        "b",
        "c",
        "@",
        "*",
        "[*]",
        "[]",
        "[0]",
        "[-1]",
        "[::-1]",
        "`1`",
        "`[1, \"x\"]`",
        "'x'",
        "\"b\"",
        "keys(@)",
        "values(@)",
    ];
    prop::sample::select(words.to_vec()).prop_map(str::to_owned).prop_recursive(4, 16, 2, |inner| {
        let ways = [
            "X | Y",
            "X && Y",
            "X || Y",
            "!(X)",
            "(X).b",
            "(X)[*].c",
            "(X)[?Y]",
            "(X)[]",
            "(X)[1:]",
            "[X, Y]",
            "{x: X, y: Y}",
            "(X)[?@ == Y]",
            "X < Y",
            "length(X)",
            "map(&Y, X)",
            "sort(X)",
            "sort_by(X, &Y)",
            "join('x', X)",
            "to_string(X)",
            "to_number(X)",
            "to_array(X)",
            "merge(X, Y)",
            "max_by(X, &Y)",
            "contains(X, Y)",
            "reverse(X)",
            "not_null(X, Y)",
            "sum(X)",
            "type(X)",
            "starts_with(X, Y)",
            "keys(X)",
            "nothing(X)",
        ];
        (prop::sample::select(ways.to_vec()), inner.clone(), inner)
            .prop_map(|(way, one, other)| way.replace('X', "\0").replace('Y', &other).replace('\0', &one))
    })
}

fn expression() -> impl Strategy<Value = String> {
    prop_oneof![3 => sentence(), 1 => pieces()]
}

fn reading() -> impl Strategy<Value = Reading> {
    let pattern = prop::collection::vec(
        prop::sample::select(vec!["a", ".", "*", "+", "(", ")", "[", "]", "^", "$", "\\d", "|", "{9}", "é"]),
        0..6,
    );
    (
        proptest::option::of(expression()),
        proptest::option::of(pattern.prop_map(|pieces| pieces.concat())),
        0_usize..12,
        proptest::option::of(0_usize..12),
    )
        .prop_map(|(query, grep, offset, limit)| Reading { query, grep, offset, limit })
}

proptest! {
    #[test]
    fn any_query_is_answered_with_json_or_a_reason(expression in expression(), value in json()) {
        match query(&expression, &value.to_string(), &Fuel::new(WORK)) {
            Ok(answer) => prop_assert!(serde_json::from_str::<Value>(&answer).is_ok(), "{}", answer),
            Err(why) => {
                let why = why.to_string();
                prop_assert!(!why.is_empty() && why.chars().count() < 2_000, "{} characters", why.chars().count());
            }
        }
    }

    #[test]
    fn any_result_is_kept_and_read_as_it_is(value in json(), other in text(), is_json in any::<bool>(), reading in reading()) {
        let text = if is_json { value.to_string() } else { other };
        let folder = tempfile::tempdir().unwrap();
        let (shelf, ada) = (Shelf::new(folder.path(), "").unwrap(), Principal::local());
        let (handle, surveyed) = shelf.put((&ada, "a.b"), &text, ROOM, SHOWN).unwrap();
        let said = summary(&surveyed, &handle, "results.read");
        prop_assert!(said.chars().count() < 1_500 + 2 * SHOWN + 600, "{} characters", said.chars().count());
        prop_assert_eq!(surveyed.format == Notation::Json, serde_json::from_str::<Value>(&text).is_ok_and(|value| value.is_array() || value.is_object()));
        let kept = shelf.find(&ada, &handle, ROOM).unwrap();
        prop_assert_eq!(&kept.take_down().unwrap().text, &text);
        let answer = read_kept(&kept, &reading, SHOWN, (&Fuel::new(WORK), &Stop::default())).unwrap();
        prop_assert_eq!(&answer, &read(surveyed.format, &text, &reading, SHOWN, &Fuel::new(WORK)));
        let told = answer.unwrap_or_else(|why| why.to_string());
        prop_assert!(!told.is_empty() && told.chars().count() < SHOWN + 2_000, "{} characters", told.chars().count());
    }
}
