//! Where sets are: a folder with both files, a folder of such folders, or `CATALOGS:QUERIES`.

use std::path::{Path, PathBuf};

use toolfold_eval::{BadSet, EvalSet, ToolLine};

pub(crate) fn sets(place: &str) -> Vec<String> {
    if place.contains(':') || Path::new(place).join("queries.jsonl").is_file() {
        return vec![place.to_owned()];
    }
    let inner = std::fs::read_dir(place).into_iter().flatten().flatten().map(|entry| entry.path());
    let mut inner: Vec<PathBuf> = inner.filter(|path| path.join("queries.jsonl").is_file()).collect();
    inner.sort();
    inner.into_iter().map(|path| path.display().to_string()).collect()
}

pub(crate) fn read(place: &str) -> Result<EvalSet, BadSet> {
    match place.split_once(':') {
        Some((catalogs, queries)) => EvalSet::of_lists(Path::new(catalogs), Path::new(queries)),
        None => {
            let folder = Path::new(place);
            EvalSet::read(ToolLine::read(&folder.join("tools.jsonl"))?, &folder.join("queries.jsonl"))
        }
    }
}
