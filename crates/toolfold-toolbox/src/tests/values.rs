//! Times, encodings, numbers and chance.

use std::collections::BTreeSet;

use serde_json::{Value, json};

use super::{answer, check};

#[test]
fn time() {
    check(&[
        (
            "time_convert",
            json!({"time": "2025-03-30 10:00", "from": "America/New_York", "to": "Europe/Berlin"}),
            r#"{"time":"2025-03-30T16:00:00+02:00","zone":"Europe/Berlin","weekday":"Sunday","unix":1743343200}"#,
        ),
        (
            "time_convert",
            json!({"time": "1743343200", "to": "UTC"}),
            r#"{"time":"2025-03-30T14:00:00+00:00","zone":"UTC","weekday":"Sunday","unix":1743343200}"#,
        ),
        (
            "time_convert",
            json!({"time": "noon", "to": "UTC"}),
            "error: The time \"noon\" cannot be read. Write it like 2025-03-30T10:00:00+02:00, 2025-03-30 10:00 or 2025-03-30.",
        ),
        (
            "time_convert",
            json!({"time": "2025-03-30", "to": "Berlin"}),
            "error: There is no time zone \"Berlin\". Use an IANA name such as Europe/Berlin, or UTC.",
        ),
        (
            // A day later is the same time of day, although the clock was changed in between.
            "time_add",
            json!({"time": "2025-03-29T12:00", "duration": "1 day", "zone": "Europe/Berlin"}),
            r#"{"time":"2025-03-30T12:00:00+02:00","zone":"Europe/Berlin","weekday":"Sunday","unix":1743328800}"#,
        ),
        (
            "time_add",
            json!({"time": "2024-01-31", "duration": "P1M"}),
            r#"{"time":"2024-02-29T00:00:00+00:00","zone":"UTC","weekday":"Thursday","unix":1709164800}"#,
        ),
        (
            "time_add",
            json!({"time": "2024-01-31", "duration": "soon"}),
            "error: `duration` \"soon\" cannot be read. Write it like 3 days, -2 hours 30 minutes, or P1DT2H.",
        ),
        (
            "time_difference",
            json!({"from": "2024-02-28", "to": "2025-03-01T01:30"}),
            r#"{"words":"1 year, 1 day, 1 hour, 30 minutes","iso":"P1Y1DT1H30M","seconds":31714200}"#,
        ),
        (
            "time_difference",
            json!({"from": "2025-01-02", "to": "2025-01-01", "largest": "hours"}),
            r#"{"words":"24 hours earlier","iso":"-PT24H","seconds":-86400}"#,
        ),
    ]);
    let now: Value = serde_json::from_str(&answer("time_now", &json!({"zone": "Asia/Tokyo"}))).unwrap();
    assert!(now["time"].as_str().unwrap().ends_with("+09:00"), "{now}");
    answer("time_now", &json!({}));
}

