//! The instance that is running. `serve` leaves a note and a socket in the state folder; a command with the same
//! configuration asks there instead of starting every server once more.
//!
//! Who may ask is who may open the socket: the folder and the socket are for this user alone, and the system says who is
//! at the other end. No secret is written anywhere. What is left of an instance that was killed does not answer, and is
//! taken away by whoever notices.
//!
//! A socket takes connections for a process that was stopped, so a connection proves nothing: an instance says at once that
//! it is there, and says so again while an answer takes its time. A slow tool is waited for, a process that hangs is not.

use std::collections::BTreeSet;
use std::fs::{self, DirBuilder, Permissions};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use serde::{Deserialize, Serialize};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::unix::OwnedWriteHalf;
use tokio::net::{UnixListener, UnixStream};
use tokio::sync::Semaphore;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout_at};
use tokio_util::sync::CancellationToken;
use toolfold_config::Origin;
use toolfold_gateway::Gateway;
use tracing::debug;

use super::ask::{Answer, Ask};
use super::output::{Style, tell};
use super::{Common, Fail};

/// How commands and instances speak with each other: 2 since an instance says first that it is there.
const DOOR: u32 = 2;
/// Arguments and results have limits of their own; this one is against nonsense.
const LONGEST: u64 = 64 << 20;
const LONGEST_NOTE: u64 = 64 << 10;
/// An instance that runs answers at once, as nobody else is asked.
const HELLO: Duration = Duration::from_secs(2);
/// How long one that is liked better may still take to do so when another has.
const GRACE: Duration = Duration::from_millis(200);
/// How long an instance waits for the question: longer than whoever asks may wait for other instances.
const QUESTION: Duration = Duration::from_secs(10);
/// What it says while it works on an answer: JSON may begin with it.
const SIGN: u8 = b'\n';
const EVERY: Duration = Duration::from_secs(1);
/// An instance that was heard of and says nothing for so long will not answer.
const SILENCE: Duration = Duration::from_secs(10);
/// So much of an answer has to be taken in that time.
const PIECE: usize = 64 * 1024;
/// Commands that are answered at the same time, and that may wait to be.
const AT_ONCE: usize = 32;
const WAITING: usize = 256;

/// Instances that did not answer this process: they are neither waited for nor told of again.
static SILENT: Mutex<Vec<u32>> = Mutex::new(Vec::new());

/// What there is to ask.
#[derive(Default)]
pub(crate) struct Found {
    pub(crate) running: Option<(Note, UnixStream)>,
    /// Processes that are there and do not answer, and nobody was told of yet.
    pub(crate) silent: Vec<u32>,
}

/// What is written down of an instance.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Note {
    pub(crate) pid: u32,
    pub(crate) version: String,
    /// How it speaks with commands.
    #[serde(default)]
    door: u32,
    /// The configuration; none: the toolbox.
    pub(crate) config: Option<PathBuf>,
    /// Where it listens; none: it speaks on stdin and stdout.
    pub(crate) address: Option<String>,
}

#[derive(Serialize, Deserialize)]
struct Question {
    ask: Ask,
    style: Style,
}

/// An open door. Closed, and its note taken away, when it is dropped.
pub(crate) struct Door {
    files: [PathBuf; 2],
}

impl Drop for Door {
    fn drop(&mut self) {
        self.files.iter().for_each(|file| drop(fs::remove_file(file)));
    }
}

/// Lets commands in. `None` where there is no place for it: everything else works without.
pub(crate) fn open(state: Option<&Path>, origin: &Origin, address: Option<String>, gateway: &Gateway) -> Option<Door> {
    let (door, listener) =
        bind(&folder(state?), origin, address).inspect_err(|error| debug!(%error, "no door for commands")).ok()?;
    tokio::spawn(attend(listener, gateway.clone()));
    Some(door)
}

fn bind(folder: &Path, origin: &Origin, address: Option<String>) -> std::io::Result<(Door, UnixListener)> {
    let pid = std::process::id();
    DirBuilder::new().recursive(true).mode(0o700).create(folder)?;
    sweep(folder);
    let (note, socket) = (folder.join(format!("{pid}.json")), folder.join(format!("{pid}.sock")));
    let listener = UnixListener::bind(&socket)?;
    let door = Door { files: [note.clone(), socket.clone()] };
    fs::set_permissions(&socket, Permissions::from_mode(0o600))?;
    let about = Note { pid, version: version(), door: DOOR, config: identity(origin), address };
    let aside = note.with_extension("new");
    fs::write(&aside, serde_json::to_vec(&about)?)?;
    fs::set_permissions(&aside, Permissions::from_mode(0o600))?;
    fs::rename(aside, note)?;
    Ok((door, listener))
}

