//! The documents, held against the program: every console block is run, every generated page is made again, every link
//! leads somewhere. `UPDATE_DOCUMENTS=1` (`cargo xtask docs`) writes what the program says into them instead.

mod document;
mod picture;
mod shell;

use std::fs;
use std::path::{Path, PathBuf};

use document::{Document, Step, agrees};
use shell::Shell;

use crate::world::World;

/// Pages that the program makes, and where they lie.
const MADE: [(&str, &str); 6] = [
    ("clients", "docs/clients.md"),
    ("commands", "docs/reference/commands.md"),
    ("configuration", "docs/reference/configuration.md"),
    ("errors", "docs/reference/errors.md"),
    ("rest", "docs/reference/rest.md"),
    ("surfaces", "docs/reference/surfaces.md"),
];

/// Why some blocks cannot be run: each reason, in the order of the documents.
const IGNORED: &[&str] = &[];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn updating() -> bool {
    std::env::var_os("UPDATE_DOCUMENTS").is_some()
}

/// Writes the file where documents are to be written, and compares in any case.
fn keep(path: &str, text: &str) {
    let file = root().join(path);
    if updating() {
        fs::create_dir_all(file.parent().unwrap()).unwrap();
        fs::write(&file, text).unwrap();
    }
    let there = fs::read_to_string(&file).unwrap_or_default();
    assert!(there == text, "{path} is not what the program says: run `cargo xtask docs`");
}

/// README and everything in `docs/`.
fn documents() -> Vec<Document> {
    let mut files = vec!["README.md".to_owned()];
    let mut folders = vec!["docs".to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(root().join(&folder)).unwrap().flatten() {
            let path = format!("{folder}/{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                folders.push(path);
            } else if path.ends_with(".md") {
                files.push(path);
            }
        }
    }
    files.sort();
    files.iter().map(|file| Document::read(file, &fs::read_to_string(root().join(file)).unwrap())).collect()
}

#[test]
fn made_pages_are_what_the_program_says() {
    let world = World::without_config();
    for (page, path) in MADE {
        let output = world.toolfold(&["reference", page]).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        keep(path, &String::from_utf8(output.stdout).unwrap());
    }
}

#[test]
fn every_command_has_a_man_page() {
    let world = World::without_config();
    let folder = world.path("man");
    let output = world.toolfold(&["reference", "--man", folder.to_str().unwrap()]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let help = world.toolfold(&["--help"]).output().unwrap();
    let help = String::from_utf8(help.stdout).unwrap();
    let commands = help.lines().skip_while(|line| *line != "Commands:").skip(1).take_while(|line| !line.is_empty());
    let commands: Vec<&str> =
        commands.filter_map(|line| line.split_whitespace().next()).filter(|word| *word != "help").collect();
    assert!(commands.contains(&"serve"), "{help}");
    for command in commands {
        let page = fs::read_to_string(folder.join(format!("toolfold-{command}.1"))).expect(command);
        assert!(page.contains(".SH SYNOPSIS"), "{command}: {page}");
    }
    assert!(fs::read_to_string(folder.join("toolfold.1")).unwrap().contains("Exit codes"));
}

#[test]
fn every_console_block_is_as_it_is_shown() {
    let documents = documents();
    let ignored: Vec<&str> = documents.iter().flat_map(|document| &document.ignored).map(String::as_str).collect();
    assert_eq!(ignored, IGNORED, "blocks that are not run");
    let with_commands =
        documents.into_iter().filter(|document| document.steps.iter().any(|step| matches!(step, Step::Command(_))));
    let wrong: Vec<String> = std::thread::scope(|scope| {
        let runs: Vec<_> = with_commands.map(|document| scope.spawn(|| differences(document))).collect();
        runs.into_iter().flat_map(|run| run.join().unwrap()).collect()
    });
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// Whom a command waits for is said after two seconds, and how long a server takes to start is the machine's.
fn is_progress(line: &str) -> bool {
    let waits = line.starts_with("waiting for ") || line.contains(" servers have answered, waiting for ");
    waits && line.ends_with(" …")
}

/// What a document shows and the program does not say. Where documents are written, they are told instead.
fn differences(mut document: Document) -> Vec<String> {
    let answers = Shell::new().run(&document);
    let commands: Vec<&document::Typed> = document
        .steps
        .iter()
        .filter_map(|step| match step {
            Step::Command(typed) => Some(typed),
            Step::File { .. } => None,
        })
        .collect();
    assert_eq!(answers.len(), commands.len(), "{}: the shell ended early\n{}", document.name, answers.join("\n"));
    let mut wrong = Vec::new();
    let mut lines = document.lines.clone();
    for (typed, answer) in commands.iter().zip(&answers).rev() {
        let said: Vec<&str> = answer.lines().filter(|line| !is_progress(line)).collect();
        if !agrees(document.answer(typed), &said) {
            lines.splice(typed.answer.clone(), said.iter().map(|line| (*line).to_owned()));
            wrong.push(format!("{}:{}: $ {}\n{answer}", document.name, typed.line + 1, typed.command));
        }
    }
    if updating() && !wrong.is_empty() {
        document.lines = lines;
        fs::write(root().join(&document.name), document.lines.join("\n") + "\n").unwrap();
        return Vec::new();
    }
    wrong.reverse();
    wrong
}

#[test]
fn the_picture_shows_the_session() {
    let path = "docs/first-five-minutes.md";
    let document = Document::read(path, &fs::read_to_string(root().join(path)).unwrap());
    keep("docs/images/session.svg", &picture::drawn(&document));
}

#[test]
fn answers_are_compared_line_by_line() {
    let lines = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
    let agree = |shown: &str, said: &str| agrees(&lines(shown), &said.lines().collect::<Vec<_>>());
    assert!(
        agree("a\nb\n\n", "a\nb")
            && agree("a\n...\nz", "a\nb\nc\nz")
            && agree("...", "")
            && agree("t [..] s", "t 12 s")
    );
    assert!(!agree("a", "a\nb") && !agree("a\n...\nz", "a\nb") && !agree("a\nb", "a") && !agree("t [..] s", "t 12 m"));
}
