//! A file that was found by looking upwards is used once somebody has trusted it, as it was then.

use std::path::Path;

use insta::assert_snapshot;
use toolfold_config::{LoadOptions, Loaded, Origin, TrustList, Verdict, load, nearest};

use crate::options;

const EVIL: &str = "[servers.evil]\ncommand = \"evil\"\nargs = [\"${TOKEN}\"]\n";

/// A repository that was cloned into `folder`, and somebody deep inside.
fn cloned(folder: &Path) -> LoadOptions {
    let deep = folder.join("repo/src/deep");
    std::fs::create_dir_all(&deep).unwrap();
    std::fs::write(folder.join("repo/toolfold.toml"), EVIL).unwrap();
    LoadOptions { data_dir: Some(folder.join("state")), ..options(&deep) }
}

fn said(folder: &Path, loaded: &Loaded) -> String {
    let notices: Vec<String> = loaded.notices.iter().map(ToString::to_string).collect();
    notices.join("\n").replace(&folder.display().to_string(), "[folder]")
}

#[test]
fn it_is_not_used_until_it_is_trusted_and_again_after_a_change() {
    let folder = tempfile::tempdir().unwrap();
    let options = cloned(folder.path());
    let file = nearest(&options.directory).unwrap();
    assert_eq!(file, folder.path().join("repo/toolfold.toml"));
    let loaded = load(&options).unwrap();
    assert_eq!((&loaded.origin, loaded.config.servers.len()), (&Origin::Default, 0));
    assert_eq!(loaded.untrusted, std::slice::from_ref(&file));
    assert_snapshot!(said(folder.path(), &loaded), @r"
    [folder]/repo/toolfold.toml: warning: not used: it was found here, and nobody has trusted it yet
      hint: look at it, then run: toolfold trust [folder]/repo/toolfold.toml
    ");

    let trust = TrustList::new(&folder.path().join("state"));
    let trusted = trust.add(&file).unwrap();
    assert_eq!(trust.list(), [trusted]);
    let loaded = load(&options).unwrap();
    assert_eq!((loaded.origin, loaded.config.servers.len()), (Origin::File(file.clone()), 1));
    assert_eq!(loaded.config.files[0], file);
    assert_eq!(loaded.config.files.len(), 2, "what says that it is trusted is watched too");

    std::fs::write(&file, EVIL.replace("evil\"\n", "worse\"\n")).unwrap();
    let loaded = load(&options).unwrap();
    assert_eq!(loaded.origin, Origin::Default);
    assert_snapshot!(said(folder.path(), &loaded), @r"
    [folder]/repo/toolfold.toml: warning: not used: it has changed since it was trusted
      hint: look at it, then run: toolfold trust [folder]/repo/toolfold.toml
    ");
    trust.add(&file).unwrap();
    assert_eq!(load(&options).unwrap().config.servers.len(), 1);
    assert!(trust.revoke(&file).unwrap());
    assert!(!trust.revoke(&file).unwrap());
    assert_eq!(load(&options).unwrap().origin, Origin::Default);
}

#[test]
fn naming_it_or_having_it_at_home_is_enough() {
    let folder = tempfile::tempdir().unwrap();
    let options = cloned(folder.path());
    let file = folder.path().join("repo/toolfold.toml");
    let servers = |options: &LoadOptions| load(options).unwrap().config.servers.len();
    assert_eq!(servers(&LoadOptions { file: Some(file), ..options.clone() }), 1);
    let mut by_variable = options.clone();
    by_variable.environment.insert("TOOLFOLD_CONFIG".into(), "../../toolfold.toml".into());
    assert_eq!(servers(&by_variable), 1);
    assert_eq!(servers(&LoadOptions { user_config_dir: Some(folder.path().join("repo")), ..options.clone() }), 1);
    assert_eq!(servers(&LoadOptions { trusting: true, ..options.clone() }), 1);

    let home = folder.path().join("home");
    std::fs::create_dir(&home).unwrap();
    std::fs::write(home.join("toolfold.toml"), "budget = 900").unwrap();
    let loaded = load(&LoadOptions { user_config_dir: Some(home), ..options }).unwrap();
    assert_eq!((loaded.config.budget, loaded.config.servers.len(), loaded.untrusted.len()), (900, 0, 1));
}

#[test]
fn another_file_with_the_same_content_is_not_meant() {
    let folder = tempfile::tempdir().unwrap();
    let options = cloned(folder.path());
    let other = folder.path().join("toolfold.toml");
    std::fs::write(&other, EVIL).unwrap();
    let trust = TrustList::new(&folder.path().join("state"));
    trust.add(&other).unwrap();
    assert_eq!(trust.verdict(&folder.path().join("repo/toolfold.toml"), EVIL.as_bytes()), Verdict::Unknown);
    assert_eq!(load(&options).unwrap().origin, Origin::File(other), "the next one above is trusted");
}

#[cfg(unix)]
#[test]
fn what_is_remembered_is_for_this_user_alone() {
    use std::os::unix::fs::PermissionsExt;
    let folder = tempfile::tempdir().unwrap();
    let options = cloned(folder.path());
    TrustList::new(&folder.path().join("state")).add(&nearest(&options.directory).unwrap()).unwrap();
    let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
    let notes = folder.path().join("state/trusted");
    assert_eq!(mode(&notes), 0o700);
    for note in std::fs::read_dir(notes).unwrap() {
        assert_eq!(mode(&note.unwrap().path()), 0o600);
    }
}
