//! A document as steps to take: files that it shows or takes for granted, commands with what they answer.
//!
//! - `` ```console ``: lines after `$ ` are typed, what follows is the answer. A line `...` stands for any number of lines, `[..]`
//!   within a line for any text. With `ignore="why"` a block is not run.
//! - `` ```toml file=toolfold.toml ``: a file of that name has this content from here on. So has one in a comment of Markdown,
//!   `<!-- file=~/.claude.json`, which a reader does not see.

use std::ops::Range;

#[derive(Debug)]
pub(super) struct Document {
    pub(super) name: String,
    pub(super) lines: Vec<String>,
    pub(super) steps: Vec<Step>,
    /// Why blocks are not run.
    pub(super) ignored: Vec<String>,
}

#[derive(Debug)]
pub(super) enum Step {
    File { path: String, text: String },
    Command(Typed),
}

#[derive(Debug)]
pub(super) struct Typed {
    pub(super) command: String,
    /// Where the command stands, and the lines of its answer.
    pub(super) line: usize,
    pub(super) answer: Range<usize>,
    /// Whether the block is part of the picture.
    pub(super) pictured: bool,
}

impl Document {
    pub(super) fn read(name: &str, text: &str) -> Document {
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut document = Document { name: name.to_owned(), lines, steps: Vec::new(), ignored: Vec::new() };
        let mut at = 0;
        while at < document.lines.len() {
            let line = document.lines[at].trim().to_owned();
            let end_at = |end: &str| (at + 1..document.lines.len()).find(|i| document.lines[*i].trim() == end);
            if let Some(info) = line.strip_prefix("```") {
                let end = end_at("```").unwrap_or_else(|| panic!("{name}:{}: a block without an end", at + 1));
                document.block(info, at + 1..end);
                at = end;
            } else if let Some(info) = line.strip_prefix("<!-- file=") {
                let end = end_at("-->").unwrap_or_else(|| panic!("{name}:{}: a comment without an end", at + 1));
                document.file(info, at + 1..end);
                at = end;
            }
            at += 1;
        }
        document
    }

    fn block(&mut self, info: &str, within: Range<usize>) {
        let (language, rest) = info.split_once([' ', ',']).unwrap_or((info, ""));
        if let Some((_, path)) = rest.split_once("file=") {
            self.file(path, within);
        } else if language == "console" {
            match rest.split_once("ignore=") {
                Some((_, why)) => self.ignored.push(why.trim_matches('"').to_owned()),
                None => self.commands(rest.contains("session"), within),
            }
        }
    }

    fn file(&mut self, path: &str, within: Range<usize>) {
        let text = self.lines[within].iter().map(|line| format!("{line}\n")).collect();
        self.steps.push(Step::File { path: path.trim().to_owned(), text });
    }

    fn commands(&mut self, pictured: bool, within: Range<usize>) {
        let mut at = within.start;
        while at < within.end {
            let line = at;
            let first = self.lines[at].strip_prefix("$ ");
            let mut command =
                first.unwrap_or_else(|| panic!("{}:{}: no command before this", self.name, at + 1)).to_owned();
            while command.ends_with('\\') {
                at += 1;
                command = format!("{command}\n{}", self.lines[at]);
            }
            at += 1;
            let end = (at..within.end).find(|i| self.lines[*i].starts_with("$ ")).unwrap_or(within.end);
            self.steps.push(Step::Command(Typed { command, line, answer: at..end, pictured }));
            at = end;
        }
    }

    pub(super) fn answer(&self, typed: &Typed) -> &[String] {
        &self.lines[typed.answer.clone()]
    }
}

/// Whether what was said is what is shown. Empty lines at the end do not count: a block may set the next command apart.
pub(super) fn agrees(shown: &[String], said: &[&str]) -> bool {
    match shown.split_first() {
        None => said.iter().all(|line| line.trim().is_empty()),
        Some((first, rest)) if first.trim() == "..." => (0..=said.len()).any(|skipped| agrees(rest, &said[skipped..])),
        Some((first, rest)) if said.is_empty() => first.trim().is_empty() && agrees(rest, said),
        Some((first, rest)) => line_agrees(first.trim_end(), said[0].trim_end()) && agrees(rest, &said[1..]),
    }
}

fn line_agrees(shown: &str, said: &str) -> bool {
    match shown.split_once("[..]") {
        None => shown == said,
        Some((before, after)) => said.strip_prefix(before).is_some_and(|rest| {
            rest.char_indices().map(|(i, _)| i).chain([rest.len()]).any(|i| line_agrees(after, &rest[i..]))
        }),
    }
}
