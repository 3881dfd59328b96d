//! The file tools in a folder made for the test.

use std::path::Path;

use serde_json::{Value, json};

use super::written;
use toolfold_core::Fuel;

use crate::BOUNDS;
use crate::arguments::Arguments;
use crate::folder::Folder;
use crate::private::Private;
use crate::tool::Replied;
use crate::{files, search};

struct Place {
    _outer: tempfile::TempDir,
    folder: Folder,
    root: std::path::PathBuf,
    secret: String,
}

/// A working directory with a few files in it, and a secret beside it.
fn place() -> Place {
    let outer = tempfile::tempdir().unwrap();
    let root = outer.path().join("work");
    let write = |path: &Path, content: &[u8]| {
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, content).unwrap();
    };
    write(&root.join("notes.txt"), b"one\ntwo\nthree\n");
    write(&root.join("src/main.rs"), b"fn main() {}\n// TWO\n");
    write(&root.join("node_modules/x.txt"), b"two\n");
    write(&root.join(".hidden"), b"two\n");
    write(&root.join("image.bin"), &[0, 1, 2, 255]);
    write(&root.join("latin.txt"), &[0xe9]);
    write(&outer.path().join("secret.txt"), b"two secrets\n");
    std::os::unix::fs::symlink("../secret.txt", root.join("link.txt")).unwrap();
    std::os::unix::fs::symlink("..", root.join("up")).unwrap();
    std::os::unix::fs::symlink("notes.txt", root.join("inner.txt")).unwrap();
    let secret = outer.path().join("secret.txt").display().to_string();
    Place { folder: Folder::new(&root, &Private::default()).unwrap(), root, secret, _outer: outer }
}

