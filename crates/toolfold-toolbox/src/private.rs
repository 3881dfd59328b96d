//! What no tool reads, whatever way leads to it: the program's own configuration and state, and what the kernel shows
//! of processes and devices.
//!
//! What a reader would get wrong: files are told apart by device and number, not by name. A hard link or a link inside
//! the folder has another name and is the same file.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// A configuration lies anywhere under this name; copies that editors leave begin with it.
const CONFIGURATION: &str = "toolfold.toml";
/// Where the kernel shows itself.
const KERNEL: [&str; 3] = ["/proc", "/sys", "/dev"];

#[derive(Debug, Default)]
pub(crate) struct Private {
    paths: Vec<PathBuf>,
}

/// A file or folder, whatever it is called.
pub(crate) type Identity = (u64, u64);

impl Private {
    pub(crate) fn new(paths: impl IntoIterator<Item = PathBuf>) -> Private {
        Private { paths: paths.into_iter().collect() }
    }

    /// Who they are now: a file that is written anew is another one each time.
    pub(crate) fn identities(&self) -> Vec<Identity> {
        // SQLite keeps two more files beside its own.
        let beside = |path: &PathBuf, end: &str| {
            let mut name = path.clone().into_os_string();
            name.push(end);
            PathBuf::from(name)
        };
        let all = self.paths.iter().flat_map(|path| ["", "-wal", "-shm", "-journal"].map(|end| beside(path, end)));
        all.filter_map(|path| fs::metadata(path).ok()).map(|found| (found.dev(), found.ino())).collect()
    }

    pub(crate) fn is_configuration(name: &str) -> bool {
        name.to_lowercase().starts_with(CONFIGURATION)
    }

    /// Whether a path, with no link in it, is one of the kernel's.
    pub(crate) fn is_kernel(path: &Path) -> bool {
        KERNEL.iter().any(|kernel| path.starts_with(kernel))
    }
}
