//! Where results are kept: files without a name, sealed with a key that is nowhere but in this process. When the process ends,
//! however it does, they are gone and nobody can read what the disk still has of them.
//!
//! What a reader would get wrong: a handle is not a key. It is looked up for whoever asks, and another one's is as unknown as
//! one that never was.

use std::collections::VecDeque;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use toolfold_core::{Principal, to_hex};

use crate::body::Notation;
use crate::sealed::{Seal, Sealed, Writing};
use crate::survey::{Layout, Survey, Surveyed};

/// Random bytes of a handle.
const RANDOM: usize = 16;
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
    #[error("it has {bytes} bytes or more, and all results together may have {room}")]
    TooLarge { bytes: u64, room: u64 },
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
    seal: Arc<Seal>,
    /// The oldest first.
    kept: Mutex<VecDeque<Arc<KeptResult>>>,
    /// Bytes of what is not kept yet, but on its way.
    coming: AtomicU64,
}

/// A result that is kept.
pub struct KeptResult {
    handle: Handle,
    owner: Principal,
    tool: String,
    format: Notation,
    since: Instant,
    pub(crate) layout: Layout,
    pub(crate) file: Sealed,
}

impl KeptResult {
    pub fn format(&self) -> Notation {
        self.format
    }

    pub fn bytes(&self) -> u64 {
        self.file.bytes()
    }

    /// The whole of it; `None` where it cannot be read any more.
    pub fn take_down(&self) -> Option<Shelved> {
        let text = String::from_utf8(self.file.whole(0)?).ok()?;
        Some(Shelved { format: self.format, text, tool: self.tool.clone() })
    }
}

impl Shelf {
    /// Files are made in `folder`, which is made where it is missing; handles end with `mark`.
    pub fn new(folder: &Path, mark: &str) -> Result<Shelf, NotKept> {
        let (folder, mark) = (folder.to_owned(), mark.to_owned());
        Ok(Shelf { folder, mark, seal: Arc::new(Seal::new()?), kept: Mutex::default(), coming: AtomicU64::new(0) })
    }

    /// Keeps a result for its owner, and says what it is; `characters`: what may be shown of its beginning and end.
    pub fn put(
        &self,
        (owner, tool): (&Principal, &str),
        text: &str,
        room: Room,
        characters: usize,
    ) -> Result<(Handle, Surveyed), NotKept> {
        let mut draft = self.begin(room, characters)?;
        draft.write(text.as_bytes())?;
        self.keep((owner, tool), draft, room)
    }

    /// A result of this owner's, while it is kept.
    pub fn find(&self, owner: &Principal, handle: &Handle, room: Room) -> Option<Arc<KeptResult>> {
        let mut all = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        make_room(&mut all, room);
        all.iter().find(|kept| kept.handle == *handle && kept.owner == *owner).cloned()
    }

    /// How many results there are, and their bytes.
    pub fn held(&self) -> (usize, u64) {
        let all = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        (all.len(), all.iter().map(|kept| kept.bytes()).sum())
    }

    /// A file for what is not a result yet.
    pub(crate) fn writing(&self) -> Result<Writing, NotKept> {
        Writing::begin(&self.seal, &self.folder)
    }

    /// Begins to keep a result.
    pub(crate) fn begin(&self, room: Room, characters: usize) -> Result<Draft, NotKept> {
        Ok(Draft { file: self.writing()?, survey: Survey::within(characters), room: room.bytes })
    }

    /// Keeps what was written. The oldest go where there is no room, of whoever they are.
    pub(crate) fn keep(
        &self,
        (owner, tool): (&Principal, &str),
        draft: Draft,
        room: Room,
    ) -> Result<(Handle, Surveyed), NotKept> {
        let handle = Handle(random()? + &self.mark);
        let surveyed = draft.survey.finish();
        let kept = KeptResult {
            handle: handle.clone(),
            owner: owner.clone(),
            tool: tool.to_owned(),
            format: surveyed.format,
            since: Instant::now(),
            layout: surveyed.layout.clone(),
            file: draft.file.finish()?,
        };
        let mut all = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        all.push_back(Arc::new(kept));
        make_room(&mut all, room);
        Ok((handle, surveyed))
    }
}

/// What is on its way takes of the disk, beside what is kept; given back when dropped.
pub(crate) struct Coming {
    shelf: Arc<Shelf>,
    bytes: u64,
}

impl Coming {
    pub(crate) fn to(shelf: Arc<Shelf>) -> Self {
        Coming { shelf, bytes: 0 }
    }

    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Takes that much more, where all that is on its way has no more than this together.
    pub(crate) fn grow(&mut self, bytes: u64, most: u64) -> bool {
        let within = |coming: u64| coming.checked_add(bytes).filter(|sum| *sum <= most);
        let grown = self.shelf.coming.fetch_update(Ordering::Relaxed, Ordering::Relaxed, within).is_ok();
        self.bytes += if grown { bytes } else { 0 };
        grown
    }