#[test]
fn encoding() {
    check(&[
        ("base64_encode", json!({"text": "Grüße?>"}), "R3LDvMOfZT8+"),
        ("base64_encode", json!({"text": "Grüße?>", "url_safe": true}), "R3LDvMOfZT8-"),
        ("base64_decode", json!({"text": "R3LDvMOf\nZT8-"}), r#"{"text":"Grüße?>","encoding":"text"}"#),
        ("base64_decode", json!({"text": "/w=="}), r#"{"text":"ff","encoding":"hex"}"#),
        ("base64_decode", json!({"text": "a!"}), "error: `text` is not base64: Invalid symbol 33, offset 1."),
        ("hex_encode", json!({"text": "é"}), "c3a9"),
        ("hex_decode", json!({"hex": "C3:A9 41"}), "éA"),
        ("hex_decode", json!({"hex": "abc"}), "error: `hex` has an odd number of digits. Every byte is two digits."),
        ("hex_decode", json!({"hex": "zz"}), "error: `hex` has something other than the digits 0-9 and a-f in it."),
        ("url_encode", json!({"text": "a b/ü&~"}), "a%20b%2F%C3%BC%26~"),
        ("url_decode", json!({"text": "a%20b%2F%C3%BC+"}), "a b/ü+"),
        ("url_decode", json!({"text": "a+b", "form": true}), "a b"),
        ("url_decode", json!({"text": "100%"}), "error: A % in `text` is not followed by two hexadecimal digits."),
        ("url_decode", json!({"text": "%FF"}), "error: The decoded bytes are not text in UTF-8."),
        (
            "hash_digest",
            json!({"text": "abc"}),
            r#"{"algorithm":"sha256","hex":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad","base64":"ungWv48Bz+pBQUDeXa4iI7ADYaOWF3qctBD/YfIAFa0="}"#,
        ),
    ]);
    for (algorithm, length) in [("sha224", 56), ("sha384", 96), ("sha512", 128)] {
        let digest: Value =
            serde_json::from_str(&answer("hash_digest", &json!({"text": "", "algorithm": algorithm}))).unwrap();
        assert_eq!(digest["hex"].as_str().unwrap().len(), length);
    }
}

#[test]
fn calculations() {
    let examples = [
        ("1 + 2 * 3", "7"),
        ("(1 + 2) * 3", "9"),
        ("-2^2", "-4"),
        ("2^-1", "0.5"),
        ("2^3^2", "512"),
        ("2**10", "1024"),
        ("10 % 4", "2"),
        ("7 / 2", "3.5"),
        ("1_000 * 1.5e3", "1500000"),
        ("sqrt(16) + max(1, 2, 3)", "7"),
        ("round(2 * PI * 100) / 100", "6.28"),
        ("2e", "error: `expression` cannot be calculated: at character 2, 'e' was not expected."),
        ("1 +", "error: `expression` cannot be calculated: at character 4, it ends too early."),
        ("(1", "error: `expression` cannot be calculated: at character 3, a ')' is missing."),
        ("1 / 0", "error: The result is infinite: something is divided by zero or grows too large."),
        ("sqrt(-1)", "error: The result is not a number: a root or logarithm of a negative number, or zero by zero."),
        ("1.2.3", "error: `expression` cannot be calculated: at character 1, 1.2.3 is not a number."),
    ];
    for (expression, expected) in examples {
        let answer = answer("calculate", &json!({"expression": expression}));
        let expected =
            if expected.starts_with("error") { expected.to_owned() } else { format!(r#"{{"result":{expected}}}"#) };
        assert_eq!(answer, expected, "{expression}");
    }
    for deep in ["(".repeat(100_000), "-".repeat(100_000), "sin(".repeat(100_000), "2^".repeat(100_000)] {
        assert!(answer("calculate", &json!({"expression": deep})).contains("it nests too deeply"));
    }
}

#[test]
fn numbers() {
    check(&[
        (
            "unit_convert",
            json!({"value": 100, "from": "°F", "to": "celsius"}),
            r#"{"value":37.77777777777777,"unit":"°C"}"#,
        ),
        ("unit_convert", json!({"value": 1, "from": "Miles", "to": "km"}), r#"{"value":1.609344,"unit":"km"}"#),
        ("unit_convert", json!({"value": 8, "from": "Mb", "to": "MB"}), r#"{"value":1,"unit":"MB"}"#),
        (
            "unit_convert",
            json!({"value": 1, "from": "K", "to": "rad"}),
            "error: K is a unit of temperature and rad one of angle: they cannot be converted. Units of temperature: K °C °F.",
        ),
        ("number_base", json!({"number": "255", "to": 16}), "ff"),
        ("number_base", json!({"number": "0xFF", "to": 2}), "11111111"),
        ("number_base", json!({"number": "-zz", "from": 36, "to": 10}), "-1295"),
        ("number_base", json!({"number": "0b1", "from": 16, "to": 10}), "177"),
        (
            "number_base",
            json!({"number": "12", "from": 2, "to": 10}),
            "error: `number` \"12\" is not a whole number in base 2, or is too large.",
        ),
        (
            "statistics",
            json!({"numbers": [4, 1, 3, 2]}),
            r#"{"count":4,"sum":10,"mean":2.5,"median":2.5,"min":1,"max":4,"quartile1":1.75,"quartile3":3.25,"standard_deviation":1.118033988749895}"#,
        ),
    ]);
    let unknown = answer("unit_convert", &json!({"value": 1, "from": "parsec", "to": "m"}));
    assert!(
        unknown.starts_with("error: `from` is \"parsec\", which is not a known unit. Known are length: m km"),
        "{unknown}"
    );
}

#[test]
fn randomness() {
    let uuids = answer("random_uuid", &json!({"count": 3, "version": "v7"}));
    let found = answer(
        "regex_find",
        &json!({"pattern": "[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", "text": uuids}),
    );
    assert!(found.starts_with(r#"{"count":3"#), "{uuids}");
    assert_ne!(answer("random_uuid", &json!({})), answer("random_uuid", &json!({})));
    assert_eq!(answer("random_number", &json!({"min": -7, "max": -7, "count": 2})), r#"{"numbers":[-7,-7]}"#);
    let drawn: Value =
        serde_json::from_str(&answer("random_number", &json!({"min": 1, "max": 3, "count": 1000}))).unwrap();
    let drawn: BTreeSet<i64> = drawn["numbers"].as_array().unwrap().iter().filter_map(Value::as_i64).collect();
    assert_eq!(drawn, BTreeSet::from([1, 2, 3]));
    answer("random_number", &json!({"min": i64::MIN, "max": i64::MAX}));
    assert_eq!(
        answer("random_number", &json!({"min": 2, "max": 1})),
        "error: `min` (2) is larger than `max` (1). Swap them."
    );
}
