//! Every command as its help tells it.

use clap::{Command, CommandFactory};

use crate::cli::Cli;

const OPENING: &str = "\
# Commands

What `toolfold help COMMAND` prints, for every command. Data goes to stdout, everything else to stderr; `--json` is for programs,
errors included. Exit codes: 0 done, 1 nothing found or a check failed, 2 usage or configuration, 3 a server failed.
";

/// Lines as long as in the help of a wide terminal.
const WIDTH: usize = 100;

pub(super) fn page() -> String {
    let mut root = Cli::command().term_width(WIDTH).disable_help_subcommand(true);
    root.build();
    let mut text = format!("{OPENING}\n{}", section(&mut root, "toolfold", 2));
    write(&mut root, "toolfold", 2, &mut text);
    text
}

fn write(parent: &mut Command, name: &str, depth: usize, text: &mut String) {
    for command in parent.get_subcommands_mut().filter(|command| !command.is_hide_set()) {
        let name = format!("{name} {}", command.get_name());
        text.push('\n');
        text.push_str(&section(command, &name, depth));
        write(command, &name, depth + 1, text);
    }
}

fn section(command: &mut Command, name: &str, depth: usize) -> String {
    let help = command.render_help().to_string();
    let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
    format!("{} `{name}`\n\n```text\n{}\n```\n", "#".repeat(depth), lines.join("\n").trim_end())
}
