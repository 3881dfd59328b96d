//! The working directory, and the promise that nothing outside it is touched: not through `..`, not through an absolute
//! path, not through a link, and not by exchanging a folder for a link while a path is being followed.
//!
//! What a reader would get wrong: no path is ever given to the kernel as a whole. Each step is opened relative to the
//! handle of the folder before it and follows no link; links are read and walked here, and `..` goes back to a handle
//! that is still open. So there is no moment between looking and opening. A handle is then asked what it is: only
//! regular files are read, and opening never waits (a pipe would).

use std::collections::VecDeque;
use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Component, Path, PathBuf};

use rustix::fs::{AtFlags, CWD, FileType, Mode, OFlags, Stat, fstat, openat, readlinkat, statat};

use crate::private::{Identity, Private};
use crate::problem::{Problem, told};

/// Links that are followed on one path.
const MOST_LINKS: usize = 40;
/// Folders inside one another.
pub(crate) const DEEPEST: usize = 64;

/// A folder that paths are resolved in.
#[derive(Debug)]
pub(crate) struct Folder {
    root: OwnedFd,
    path: PathBuf,
    private: Vec<Identity>,
}

/// Something below the folder that is open, or known not to be worth opening.
#[derive(Debug)]
pub(crate) struct Found {
    pub(crate) handle: Handle,
    pub(crate) stat: Stat,
    /// How it is named to the caller, `.` for the folder itself.
    pub(crate) shown: String,
}

#[derive(Debug)]
pub(crate) enum Handle {
    Directory(OwnedFd),
    File(File),
    /// A pipe, a socket, a device: never opened.
    Other,
}

/// Why there is nothing at the end of a path.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lost {
    Outside,
    Missing,
    Private,
    Unreadable,
}

impl Folder {
    pub(crate) fn working(private: &Private) -> Result<Self, Problem> {
        let folder = std::env::current_dir().map_err(|_| told!("There is no working directory to read from."))?;
        Folder::new(&folder, private)
    }

    pub(crate) fn new(folder: &Path, private: &Private) -> Result<Self, Problem> {
        let unreadable = || told!("The working directory cannot be read.");
        let path = folder.canonicalize().map_err(|_| unreadable())?;
        let root = openat(CWD, &path, directory(), Mode::empty()).map_err(|_| unreadable())?;
        Ok(Folder { root, path, private: private.identities() })
    }

    /// What a path leads to.
    pub(crate) fn open(&self, path: &str) -> Result<Found, Problem> {
        self.walk(Path::new(path)).map_err(|lost| match lost {
            Lost::Outside => told!("{path:?} lies outside the working directory. Only what is below it can be read."),
            Lost::Missing => told!("{path:?} does not exist. Use list_directory to see what there is."),
            Lost::Private => told!("{path:?} is not to be read: it belongs to the system or to Toolfold itself."),
            Lost::Unreadable => told!("{path:?} cannot be opened: permission may be missing."),
        })
    }

    fn walk(&self, path: &Path) -> Result<Found, Lost> {
        let mut walk = Walk { folder: self, above: Vec::new(), waiting: VecDeque::new(), links: 0 };
        walk.follow(path)?;
        let mut end = None;
        while let Some(step) = walk.waiting.pop_front() {
            end = None;
            match step {
                Step::Up => {
                    walk.above.pop().ok_or(Lost::Outside)?;
                }
                Step::Into(name) => end = walk.enter(name)?,
            }
        }
        let (handle, stat, last) = match end {
            Some((handle, stat, name)) => (handle, stat, Some(name)),
            None => {
                let handle = walk.here().try_clone().map_err(|_| Lost::Unreadable)?;
                let stat = fstat(&handle).map_err(|_| Lost::Unreadable)?;
                self.check(&stat, &walk.real())?;
                (Handle::Directory(handle), stat, None)
            }
        };
        let names = walk.above.iter().map(|(name, _)| name).chain(last.as_ref());
        let shown = names.map(|name| name.to_string_lossy()).collect::<Vec<_>>().join("/");
        Ok(Found { handle, stat, shown: if shown.is_empty() { ".".to_owned() } else { shown } })
    }

    /// What lies in a folder under a name; a link is not followed.
    pub(crate) fn inside(&self, folder: &OwnedFd, shown: &str, name: &OsStr) -> Result<Found, Lost> {
        let below = if shown == "." { name.to_owned() } else { Path::new(shown).join(name).into_os_string() };
        let real = self.path.join(&below);
        let (handle, stat) = self.open_one(folder, name, &real)?.ok_or(Lost::Missing)?;
        Ok(Found { handle, stat, shown: below.to_string_lossy().into_owned() })
    }

