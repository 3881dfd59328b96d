//! Catalogs of the kinds of tools that the surfaces were first drawn up for: a home, a project with its specifications,
//! files, storage and refactoring. No prefixes, so that names are short.

use serde_json::{Value, json};
use toolfold_catalog::ServerSource;

use crate::fixture::{source, tool};

pub(crate) fn bare(name: &str, tools: &[Value]) -> ServerSource {
    ServerSource { prefix: false, ..source(name, tools) }
}

fn object(properties: Value, required: Value) -> Value {
    json!({"type": "object", "properties": properties, "required": required})
}

/// Fourteen tools; four of them are what everybody starts with.
pub(crate) fn home() -> ServerSource {
    let device = |more: Value| {
        let mut properties = json!({"device_id": {"type": "string"}});
        properties.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
        object(properties, json!(["device_id"]))
    };
    let zone = || object(json!({"zone_id": {"type": "string"}, "on": {"type": "boolean"}}), json!(["zone_id"]));
    let nothing = || json!({"type": "object"});
    bare(
        "home",
        &[
            tool("get_home_structure", "Get all zones and devices of the home.", nothing()),
            tool("get_states", "Get the current state of devices.", nothing()),
            tool(
                "trigger_any_flow",
                "Trigger a flow by its name.",
                object(json!({"flow": {"type": "string"}}), json!(["flow"])),
            ),
            tool("get_flow_overview", "Get an overview of all flows.", nothing()),
            tool(
                "set_light",
                "Control light brightness, color, and power state.",
                device(json!({"brightness": {"type": "integer", "minimum": 0, "maximum": 100}})),
            ),
            tool(
                "set_thermostat",
                "Set the target temperature of a thermostat.",
                device(json!({"temperature": {"type": "number"}})),
            ),
            tool(
                "control_device",
                "Set any capability of a device.",
                device(json!({"capability": {"type": "string"}})),
            ),
            tool("toggle_device", "Switch a device on or off.", device(json!({}))),
            tool("control_zone_lights", "Control all lights in a zone simultaneously.", zone()),
            tool("control_zone_capability", "Set a capability of every device in a zone.", zone()),
            tool("get_insight_logs", "List the insight logs.", nothing()),
            tool("get_insight_data", "Get data of an insight log: temperature, humidity, power over time.", nothing()),
            tool("get_installed_apps", "List installed apps.", nothing()),
            tool("refresh_homey_flows", "Refresh the list of flows.", nothing()),
        ],
    )
}

pub(crate) const CORE: [&str; 4] = ["get_home_structure", "get_states", "trigger_any_flow", "get_flow_overview"];

/// Thirty tools of a project that is driven by specifications: those that search is measured on.
pub(crate) fn project() -> ServerSource {
    bare("project", &lines(include_str!("../../../../eval/project/tools.jsonl")))
}

/// Tools as sets for measuring search have them.
pub(crate) fn lines(text: &str) -> Vec<Value> {
    let read = |line| {
        let line: Value = serde_json::from_str(line).unwrap();
        let text = |key: &str| line[key].as_str().unwrap();
        tool(text("name"), text("description"), line["input_schema"].clone())
    };
    text.lines().map(read).collect()
}

pub(crate) fn file() -> ServerSource {
    let path = || object(json!({"path": {"type": "string"}}), json!(["path"]));
    let read = object(
        json!({
            "file_path": {"type": "string", "description": "Absolute path to the file to read. Must exist and be readable."},
            "offset": {"type": "integer", "description": "Line number to start reading from (1-indexed)", "default": 1, "minimum": 1},
            "limit": {"type": "integer", "description": "Maximum number of lines to read"},
        }),
        json!(["file_path"]),
    );
    let mut read = tool(
        "read_file",
        "Reads a file from the filesystem. Supports reading specific line ranges for large files. Returns file contents as string. \
         For files above 10MB, read in chunks.",
        read,
    );
    read["annotations"] = json!({"readOnlyHint": true});
    bare(
        "file",
        &[
            read,
            tool("write_file", "Write to file", path()),
            tool("search_files", "Find files by pattern", path()),
            tool("edit_file", "Edit file with replacements", path()),
            tool("delete_file", "Delete file", path()),
            tool("list_directory", "List directory contents", path()),
            tool("create_directory", "Create new directory", path()),
            tool("copy_file", "Copy file to destination", path()),
            tool("move_file", "Move/rename file", path()),
        ],
    )
}

pub(crate) fn storage() -> ServerSource {
    bare(
        "storage",
        &[
            tool(
                "put_object",
                "Uploads an object to a bucket",
                object(json!({"bucket": {"type": "string"}, "key": {"type": "string"}}), json!(["bucket", "key"])),
            ),
            tool(
                "create_bucket",
                "Creates an object storage bucket",
                object(json!({"bucket": {"type": "string"}}), json!(["bucket"])),
            ),
        ],
    )
}

pub(crate) fn refactor() -> ServerSource {
    let mut rename = tool(
        "rename_symbol",
        "Renames a symbol project-wide and updates references",
        object(
            json!({
                "project_root": {"type": "string"},
                "symbol": {"type": "string"},
                "new_name": {"type": "string"},
                "language": {"type": "string", "enum": ["ts", "js", "py", "go", "java"]},
                "dry_run": {"type": "boolean", "default": true},
            }),
            json!(["project_root", "symbol", "new_name"]),
        ),
    );
    rename["outputSchema"] = object(
        json!({"changed_files": {"type": "integer"}, "diff_preview": {"type": "string"}}),
        json!(["changed_files"]),
    );
    bare(
        "refactor",
        &[rename, tool("extract_function", "Extracts lines of code into a new function", json!({"type": "object"}))],
    )
}
