//! One SQLite database and the thread it lives on.
//!
//! A thread of its own and not the runtime's pool: a disk that hangs holds up the store alone, and there are never
//! more of them than there are files. It starts with the first question and ends when the last one is answered.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Mutex, PoisonError};

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::engine::Pending;
use crate::error::StoreError;
use crate::open::Place;

/// Questions that wait. Whoever asks more is refused at once: a disk that slow will not have caught up in a moment.
const MOST_WAITING: usize = 256;

#[derive(Debug)]
pub(crate) struct Sqlite {
    place: Place,
    thread: Mutex<Thread>,
}

#[derive(Debug)]
enum Thread {
    NotYet,
    Running {
        questions: SyncSender<Question>,
        /// Answers with an error when the thread is gone, and the file closed.
        gone: oneshot::Receiver<()>,
    },
    Closed,
}

type Question = Box<dyn FnOnce(&mut Keeper) + Send>;

impl Sqlite {
    pub(crate) fn new(place: Place) -> Self {
        Sqlite { place, thread: Mutex::new(Thread::NotYet) }
    }

    /// Opens it now; what a person should know about that.
    pub(crate) fn open(&self) -> Pending<Option<String>> {
        self.put(|keeper| keeper.open())
    }

    pub(crate) fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Pending<T> {
        self.put(|keeper| keeper.run(work))
    }

    pub(crate) fn look<T: Default + Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Pending<T> {
        self.put(|keeper| if keeper.is_there() { keeper.run(work) } else { Ok(T::default()) })
    }

    pub(crate) fn shown(&self) -> PathBuf {
        self.place.shown()
    }

    pub(crate) async fn close(&self) {
        let thread = std::mem::replace(&mut *self.thread(), Thread::Closed);
        if let Thread::Running { questions, gone } = thread {
            drop(questions);
            let _ = gone.await;
        }
    }

    fn put<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Keeper) -> Result<T, StoreError> + Send + 'static,
    ) -> Pending<T> {
        let (give, answer) = Pending::awaited();
        let question = Box::new(move |keeper: &mut Keeper| {
            // Nobody waiting for it any more is fine.
            let _ = give.send(work(keeper));
        });
        match self.send(question) {
            Ok(()) => answer,
            Err(error) => Pending::refused(error),
        }
    }

    fn send(&self, question: Question) -> Result<(), StoreError> {
        let mut thread = self.thread();
        if let Thread::NotYet = &*thread {
            *thread = start(&self.place)?;
        }
        let Thread::Running { questions, .. } = &*thread else { return Err(StoreError::Closed) };
        questions.try_send(question).map_err(|error| match error {
            TrySendError::Full(_) => StoreError::Overloaded { path: self.place.shown(), waiting: MOST_WAITING },
            TrySendError::Disconnected(_) => StoreError::Closed,
        })
    }

    fn thread(&self) -> std::sync::MutexGuard<'_, Thread> {
        // Nothing that is done under it can leave it half done.
        self.thread.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn start(place: &Place) -> Result<Thread, StoreError> {
    let (questions, asked) = sync_channel(MOST_WAITING);
    let (alive, gone) = oneshot::channel();
    let keeper = Keeper { place: place.clone(), connection: None };
    let thread = std::thread::Builder::new().name("store".to_owned()).spawn(move || {
        answer(keeper, &asked);
        drop(alive);
    });
    thread.map_err(|error| StoreError::io(&place.shown(), &error))?;
    Ok(Thread::Running { questions, gone })
}

fn answer(mut keeper: Keeper, asked: &Receiver<Question>) {
    while let Ok(question) = asked.recv() {
        // A panic leaves no half-written state behind, SQLite rolls back what was not committed; and whoever waits for
        // the answer hears that there is none. The next question finds the file opened anew.
        if catch_unwind(AssertUnwindSafe(|| question(&mut keeper))).is_err() {
            keeper.connection = None;
        }
    }
}

/// Who has the connection.
struct Keeper {
    place: Place,
    /// `None`: not opened yet, or it could not be.
    connection: Option<Connection>,
}

impl Keeper {
    fn open(&mut self) -> Result<Option<String>, StoreError> {
        let (connection, notice) = self.place.open()?;
        self.connection = Some(connection);
        Ok(notice)
    }

    fn is_there(&self) -> bool {
        self.connection.is_some() || self.place.exists()
    }

    /// Runs one piece of work. Where it finds the file damaged, what happens is up to the class: memory begins a new
    /// store at once (the work has failed, the next will not), a record is closed and looked at again before anything
    /// else is done to it.
    fn run<T>(&mut self, work: impl FnOnce(&mut Connection) -> rusqlite::Result<T>) -> Result<T, StoreError> {
        if self.connection.is_none() {
            self.open()?;
        }
        let Some(connection) = &mut self.connection else { return Err(StoreError::Closed) };
        let failed = match work(connection) {
            Ok(value) => return Ok(value),
            Err(error) => self.place.failed(&error),
        };
        if failed.is_damage() {
            // The damaged file must be closed before its successor is opened.
            self.connection = None;
            if let Some(successor) = self.place.replace() {
                self.connection = Some(successor?);
            }
        }
        Err(failed)
    }
}
