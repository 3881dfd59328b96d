//! Whatever a file holds, loading it ends in an answer, and a refusal says why.

use proptest::prelude::*;

use crate::said;

/// Text that looks enough like a configuration to get past the parser now and then.
fn likely() -> impl Strategy<Value = String> {
    let words = [
        "[servers.a]\n",
        "[servers.\"b c\"]\n",
        "[http]\n",
        "surface",
        "command",
        "url",
        "args",
        "env",
        "listen",
        "timeout",
        " = ",
        "\"x\"",
        "\"${A}\"",
        "\"${\"",
        "\"https://x\"",
        "1",
        "-1",
        "1e400",
        "true",
        "[",
        "]",
        "{",
        "}",
        ",",
        "\n",
        "\"\\u0000\"",
        "é",
        "\"mcpServers\"",
        "\"command\"",
        ":",
        "null",
        "[[",
        "]]",
        "#",
        "nan",
        "1979-05-27",
        "99999999999999999999",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..40).prop_map(|words| words.concat())
}

proptest! {
    #[test]
    fn any_text(text in any::<String>()) {
        said("toolfold.toml", &text);
        said("mcp.json", &text);
    }

    #[test]
    fn any_bytes(bytes in any::<Vec<u8>>()) {
        said("toolfold.toml", &bytes);
        said("mcp.json", &bytes);
    }

    #[test]
    fn any_likely_text(text in likely()) {
        said("toolfold.toml", &text);
        said("mcp.json", &text);
    }

    #[test]
    fn any_json(members in prop::collection::btree_map("[a-z]{0,3}|command|url|env", json_value(), 0..5)) {
        let text = serde_json::json!({"mcpServers": {"a": members}}).to_string();
        said("mcp.json", &text);
        said("toolfold.toml", &text);
    }
}

fn json_value() -> impl Strategy<Value = serde_json::Value> {
    use serde_json::Value;
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 20, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::btree_map("[a-z]{0,3}", inner, 0..4)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

#[test]
fn nothing_is_too_deep() {
    let deep = 100_000;
    said("mcp.json", "[".repeat(deep));
    said("mcp.json", format!("{}{}", "[".repeat(deep), "]".repeat(deep)));
    said("mcp.json", format!("{{\"mcpServers\":{}1{}}}", "{\"a\":".repeat(deep), "}".repeat(deep)));
    said("toolfold.toml", format!("a = {}{}", "[".repeat(deep), "]".repeat(deep)));
    said("toolfold.toml", format!("a = {}1{}", "{a = ".repeat(deep), "}".repeat(deep)));
    said("toolfold.toml", format!("{}a = 1", "a.".repeat(1000)));
}

#[test]
fn nothing_is_too_wrong() {
    said("toolfold.toml", "=".repeat(1 << 20));
    said("toolfold.toml", "x x\n".repeat(1 << 18));
    said("mcp.json", format!("{{\"mcpServers\": {{{}\"a\": 1}}}}", "\"a\": 1,".repeat(100_000)));
}
