//! Results of which only some fields are wanted.
//!
//! What a reader would get wrong: an error stays whole, and what is no JSON too; that `fields` did nothing is said beside it.

use serde_json::Value;
use toolfold_results::{Fields, cut};
use toolfold_wire::{Object, Raw};

use crate::threads::Threads;

/// Results above this many bytes are cut on a thread.
const QUICK: usize = 64 * 1024;

/// A result with the fields alone that are wanted. What is no JSON stays whole, and that is said beside it.
pub(crate) async fn narrowed(threads: &'static Threads, result: Raw, fields: Fields) -> Raw {
    if result.get().len() <= QUICK {
        return narrow(&result, &fields).unwrap_or(result);
    }
    let whole = result.clone();
    threads.run(move |_| narrow(&whole, &fields)).await.ok().flatten().unwrap_or(result)
}

fn narrow(result: &Raw, fields: &Fields) -> Option<Raw> {
    let mut object = Object::parse(result)?;
    if object.read("isError") == Some(Value::Bool(true)) {
        return None;
    }
    let mut is_cut = false;
    if let Some(structured) = object.get("structuredContent").and_then(|json| cut(json.get(), fields)) {
        object.set_raw("structuredContent", toolfold_wire::raw_of(&structured).ok()?);
        is_cut = true;
    }
    let mut content: Vec<Value> = object.read("content").unwrap_or_default();
    for item in content.iter_mut().filter(|item| item["type"] == "text") {
        if let Some(text) = item["text"].as_str().and_then(|text| cut(text, fields)) {
            item["text"] = Value::String(text);
            is_cut = true;
        }
    }
    if is_cut {
        object.set("content", &content);
    } else {
        let meta = object.object("_meta").unwrap_or_default();
        object.set_raw("_meta", meta.with("toolfold/fields", &"not applied: the result is no JSON").to_raw());
    }
    Some(object.to_raw())
}
