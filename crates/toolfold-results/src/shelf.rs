//! Where results are kept: files without a name, sealed with a key that is nowhere but in this process. When the process ends,
//! however it does, they are gone and nobody can read what the disk still has of them.
//!
//! What a reader would get wrong: a handle is not a key. It is looked up for whoever asks, and another one's is as unknown as
//! one that never was.

use std::collections::VecDeque;
use std::fmt;
use std::fs::File;
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use toolfold_core::{Principal, to_hex};

use crate::body::Notation;

/// Random bytes of a handle.
const RANDOM: usize = 16;
/// Bytes that are sealed together.
const CHUNK: usize = 1 << 20;
/// Results that are kept at once: each has a file open.
const MOST: usize = 128;

/// How much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Room {
    /// Of all together.
    pub bytes: u64,
    pub age: Duration,
}

/// The name of a kept result: 128 bits that nobody can guess.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Handle(String);

impl fmt::Display for Handle {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl Handle {
    /// As somebody spells it; whether there is such a result is another matter.
    pub fn spelled(text: &str) -> Handle {
        Handle(text.chars().take(64).collect())
    }

    /// What the shelf that it is on adds to its handles.
    pub fn mark(&self) -> Option<&str> {
        self.0.get(1 + 2 * RANDOM..).filter(|mark| !mark.is_empty())
    }
}

/// Why a result is not kept: it is passed on as it came then.
#[derive(Debug, thiserror::Error)]
pub enum NotKept {
    #[error("it has {bytes} bytes, and all results together may have {room}")]
    TooLarge { bytes: usize, room: u64 },
    #[error("there is nowhere to write it: {0}")]
    Disk(#[from] std::io::Error),
    #[error("it cannot be sealed")]
    Sealing,
}

/// What was kept, taken down from the shelf.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shelved {
    pub format: Notation,
    pub text: String,
    /// The tool it is of.
    pub tool: String,
}

pub struct Shelf {
    folder: PathBuf,
    /// At the end of each handle: which shelf it is, where there are several.
    mark: String,
    key: LessSafeKey,
    /// The oldest first.
    kept: Mutex<VecDeque<Arc<Kept>>>,
}

struct Kept {
    handle: Handle,
    owner: Principal,
    tool: String,
    format: Notation,
    bytes: u64,
    since: Instant,
    /// One reader at a time: a file has one place.
    file: Mutex<File>,
}

impl Shelf {
    /// Files are made in `folder`, which is made where it is missing; handles end with `mark`.
    pub fn new(folder: &Path, mark: &str) -> Result<Shelf, NotKept> {
        let mut secret = [0u8; 32];
        getrandom::fill(&mut secret).map_err(|_| NotKept::Sealing)?;
        let key = UnboundKey::new(&CHACHA20_POLY1305, &secret).map_err(|_| NotKept::Sealing)?;
        let (folder, mark) = (folder.to_owned(), mark.to_owned());
        Ok(Shelf { folder, mark, key: LessSafeKey::new(key), kept: Mutex::default() })
    }

    /// Keeps a result for its owner. The oldest go where there is no room, of whoever they are.
    pub fn put(
        &self,
        owner: &Principal,
        tool: &str,
        format: Notation,
        text: &str,
        room: Room,
    ) -> Result<Handle, NotKept> {
        let bytes = text.len() as u64;
        if bytes > room.bytes {
            return Err(NotKept::TooLarge { bytes: text.len(), room: room.bytes });
        }
        let handle = Handle(random()? + &self.mark);
        let file = self.write(text)?;
        let kept = Kept {
            handle: handle.clone(),
            owner: owner.clone(),
            tool: tool.to_owned(),
            format,
            bytes,
            since: Instant::now(),
            file: Mutex::new(file),
        };
        let mut all = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        all.push_back(Arc::new(kept));
        make_room(&mut all, room);
        Ok(handle)
    }

    /// A result of this owner's, while it is kept.
    pub fn get(&self, owner: &Principal, handle: &Handle, room: Room) -> Option<Shelved> {
        let kept = {
            let mut all = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
            make_room(&mut all, room);
            all.iter().find(|kept| kept.handle == *handle && kept.owner == *owner).cloned()?
        };
        let text = self.read(&kept)?;
        Some(Shelved { format: kept.format, text, tool: kept.tool.clone() })
    }

    /// How many results there are, and their bytes.
    pub fn held(&self) -> (usize, u64) {
        let all = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        (all.len(), all.iter().map(|kept| kept.bytes).sum())
    }

    fn write(&self, text: &str) -> Result<File, NotKept> {
        std::fs::create_dir_all(&self.folder)?;
        let mut file = tempfile::tempfile_in(&self.folder)?;
        for chunk in text.as_bytes().chunks(CHUNK) {
            let nonce = fresh()?;
            let mut sealed = chunk.to_vec();
            let sealing =
                self.key.seal_in_place_append_tag(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut sealed);
            sealing.map_err(|_| NotKept::Sealing)?;
            file.write_all(&nonce)?;
            file.write_all(&sealed)?;
        }
        Ok(file)
    }

