//! What holds for any definition and any request.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolfold_core::Surface;
use toolfold_disclosure::level::{
    Level, compact_schema, describe, details_page, example, full_page, micro_schema, parameter, parameter_page,
    signature, summary,
};
use toolfold_disclosure::{Checker, answer, route, tokens};
use toolfold_wire::{raw, raw_of};

use crate::fixture::{Fixture, entry, source, tool};
use crate::reader;

/// Any JSON at all.
fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        "\\PC{0,12}".prop_map(Value::from),
        prop::sample::select(vec!["object", "array", "string", "integer", "#", "#/$defs/a", "#/properties/a"])
            .prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 60, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::vec((keyword(), inner), 0..6)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

/// Mostly words that mean something in a schema.
fn keyword() -> impl Strategy<Value = String> {
    let keywords = [
        "type",
        "properties",
        "required",
        "items",
        "$ref",
        "$defs",
        "anyOf",
        "oneOf",
        "allOf",
        "enum",
        "const",
        "default",
        "examples",
        "pattern",
        "format",
        "minLength",
        "maxLength",
        "minimum",
        "maximum",
        "multipleOf",
        "minItems",
        "uniqueItems",
        "additionalProperties",
        "description",
        "not",
        "if",
        "then",
        "a",
        "b",
    ];
    prop_oneof![4 => prop::sample::select(keywords.to_vec()).prop_map(str::to_owned), 1 => "\\PC{0,8}"]
}

fn schema() -> impl Strategy<Value = Value> {
    prop::collection::vec((keyword(), json_value()), 0..8)
        .prop_map(|members| Value::Object(members.into_iter().collect()))
}

/// A schema as somebody would write it: every keyword in its place, nothing that no value could satisfy.
fn sound_schema() -> impl Strategy<Value = Value> {
    let word = "[a-z]{1,10}";
    let leaf = prop_oneof![
        Just(json!({"type": "string"})),
        (0u64..12).prop_map(|least| json!({"type": "string", "minLength": least})),
        (1u64..12).prop_map(|most| json!({"type": "string", "maxLength": most})),
        prop::sample::select(vec!["^[A-Z]{3}-[0-9]+$", "^a+$", "^(a|b)(c|d)[0-9]{20}[x-z]{20}$"])
            .prop_map(|pattern| json!({"type": "string", "pattern": pattern})),
        prop::sample::select(vec!["date-time", "date", "uuid", "email", "uri", "made-up"])
            .prop_map(|format| json!({"type": "string", "format": format})),
        prop::collection::vec(word, 1..30).prop_map(|values| json!({"enum": values})),
        (-50i64..50, 0i64..50)
            .prop_map(|(low, more)| json!({"type": "integer", "minimum": low, "maximum": low + more})),
        (-5i64..5).prop_map(|low| json!({"type": "number", "exclusiveMinimum": low})),
        (-5i64..5).prop_map(|high| json!({"type": "number", "exclusiveMaximum": high})),
        Just(json!({"type": "integer", "multipleOf": 7})),
        Just(json!({"type": ["boolean", "null"]})),
        Just(json!({})),
        word.prop_map(|value| json!({"const": value})),
        Just(json!({"type": "string", "description": "One of: first, second."})),
        Just(json!({"not": {"type": "string"}})),
    ];
    leaf.prop_recursive(4, 24, 4, |inner| {
        prop_oneof![
            (inner.clone(), 0u64..4, any::<bool>()).prop_map(|(item, least, fixed)| if fixed {
                json!({"type": "array", "items": item, "minItems": least, "maxItems": least.max(1)})
            } else {
                json!({"type": "array", "items": item, "minItems": least})
            }),
            prop::collection::btree_map("[a-z]{1,8}", (inner.clone(), any::<bool>()), 0..6).prop_map(object_of),
            prop::collection::vec(inner.clone(), 1..4).prop_map(|choices| json!({"anyOf": choices})),
            (inner.clone(), 0u64..3).prop_map(
                |(values, least)| json!({"type": "object", "additionalProperties": values, "minProperties": least})
            ),
            prop::collection::vec(inner, 1..3).prop_map(|items| json!({"type": "array", "prefixItems": items})),
        ]
    })
}