/// Takes away what instances left that are gone, and what one before us with our number did.
fn sweep(folder: &Path) {
    let us = std::process::id();
    for file in fs::read_dir(folder).into_iter().flatten().flatten() {
        let pid = file.path().file_stem().and_then(|name| name.to_str()?.parse::<i32>().ok());
        let process = pid.and_then(rustix::process::Pid::from_raw);
        let gone =
            process.is_some_and(|process| rustix::process::test_kill_process(process) == Err(rustix::io::Errno::SRCH));
        if gone || pid == i32::try_from(us).ok() {
            let _ = fs::remove_file(file.path());
        }
    }
}

async fn attend(listener: UnixListener, gateway: Gateway) {
    let us = rustix::process::geteuid().as_raw();
    let (waiting, at_once) = (Arc::new(Semaphore::new(WAITING)), Arc::new(Semaphore::new(AT_ONCE)));
    while let Ok(place) = waiting.clone().acquire_owned().await {
        let Ok((stream, _)) = listener.accept().await else {
            // Descriptors may run out for a while.
            tokio::time::sleep(EVERY).await;
            continue;
        };
        if stream.peer_cred().is_ok_and(|peer| peer.uid() == us) {
            let (gateway, at_once) = (gateway.clone(), at_once.clone());
            tokio::spawn(async move {
                let _place = place;
                // Whoever asked is gone: nobody is left to tell.
                let _ = reply(stream, &gateway, &at_once).await;
            });
        }
    }
}

async fn reply(stream: UnixStream, gateway: &Gateway, at_once: &Semaphore) -> std::io::Result<()> {
    let (reader, mut writer) = stream.into_split();
    writer.write_all(&[SIGN]).await?;
    let mut text = Vec::new();
    let mut question = reader.take(LONGEST);
    tokio::time::timeout(QUESTION, question.read_to_end(&mut text)).await??;
    let Question { ask, style } = serde_json::from_slice(&text)?;
    let done = CancellationToken::new();
    // Beside the work, and not between two steps of it: some are long.
    let signs = tokio::spawn(give_signs(writer, done.clone()));
    let answer = {
        let _done = done.drop_guard();
        let _permit = at_once.acquire().await.map_err(std::io::Error::other)?;
        ask.answer(gateway, style).await
    };
    let mut writer = signs.await.map_err(std::io::Error::other)??;
    for piece in serde_json::to_vec(&answer)?.chunks(PIECE) {
        tokio::time::timeout(SILENCE, writer.write_all(piece)).await??;
    }
    writer.shutdown().await
}

async fn give_signs(mut writer: OwnedWriteHalf, done: CancellationToken) -> std::io::Result<OwnedWriteHalf> {
    while done.run_until_cancelled(tokio::time::sleep(EVERY)).await.is_some() {
        tokio::time::timeout(SILENCE, writer.write_all(&[SIGN])).await??;
    }
    Ok(writer)
}

/// The answer of the running instance; `None` where none that answers runs with this configuration.
pub(crate) async fn ask(common: &Common, origin: &Origin, ask: &Ask, style: Style) -> Option<Result<Answer, Fail>> {
    let found = find(common.options().data_dir.as_deref()?, origin).await;
    if !common.quiet {
        found.silent.iter().for_each(|pid| tell(&without(*pid)));
    }
    let (note, stream) = found.running?;
    let question = serde_json::to_vec(&serde_json::json!({"ask": ask, "style": style})).ok()?;
    match exchange(stream, &question).await {
        Ok(answer) => Some(answer),
        Err(error) if error.kind() == ErrorKind::TimedOut => {
            Some(Err(Fail::machine(format!("the running instance (process {}) does not answer any more", note.pid))
                .hint("what was asked for may be done all the same; `toolfold status` goes on without it")))
        }
        Err(error) => Some(Err(Fail::machine(format!("the running instance did not answer: {error}"))
            .hint("it may have been stopped in the middle; try again"))),
    }
}

fn without(pid: u32) -> String {
    format!("Toolfold is running (process {pid}) and does not answer; this goes on without it.")
}

async fn exchange(mut stream: UnixStream, question: &[u8]) -> std::io::Result<Result<Answer, Fail>> {
    tokio::time::timeout(SILENCE, stream.write_all(question)).await??;
    stream.shutdown().await?;
    let (mut text, mut answer) = (Vec::new(), stream.take(LONGEST));
    while tokio::time::timeout(SILENCE, answer.read_buf(&mut text)).await?? > 0 {}
    Ok(serde_json::from_slice(&text)?)
}

