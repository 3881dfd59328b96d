//! Where things are kept, and the answer somebody waits for. Each feature's file puts its question to SQLite in SQLite's own
//! words; the same question in PostgreSQL's is in a file of the same name in `postgres/`.

use std::future::Future;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::task::{Context, Poll};

use rusqlite::Connection;
use tokio::sync::oneshot;

use crate::error::StoreError;
use crate::postgres::Postgres;
use crate::sqlite::Sqlite;
use crate::{Store, open};

#[derive(Debug)]
pub(crate) enum Engine {
    /// In a file.
    Sqlite(Sqlite),
    /// Gone with the process.
    InMemory(Sqlite),
    /// In a database that others share.
    Postgres(Postgres),
}

impl Engine {
    /// For what may be lost; and, once it is open, what a person should know about that.
    pub(crate) fn memory(path: Option<&Path>) -> (Engine, Pending<Option<String>>) {
        let engine = match path {
            Some(path) => Engine::Sqlite(Sqlite::new(open::Place::Memory(path.to_owned()))),
            None => Engine::InMemory(Sqlite::new(open::Place::Nowhere(open::Class::Memory))),
        };
        let notice = engine.sqlite().map_or_else(Pending::refused, Sqlite::open);
        (engine, notice)
    }

    /// For what may not; nothing happens before it is used.
    pub(crate) fn record(path: Option<&Path>) -> Engine {
        match path {
            Some(path) => Engine::Sqlite(Sqlite::new(open::Place::Record(Store::record_path(path)))),
            None => Engine::InMemory(Sqlite::new(open::Place::Nowhere(open::Class::Record))),
        }
    }

    /// Where it is PostgreSQL: the questions for it are its own.
    pub(crate) fn postgres(&self) -> Option<&Postgres> {
        match self {
            Engine::Postgres(postgres) => Some(postgres),
            Engine::Sqlite(_) | Engine::InMemory(_) => None,
        }
    }

    pub(crate) fn run<T: Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Pending<T> {
        self.sqlite().map_or_else(Pending::refused, |sqlite| sqlite.run(work))
    }

    /// Like `run`, but where there is no file yet, none is made: there is nothing to be found in it.
    pub(crate) fn look<T: Default + Send + 'static>(
        &self,
        work: impl FnOnce(&mut Connection) -> rusqlite::Result<T> + Send + 'static,
    ) -> Pending<T> {
        self.sqlite().map_or_else(Pending::refused, |sqlite| sqlite.look(work))
    }

    /// For messages.
    pub(crate) fn shown(&self) -> PathBuf {
        match self {
            Engine::Sqlite(sqlite) | Engine::InMemory(sqlite) => sqlite.shown(),
            Engine::Postgres(postgres) => postgres.address().shown.clone(),
        }
    }

    pub(crate) async fn close(&self) {
        match self {
            Engine::Sqlite(sqlite) | Engine::InMemory(sqlite) => sqlite.close().await,
            Engine::Postgres(postgres) => postgres.close().await,
        }
    }

    /// A question in SQLite's words has no answer elsewhere.
    fn sqlite(&self) -> Result<&Sqlite, StoreError> {
        match self {
            Engine::Sqlite(sqlite) | Engine::InMemory(sqlite) => Ok(sqlite),
            Engine::Postgres(_) => Err(StoreError::Interrupted),
        }
    }
}

/// What came of a question that is already on its way.
#[derive(Debug)]
pub struct Pending<T>(Result<oneshot::Receiver<Result<T, StoreError>>, Option<StoreError>>);

impl<T> Pending<T> {
    /// An answer, and where it is given.
    pub(crate) fn awaited() -> (oneshot::Sender<Result<T, StoreError>>, Self) {
        let (give, wait) = oneshot::channel();
        (give, Pending(Ok(wait)))
    }

    pub(crate) fn refused(error: StoreError) -> Self {
        Pending(Err(Some(error)))
    }
}

impl<T> Pending<T> {
    /// Waits for it on a thread that may wait.
    pub fn wait(self) -> Result<T, StoreError> {
        struct Unpark(std::thread::Thread);
        impl std::task::Wake for Unpark {
            fn wake(self: std::sync::Arc<Self>) {
                self.0.unpark();
            }
        }
        let waker = std::sync::Arc::new(Unpark(std::thread::current())).into();
        let (mut context, mut answer) = (Context::from_waker(&waker), std::pin::pin!(self));
        loop {
            match answer.as_mut().poll(&mut context) {
                Poll::Ready(answer) => return answer,
                Poll::Pending => std::thread::park(),
            }
        }
    }
}

impl<T> Future for Pending<T> {
    type Output = Result<T, StoreError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        match &mut self.0 {
            Ok(wait) => Pin::new(wait).poll(context).map(|answer| answer.unwrap_or(Err(StoreError::Interrupted))),
            Err(error) => Poll::Ready(Err(error.take().unwrap_or(StoreError::Interrupted))),
        }
    }
}