fn object_of(members: std::collections::BTreeMap<String, (Value, bool)>) -> Value {
    let required: Vec<&String> = members.iter().filter(|(_, (_, required))| *required).map(|(name, _)| name).collect();
    let properties: Map<String, Value> =
        members.iter().map(|(name, (schema, _))| (name.clone(), schema.clone())).collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

proptest! {
    #![proptest_config(ProptestConfig::default())]

    #[test]
    fn a_signature_suffices_for_a_call_or_says_that_it_does_not(
        parameters in prop::collection::btree_map("[a-z_]{1,12}", (sound_schema(), any::<bool>()), 0..6),
    ) {
        let misled = reader::misled(&Checker::new(), &entry(object_of(parameters)));
        prop_assert!(misled.is_none(), "{}", misled.unwrap_or_default());
    }

    #[test]
    fn a_signature_never_loses_a_required_parameter(
        parameters in prop::collection::btree_map("[a-z_]{1,12}", (schema(), any::<bool>()), 0..30),
    ) {
        let properties: Map<String, Value> = parameters.iter().map(|(name, (schema, _))| (name.clone(), schema.clone())).collect();
        let required: Vec<&String> = parameters.iter().filter(|(_, (_, required))| *required).map(|(name, _)| name).collect();
        let text = signature(&entry(json!({"type": "object", "properties": properties, "required": required}))).text;
        let text = format!(", {text}");
        for name in required {
            prop_assert!(text.contains(&format!(", {name}: ")), "{name} is not in {text}");
        }
    }

    #[test]
    fn every_level_of_anything_ends(schema in schema(), path in "[a-z.]{0,8}") {
        let entry = entry(schema);
        for level in Level::ALL {
            describe(&entry, level);
        }
        let _ = parameter(&entry, &path);
        let words = summary(&entry).split_whitespace().count();
        prop_assert!((1..=10).contains(&words));
        prop_assert!(example(&entry).is_object());
    }

    #[test]
    fn a_description_of_any_kind_gives_a_summary(name in "\\PC{1,40}", description in "(\\PC|\\s){0,300}") {
        let fixture = Fixture::of([source("s", &[tool(&name, &description, json!({}))])]);
        let summary = summary(fixture.catalog.entry(0));
        prop_assert!((1..=10).contains(&summary.split_whitespace().count()), "{summary:?}");
        prop_assert!(!summary.contains('\n'));
        prop_assert_ne!(summary, name);
    }

    #[test]
    fn checking_anything_against_anything_ends(schema in schema(), arguments in json_value()) {
        let _ = Checker::new().check(&entry(schema), Some(raw(&arguments)));
    }

    #[test]
    fn any_request_gets_an_answer(name in prop_oneof![Just("find_tools".to_owned()), Just("call_tool".to_owned()), "\\PC{0,20}"], members in prop::collection::vec((prop::sample::select(vec!["query", "path", "tool", "parameter", "detail", "kind", "limit", "cursor", "arguments", "x"]), json_value()), 0..5)) {
        let fixture = Fixture::new();
        let arguments: Map<String, Value> = members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let action = route(Surface::Compact, &fixture.view(), &name, Some(&raw(&arguments)));
        let _ = answer(Surface::Compact, &fixture.view(), &action);
    }

    #[test]
    fn any_request_gets_an_answer_on_every_surface(surface in prop::sample::select(Surface::ALL.to_vec()), name in prop::sample::select(toolfold_disclosure::reserved_names().collect::<Vec<_>>()), members in prop::collection::vec((prop::sample::select(vec!["query", "path", "tool", "parameter", "detail", "limit", "cursor", "arguments", "category", "name", "names", "tool_id", "category_path", "tags", "group", "agent", "toolName", "toolNames", "mode", "offset", "backend", "prefix", "detailLevel", "action"]), json_value()), 0..6)) {
        let fixture = Fixture::new();
        let arguments: Map<String, Value> = members.into_iter().map(|(key, value)| (key.to_owned(), value)).collect();
        let action = route(surface, &fixture.view(), name, Some(&raw(&arguments)));
        if let Ok(result) = answer(surface, &fixture.view(), &action) {
            prop_assert!(serde_json::from_str::<Value>(result.get()).is_ok());
        }
    }

    #[test]
    fn pages_and_reduced_schemas_of_anything(schema in schema(), path in "\\PC{0,12}") {
        let entry = entry(schema.clone());
        let cost = |value: &Value| tokens::count(&value.to_string());
        prop_assert!(cost(&compact_schema(&schema)) <= cost(&schema));
        let _ = micro_schema(&schema);
        prop_assert!(cost(&details_page(&entry, "t")) <= cost(&full_page(&entry, "t")));
        let _ = parameter_page(&entry, "t", &path);
    }

    #[test]
    fn a_cursor_changed_in_one_letter_never_panics(query in "\\PC{1,30}", at in 0usize..60, letter in "[A-Za-z0-9_-]") {
        let fixture = Fixture::new();
        let answer = fixture.find(json!({"query": format!("issue {query}"), "limit": 1}));
        let cursor = answer.lines().last().and_then(|line| line.strip_prefix("next cursor: "));
        if let Some(cursor) = cursor.and_then(|rest| rest.split(' ').next()) {
            let next = fixture.find(json!({"cursor": cursor}));
            prop_assert!(!next.contains("INVALID_CURSOR"));
            let mut letters: Vec<char> = cursor.chars().collect();
            let at = at % letters.len();
            letters[at] = letter.chars().next().unwrap();
            let junk: String = letters.into_iter().collect();
            let answer = fixture.find(json!({"cursor": junk}));
            prop_assert!(junk == cursor || answer.contains("INVALID_CURSOR"));
        }
    }

    #[test]
    fn an_answer_keeps_its_budget(budget in 60usize..800, count in 1usize..60, limit in 1usize..50, words in "[a-z ]{0,200}") {
        let tools: Vec<Value> = (0..count)
            .map(|i| tool(&format!("report_{i}_{}", "x".repeat(i % 7)), &format!("Report {i} {words}"), json!({"properties": {"some_parameter": {"type": "string"}}, "required": ["some_parameter"]})))
            .collect();
        let mut fixture = Fixture::of([source("s", &tools)]);
        fixture.budget = budget;
        for request in [json!({"query": "report", "limit": limit}), json!({"path": ["s"], "limit": limit})] {
            let answer = fixture.find(request);
            prop_assert!(tokens::count(&answer) <= budget, "{} tokens in {budget}: {answer}", tokens::count(&answer));
        }
    }

    #[test]
    fn a_definition_is_never_touched_but_for_its_name(before in "[ \n]{0,3}", extra in json_value()) {
        let text = format!(r#"{{{before}"x" :{extra}, "name"{before}: "t\u0065st" ,"inputSchema":{{}}{before}}}"#);
        let mut one = source("s", &[]);
        one.tools.push(raw_of(&text).unwrap());
        let fixture = Fixture::of([one]);
        let listed = toolfold_disclosure::tools(Surface::Direct, &fixture.view());
        prop_assert_eq!(listed[0].get(), text.replace(r#""t\u0065st""#, r#""s__test""#));
    }
}
