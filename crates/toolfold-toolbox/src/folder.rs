//! The working directory, and the promise that nothing outside it is touched: not through `..`, not through an absolute
//! path, not through a link.

use std::path::{Component, Path, PathBuf};

/// A folder that paths are resolved in.
#[derive(Debug)]
pub(crate) struct Folder {
    root: PathBuf,
}

impl Folder {
    pub(crate) fn working() -> Result<Self, String> {
        let folder = std::env::current_dir().map_err(|_| "There is no working directory to read from.".to_owned())?;
        Folder::new(&folder)
    }

    pub(crate) fn new(folder: &Path) -> Result<Self, String> {
        let root = folder.canonicalize().map_err(|_| "The working directory cannot be read.".to_owned())?;
        Ok(Folder { root })
    }

    /// The real path of something that exists below the folder.
    pub(crate) fn resolve(&self, path: &str) -> Result<PathBuf, String> {
        let outside = || format!("{path:?} lies outside the working directory. Only what is below it can be read.");
        let joined = self.root.join(if path.is_empty() { "." } else { path });
        // Before anything is looked up: whether a file outside exists is not to be told either.
        if !lexically(&joined).starts_with(&self.root) {
            return Err(outside());
        }
        let real = joined
            .canonicalize()
            .map_err(|_| format!("{path:?} does not exist. Use list_directory to see what there is."))?;
        if real.starts_with(&self.root) { Ok(real) } else { Err(outside()) }
    }

    /// A path below the folder as it is named to the caller, `.` for the folder itself.
    pub(crate) fn show(&self, path: &Path) -> String {
        let shown = path.strip_prefix(&self.root).unwrap_or(path).to_string_lossy().replace('\\', "/");
        if shown.is_empty() { ".".to_owned() } else { shown }
    }
}

/// The path with `.` and `..` worked out, without asking the file system.
fn lexically(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            part => plain.push(part),
        }
    }
    plain
}
