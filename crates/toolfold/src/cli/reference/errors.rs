//! Every code that a refusal can have.

use toolfold_core::{Blame, Code};
use toolfold_serve::http_status;

use crate::cli::fail::exit_code;

const OPENING: &str = "\
# Errors

A refusal is an answer that a model can act on: `{\"error\": {\"code\", \"message\", \"hints\", \"next_action\"}}`, where
`next_action` is the call to make next, in tools that this client has. Over MCP it is the result of the call, with `isError`; over
the HTTP API it has the status below; on the command line it is the message, and the exit code below. What a server itself answers,
its own errors included, is passed on as it came and is none of these. Causes, paths and secrets are in the log alone.

| code | what it says | whose fault | trying again | HTTP | exit code |
|---|---|---|---|---|---|
";

pub(super) fn page() -> String {
    let rows = Code::ALL.map(|code| {
        let blame = match code.blame() {
            Blame::Caller => "the caller's",
            Blame::Server => "the server's",
            Blame::Toolfold => "Toolfold's",
        };
        let again = if code.retry_helps() { "may help" } else { "does not help" };
        let (status, exit) = (http_status(code), exit_code(code));
        format!("| `{code}` | {} | {blame} | {again} | {status} | {exit} |\n", code.meaning())
    });
    format!("{OPENING}{}", rows.concat())
}
