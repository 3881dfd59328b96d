//! Tools that draw from the operating system's randomness: good enough for keys, though an answer that passed through
//! a model is no secret.

use serde_json::json;

use crate::arguments::{Arguments, one_of};
use crate::problem::{Problem, told};
use crate::tool::{Replied, Reply, Tool, choice, integer};

const MOST: usize = 1000;

pub(crate) fn tools() -> Vec<Tool> {
    vec![
        Tool::new("random_uuid", "Make UUIDs", "Make random UUIDs.", uuid)
            .takes("count", integer("How many", 1, 1, 1000))
            .takes("version", choice("v4 is random, v7 is random and sorts by time; v4 if left out", &["v4", "v7"]))
            .gives(json!({"uuids": {"type": "array", "items": {"type": "string"}}}))
            .varies(),
        Tool::new(
            "random_number",
            "Draw random numbers",
            "Draw whole random numbers between two bounds, both included, all equally likely.",
            number,
        )
        .needs("min", json!({"type": "integer", "description": "The smallest that may come"}))
        .needs("max", json!({"type": "integer", "description": "The largest that may come"}))
        .takes("count", integer("How many", 1, 1, 1000))
        .gives(json!({"numbers": {"type": "array", "items": {"type": "integer"}}}))
        .varies(),
    ]
}

fn uuid(arguments: &Arguments<'_>) -> Replied {
    let count = arguments.count("count", 1, MOST)?;
    let version = match arguments.word_or("version", "v4")? {
        "v4" => 4,
        "v7" => 7,
        other => return Err(one_of("version", other, &["v4", "v7"])),
    };
    let uuids: Result<Vec<String>, Problem> = (0..count).map(|_| one_uuid(version)).collect();
    Ok(Reply::Json(json!({"uuids": uuids?})))
}

fn one_uuid(version: u8) -> Result<String, Problem> {
    let mut bytes: [u8; 16] = random()?;
    if version == 7 {
        let now = u64::try_from(jiff::Timestamp::now().as_millisecond()).unwrap_or(0);
        bytes[..6].copy_from_slice(&now.to_be_bytes()[2..]);
    }
    bytes[6] = (bytes[6] & 0x0f) | (version << 4);
    bytes[8] = (bytes[8] & 0x3f) | 0x80;
    let hex: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
    Ok([&hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..]].join("-"))
}

fn number(arguments: &Arguments<'_>) -> Replied {
    let bounds = (i64::MIN, i64::MAX);
    let min = arguments.any("min").and(arguments.integer("min", 0, bounds))?;
    let max = arguments.any("max").and(arguments.integer("max", 0, bounds))?;
    if min > max {
        return Err(told!("`min` ({min}) is larger than `max` ({max}). Swap them."));
    }
    let count = arguments.count("count", 1, MOST)?;
    let numbers: Result<Vec<i64>, Problem> = (0..count).map(|_| between(min, max)).collect();
    Ok(Reply::Json(json!({"numbers": numbers?})))
}

fn between(min: i64, max: i64) -> Result<i64, Problem> {
    let span = max.abs_diff(min);
    let mask = u64::MAX.checked_shr(span.leading_zeros()).unwrap_or(0);
    loop {
        // What lies beyond is drawn again: folding it back would favour the small numbers.
        let drawn = u64::from_be_bytes(random()?) & mask;
        if drawn <= span {
            return Ok(min.wrapping_add_unsigned(drawn));
        }
    }
}

fn random<const N: usize>() -> Result<[u8; N], Problem> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|_| told!("The operating system gave no random bytes. Try again."))?;
    Ok(bytes)
}
