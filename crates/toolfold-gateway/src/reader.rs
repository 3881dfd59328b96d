//! What reads kept results: a tool that is in no catalog, and otherwise like any other.

use std::sync::{Arc, LazyLock};

use serde::Deserialize;
use serde_json::json;
use toolfold_config::Config;
use toolfold_core::{Code, Entry, Refusal, ServerName};
use toolfold_results::{Handle, Reading};
use toolfold_wire::{Object, Raw, raw};

/// Reached like any tool, listed nowhere.
pub(crate) const READ: &str = "results.read";
/// Before the handle in an address.
pub(crate) const ADDRESS: &str = "toolfold://results/";

/// What reads kept results, as any tool is defined: its arguments are checked as those of others are.
pub(crate) static READER: LazyLock<Option<Arc<Entry>>> = LazyLock::new(|| {
    let definition = json!({
        "name": "read",
        "description": "Read on in a result that was too long to be shown at once: a part of it, what a query finds in it, or the lines and items that a pattern is found in.",
        "inputSchema": {
            "type": "object",
            "properties": {
                "result": {"type": "string", "description": "The name that the answer gave."},
                "query": {"type": "string", "description": "JMESPath, at most 1000 characters, over a result that is JSON."},
                "grep": {"type": "string", "description": "A regular expression: items or lines that it is found in."},
                // Some models write numbers as text.
                "offset": {"type": ["integer", "string"], "minimum": 0, "pattern": "^ *[0-9]+ *$", "description": "The first item or line, from 0."},
                "limit": {"type": ["integer", "string"], "minimum": 0, "pattern": "^ *[0-9]+ *$", "description": "How many."},
            },
            "required": ["result"],
            "additionalProperties": false,
        },
        "annotations": {"readOnlyHint": true},
    });
    let server = ServerName::new("results").ok()?;
    Entry::tool(&server, &raw(&definition)).ok().map(Arc::new)
});

/// The same, where any result is kept.
pub(crate) fn reader(config: &Config) -> Option<&'static Arc<Entry>> {
    READER.as_ref().filter(|_| config.results.keeps_any())
}

/// What is asked of which result, in arguments that were checked.
pub(crate) fn asked(arguments: Option<&Raw>) -> Result<(Handle, Reading), Refusal> {
    #[derive(Deserialize)]
    struct Asked {
        result: String,
        query: Option<String>,
        grep: Option<String>,
        offset: Option<Count>,
        limit: Option<Count>,
    }
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Count {
        Number(usize),
        Text(String),
    }
    let number = |count: Count| match count {
        Count::Number(number) => number,
        Count::Text(text) => text.trim().parse().unwrap_or(usize::MAX),
    };
    let given = arguments.and_then(|json| serde_json::from_str::<Asked>(json.get()).ok());
    let Asked { result, query, grep, offset, limit } =
        given.ok_or_else(|| wrong_arguments("These arguments cannot be read.".to_owned()))?;
    let handle = Handle::spelled(result.strip_prefix(ADDRESS).unwrap_or(&result));
    Ok((handle, Reading { query, grep, offset: offset.map_or(0, number), limit: limit.map(number) }))
}

pub(crate) fn wrong_arguments(message: String) -> Refusal {
    let schema = READER.as_ref().and_then(|reader| Object::parse(&reader.definition)?.get("inputSchema").cloned());
    Refusal::new(Code::InvalidArguments, message).details(json!({"tool": READ, "schema": schema}))
}
