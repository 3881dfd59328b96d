//! Turns the vocabulary of o200k_base into a hash table that is part of the binary: counting tokens then needs no
//! preparation and no heap, and pages that are never read are never loaded.

use std::path::Path;
use std::{env, fs};

#[path = "src/tokens/hash.rs"]
mod hash;

const TOKENS: usize = 199_998;

fn main() {
    println!("cargo::rerun-if-changed=data/o200k_base.bin");
    println!("cargo::rerun-if-changed=src/tokens/hash.rs");
    let data = fs::read("data/o200k_base.bin").expect("the vocabulary is part of the sources");
    let (lengths, text) = data.split_at(TOKENS);
    let mut slots = vec![0u32; hash::SLOTS];
    let mut starts = Vec::with_capacity(TOKENS + 1);
    let mut start = 0;
    for (rank, length) in lengths.iter().enumerate() {
        starts.push(start as u32);
        let end = start + *length as usize;
        let mut slot = hash::slot(&text[start..end]);
        while slots[slot] != 0 {
            slot = (slot + 1) % hash::SLOTS;
        }
        // Zero means empty, so ranks are stored one higher.
        slots[slot] = rank as u32 + 1;
        start = end;
    }
    starts.push(start as u32);
    write("slots.bin", &bytes(&slots));
    write("starts.bin", &bytes(&starts));
    write("tokens.bin", text);
}

fn bytes(numbers: &[u32]) -> Vec<u8> {
    numbers.iter().flat_map(|number| number.to_le_bytes()).collect()
}

fn write(name: &str, bytes: &[u8]) {
    let folder = env::var_os("OUT_DIR").expect("cargo sets OUT_DIR");
    fs::write(Path::new(&folder).join(name), bytes).expect("OUT_DIR can be written");
}