/// Asks every instance with this configuration, and waits for none longer than it takes to say hello. What they answer is
/// for nobody.
pub(crate) async fn tell_all(common: &Common, ask: impl Fn() -> Ask) {
    let options = common.options();
    let (Some(state), Ok(loaded)) = (&options.data_dir, toolfold_config::load(&options)) else { return };
    let style = Style::here(true);
    for note in notes(state, &loaded.origin).into_iter().filter(|note| !is_silent(note)) {
        let told = async {
            let stream = UnixStream::connect(folder(state).join(format!("{}.sock", note.pid))).await?;
            exchange(stream, &serde_json::to_vec(&Question { ask: ask(), style })?).await
        };
        if tokio::time::timeout(HELLO, told).await.is_err() {
            debug!(pid = note.pid, "an instance was not told");
        }
    }
}

/// The instance with this configuration that answers: one that serves HTTP before one that some client has started. One that
/// hangs keeps nobody from another that does not.
pub(crate) async fn find(state: &Path, origin: &Origin) -> Found {
    let folder = folder(state);
    let notes: Vec<Note> = notes(state, origin).into_iter().filter(|note| !is_silent(note)).collect();
    let mut greetings = JoinSet::new();
    for (rank, note) in notes.iter().enumerate() {
        let socket = folder.join(format!("{}.sock", note.pid));
        greetings.spawn(async move { (rank, greeted(&socket).await) });
    }
    let mut open: BTreeSet<usize> = (0..notes.len()).collect();
    let (mut best, mut silent) = (None, Vec::new());
    // Every greeting has an end of its own.
    let mut end = Instant::now() + HELLO * 2;
    while let Ok(Some(Ok((rank, greeting)))) = timeout_at(end, greetings.join_next()).await {
        open.remove(&rank);
        let pid = notes[rank].pid;
        match greeting {
            Ok(stream) if best.as_ref().is_none_or(|(before, _)| rank < *before) => {
                best = Some((rank, stream));
                end = end.min(Instant::now() + GRACE);
            }
            Ok(_) => {}
            Err(error) => match error.kind() {
                ErrorKind::ConnectionRefused | ErrorKind::NotFound => {
                    drop(Door { files: [folder.join(format!("{pid}.json")), folder.join(format!("{pid}.sock"))] });
                }
                // It is there and not for us, or it is just ending.
                ErrorKind::UnexpectedEof | ErrorKind::ConnectionReset | ErrorKind::PermissionDenied => {}
                // Nor does one answer that has not taken the last thousands who came.
                _ => silent.push(pid),
            },
        }
        if best.as_ref().is_some_and(|(rank, _)| open.first().is_none_or(|other| rank < other)) {
            break;
        }
    }
    SILENT.lock().unwrap_or_else(PoisonError::into_inner).extend(&silent);
    Found { running: best.map(|(rank, stream)| (notes[rank].clone(), stream)), silent }
}

fn is_silent(note: &Note) -> bool {
    SILENT.lock().unwrap_or_else(PoisonError::into_inner).contains(&note.pid)
}

/// A connection to an instance that has said that it is there.
async fn greeted(socket: &Path) -> std::io::Result<UnixStream> {
    let greeting = async {
        let mut stream = UnixStream::connect(socket).await?;
        stream.read_exact(&mut [0]).await?;
        Ok(stream)
    };
    tokio::time::timeout(HELLO, greeting).await?
}

/// The instances with this configuration, those that serve HTTP first. Some may be gone.
fn notes(state: &Path, origin: &Origin) -> Vec<Note> {
    let files = fs::read_dir(folder(state)).into_iter().flatten().flatten();
    let files = files.filter(|file| file.path().extension().is_some_and(|kind| kind == "json"));
    // Whatever else may lie there, and not be there to be read.
    let is_note =
        |file: &fs::DirEntry| file.metadata().is_ok_and(|about| about.is_file() && about.len() < LONGEST_NOTE);
    let files = files.filter(is_note);
    let read = |file: fs::DirEntry| serde_json::from_slice::<Note>(&fs::read(file.path()).ok()?).ok();
    let mut notes: Vec<Note> = files.filter_map(read).collect();
    notes.retain(|note| note.config == identity(origin) && note.version == version() && note.door == DOOR);
    notes.sort_by_key(|note| (note.address.is_none(), note.pid));
    notes
}

/// The same file is the same configuration, however it is reached.
fn identity(origin: &Origin) -> Option<PathBuf> {
    match origin {
        Origin::File(path) => Some(path.canonicalize().unwrap_or_else(|_| path.clone())),
        Origin::Default => None,
    }
}

/// Another version may understand something else.
fn version() -> String {
    env!("CARGO_PKG_VERSION").to_owned()
}

fn folder(state: &Path) -> PathBuf {
    state.join("instances")
}
