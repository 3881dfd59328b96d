//! The table as a page for people.

use serde_json::Value;

use super::{Allow, Base, Evidence, Extra, FilePlace, KnownClient, Passes, Proof, Rank, Variables, Way, clients};
use crate::edit;
use crate::format::FileFormat;

const OPENING: &str = "\
# Clients

`toolfold import` reads the servers out of every file below; `toolfold install CLIENT` writes Toolfold into the client's own
file, and `toolfold install CLIENT --undo` takes it out again. This page is made from the table in the program
(`crates/toolfold-clients/src/table/`); a test compares the two.

`~` is your home (`%USERPROFILE%` on Windows), `<config>` is `~/.config` on Linux, `~/Library/Application Support` on macOS and
`%APPDATA%` on Windows. Where a variable is named, it comes first. *Tried* means with the program itself, *read* means from
its documentation.

What is shown for each client is what `toolfold install` writes, to be copied where you would rather do that yourself: put the place of
your program and of your `toolfold.toml` into it, in whole paths.
";

/// In Markdown.
pub fn document() -> String {
    let mut text = format!(
        "{OPENING}\n| client | id | format | checked by `--verify` | `--http` | `--allow-search` | known from |\n"
    );
    text.push_str("|---|---|---|---|---|---|---|\n");
    for client in clients() {
        text.push_str(&row(client));
    }
    for client in clients() {
        text.push_str(&section(client));
    }
    text
}

/// What to write into every client's file by hand, for the README: each text once, with the clients that take it.
pub fn snippets() -> String {
    let mut groups: Vec<(String, Vec<String>)> = Vec::new();
    for client in clients().filter(|client| client.is_written) {
        let usual = |place: &&FilePlace| {
            place.rank == Rank::Main && !matches!(place.base, Base::Variable(_) | Base::AppData | Base::LocalAppData)
        };
        // As it is on Linux.
        let file = client.user.iter().find(usual).map(FilePlace::shown).unwrap_or_default();
        let file = file.replace("<config>", "~/.config");
        let (text, who) = (snippet(client), format!("{} (`{file}`)", client.name));
        match groups.iter_mut().find(|(known, _)| *known == text) {
            Some((_, clients)) => clients.push(who),
            None => groups.push((text, vec![who])),
        }
    }
    groups.into_iter().map(|(text, clients)| format!("{}:\n{text}\n", clients.join(", "))).collect()
}

fn row(client: &KnownClient) -> String {
    let verify = match (client.program, client.status) {
        (Some(program), Some(status)) => format!("`{program} {}`", status.arguments.join(" ")),
        _ => "–".to_owned(),
    };
    let known = match client.evidence {
        Evidence::Tested => "tried",
        Evidence::Documented => "read",
    };
    let yes = |flag: bool| if flag && client.is_written { "yes" } else { "–" };
    format!(
        "| [{}](#{}) | `{}` | {} | {verify} | {} | {} | {known} |\n",
        client.name,
        client.name.to_lowercase().replace(' ', "-").replace('.', ""),
        client.id,
        client.format.name(),
        yes(client.spelling.url.is_some()),
        yes(client.allow.is_some()),
    )
}

fn section(client: &KnownClient) -> String {
    let mut text = format!("\n## {}\n\n", client.name);
    if !client.is_written {
        text.push_str("Only read.\n\n");
    }
    for place in client.user {
        let rank = match place.rank {
            Rank::Main => "",
            Rank::Before => ", where it is there",
            Rank::Also => ", only read",
        };
        text.push_str(&format!("- yours: `{}`{rank}\n", place.shown()));
    }
    for path in client.project {
        text.push_str(&format!("- of a project: `{path}`\n"));
    }
    let containers: Vec<String> = client.containers.iter().map(|path| format!("`{}`", path.join(" → "))).collect();
    text.push_str(&format!("- servers in {}\n", containers.join(" or ")));
    text.push_str(&format!("- variables: {}\n", variables(client.variables)));
    for (key, extra) in client.spelling.extra {
        let value = match extra {
            Extra::True => "true",
            Extra::Name => "\"toolfold\"",
            Extra::Number(_) => "a number",
            Extra::Everything => "[\"*\"]",
        };
        text.push_str(&format!("- written beside the usual keys: `{key}` = `{value}`\n"));
    }
    match client.allow {
        Some(Allow::ToolList(key)) => text.push_str(&format!("- `--allow-search` writes `{key}` into the entry\n")),
        Some(Allow::ToolTable(key, ..)) => {
            text.push_str(&format!("- `--allow-search` writes `{key}.find_tools` into the entry\n"))
        }
        Some(Allow::Listed { file, container, .. }) => text.push_str(&format!(
            "- `--allow-search` adds a line to `{}` in `{}`\n",
            container.join("."),
            file.shown()
        )),
        None => {}
    }
    if let Some(status) = client.status {
        let proof = match (status.connects, status.proof) {
            (false, _) => "`--verify` shows that it reads the file; it does not start the server then".to_owned(),
            (true, Proof::ExitCode) => "`--verify` goes by its exit code".to_owned(),
            (true, Proof::Line(word)) => format!("`--verify` looks for \"{word}\""),
        };
        text.push_str(&format!("- {proof}\n"));
    }
    match client.passes {
        Passes::Everything => {}
        Passes::Listed(key) => text.push_str(&format!(
            "- it hands few variables on: those that `toolfold.toml` names are listed in `{key}` of the entry\n"
        )),
        Passes::Mapped(key) => text.push_str(&format!(
            "- it hands no variable on that looks like a secret: those that `toolfold.toml` names are in `{key}` of the entry\n"
        )),
    }
    for note in client.notes {
        text.push_str(&format!("\n{note}\n"));
    }
    text.push_str(&snippet(client));
    text
}

/// What would be in a file that has nothing else, where the servers behind Toolfold need no variable.
fn snippet(client: &KnownClient) -> String {
    let args = ["serve", "--stdio", "--config", "/path/to/toolfold.toml"].map(str::to_owned).to_vec();
    let way = Way::Start { command: "/path/to/toolfold".to_owned(), args, variables: Vec::new() };
    let slot = client.own_slot(&Value::Null);
    let entry = client.entry(&way, false).filter(|_| client.is_written);
    let made = entry.and_then(|entry| edit::set(client.format, "", &slot, &entry).ok().flatten());
    let language = match client.format {
        // There is no comment in it, and not every reader of Markdown knows of JSON with comments.
        FileFormat::Json | FileFormat::Jsonc => "json",
        FileFormat::Toml => "toml",
        FileFormat::Yaml => "yaml",
    };
    made.map_or_else(String::new, |made| format!("\n```{language}\n{}\n```\n", made.text.trim_end()))
}

fn variables(variables: Variables) -> &'static str {
    match variables {
        Variables::Nothing => "none; what is written is meant",
        Variables::Braces => "`${V}`, `${V:-default}`",
        Variables::Dollar => "`$V`, `${V}`, `${V:-default}`",
        Variables::Editor => "`${env:V}`, `${userHome}`, `${workspaceFolder}`, `${input:id}`",
        Variables::Curly => "`{env:V}`, `{file:path}`",
        Variables::Any => "any of the others",
    }
}