    /// Gives back all but so much.
    pub(crate) fn shrink(&mut self, bytes: u64) {
        self.shelf.coming.fetch_sub(self.bytes.saturating_sub(bytes), Ordering::Relaxed);
        self.bytes = self.bytes.min(bytes);
    }
}

impl Drop for Coming {
    fn drop(&mut self) {
        self.shelf.coming.fetch_sub(self.bytes, Ordering::Relaxed);
    }
}

/// A result that is being written down, and looked at meanwhile.
pub(crate) struct Draft {
    file: Writing,
    survey: Survey,
    room: u64,
}

impl Draft {
    pub(crate) fn write(&mut self, text: &[u8]) -> Result<(), NotKept> {
        let bytes = self.file.bytes() + text.len() as u64;
        if bytes > self.room {
            return Err(NotKept::TooLarge { bytes, room: self.room });
        }
        self.survey.feed(text);
        self.file.write(text)
    }
}

/// Drops what is too old, and the oldest until the rest fits.
fn make_room(all: &mut VecDeque<Arc<KeptResult>>, room: Room) {
    let mut bytes: u64 = all.iter().map(|kept| kept.bytes()).sum();
    while let Some(oldest) = all.front() {
        if all.len() <= MOST && bytes <= room.bytes && oldest.since.elapsed() < room.age {
            break;
        }
        bytes -= oldest.bytes();
        all.pop_front();
    }
}

fn random() -> Result<String, NotKept> {
    let mut bytes = [0u8; RANDOM];
    getrandom::fill(&mut bytes).map_err(|_| NotKept::Sealing)?;
    Ok(format!("r{}", to_hex(&bytes)))
}

#[cfg(test)]
mod tests {
    use std::io::{Read, Seek, SeekFrom, Write};

    use super::*;

    const ROOM: Room = Room { bytes: 5_000_000, age: Duration::from_secs(3600) };

    fn put(shelf: &Shelf, owner: &Principal, text: &str) -> Result<Handle, NotKept> {
        shelf.put((owner, "hub.list"), text, ROOM, 100).map(|(handle, _)| handle)
    }

    fn get(shelf: &Shelf, owner: &Principal, handle: &Handle) -> Option<Shelved> {
        shelf.find(owner, handle, ROOM)?.take_down()
    }

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
        let handle = put(&shelf, &ada, &text).unwrap();
        assert_eq!(
            get(&shelf, &ada, &handle).unwrap(),
            Shelved { format: Notation::Text, text, tool: "hub.list".into() }
        );
        assert_eq!(handle.mark(), None);
        let other = Shelf::new(&folder.path().join("results"), "-two").unwrap();
        assert_eq!(put(&other, &ada, "x").unwrap().mark(), Some("-two"));
        assert_eq!(get(&shelf, &bob, &handle), None);
        assert_eq!(get(&shelf, &ada, &Handle::spelled("r00")), None);
        assert_eq!(std::fs::read_dir(folder.path().join("results")).unwrap().count(), 0, "files have no names");
    }

    #[test]
    fn what_the_disk_has_is_not_what_was_said() {
        let (_folder, shelf) = shelf();
        let handle = put(&shelf, &Principal::local(), &"hunter2 ".repeat(100)).unwrap();
        let kept = shelf.find(&Principal::local(), &handle, ROOM).unwrap();
        let mut bytes = Vec::new();
        let mut file = kept.file.file();
        file.seek(SeekFrom::Start(0)).unwrap();
        file.read_to_end(&mut bytes).unwrap();
        assert!(!bytes.windows(7).any(|window| window == b"hunter2"));
        drop(file);
        let mut file = kept.file.file();
        file.seek(SeekFrom::Start(20)).unwrap();
        file.write_all(&[!bytes[20]]).unwrap();
        drop(file);
        assert_eq!(get(&shelf, &Principal::local(), &handle), None, "what was changed is not opened");
    }

    #[test]
    fn there_is_so_much_room_and_the_oldest_go() {
        let (_folder, shelf) = shelf();
        let ada = Principal::local();
        let put = |bytes: usize| put(&shelf, &ada, &"x".repeat(bytes));
        let first = put(3_000_000).unwrap();
        let second = put(1_500_000).unwrap();
        let third = put(1_000_000).unwrap();
        assert_eq!(get(&shelf, &ada, &first), None);
        assert!(get(&shelf, &ada, &second).is_some() && get(&shelf, &ada, &third).is_some());
        assert!(matches!(put(6_000_000), Err(NotKept::TooLarge { .. })));
        for _ in 0..200 {
            put(1).unwrap();
        }
        assert_eq!(shelf.held().0, MOST);
        let old = Room { age: Duration::ZERO, ..ROOM };
        assert!(shelf.find(&ada, &third, old).is_none());
        assert_eq!(shelf.held(), (0, 0));
    }
}