    /// Opens one name in a folder and asks the handle what it is; `None` for a link.
    fn open_one(&self, folder: &OwnedFd, name: &OsStr, real: &Path) -> Result<Option<(Handle, Stat)>, Lost> {
        let stat = statat(folder, name, AtFlags::SYMLINK_NOFOLLOW).map_err(|_| Lost::Missing)?;
        let flags = match FileType::from_raw_mode(stat.st_mode) {
            FileType::Symlink => return Ok(None),
            FileType::Directory => directory(),
            FileType::RegularFile => {
                OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOFOLLOW | OFlags::NOCTTY | OFlags::CLOEXEC
            }
            _ => return Ok(Some((Handle::Other, stat))),
        };
        self.check(&stat, real)?;
        let handle = openat(folder, name, flags, Mode::empty()).map_err(|error| match error {
            // Exchanged for a link or a file in between.
            rustix::io::Errno::LOOP | rustix::io::Errno::NOTDIR | rustix::io::Errno::NOENT => Lost::Missing,
            _ => Lost::Unreadable,
        })?;
        // What was opened may be something else by now: only the handle counts.
        let stat = fstat(&handle).map_err(|_| Lost::Unreadable)?;
        self.check(&stat, real)?;
        if of_the_kernel(&handle) {
            return Err(Lost::Private);
        }
        Ok(Some(match FileType::from_raw_mode(stat.st_mode) {
            FileType::Directory => (Handle::Directory(handle), stat),
            FileType::RegularFile => (Handle::File(File::from(handle)), stat),
            _ => (Handle::Other, stat),
        }))
    }

    fn check(&self, stat: &Stat, real: &Path) -> Result<(), Lost> {
        let named = real.file_name().is_some_and(|name| Private::is_configuration(&name.to_string_lossy()));
        let identity = (stat.st_dev, stat.st_ino);
        if named || Private::is_kernel(real) || self.private.contains(&identity) { Err(Lost::Private) } else { Ok(()) }
    }
}

enum Step {
    Up,
    Into(OsString),
}

/// On the way along a path.
struct Walk<'f> {
    folder: &'f Folder,
    /// The folders gone through, each with its name.
    above: Vec<(OsString, OwnedFd)>,
    waiting: VecDeque<Step>,
    links: usize,
}

type End = Option<(Handle, Stat, OsString)>;

impl Walk<'_> {
    fn here(&self) -> &OwnedFd {
        self.above.last().map_or(&self.folder.root, |(_, handle)| handle)
    }

    fn real(&self) -> PathBuf {
        self.above.iter().fold(self.folder.path.clone(), |path, (name, _)| path.join(name))
    }

    /// Puts the steps of a path before whatever is waiting.
    fn follow(&mut self, path: &Path) -> Result<(), Lost> {
        let path = match path.is_absolute() {
            true => {
                self.above.clear();
                path.strip_prefix(&self.folder.path).map_err(|_| Lost::Outside)?
            }
            false => path,
        };
        if path.as_os_str().as_bytes().contains(&0) || path.as_os_str().len() > 4096 {
            return Err(Lost::Missing);
        }
        for part in path.components().rev() {
            match part {
                Component::CurDir => {}
                Component::ParentDir => self.waiting.push_front(Step::Up),
                Component::Normal(name) => self.waiting.push_front(Step::Into(name.to_owned())),
                Component::RootDir | Component::Prefix(_) => return Err(Lost::Outside),
            }
        }
        Ok(())
    }

    /// One step down: into a folder, along a link, or to the end.
    fn enter(&mut self, name: OsString) -> Result<End, Lost> {
        if self.above.len() >= DEEPEST {
            return Err(Lost::Missing);
        }
        let real = self.real().join(&name);
        match self.folder.open_one(self.here(), &name, &real)? {
            Some((Handle::Directory(handle), _)) => {
                self.above.push((name, handle));
                Ok(None)
            }
            Some((handle, stat)) if self.waiting.is_empty() => Ok(Some((handle, stat, name))),
            Some(_) => Err(Lost::Missing),
            None => {
                self.links += 1;
                if self.links > MOST_LINKS {
                    return Err(Lost::Missing);
                }
                let target = readlinkat(self.here(), &name, Vec::new()).map_err(|_| Lost::Missing)?;
                let target = PathBuf::from(OsString::from_vec(target.into_bytes()));
                self.follow(&target)?;
                Ok(None)
            }
        }
    }
}

fn directory() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

/// Whether it lies on a file system that the kernel makes up, wherever that is mounted.
#[cfg(target_os = "linux")]
fn of_the_kernel(handle: &OwnedFd) -> bool {
    // proc, sysfs, debugfs, tracefs, securityfs, cgroup, cgroup2
    const KINDS: [u64; 7] = [0x9fa0, 0x6265_6572, 0x6462_6720, 0x7472_6163, 0x7363_6673, 0x0027_e0eb, 0x6367_7270];
    #[expect(clippy::cast_sign_loss, reason = "a number that is compared, never calculated with")]
    rustix::fs::fstatfs(handle).is_ok_and(|system| KINDS.contains(&(system.f_type as u64)))
}

#[cfg(not(target_os = "linux"))]
fn of_the_kernel(_: &OwnedFd) -> bool {
    false
}
