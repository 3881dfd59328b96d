//! An index with the vectors of an encoder. Encoding thousands of tools takes minutes, so what was made can be kept in a file:
//! the fingerprint of a text, the number of bytes, and the bytes, one after the other.

use std::collections::HashMap;
use std::fs;
use std::path::Path;
use std::sync::Arc;

use toolfold_catalog::Catalog;
use toolfold_core::Fingerprint;
use toolfold_encoder::Encoder;
use toolfold_index::{Index, Precise, packed, text_of};

type Kept = HashMap<[u8; 32], Vec<u8>>;

/// A file that cannot be read leaves the index as it is, and says so.
pub(crate) fn with_vectors(index: Index, catalog: &Catalog, weights: &Path, kept: Option<&Path>) -> Index {
    match Encoder::open(weights) {
        Ok(encoder) => encoded(index, catalog, Arc::new(encoder), kept),
        Err(error) => {
            println!("measured without an encoder: {error}");
            index
        }
    }
}

fn encoded(index: Index, catalog: &Catalog, encoder: Arc<Encoder>, kept: Option<&Path>) -> Index {
    let mut known = kept.and_then(|file| fs::read(file).ok()).map(|bytes| read(&bytes)).unwrap_or_default();
    let before = known.len();
    let asking = encoder.clone();
    let mut precise = Precise::new(Arc::new(move |text| asking.encode(text)));
    for entry in catalog.entries() {
        let text = text_of(entry);
        // Another encoder's vectors are of no use.
        let key = *Fingerprint::of_text(&format!("{} {text}", encoder.identity())).as_bytes();
        precise.push(known.entry(key).or_insert_with(|| packed(&encoder.encode(&text))));
    }
    if let Some(file) = kept.filter(|_| known.len() > before)
        && let Err(error) = fs::write(file, written(&known))
    {
        println!("vectors are not kept: {error}");
    }
    index.with_vectors(Some(Arc::new(precise))).unwrap_or(index)
}

fn written(kept: &Kept) -> Vec<u8> {
    let record =
        |(key, vector): (&[u8; 32], &Vec<u8>)| [&key[..], &(vector.len() as u32).to_le_bytes(), vector].concat();
    kept.iter().flat_map(record).collect()
}

fn read(mut bytes: &[u8]) -> Kept {
    let mut kept = Kept::new();
    while let Some((key, rest)) = bytes.split_first_chunk::<32>()
        && let Some((length, rest)) = rest.split_first_chunk::<4>()
        && let Some((vector, rest)) = rest.split_at_checked(u32::from_le_bytes(*length) as usize)
    {
        kept.insert(*key, vector.to_vec());
        bytes = rest;
    }
    kept
}
