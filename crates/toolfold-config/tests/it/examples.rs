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
