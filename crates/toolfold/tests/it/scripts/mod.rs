//! Scripts: what they can say, what they cannot do, and what they are to a client.

mod attacks;
mod office;
mod oracle;
mod process;
mod stored;
mod surface;
mod tasks;
mod types;

use std::path::Path;
use std::time::Duration;

use serde_json::{Value, json};
use toolfold_script::protocol::HostAnswer;
use toolfold_script::{Ask, Ended, Host, Program, Script, ScriptLimits, Thrown};
use toolfold_wire::{BoxFuture, raw};

/// The binary under test, as it starts itself.
pub(super) fn program() -> Program {
    Program { path: env!("CARGO_BIN_EXE_toolfold").into(), arguments: vec![toolfold_script::worker::COMMAND.into()] }
}

/// A file of scripts: `//# name` or `//# name: expectation`, then the script.
pub(super) fn sections(name: &str) -> Vec<(String, String)> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../toolfold-script").join(name);
    let text = std::fs::read_to_string(path).unwrap();
    let parts = text.split("//# ").skip(1);
    parts.map(|part| part.split_once('\n').map(|(head, code)| (head.to_owned(), code.to_owned())).unwrap()).collect()
}

pub(super) async fn run(code: &str, limits: ScriptLimits) -> Ended {
    let script = Script { code: code.to_owned(), input: raw(&json!({"who": "Ada", "list": [1, 2]})) };
    toolfold_script::run(&program(), script, limits, &Fake).await
}

/// Small limits, so that what runs into them does so soon; time enough for that on a machine that is busy.
pub(super) fn small() -> ScriptLimits {
    let (cpu, time) = (Duration::from_millis(200), Duration::from_secs(300));
    ScriptLimits { cpu, memory: 24 * 1024 * 1024, calls: 50, time }
}

/// A handful of tools, as `tests/peers/oracle.mjs` has them too.
pub(super) struct Fake;

impl Host for Fake {
    fn answer(&self, ask: Ask) -> BoxFuture<'_, HostAnswer> {
        Box::pin(async move {
            tokio::task::yield_now().await;
            match ask {
                Ask::Call { tool, arguments } => {
                    let given = arguments.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or(Value::Null);
                    called(&tool, &given)
                }
                Ask::Find { .. } => HostAnswer::Value(raw(&json!([{"id": "math.add"}]))),
                Ask::Describe { tool } => HostAnswer::Value(raw(&json!({"id": tool}))),
                Ask::Result { .. } => HostAnswer::Thrown(Thrown::new("INVALID_REQUEST", "There is none.")),
            }
        })
    }
}

fn called(tool: &str, given: &Value) -> HostAnswer {
    let texts = |all: Vec<String>| -> Value { all.iter().map(|text| json!({"type": "text", "text": text})).collect() };
    let data = |value: Value| json!({"content": texts(vec![value.to_string()]), "structuredContent": value});
    let count = given["count"].as_u64().unwrap_or_default();
    let page = given["page"].as_u64().unwrap_or_default();
    let result = match tool {
        "math.add" => data(json!({"sum": given["a"].as_i64().unwrap() + given["b"].as_i64().unwrap()})),
        "text.upper" => json!({"content": texts(vec![given["text"].as_str().unwrap().to_uppercase()])}),
        "data.rows" => {
            let rows: Vec<Value> = (0..count).map(|n| json!({"n": n, "name": format!("row {n}")})).collect();
            json!({"content": texts(vec![json!(rows).to_string()])})
        }
        "data.lines" => json!({"content": texts((0..count).map(|n| format!("line {n}")).collect())}),
        "data.page" => data(json!({
            "items": [page * 2, page * 2 + 1],
            "next": if page < 3 { json!(page + 1) } else { Value::Null },
        })),
        "data.picture" => json!({"content": [
            {"type": "text", "text": "a picture"},
            {"type": "image", "mimeType": "image/png", "data": "aGk="},
        ]}),
        "data.nothing" => json!({"content": []}),
        "fail.now" => json!({"content": texts(vec!["It failed.".to_owned()]), "isError": true}),
        _ => return HostAnswer::Thrown(Thrown::new("TOOL_NOT_FOUND", "There is none.").hint("math.add")),
    };
    HostAnswer::Result(raw(&result))
}
