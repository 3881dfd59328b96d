//! The `mcpServers` files of other programs: Claude Desktop and Claude Code, Cursor, Windsurf, VS Code and their kin.
//! The file belongs to somebody else, so what we do not know in it is left alone with a warning and never refused.

use crate::node::Node;
use crate::raw::{Dialect, RawConfig, RawServer, read_servers};
use crate::report::{Place, Report, quoted};
use crate::table::{Field, Table, enumerate};

/// What programs call the table of servers: nearly all of them the first, VS Code the second.
const SERVERS: [&str; 2] = ["mcpServers", "servers"];

pub(crate) fn read(root: &Node, report: &mut Report) -> RawConfig {
    let mut raw = RawConfig { dialect: Dialect::Client, ..RawConfig::default() };
    let Some(mut table) = Table::open(root, Place::default(), report) else { return raw };
    for key in SERVERS {
        if let Some((node, place)) = table.take(key) {
            raw.names_servers = true;
            raw.servers.extend(read_servers(node, place, report, read_server));
        }
    }
    if !raw.names_servers {
        let hint = "a JSON configuration looks like {\"mcpServers\": {\"name\": {\"command\": \"…\"}}}";
        report.error(&Place::default(), "has neither `mcpServers` nor `servers`", hint.to_owned());
    }
    ignore_rest(&table, report);
    raw
}

fn read_server(name: &str, mut table: Table<'_>, report: &mut Report) -> RawServer {
    let raw = RawServer {
        name: name.to_owned(),
        place: table.place.clone(),
        command: table.text("command", report),
        args: table.texts("args", report),
        env: table.pairs("env", report),
        cwd: table.text("cwd", report),
        url: table.text("url", report).or(table.text("serverUrl", report)),
        headers: table.pairs("headers", report),
        enabled: enabled(&mut table, report),
        ..RawServer::default()
    };
    check_type(&table.text("type", report).or(table.text("transport", report)), report);
    ignore_rest(&table, report);
    raw
}

fn enabled(table: &mut Table<'_>, report: &mut Report) -> Field<bool> {
    match table.flag("disabled", report) {
        Field::Given(mut disabled) => {
            disabled.value = !disabled.value;
            Field::Given(disabled)
        }
        field => field.or(table.flag("enabled", report)),
    }
}

/// The kind follows from `command` or `url`; what is said of it here is only worth a warning.
fn check_type(kind: &Field<String>, report: &mut Report) {
    let Some(kind) = kind.given() else { return };
    match kind.value.as_str() {
        "stdio" | "http" | "streamable-http" | "streamableHttp" | "streamable_http" => {}
        "sse" => {
            let hint = "most servers answer there too; if this one does not, ask for the URL that usually ends in /mcp";
            report.warn(&kind.place, "the old SSE transport is spoken as streamable HTTP", hint.to_owned());
        }
        other => report.warn(&kind.place, format!("{} is not a kind of server Toolfold knows", quoted(other)), None),
    }
}

fn ignore_rest(table: &Table<'_>, report: &mut Report) {
    let names: Vec<&str> = table.rest().map(|(member, _)| member.name.as_str()).collect();
    if let Some((_, first)) = table.rest().next() {
        let place = Place::new(first.offset, table.place.key.clone());
        report.warn(&place, format!("ignored, as Toolfold has no use for it: {}", enumerate(&names)), None);
    }
}
