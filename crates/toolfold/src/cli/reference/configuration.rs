//! Every key, from the example that has them all. A test of `toolfold-config` holds the example against what is read.

const EXAMPLE: &str = include_str!("../../../../../examples/toolfold.toml");

const OPENING: &str = "\
# Configuration

`toolfold.toml`, every key. This page is made from `examples/toolfold.toml`, and a test holds that file against the keys that are read.

An unknown key is an error that names the nearest known one; `toolfold check` tells all mistakes at once. A `toolfold.toml` is looked
for in the working directory and above it, where it is used after `toolfold trust`, then in your configuration folder
(`~/.config/toolfold/` on Linux). `--config FILE` names one, and takes the file of any [client](../clients.md) too. A changed file is
read again while Toolfold runs; a wrong one changes nothing.
";

/// Keys that stand together, with what is said of them.
#[derive(Default)]
struct Group {
    said: Vec<String>,
    lines: Vec<String>,
}

pub(super) fn page() -> String {
    let mut text = OPENING.to_owned();
    for (place, paragraph) in EXAMPLE.split("\n\n").enumerate() {
        text.push_str(&section(paragraph, place == 0));
    }
    text
}

/// A paragraph of the file: the comment, a table's header where one begins, and keys.
fn section(paragraph: &str, opens: bool) -> String {
    let (mut text, mut table) = (String::new(), String::new());
    let mut group = Group::default();
    for line in paragraph.lines() {
        if let Some(comment) = line.strip_prefix('#') {
            text.push_str(&group.end(&table));
            group.said.push(comment.trim().to_owned());
        } else if line.starts_with('[') {
            table = line.trim_matches(['[', ']']).to_owned();
            text.push_str(&format!("\n## `{line}`\n"));
            text.push_str(&group.prose());
        } else {
            group.lines.push(line.to_owned());
        }
    }
    // The file's own opening is about the file, not about a key.
    if opens && group.lines.is_empty() { group.prose() } else { text + &group.end(&table) }
}

impl Group {
    /// What is said, and begins anew.
    fn prose(&mut self) -> String {
        let said: Vec<String> = self.said.drain(..).collect();
        if said.is_empty() { String::new() } else { format!("\n{}\n", escaped(&said.join("\n"))) }
    }

    /// Nothing yet where no key came after the comment: it goes on.
    fn end(&mut self, table: &str) -> String {
        if self.lines.is_empty() {
            return String::new();
        }
        let dot = if table.is_empty() { "" } else { "." };
        let names =
            self.lines.iter().filter_map(|line| Some(format!("`{table}{dot}{}`", line.split_once('=')?.0.trim())));
        let heading = names.collect::<Vec<_>>().join(", ");
        let block = self.lines.drain(..).collect::<Vec<_>>().join("\n");
        format!("\n### {heading}\n{}\n```toml\n{block}\n```\n", self.prose())
    }
}

/// Text that is no markup: a comment may say `<surface>` or `*`. What is between backticks is left alone.
fn escaped(text: &str) -> String {
    let pieces = text.split('`').enumerate().map(|(place, piece)| match place % 2 {
        0 => piece.replace('<', "&lt;").replace('*', "\\*"),
        _ => piece.to_owned(),
    });
    pieces.collect::<Vec<_>>().join("`")
}
