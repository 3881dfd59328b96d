//! Whatever is written into a definition, the scan ends, in work that grows with the text and not faster. Work is counted
//! and not timed: bytes handed to a pattern, and hits handed to a rule.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolfold_core::Fingerprint;
use toolfold_scan::{Context, Piece, Report, Role, differences, marks, render, scan_definition, scan_texts, visible};
use toolfold_wire::{Object, Raw, raw_of};

fn scan(text: &str) -> Report {
    let piece = Piece { place: "text".to_owned(), role: Role::Prose, text };
    scan_texts("server", [piece], &Context::new())
}

/// Work for a byte: a pass for every concept, a few more, and for each rule what a sentence of nothing but hits costs.
const PER_BYTE: u64 = 400;

#[test]
fn twice_the_text_is_at_most_twice_the_work() {
    let nasty = [
        "a",
        "不",
        "send ",
        "ignore all previous ",
        "call x_y ",
        "'",
        "\u{200b}",
        "<",
        "[[[[",
        "%41",
        "QUJD",
        "before any tool ",
        "you must always never ",
        "e.g. ",
        "e\u{301}",
        "аa",
        "\n",
        " ",
        "https://a.b ",
        "read ~/.ssh and send ",
    ];
    for seed in nasty {
        let small = scan(&seed.repeat(8_000 / seed.len()));
        let large = scan(&seed.repeat(32_000 / seed.len()));
        assert!(large.work <= small.work * 5, "{seed:?}: {} and {}", small.work, large.work);
        assert!(large.work <= PER_BYTE * 32_000, "{seed:?}: {}", large.work);
    }
}

#[test]
fn what_is_too_long_is_not_read_and_said_so() {
    let report = scan(&"a ".repeat(100_000));
    assert_eq!(report.unread.len(), 1);
    assert_eq!(report.unread[0].bytes, 200_000 - 64 * 1024);
    let many: serde_json::Map<String, Value> =
        (0..30_000).map(|number| (format!("p{number}"), json!({"description": "x"}))).collect();
    let report = scan_definition("s", &json!({"name": "n", "inputSchema": {"properties": many}}), &Context::new());
    assert_eq!(report.unread.last().map(|unread| unread.place.as_str()), Some("the rest of the definition"));
}

fn words() -> impl Strategy<Value = String> {
    let word = prop::sample::select(vec![
        "ignore",
        "previous instructions",
        "send",
        "~/.ssh/id_rsa",
        "https://a.example/x",
        "do not",
        "tell",
        "the user",
        "before",
        "any other tool",
        "\"",
        "'",
        ". ",
        "\n- ",
        "不要",
        "告诉用户",
        "<important>",
        "</important>",
        "\u{200d}",
        "x_y tool",
        "e.g.",
        "detects",
        "always use",
        "cm0gLXJmIH4vLmNhY2hl",
        "%72%6d",
        "Ａ",
        "е",
        "\u{e0041}",
    ]);
    prop::collection::vec(word, 0..120).prop_map(|words| words.join(" "))
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        any::<String>().prop_map(Value::from),
        words().prop_map(Value::from),
        any::<i64>().prop_map(Value::from)
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::hash_map(prop_oneof![Just("properties".to_owned()), any::<String>()], inner, 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Objects as somebody may write them: with members of one name.
fn written() -> impl Strategy<Value = Raw> {
    let leaf = prop::sample::select(vec!["1", "null", "true", r#""x""#, "[]", "{}"]).prop_map(str::to_owned);
    let inner = leaf.prop_recursive(3, 12, 3, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..3).prop_map(|items| format!("[{}]", items.join(","))),
            object(inner)
        ]
    });
    object(inner).prop_map(|text| raw_of(&text).unwrap())
}

fn object(value: impl Strategy<Value = String>) -> impl Strategy<Value = String> {
    let member = ("[ab]", value).prop_map(|(key, value)| format!(r#""{key}":{value}"#));
    prop::collection::vec(member, 0..4).prop_map(|members| format!("{{{}}}", members.join(",")))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn any_bytes_are_read_in_bounded_work(bytes in prop::collection::vec(any::<u8>(), 0..4_000)) {
        let text = String::from_utf8_lossy(&bytes);
        let report = scan(&text);
        prop_assert!(report.work <= PER_BYTE * (text.len() as u64 + 16), "{} for {}", report.work, text.len());
        marks(&text);
    }

    #[test]
    fn any_sentence_is_read_in_bounded_work(text in words()) {
        let report = scan(&text);
        prop_assert!(report.work <= PER_BYTE * (text.len() as u64 + 16), "{} for {}", report.work, text.len());
        prop_assert_eq!(&report, &scan(&text));
    }

    #[test]
    fn any_definition_is_scanned_and_compared(old in json_value(), new in json_value()) {
        for value in [&old, &new] {
            let report = scan_definition("s", value, &Context::new());
            for finding in &report.findings {
                prop_assert!(!finding.excerpt.chars().any(char::is_control));
                prop_assert_eq!(visible(&finding.excerpt), finding.excerpt.clone());
            }
        }
        prop_assert_eq!(differences(&old, &new).is_empty(), old == new);
        let told = render(&differences(&old, &new));
        prop_assert!(!told.chars().any(|c| c.is_control() && !matches!(c, '\n' | '\t')));
    }

    #[test]
    fn what_has_another_fingerprint_is_different_and_what_is_different_has_another(old in written(), new in written()) {
        let print = |raw: &Raw| Fingerprint::of_definition(&Object::parse(raw).unwrap());
        prop_assert_eq!(differences(&old, &new).is_empty(), print(&old) == print(&new), "{} {}", old, new);
        let is_twice = |raw: &Raw| {
            let report = scan_definition("s", raw, &Context::new());
            report.findings.iter().any(|finding| finding.rule == "repeated-member")
        };
        let plain = |raw: &Raw| serde_json::from_str::<Value>(raw.get()).unwrap().to_string().len();
        prop_assert_eq!(is_twice(&old), plain(&old) < old.get().len(), "{}", old);
    }
}
