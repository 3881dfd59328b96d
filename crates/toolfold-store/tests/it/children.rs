//! Other processes: writing at the same time, killed while they write, out of room.
//!
//! A child is this very test binary, told by a variable what to do; the `child` test does nothing without it.

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use toolfold_store::{Store, StoreError};

use crate::{open, remembered, save};

const TASK: &str = "TOOLFOLD_STORE_TEST_TASK";
const FILE: &str = "TOOLFOLD_STORE_TEST_FILE";

#[tokio::test]
async fn child() {
    let (Ok(task), Ok(file)) = (std::env::var(TASK), std::env::var(FILE)) else { return };
    let path = Path::new(&file);
    match task.as_str() {
        "endless" => write(path, 0.., "endless").await,
        "fill" => fill(path).await,
        name => write(path, 0..50, name).await,
    }
}

/// Saves under five names in turn and says so each time. Ends when nobody listens any more.
async fn write(path: &Path, numbers: impl Iterator<Item = u64>, name: &str) {
    let store = Store::open(Some(path)).await.unwrap().store;
    let mut out = std::io::stdout();
    for number in numbers {
        let text = format!("{number} {}", "x".repeat(20_000));
        save(&store, &format!("{name}-{}", number % 5), "k", &text).await.unwrap();
        if writeln!(out, "\nsaved {number}").and_then(|()| out.flush()).is_err() {
            return;
        }
    }
}

/// Saves until there is no more room, and says what it was told.
async fn fill(path: &Path) {
    let store = Store::open(Some(path)).await.unwrap().store;
    let mut failed = None;
    for i in 0..10_000 {
        failed = save(&store, &format!("s{i}"), "k", &"x".repeat(5000)).await.err();
        if failed.is_some() {
            break;
        }
    }
    let error = failed.expect("there was room for everything");
    let told = if matches!(error, StoreError::NoRoom { .. }) { "no room" } else { "something else" };
    println!("\ntold {told}: {error}");
    let still = store.load_manifests().await.map(|all| all.iter().any(|manifest| manifest.server.as_str() == "first"));
    println!("\nstill {still:?}");
}

fn start(task: &str, path: &Path) -> Child {
    run(&mut Command::new(std::env::current_exe().unwrap()), task, path)
}

fn run(command: &mut Command, task: &str, path: &Path) -> Child {
    let command = command.args(["--exact", "children::child", "--nocapture"]).env(TASK, task).env(FILE, path);
    command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

#[tokio::test]
async fn several_processes_share_it() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toolfold.db");
    // None of them finds a file: making it is part of the race.
    let children: Vec<Child> = ["a", "b", "c", "d"].map(|name| start(name, &path)).into();
    for child in children {
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    }
    let last: Vec<String> =
        remembered(&open(&path).await).await.into_iter().map(|(name, text)| format!("{name} {}", &text[..2])).collect();
    let expected = ["a", "b", "c", "d"].iter().flat_map(|name| (0..5).map(move |i| format!("{name}-{i} {}", 45 + i)));
    assert_eq!(last, expected.collect::<Vec<_>>());
}

#[tokio::test]
async fn killed_while_writing() {
    let folder = tempfile::tempdir().unwrap();
    for round in 0..20 {
        // A file of its own for each round: a connection of the round before may still be closing, and closing removes the log
        // beside a file by its name.
        let path = folder.path().join(format!("{round}.db"));
        let acknowledged = kill_after(round * 7 % 23, &path);
        // Not a word of damage, and every write that was acknowledged.
        let stored: BTreeMap<String, String> = remembered(&open(&path).await).await.into_iter().collect();
        for (name, number) in acknowledged {
            let text = stored.get(&name).unwrap_or_else(|| panic!("{name} is lost"));
            let (found, rest) = text.split_once(' ').unwrap();
            assert_eq!(rest.len(), 20_000);
            assert!(found.parse::<u64>().unwrap() >= number, "round {round}: {name} has {found}, not {number}");
        }
    }
}

#[tokio::test]
async fn killed_while_it_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let mut whole = 0;
    for round in 0..60 {
        let path = folder.path().join(format!("{round}.db"));
        let mut child = start("endless", &path);
        // From the first sign of it on, a little later each time.
        let sign = beside(&path, ".lock");
        while !sign.exists() {
            std::thread::sleep(Duration::from_micros(100));
        }
        std::thread::sleep(Duration::from_micros(round * 150));
        child.kill().unwrap();
        child.wait().unwrap();
        if !path.exists() {
            continue;
        }
        whole += 1;
        let tables = rusqlite::Connection::open(&path).unwrap();
        let count = tables.query_row("SELECT count(*) FROM manifests", [], |row| row.get::<_, i64>(0));
        assert!(count.is_ok(), "round {round}: a file without its tables: {count:?}");
    }
    // What was killed is begun anew, and nothing of it is left over.
    for round in 0..60 {
        let path = folder.path().join(format!("{round}.db"));
        save(&open(&path).await, "a", "k", "1").await.unwrap();
        assert!(!beside(&path, ".new").exists(), "round {round}");
    }
    assert!(whole < 60, "no kill came before the file was there");
}

fn beside(path: &Path, suffix: &str) -> PathBuf {
    PathBuf::from(format!("{}{suffix}", path.display()))
}

/// Lets a child save so many times, kills it wherever it is by then, and says what it had acknowledged.
fn kill_after(saves: usize, path: &Path) -> BTreeMap<String, u64> {
    let mut child = start("endless", path);
    let lines = BufReader::new(child.stdout.take().unwrap()).lines().map_while(Result::ok);
    let mut saved = lines.filter_map(|line| line.strip_prefix("saved ")?.parse::<u64>().ok());
    let mut acknowledged = BTreeMap::new();
    let mut note = |number: u64| {
        acknowledged.insert(format!("endless-{}", number % 5), number);
    };
    saved.by_ref().take(saves).for_each(&mut note);
    child.kill().unwrap();
    // What it still said before it died counts too.
    saved.for_each(&mut note);
    child.wait().unwrap();
    acknowledged
}

#[cfg(unix)]
#[tokio::test]
async fn out_of_room() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("toolfold.db");
    save(&open(&path).await, "first", "k", "first").await.unwrap();
    // A limit on the size of files, in blocks of 512 or 1024 bytes, stands in for a full disk. The signal that comes
    // with it is switched off, so that the write fails instead of the process.
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' XFSZ; ulimit -f 300; exec \"$0\" \"$@\""]).arg(std::env::current_exe().unwrap());
    let output = run(&mut shell, "fill", &path).wait_with_output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("told no room: there is no room for the store"), "{said}");
    assert!(said.contains("still Ok(true)"), "{said}");

    // With room again, everything that was saved is there.
    let store = open(&path).await;
    assert!(remembered(&store).await.contains(&("first".to_owned(), "first".to_owned())));
    save(&store, "again", "k", "again").await.unwrap();
}
