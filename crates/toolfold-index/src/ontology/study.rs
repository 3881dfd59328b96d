//! What the weights of the tree are trained on, written out for `training/tree.py`: the same things that placing reads.

use std::fmt::Write as _;

use toolfold_catalog::Catalog;

use super::company::{Server, families};
use super::traits::TraitReader;
use crate::index::Index;

/// A line for each entry: its id, the numbers of its company and of its family (or −1) within its server, the scale of its
/// vector, the vector's bytes in hexadecimal, and its traits, each with what it counts. A tab stands between them.
pub fn study(catalog: &Catalog, index: &Index) -> Vec<String> {
    let mut reader = TraitReader::new();
    let mut lines = Vec::with_capacity(catalog.len());
    let mut start = 0;
    for server in catalog.servers() {
        let range = start..start + server.entries.len();
        start = range.end;
        let families = families(catalog, index, range.clone());
        let kept_by = Server::of(catalog, index, range.clone()).kept_by;
        for (place, position) in range.enumerate() {
            let entry = catalog.entry(position);
            let family = families.iter().position(|family| family.contains(&place));
            let family = family.map_or(-1, |family| family as i64);
            let row = index.base.vectors.row(position);
            let mut line = format!("{}\t{}\t{family}\t{}\t", entry.id, kept_by[place], row.scale);
            row.bytes.iter().for_each(|byte| _ = write!(line, "{byte:02x}"));
            line.push('\t');
            reader.read(entry).iter().for_each(|(number, counts)| _ = write!(line, "{number}:{counts} "));
            lines.push(line);
        }
    }
    lines
}
