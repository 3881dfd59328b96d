//! The compliance tests of JMESPath, as the crate that reads its grammar ships them.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use toolfold_core::Fuel;
use toolfold_results::query;

fn cargo(arguments: &[&str]) -> Vec<u8> {
    let output = Command::new(env!("CARGO")).args(arguments).current_dir(env!("CARGO_MANIFEST_DIR")).output();
    let output = output.expect("cargo can be started");
    assert!(output.status.success(), "cargo {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    output.stdout
}

/// Where cargo unpacked the crate. Asked for this platform alone: what others need was never fetched on a new machine.
fn folder() -> PathBuf {
    let version = String::from_utf8(cargo(&["-vV"])).expect("text");
    let host = version.lines().find_map(|line| line.strip_prefix("host: ")).expect("cargo tells its platform");
    let metadata = cargo(&["metadata", "--format-version", "1", "--offline", "--filter-platform", host]);
    let metadata: Value = serde_json::from_slice(&metadata).expect("cargo metadata is JSON");
    let packages = metadata["packages"].as_array().expect("packages");
    let package = packages.iter().find(|package| package["name"] == "jmespath").expect("jmespath is a dependency");
    let manifest = PathBuf::from(package["manifest_path"].as_str().expect("a path"));
    manifest.with_file_name("tests").join("compliance")
}

/// Numbers are equal by size: 1 and 1.0 are.
fn same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (Value::Array(ones), Value::Array(others)) => {
            ones.len() == others.len() && ones.iter().zip(others).all(|(one, other)| same(one, other))
        }
        (Value::Object(ones), Value::Object(others)) => {
            ones.len() == others.len()
                && ones.iter().all(|(name, one)| others.get(name).is_some_and(|other| same(one, other)))
        }
        (one, other) => one == other,
    }
}

#[test]
fn the_language_is_spoken_as_its_own_tests_have_it() {
    let mut tried = 0;
    let mut wrong = Vec::new();
    let files = std::fs::read_dir(folder()).expect("the tests of the crate");
    for file in files.map(|file| file.expect("an entry").path()) {
        let suites: Value = serde_json::from_slice(&std::fs::read(&file).expect("a file")).expect("JSON");
        for suite in suites.as_array().expect("suites") {
            let given = suite["given"].to_string();
            for case in suite["cases"].as_array().expect("cases") {
                let expression = case["expression"].as_str().expect("an expression");
                let answer = query(expression, &given, &Fuel::new(1_000_000));
                let answer = answer.map(|json| serde_json::from_str::<Value>(&json).expect("JSON"));
                let right = match (&answer, case.get("result"), case.get("error")) {
                    (Ok(answer), Some(expected), _) => same(answer, expected),
                    (Err(_), None, Some(_)) => true,
                    // Only to be measured.
                    (_, None, None) => continue,
                    _ => false,
                };
                tried += 1;
                if !right {
                    wrong.push(format!("{expression} on {given:.200}: {answer:?}, expected {case}"));
                }
            }
        }
    }
    assert!(tried > 800, "{tried} cases");
    assert!(wrong.is_empty(), "{} of {tried} cases:\n{}", wrong.len(), wrong.join("\n"));
}

#[test]
fn an_expression_that_doubles_for_ever_ends() {
    for doubling in ["[@,@][]|", "[@,@]|", "{a:@,b:@}|", "map(&[@,@],[@])|", "join('',[to_string(@),to_string(@)])|"] {
        let expression = format!("{}@", doubling.repeat(990 / doubling.len()));
        let answer = query(&expression, r#"{"a": [1, 2, 3]}"#, &Fuel::new(2_000_000));
        assert!(answer.is_err(), "{doubling}");
    }
    let nested = format!("{}@{}", "(".repeat(499), ")".repeat(499));
    assert_eq!(query(&nested, "1", &Fuel::new(100_000)).as_deref(), Ok("1"));
    assert!(query(&"(".repeat(1_001), "1", &Fuel::new(100_000)).is_err());
}