type Run = fn(&Folder, &Arguments<'_>) -> Replied;

fn call(place: &Place, run: Run, arguments: Value) -> String {
    written(run(&place.folder, &Arguments::new(&arguments, &Fuel::new(BOUNDS.fuel), &Private::default())))
}

#[test]
fn nothing_outside_is_read() {
    let place = place();
    let tools: [(&str, Run); 4] = [
        ("read_file", files::read),
        ("list_directory", files::list),
        ("search_files", search::search),
        ("file_info", files::info),
    ];
    let ways = [
        "../secret.txt",
        "..",
        "src/../../secret.txt",
        "link.txt",
        "up",
        "up/secret.txt",
        "/etc/passwd",
        "/",
        &place.secret,
        "../nothing",
    ];
    for (name, run) in tools {
        for way in ways {
            let answer = call(&place, run, json!({"path": way, "pattern": "two"}));
            let expected =
                format!("error: {way:?} lies outside the working directory. Only what is below it can be read.");
            assert_eq!(answer, expected, "{name} {way}");
        }
    }
    let null = call(&place, files::read, json!({"path": "a\0b"}));
    assert_eq!(null, "error: \"a\\0b\" does not exist. Use list_directory to see what there is.");
}

#[test]
fn reading() {
    let place = place();
    let read = |arguments: Value| call(&place, files::read, arguments);
    assert_eq!(read(json!({"path": "notes.txt"})), "one\ntwo\nthree");
    assert_eq!(read(json!({"path": "./src/../inner.txt", "from_line": 3})), "three");
    assert_eq!(
        read(json!({"path": "notes.txt", "from_line": 2, "lines": 1})),
        "two\n\n(notes.txt: lines 2 to 2 of 3. Go on with from_line 3.)"
    );
    assert_eq!(read(json!({"path": "notes.txt", "from_line": 4})), "error: notes.txt has 3 lines; there is no line 4.");
    assert_eq!(read(json!({"path": "src"})), "error: src is a directory. Use list_directory.");
    assert_eq!(read(json!({"path": "image.bin"})), "error: image.bin is not text.");
    assert_eq!(read(json!({"path": "latin.txt"})), "error: latin.txt is not text in UTF-8.");
    assert_eq!(
        read(json!({"path": "no.txt"})),
        "error: \"no.txt\" does not exist. Use list_directory to see what there is."
    );
    let large = place.root.join("large.txt");
    std::fs::File::create(large).unwrap().set_len(files::LARGEST_FILE + 1).unwrap();
    assert_eq!(
        read(json!({"path": "large.txt"})),
        "error: large.txt is larger than 4 MiB. Use search_files to find the part you need."
    );
}

#[test]
fn listing() {
    let place = place();
    assert_eq!(
        call(&place, files::list, json!({})),
        r#"{"path":".","entries":[{"name":"image.bin","kind":"file","bytes":4},{"name":"inner.txt","kind":"link"},{"name":"latin.txt","kind":"file","bytes":1},{"name":"link.txt","kind":"link"},{"name":"node_modules","kind":"directory"},{"name":"notes.txt","kind":"file","bytes":14},{"name":"src","kind":"directory"},{"name":"up","kind":"link"}],"more":false}"#
    );
    assert!(call(&place, files::list, json!({"hidden": true})).contains(".hidden"));
    assert_eq!(
        call(&place, files::list, json!({"path": "notes.txt"})),
        "error: notes.txt is not a directory that can be read."
    );
}

#[test]
fn searching() {
    let place = place();
    let search = |arguments: Value| call(&place, search::search, arguments);
    assert_eq!(
        search(json!({"pattern": "two", "ignore_case": true})),
        r#"{"matches":[{"file":"notes.txt","line":2,"text":"two"},{"file":"src/main.rs","line":2,"text":"// TWO"}],"files_searched":2,"more":false}"#
    );
    assert_eq!(
        search(json!({"pattern": "two", "ignore_case": true, "name": "*.rs"})),
        r#"{"matches":[{"file":"src/main.rs","line":2,"text":"// TWO"}],"files_searched":1,"more":false}"#
    );
    assert_eq!(
        search(json!({"pattern": "", "path": "notes.txt", "limit": 1})),
        r#"{"matches":[{"file":"notes.txt","line":1,"text":"one"}],"files_searched":1,"more":true}"#
    );
}

#[test]
fn describing() {
    let place = place();
    let info: Value = serde_json::from_str(&call(&place, files::info, json!({"path": "notes.txt"}))).unwrap();
    assert_eq!((&info["kind"], &info["bytes"], &info["path"]), (&json!("file"), &json!(14), &json!("notes.txt")));
    assert!(info["modified"].as_str().unwrap().ends_with('Z'), "{info}");
}

/// Through the definitions too, in the directory the tests run in.
#[test]
fn the_registered_tools_read_the_working_directory() {
    assert!(super::answer("read_file", &json!({"path": "Cargo.toml", "lines": 1})).starts_with("[package]"));
    assert!(super::answer("list_directory", &json!({})).contains("Cargo.toml"));
    assert!(super::answer("search_files", &json!({"pattern": "^name", "name": "Cargo.toml"})).contains("Cargo.toml"));
    assert!(super::answer("file_info", &json!({"path": "src"})).contains("directory"));
}

/// The program's own files, by whatever name, and pipes: refused, and nothing waits.
#[test]
fn what_is_private_or_no_file_is_not_read() {
    let place = place();
    let root = &place.root;
    std::fs::write(root.join("toolfold.toml"), "token = \"two\"").unwrap();
    std::fs::write(root.join("toolfold.toml.bak"), "token = \"two\"").unwrap();
    std::os::unix::fs::symlink("toolfold.toml", root.join("settings.txt")).unwrap();
    std::fs::create_dir(root.join("state")).unwrap();
    std::fs::write(root.join("state/token"), "two").unwrap();
    std::fs::write(root.join("own.json"), "two").unwrap();
    std::fs::hard_link(root.join("own.json"), root.join("copy.json")).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, root.join("pipe"), rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
    let private = Private::new([root.join("state"), root.join("own.json")]);
    let place = Place { folder: Folder::new(root, &private).unwrap(), ..place };
    for path in ["toolfold.toml", "toolfold.toml.bak", "settings.txt", "state/token", "state", "own.json", "copy.json"]
    {
        let expected = format!("error: {path:?} is not to be read: it belongs to the system or to Toolfold itself.");
        assert_eq!(call(&place, files::read, json!({"path": path})), expected);
        assert_eq!(call(&place, search::search, json!({"path": path, "pattern": "two"})), expected);
    }
    assert_eq!(call(&place, files::read, json!({"path": "pipe"})), "error: pipe is not a regular file.");
    assert!(call(&place, files::info, json!({"path": "pipe"})).contains("\"kind\":\"other\""));
    let found = call(&place, search::search, json!({"pattern": "two"}));
    assert!(!found.contains("toolfold.toml") && !found.contains("state") && !found.contains("json\""), "{found}");
}

#[test]
fn the_kernel_shows_nothing_of_itself() {
    let place = place();
    let place = Place { folder: Folder::new(Path::new("/"), &Private::default()).unwrap(), ..place };
    for path in ["proc/self/environ", "/proc/self/environ", "sys/kernel", "dev/null", "dev/zero", "proc/self/fd/0"] {
        let answer = call(&place, files::read, json!({"path": path}));
        assert!(answer.starts_with("error: ") && !answer.contains("PATH="), "{path}: {answer}");
    }
}

/// A folder that is a link every other moment: what is read is inside, or nothing.
#[test]
fn a_folder_exchanged_for_a_link_leads_nowhere() {
    use rustix::fs::{CWD, RenameFlags, renameat_with};
    let place = place();
    let root = &place.root;
    std::fs::create_dir(root.join("d")).unwrap();
    std::fs::write(root.join("d/secret.txt"), "inside\n").unwrap();
    std::os::unix::fs::symlink("..", root.join("l")).unwrap();
    for n in 0..2_000 {
        // One exchange for every reading, at every possible moment of it in turn.
        let answer = std::thread::scope(|scope| {
            let read = scope.spawn(|| call(&place, files::read, json!({"path": "d/secret.txt"})));
            if n % 2 == 0 {
                std::thread::yield_now();
            }
            renameat_with(CWD, root.join("d"), CWD, root.join("l"), RenameFlags::EXCHANGE).unwrap();
            read.join().unwrap()
        });
        assert!(!answer.contains("two secrets"), "{answer}");
    }
}
