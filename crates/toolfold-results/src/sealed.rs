//! A file without a name, sealed piece by piece with a key that is nowhere but in this process.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::ops::Range;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};

use crate::shelf::NotKept;

/// Bytes that are sealed together.
const CHUNK: usize = 256 << 10;
/// What stands around each chunk: twelve bytes that are used once, and the tag.
const NONCE: usize = 12;
const TAG: usize = 16;

/// The key.
pub(crate) struct Seal(LessSafeKey);

impl Seal {
    pub(crate) fn new() -> Result<Self, NotKept> {
        let mut secret = [0u8; 32];
        getrandom::fill(&mut secret).map_err(|_| NotKept::Sealing)?;
        let key = UnboundKey::new(&CHACHA20_POLY1305, &secret).map_err(|_| NotKept::Sealing)?;
        Ok(Seal(LessSafeKey::new(key)))
    }
}

/// A file that is being written.
pub(crate) struct Writing {
    seal: Arc<Seal>,
    file: File,
    /// What is not sealed yet.
    pending: Vec<u8>,
    /// What is.
    sealed: u64,
}

impl Writing {
    /// The folder is made where it is missing.
    pub(crate) fn begin(seal: &Arc<Seal>, folder: &Path) -> Result<Self, NotKept> {
        std::fs::create_dir_all(folder)?;
        let file = tempfile::tempfile_in(folder)?;
        Ok(Writing { seal: seal.clone(), file, pending: Vec::with_capacity(CHUNK + TAG), sealed: 0 })
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.sealed + self.pending.len() as u64
    }

    pub(crate) fn write(&mut self, mut bytes: &[u8]) -> Result<(), NotKept> {
        while !bytes.is_empty() {
            if self.pending.len() == CHUNK {
                self.flush()?;
            }
            let (now, later) = bytes.split_at(bytes.len().min(CHUNK - self.pending.len()));
            self.pending.extend_from_slice(now);
            bytes = later;
        }
        Ok(())
    }

    pub(crate) fn finish(mut self) -> Result<Sealed, NotKept> {
        self.flush()?;
        Ok(Sealed { seal: self.seal, file: Mutex::new(self.file), bytes: self.sealed })
    }

    /// Everything that was written, where it could not be written to its end.
    pub(crate) fn give_back(self) -> Option<Vec<u8>> {
        let written = Sealed { seal: self.seal, file: Mutex::new(self.file), bytes: self.sealed };
        let mut all = written.whole(self.pending.len())?;
        all.extend_from_slice(&self.pending);
        Some(all)
    }

    fn flush(&mut self) -> Result<(), NotKept> {
        // Of at most some thousand chunks under one key no two have the same.
        let mut nonce = [0u8; NONCE];
        getrandom::fill(&mut nonce).map_err(|_| NotKept::Sealing)?;
        let mut sealed = Vec::with_capacity(self.pending.len() + TAG);
        sealed.extend_from_slice(&self.pending);
        let key = &self.seal.0;
        let sealing = key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut sealed);
        sealing.map_err(|_| NotKept::Sealing)?;
        self.file.write_all(&nonce)?;
        self.file.write_all(&sealed)?;
        self.sealed += self.pending.len() as u64;
        self.pending.clear();
        Ok(())
    }
}

/// A file that is written.
pub(crate) struct Sealed {
    seal: Arc<Seal>,
    file: Mutex<File>,
    bytes: u64,
}

impl Sealed {
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// All of it, with so much room after it.
    pub(crate) fn whole(&self, room: usize) -> Option<Vec<u8>> {
        let mut all = Vec::with_capacity(usize::try_from(self.bytes).ok()? + room);
        self.read(0..self.bytes, |piece| {
            all.extend_from_slice(piece);
            true
        })?;
        Some(all)
    }

    /// Hands over a part of it, piece by piece, until that is refused. `None` where it cannot be read.
    pub(crate) fn read(&self, span: Range<u64>, mut each: impl FnMut(&[u8]) -> bool) -> Option<()> {
        let mut at = span.start;
        while at < span.end.min(self.bytes) {
            let number = at / CHUNK as u64;
            let first = number * CHUNK as u64;
            let mut chunk = self.chunk(number, usize::try_from(self.bytes - first).ok()?.min(CHUNK))?;
            let nonce = <[u8; NONCE]>::try_from(chunk.get(..NONCE)?).ok()?;
            let key = &self.seal.0;
            let opened =
                key.open_within(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut chunk, NONCE..).ok()?;
            let to = usize::try_from(span.end - first).unwrap_or(CHUNK).min(opened.len());
            if !each(opened.get(usize::try_from(at - first).ok()?..to)?) {
                break;
            }
            at = first + CHUNK as u64;
        }
        Some(())
    }

    /// One reader at a time: a file has one place.
    fn chunk(&self, number: u64, bytes: usize) -> Option<Vec<u8>> {
        let mut chunk = vec![0u8; NONCE + bytes + TAG];
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(number * (NONCE + CHUNK + TAG) as u64)).ok()?;
        file.read_exact(&mut chunk).ok()?;
        Some(chunk)
    }

    #[cfg(test)]
    pub(crate) fn file(&self) -> std::sync::MutexGuard<'_, File> {
        self.file.lock().unwrap()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn any_part_of_what_was_written_comes_back() {
        let folder = tempfile::tempdir().unwrap();
        let seal = Arc::new(Seal::new().unwrap());
        for length in [0, 1, CHUNK - 1, CHUNK, CHUNK + 1, 3 * CHUNK + 7] {
            let bytes: Vec<u8> = (0..length).map(|n| (n % 251) as u8).collect();
            let mut writing = Writing::begin(&seal, folder.path()).unwrap();
            bytes.chunks(100_003).for_each(|piece| writing.write(piece).unwrap());
            assert_eq!(writing.bytes(), length as u64);
            let sealed = writing.finish().unwrap();
            assert!(sealed.whole(0).unwrap() == bytes);
            for span in [0..length, length / 3..length / 2, CHUNK - 5..CHUNK + 5, length..length + 9] {
                let mut read = Vec::new();
                let all = sealed.read(span.start as u64..span.end as u64, |piece| {
                    read.extend_from_slice(piece);
                    true
                });
                assert_eq!(all, Some(()));
                assert!(read == bytes[span.start.min(length)..span.end.min(length)], "{length} {span:?}");
            }
        }
        let mut writing = Writing::begin(&seal, folder.path()).unwrap();
        writing.write(&vec![7; CHUNK + 9]).unwrap();
        assert!(writing.give_back().unwrap() == vec![7; CHUNK + 9]);
    }
}