    fn read(&self, kept: &Kept) -> Option<String> {
        let mut file = kept.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.seek(SeekFrom::Start(0)).ok()?;
        let mut text = Vec::with_capacity(usize::try_from(kept.bytes).ok()?);
        let mut left = usize::try_from(kept.bytes).ok()?;
        while left > 0 {
            let mut nonce = [0u8; 12];
            file.read_exact(&mut nonce).ok()?;
            let mut chunk = vec![0u8; left.min(CHUNK) + CHACHA20_POLY1305.tag_len()];
            file.read_exact(&mut chunk).ok()?;
            let opened = self.key.open_in_place(Nonce::assume_unique_for_key(nonce), Aad::empty(), &mut chunk).ok()?;
            left -= opened.len();
            text.extend_from_slice(opened);
        }
        String::from_utf8(text).ok()
    }
}

/// Drops what is too old, and the oldest until the rest fits.
fn make_room(all: &mut VecDeque<Arc<Kept>>, room: Room) {
    let mut bytes: u64 = all.iter().map(|kept| kept.bytes).sum();
    while let Some(oldest) = all.front() {
        if all.len() <= MOST && bytes <= room.bytes && oldest.since.elapsed() < room.age {
            break;
        }
        bytes -= oldest.bytes;
        all.pop_front();
    }
}

fn random() -> Result<String, NotKept> {
    let mut bytes = [0u8; RANDOM];
    getrandom::fill(&mut bytes).map_err(|_| NotKept::Sealing)?;
    Ok(format!("r{}", to_hex(&bytes)))
}

/// Twelve random bytes: of at most some thousand chunks under one key no two are alike.
fn fresh() -> Result<[u8; 12], NotKept> {
    let mut nonce = [0u8; 12];
    getrandom::fill(&mut nonce).map_err(|_| NotKept::Sealing)?;
    Ok(nonce)
}

#[cfg(test)]
mod tests {
    use super::*;

    const ROOM: Room = Room { bytes: 5_000_000, age: Duration::from_secs(3600) };

    fn shelf() -> (tempfile::TempDir, Shelf) {
        let folder = tempfile::tempdir().unwrap();
        let shelf = Shelf::new(&folder.path().join("results"), "").unwrap();
        (folder, shelf)
    }

    #[test]
    fn what_is_kept_comes_back_whole_and_to_its_owner_alone() {
        let (folder, shelf) = shelf();
        let (ada, bob) = (Principal::local(), Principal::token());
        let text = "ä secret ".repeat(200_000);
        let handle = shelf.put(&ada, "hub.list", Notation::Text, &text, ROOM).unwrap();
        assert_eq!(
            shelf.get(&ada, &handle, ROOM).unwrap(),
            Shelved { format: Notation::Text, text, tool: "hub.list".into() }
        );
        assert_eq!(handle.mark(), None);
        let other = Shelf::new(&folder.path().join("results"), "-two").unwrap();
        assert_eq!(other.put(&ada, "hub.list", Notation::Text, "x", ROOM).unwrap().mark(), Some("-two"));
        assert_eq!(shelf.get(&bob, &handle, ROOM), None);
        assert_eq!(shelf.get(&ada, &Handle::spelled("r00"), ROOM), None);
        assert_eq!(std::fs::read_dir(folder.path().join("results")).unwrap().count(), 0, "files have no names");
    }

    #[test]
    fn what_the_disk_has_is_not_what_was_said() {
        let (_folder, shelf) = shelf();
        let handle = shelf.put(&Principal::local(), "hub.list", Notation::Text, &"hunter2 ".repeat(100), ROOM).unwrap();
        let kept = shelf.kept.lock().unwrap().iter().find(|kept| kept.handle == handle).cloned().unwrap();
        let mut bytes = Vec::new();
        let mut file = kept.file.lock().unwrap();
        file.seek(SeekFrom::Start(0)).unwrap();
        file.read_to_end(&mut bytes).unwrap();
        assert!(!bytes.windows(7).any(|window| window == b"hunter2"));
        drop(file);
        let mut file = kept.file.lock().unwrap();
        file.seek(SeekFrom::Start(20)).unwrap();
        file.write_all(&[!bytes[20]]).unwrap();
        drop(file);
        assert_eq!(shelf.get(&Principal::local(), &handle, ROOM), None, "what was changed is not opened");
    }

    #[test]
    fn there_is_so_much_room_and_the_oldest_go() {
        let (_folder, shelf) = shelf();
        let ada = Principal::local();
        let put = |bytes: usize| shelf.put(&ada, "hub.list", Notation::Text, &"x".repeat(bytes), ROOM);
        let first = put(3_000_000).unwrap();
        let second = put(1_500_000).unwrap();
        let third = put(1_000_000).unwrap();
        assert_eq!(shelf.get(&ada, &first, ROOM), None);
        assert!(shelf.get(&ada, &second, ROOM).is_some() && shelf.get(&ada, &third, ROOM).is_some());
        assert!(matches!(put(6_000_000), Err(NotKept::TooLarge { .. })));
        for _ in 0..200 {
            put(1).unwrap();
        }
        assert_eq!(shelf.held().0, MOST);
        let old = Room { age: Duration::ZERO, ..ROOM };
        assert_eq!(shelf.get(&ada, &third, old), None);
        assert_eq!(shelf.held(), (0, 0));
    }
}
