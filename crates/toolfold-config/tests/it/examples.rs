//! Every example configuration loads without a word.

use std::path::Path;

use toolfold_config::{LoadOptions, load};

use crate::options;

#[test]
fn all_load() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let files: Vec<_> = std::fs::read_dir(&folder).unwrap().map(|entry| entry.unwrap().path()).collect();
    let is_configuration = |path: &&std::path::PathBuf| {
        path.extension().is_some_and(|extension| extension == "toml" || extension == "json")
    };
    let mut loaded = 0;
    for file in files.iter().filter(is_configuration) {
        let result = load(&LoadOptions { file: Some(file.clone()), ..options(&folder) });
        let config = result.unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!(config.notices, [], "{}", file.display());
        assert!(!config.config.servers.is_empty(), "{}", file.display());
        loaded += 1;
    }
    assert!(loaded >= 3, "only {loaded} examples");
}

/// What is to be copied from `deploy/` is right once its variables are set, in the file and inside the manifest.
#[test]
fn what_is_deployed_loads() {
    let deploy = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy");
    let plain = std::fs::read_to_string(deploy.join("toolfold.toml")).unwrap();
    let manifest = std::fs::read_to_string(deploy.join("kubernetes/toolfold.yaml")).unwrap();
    let inside = manifest.lines().skip_while(|line| !line.contains("toolfold.toml: |")).skip(1);
    let inside: Vec<&str> = inside.take_while(|line| *line != "---").map(str::trim_start).collect();
    for text in [plain, inside.join("\n")] {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("toolfold.toml");
        std::fs::write(&file, text).unwrap();
        let mut options = LoadOptions { file: Some(file), ..options(folder.path()) };
        let long = "x".repeat(64);
        let variables = [
            ("DATABASE_URL", "postgres://toolfold@db/toolfold"),
            ("TOOLFOLD_TOKEN", long.as_str()),
            ("TOOLFOLD_CLUSTER_SECRET", long.as_str()),
            ("ADVERTISE", "http://10.0.0.5:7421"),
            ("POD_IP", "10.0.0.5"),
        ];
        options.environment.extend(variables.map(|(name, value)| (name.to_owned(), value.to_owned())));
        let loaded = load(&options).unwrap_or_else(|problems| panic!("{problems}"));
        assert_eq!(loaded.notices, []);
        assert!(loaded.config.cluster.is_some() && !loaded.config.servers.is_empty());
    }
}

/// What nobody could have meant, so that the answer is a list of what there is.
const STRANGER: &str = "zzzqqqxxx";

/// The reference is made from this example, so a key that is not in it is not in the documents.
#[test]
fn every_key_is_in_the_example() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples");
    let example = std::fs::read_to_string(folder.join("toolfold.toml")).unwrap();
    let strangers = example.lines().flat_map(|line| match line.starts_with('[') {
        true => vec![line.to_owned(), format!("{STRANGER} = 1")],
        false => vec![line.to_owned()],
    });
    let text = [format!("{STRANGER} = 1")].into_iter().chain(strangers).collect::<Vec<_>>().join("\n");
    let elsewhere = tempfile::tempdir().unwrap();
    let file = elsewhere.path().join("toolfold.toml");
    std::fs::write(&file, text).unwrap();
    let problems = load(&LoadOptions { file: Some(file), ..options(elsewhere.path()) }).unwrap_err();
    let mut tables = 0;
    for problem in problems.0.iter().filter(|problem| problem.message == "unknown key") {
        let hint = problem.hint.as_deref().unwrap_or_default();
        let known = hint.strip_prefix("known keys: ").unwrap_or_else(|| panic!("{problem}"));
        tables += 1;
        for key in known.split(", ") {
            let said = example.lines().any(|line| {
                line.starts_with(&format!("{key} = ")) || line.trim_matches(['[', ']']).split('.').next() == Some(key)
            });
            assert!(said, "examples/toolfold.toml lacks `{key}`, which is read beside {:?}", problem.key);
        }
    }
    let headers = example.lines().filter(|line| line.starts_with('[')).count();
    assert_eq!(tables, headers + 1, "every table was asked: {problems}");
}
