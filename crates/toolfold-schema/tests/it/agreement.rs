//! Random schemas and values: what we say is what an implementation says that we did not write.

use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolfold_core::Fuel;
use toolfold_schema::Schema;

const DRAFTS: [&str; 5] = [
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/draft-06/schema#",
    "http://json-schema.org/draft-07/schema#",
    "https://json-schema.org/draft/2019-09/schema",
    "https://json-schema.org/draft/2020-12/schema",
];

fn name() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["a", "b", "c", "ab"]).prop_map(str::to_owned)
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        (-3i64..6).prop_map(Value::from),
        prop::sample::select(vec![0.5, 1.0, 1.5, -2.25, 1e20, 0.3, 4.0]).prop_map(Value::from),
        prop::sample::select(vec!["", "a", "b", "ab", "aab", "é", "1"]).prop_map(Value::from),
    ];
    leaf.prop_recursive(3, 12, 4, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            prop::collection::vec((name(), inner), 0..4)
                .prop_map(|members| Value::Object(members.into_iter().collect())),
        ]
    })
}

fn type_name() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["object", "array", "string", "number", "integer", "boolean", "null"])
}

fn pattern() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["^a", "b$", "^a+b?$", "\\d", "[^a]", "é"])
}

fn reference() -> impl Strategy<Value = &'static str> {
    prop::sample::select(vec!["#/definitions/a", "#/definitions/b", "#"])
}

/// A keyword and its value, of those that every draft reads alike or that we must read by draft as they do.
fn keyword(inner: impl Strategy<Value = Value> + Clone + 'static) -> impl Strategy<Value = Vec<(&'static str, Value)>> {
    let list = || prop::collection::vec(inner.clone(), 1..3).prop_map(Value::from);
    let named = || {
        prop::collection::vec((name(), inner.clone()), 0..3)
            .prop_map(|members| Value::Object(members.into_iter().collect()))
    };
    let names = || prop::collection::hash_set(name(), 1..3).prop_map(|names| json!(names));
    let one = |key: &'static str, value: BoxedStrategy<Value>| value.prop_map(move |value| vec![(key, value)]).boxed();
    let count = || (0i64..4).prop_map(Value::from).boxed();
    let number = || prop::sample::select(vec![json!(0), json!(1), json!(1.5), json!(-2), json!(3)]).boxed();
    let simple = prop::strategy::Union::new(vec![
        one("type", type_name().prop_map(Value::from).boxed()),
        one("type", prop::collection::hash_set(type_name(), 1..4).prop_map(|names| json!(names)).boxed()),
        one("enum", prop::collection::vec(value(), 1..4).prop_map(distinct).boxed()),
        one("const", value().boxed()),
        one("minimum", number()),
        one("maximum", number()),
        one("multipleOf", prop::sample::select(vec![json!(1), json!(0.5), json!(0.1), json!(2)]).boxed()),
        one("minLength", count()),
        one("maxLength", count()),
        one("pattern", pattern().prop_map(Value::from).boxed()),
        one("minItems", count()),
        one("maxItems", count()),
        one("uniqueItems", any::<bool>().prop_map(Value::from).boxed()),
        one("minProperties", count()),
        one("maxProperties", count()),
        one("required", names().boxed()),
    ]);
    let nested = prop::strategy::Union::new(vec![
        one("properties", named().boxed()),
        one("additionalProperties", inner.clone().boxed()),
        (pattern(), inner.clone())
            .prop_map(|(pattern, schema)| vec![("patternProperties", json!({pattern: schema}))])
            .boxed(),
        one("propertyNames", inner.clone().boxed()),
        one("items", inner.clone().boxed()),
        one("contains", inner.clone().boxed()),
        one("allOf", list().boxed()),
        one("anyOf", list().boxed()),
        one("oneOf", list().boxed()),
        one("not", inner.clone().boxed()),
        (inner.clone(), inner.clone(), inner.clone())
            .prop_map(|(a, b, c)| vec![("if", a), ("then", b), ("else", c)])
            .boxed(),
        (name(), names()).prop_map(|(name, names)| vec![("dependencies", json!({name: names}))]).boxed(),
        (name(), inner.clone()).prop_map(|(name, schema)| vec![("dependentSchemas", json!({name: schema}))]).boxed(),
        (name(), names()).prop_map(|(name, names)| vec![("dependentRequired", json!({name: names}))]).boxed(),
        one("unevaluatedProperties", inner.clone().boxed()),
        one("unevaluatedItems", inner.clone().boxed()),
        one("prefixItems", list().boxed()),
        (inner.clone(), 0i64..3, 1i64..4)
            .prop_map(|(a, b, c)| vec![("contains", a), ("minContains", b.into()), ("maxContains", c.into())])
            .boxed(),
        one("$ref", reference().prop_map(Value::from).boxed()),
    ]);
    prop_oneof![simple, nested]
}

fn distinct(values: Vec<Value>) -> Value {
    let mut kept: Vec<Value> = Vec::new();
    for value in values {
        if !kept.contains(&value) {
            kept.push(value);
        }
    }
    kept.into()
}

fn schema() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        4 => Just(json!({})),
        4 => type_name().prop_map(|name| json!({"type": name})),
        1 => any::<bool>().prop_map(|verdict| if verdict { json!({}) } else { json!({"not": {}}) }),
    ];
    let part = leaf.prop_recursive(3, 20, 4, |inner| {
        prop::collection::vec(keyword(inner), 0..4).prop_map(|keywords| {
            Value::Object(keywords.into_iter().flatten().map(|(k, v)| (k.to_owned(), v)).collect())
        })
    });
    (part.clone(), part.clone(), part, prop::sample::select(DRAFTS.to_vec())).prop_map(|(root, a, b, draft)| {
        let mut root: Map<String, Value> = root.as_object().cloned().unwrap_or_default();
        root.insert("$schema".to_owned(), draft.into());
        root.insert("definitions".to_owned(), json!({"a": a, "b": b}));
        root.into()
    })
}

/// A reference that comes back to the same value never ends there, and is not looked for by the other side.
fn ends(schema: &Schema, value: &Value) -> Option<bool> {
    schema.is_valid(value, &Fuel::new(1_000_000)).ok()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn we_say_what_another_says(schema in schema(), values in prop::collection::vec(value(), 1..6)) {
        let Ok(ours) = Schema::prepare(schema.clone(), &Fuel::new(1_000_000)) else { return Ok(()) };
        // Whether it ends is asked first: the other side would take the stack with it.
        let answers: Vec<Option<bool>> = values.iter().map(|value| ends(&ours, value)).collect();
        if answers.contains(&None) || !schema.to_string().contains("#/definitions") && schema.to_string().contains("\"#\"") {
            return Ok(());
        }
        let options = jsonschema::options().offline().should_validate_formats(false);
        let Ok(theirs) = options.build(&schema) else { return Ok(()) };
        for (value, answer) in values.iter().zip(answers) {
            // Whether a number beyond 64 bits that is written with an exponent is an integer, draft 4 leaves open.
            let huge = value.as_f64().is_some_and(|number| number.abs() >= 9.2e18) && !value.is_u64();
            if huge && schema.to_string().contains("draft-04") {
                continue;
            }
            prop_assert_eq!(answer, Some(theirs.is_valid(value)), "{} against {}", value, schema);
            // Whether it fits ends with the first thing that is wrong; the others are looked for further, perhaps for ever.
            let Ok(problems) = ours.problems(value, 5, &Fuel::new(1_000_000)) else { continue };
            prop_assert_eq!(problems.is_empty(), answer == Some(true), "{} against {}", value, schema);
        }
    }
}
