//! A home of the test's own.

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;

use tempfile::TempDir;
use toolfold_clients::{Environment, Platform};

pub(crate) struct Home {
    folder: TempDir,
    pub(crate) environment: Environment,
}

impl Home {
    pub(crate) fn new() -> Home {
        let folder = tempfile::tempdir().unwrap();
        let (home, directory) = (folder.path().join("home"), folder.path().join("project"));
        fs::create_dir_all(&home).unwrap();
        fs::create_dir_all(&directory).unwrap();
        let environment = Environment {
            platform: Platform::Linux,
            home: Some(home),
            directory,
            variables: BTreeMap::new(),
            state: Some(folder.path().join("state")),
        };
        Home { folder, environment }
    }

    pub(crate) fn path(&self, below: &str) -> PathBuf {
        self.folder.path().join(below)
    }

    pub(crate) fn write(&self, below: &str, text: &str) -> PathBuf {
        let path = self.path(below);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, text).unwrap();
        path
    }

    pub(crate) fn read(&self, below: &str) -> String {
        fs::read_to_string(self.path(below)).unwrap()
    }
}
