//! Which file is read.

use std::path::{Path, PathBuf};

use insta::assert_snapshot;
use toolfold_config::{Config, LoadOptions, Origin, TrustList, load};

use crate::options;

fn write(path: &Path, text: &str) -> PathBuf {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
    path.to_owned()
}

#[test]
fn no_file_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let loaded = load(&options(folder.path())).unwrap();
    assert_eq!(loaded.origin, Origin::Default);
    assert_eq!(loaded.config, Config::default());
    assert!(loaded.config.toolbox);
    assert_eq!(loaded.notices, []);
}

#[test]
fn upwards_then_the_users_own() {
    let folder = tempfile::tempdir().unwrap();
    let deep = folder.path().join("a/b/c");
    std::fs::create_dir_all(&deep).unwrap();
    let user = folder.path().join("user/toolfold");
    let origin = |options: &LoadOptions| load(options).unwrap().origin;
    let trust = TrustList::new(&folder.path().join("state"));
    let trusted = |path: PathBuf| {
        trust.add(&path).unwrap();
        path
    };
    let data_dir = Some(folder.path().join("state"));
    let options = LoadOptions { user_config_dir: Some(user.clone()), data_dir, ..options(&deep) };
    assert_eq!(origin(&options), Origin::Default);

    let users = write(&user.join("toolfold.toml"), "");
    assert_eq!(origin(&options), Origin::File(users));
    let above = trusted(write(&folder.path().join("a/toolfold.toml"), ""));
    assert_eq!(origin(&options), Origin::File(above));
    let here = trusted(write(&deep.join("toolfold.toml"), ""));
    assert_eq!(origin(&options), Origin::File(here.clone()));
    assert_eq!(load(&options).unwrap().config.files[0], here);

    let named = write(&folder.path().join("other.toml"), "");
    let mut by_variable = options.clone();
    by_variable.environment.insert("TOOLFOLD_CONFIG".into(), "../../../other.toml".into());
    let Origin::File(path) = origin(&by_variable) else { panic!("no file") };
    assert_eq!(path.canonicalize().unwrap(), named.canonicalize().unwrap());
    let by_flag = LoadOptions { file: Some(named.clone()), ..by_variable };
    assert_eq!(origin(&by_flag), Origin::File(named));
}

#[test]
fn a_named_file_must_be_there() {
    let folder = tempfile::tempdir().unwrap();
    let at = |file: &str| load(&LoadOptions { file: Some(file.into()), ..options(folder.path()) }).unwrap_err();
    assert_snapshot!(at("missing.toml"), @r#"
    missing.toml: does not exist
      hint: name another file with --config, or none to have toolfold.toml searched for
    "#);
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    assert_snapshot!(at("sub"), @r#"
    sub: is a folder
      hint: name the file in it
    "#);
}

#[test]
fn folders_of_the_user() {
    let from = |pairs: &[(&str, &str)]| {
        let environment = pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
        let options = LoadOptions::from_environment(environment, PathBuf::new());
        format!("{:?} {:?}", options.user_config_dir, options.data_dir)
    };
    assert_snapshot!(from(&[("HOME", "/h")]), @r#"Some("/h/.config/toolfold") Some("/h/.local/state/toolfold")"#);
    assert_snapshot!(from(&[("HOME", "/h"), ("XDG_CONFIG_HOME", "/c"), ("XDG_STATE_HOME", "relative")]), @r#"Some("/c/toolfold") Some("/h/.local/state/toolfold")"#);
    assert_snapshot!(from(&[]), @"None None");
}

#[cfg(unix)]
#[test]
fn a_file_that_somebody_else_left_is_passed_over() {
    let folder = tempfile::tempdir().unwrap();
    let file = write(&folder.path().join("toolfold.toml"), "[servers.evil]\ncommand = \"evil\"");
    if std::os::unix::fs::chown(&file, Some(12345), None).is_err() {
        println!("skipped: only root can give a file away");
        return;
    }
    let loaded = load(&options(folder.path())).unwrap();
    assert_eq!(loaded.origin, Origin::Default);
    assert_snapshot!(loaded.notices[0], @r#"
    toolfold.toml: warning: passed over: it belongs to another user
      hint: if you trust it, name it with --config
    "#);
    let named = LoadOptions { file: Some(file), ..options(folder.path()) };
    assert_eq!(load(&named).unwrap().config.servers.len(), 1);
}
