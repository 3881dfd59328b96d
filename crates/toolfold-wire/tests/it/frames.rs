//! JSON-RPC frames: nothing is lost, and nothing that arrives makes us fall over.

use proptest::prelude::*;
use serde_json::{Value, json};
use toolfold_wire::{DEEPEST, Id, MOST_BATCHED, Message, Object, Raw};

fn parsed(text: &str) -> String {
    match Message::parse(text.to_owned()) {
        Ok(Message::Request { id, method, .. }) => format!("request {id} {method}"),
        Ok(Message::Notification { method, .. }) => format!("notification {method}"),
        Ok(Message::Response { id, outcome: Ok(result) }) => format!("result {id} {result}"),
        Ok(Message::Response { id, outcome: Err(error) }) => format!("error {id} {error}"),
        Err(bad) => format!("bad {} {}", bad.error.code, bad.id.map_or("-".into(), |id| id.to_string())),
    }
}

#[test]
fn every_kind_of_message_is_told_apart() {
    let cases = [
        (r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#, "request 1 ping"),
        (r#"{"jsonrpc":"2.0","id":"1","method":"ping","params":{}}"#, r#"request "1" ping"#),
        (r#"{"jsonrpc":"2.0","method":"notifications/x"}"#, "notification notifications/x"),
        (r#"{"jsonrpc":"2.0","id":7,"result":{"a":1}}"#, r#"result 7 {"a":1}"#),
        (r#"{"jsonrpc":"2.0","id":7,"result":null}"#, "result 7 null"),
        (r#"{"jsonrpc":"2.0","id":7,"error":{"code":-1,"message":"no"}}"#, "error 7 no (-1)"),
        (r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#, "bad -32600 -"),
        (r#"{"jsonrpc":"2.0","id":{},"method":"ping"}"#, "bad -32600 -"),
        (r#"{"jsonrpc":"2.0","id":7}"#, "bad -32600 7"),
        ("{}", "bad -32600 -"),
        ("[]", "bad -32600 -"),
        ("{", "bad -32700 -"),
        ("", "bad -32700 -"),
        ("\u{0}", "bad -32700 -"),
    ];
    for (text, expected) in cases {
        assert_eq!(parsed(text), expected, "{text}");
    }
}

#[test]
fn numbers_and_order_survive_as_they_came() {
    let params = r#"{"z":1,"a":123456789012345678901234567890,"f":1.0,"e":1e400,"dup":{"y":0,"b":0}}"#;
    let text = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{params}}}"#);
    let message = Message::parse(text.to_owned()).unwrap();
    assert_eq!(message.to_line(), text);
}

#[test]
fn a_message_over_several_lines_leaves_as_one() {
    let message =
        Message::parse(&b"{\"jsonrpc\":\"2.0\",\r\n\"method\":\"m\",\"params\":{\n \"a\": 1\n}}"[..]).unwrap();
    assert_eq!(message.to_line(), r#"{"jsonrpc":"2.0","method":"m","params":{  "a": 1 }}"#);
}

#[test]
fn batches_are_read_one_by_one() {
    let batch = br#" [{"jsonrpc":"2.0","method":"a"},{"x":1},{"jsonrpc":"2.0","id":2,"method":"b"}]"#;
    let kinds: Vec<bool> = Message::parse_all(&batch[..]).iter().map(Result::is_ok).collect();
    assert_eq!(kinds, [true, false, true]);
    assert!(Message::parse_all("[]")[0].is_err());
    assert!(Message::parse_all("[1,")[0].is_err());
}

#[test]
fn a_batch_has_a_bound_and_is_not_read_past_it() {
    let batch = |items: usize| format!("[{}1]", "1,".repeat(items - 1));
    assert_eq!(Message::parse_all(batch(MOST_BATCHED)).len(), MOST_BATCHED);
    let refused = Message::parse_all(batch(MOST_BATCHED + 1));
    assert_eq!(refused.len(), 1);
    assert_eq!(
        refused[0].as_ref().unwrap_err().error.message,
        "Invalid request: a batch may have at most 100 messages"
    );
}

#[test]
fn json_has_a_deepest_level_and_brackets_in_a_text_are_none() {
    let nested = |levels: usize| {
        let (open, close) = ("[".repeat(levels), "]".repeat(levels));
        Message::parse(format!(r#"{{"jsonrpc":"2.0","id":1,"method":"m","params":{open}{close}}}"#))
    };
    assert!(nested(DEEPEST - 1).is_ok());
    assert_eq!(nested(DEEPEST).unwrap_err().error.message, "Invalid request: nested deeper than 128 levels");
    let text = "[".repeat(1000);
    assert!(Message::parse(format!(r#"{{"jsonrpc":"2.0","method":"m","params":["\\\"{text}"]}}"#)).is_ok());
}

#[test]
fn a_payload_is_a_part_of_the_bytes_it_came_in() {
    let bytes = bytes::Bytes::from(r#"{"jsonrpc":"2.0","method":"m","params":{"a":{"b":[1]},"c":2}}"#.to_owned());
    let range = bytes.as_ptr_range();
    let Ok(Message::Notification { params: Some(params), .. }) = Message::parse(bytes.clone()) else { panic!() };
    let inner = Object::parse(&params).unwrap().object("a").unwrap();
    let place = inner.get("b").unwrap().get().as_ptr();
    assert!(range.contains(&place), "not copied");
    assert!(!range.contains(&inner.get("b").unwrap().detached().get().as_ptr()), "copied, so that the rest can go");
}

#[test]
fn one_member_changes_and_the_rest_stays() {
    let definition =
        Raw::parse(r#"{"name":"x","weird":[1.50,{"b":1,"a":2}],"execution":{"taskSupport":"forbidden"}}"#).unwrap();
    let mut object = Object::parse(&definition).unwrap();
    object.set("name", "server__x");
    assert_eq!(
        object.to_raw().get(),
        r#"{"name":"server__x","weird":[1.50,{"b":1,"a":2}],"execution":{"taskSupport":"forbidden"}}"#
    );
}

#[test]
fn an_id_is_a_number_that_others_can_read() {
    let asked = |id: &str| Message::parse(format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"ping"}}"#));
    for id in ["0", "-7", "1.5", "1e3", "18446744073709551615", r#""1e999""#] {
        let Ok(Message::Request { id: read, .. }) = asked(id) else { panic!("{id}") };
        assert_eq!(read.as_json(), id);
    }
    for id in ["1e999", "-1e7600"] {
        assert_eq!(asked(id).unwrap_err().id, None, "{id} is not said again");
    }
}

/// Any JSON up to a few levels deep.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_filter("JSON has no infinities", |number| number.is_finite()).prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 48, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::vec((".*", inner), 0..6).prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn any_message_survives_the_wire(id in any::<u64>(), method in ".+", params in json_value()) {
        let sent = Message::request(Id::number(id), method.clone(), Some(toolfold_wire::raw(&params)));
        let line = sent.to_line();
        prop_assert!(!line.contains('\n') && !line.contains('\r'));
        let Message::Request { id: got, method: got_method, params: got_params } = Message::parse(line).unwrap() else {
            return Err(TestCaseError::fail("not a request"));
        };
        prop_assert_eq!(got, Id::number(id));
        prop_assert_eq!(got_method, method);
        let arrived = toolfold_wire::raw(&params).get().replace(['\n', '\r'], " ");
        let got_params = got_params.unwrap();
        prop_assert_eq!(got_params.get(), arrived.as_str());
    }

    #[test]
    fn no_bytes_make_the_parser_fall_over(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        for message in Message::parse_all(bytes).into_iter().flatten() {
            Message::parse(message.to_line()).unwrap();
        }
    }

    #[test]
    fn a_broken_frame_is_an_error_with_a_code(params in json_value(), cut in 1usize..64) {
        let line = Message::request(Id::text("x"), "m", Some(toolfold_wire::raw(&json!({"p": params})))).to_line();
        let mut end = line.len().saturating_sub(cut).max(1);
        while !line.is_char_boundary(end) {
            end -= 1;
        }
        let bad = Message::parse(line[..end].to_owned()).unwrap_err();
        prop_assert!(bad.error.code == -32700 || bad.error.code == -32600);
    }
}
