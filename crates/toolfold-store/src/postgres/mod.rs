//! PostgreSQL, and the thread that speaks with it.
//!
//! Like a file, a database has a thread of its own: a network that hangs holds up the store alone. Unlike a file it is asked
//! several things at once, over a pool with a bound. Questions that change something are put in lanes, one after the other, so
//! that two of them never overtake each other; questions that only look are put at once.
//!
//! What a reader would get wrong: every question has a deadline of its own here as well as in the database. A link that a
//! question was given up on is thrown away, since nobody knows what is still on it.

mod address;
mod failures;
mod habits;
mod logins;
mod manifests;
mod pins;
mod schema;
mod tokens;
mod toolsets;
mod usage;
mod vectors;

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use deadpool_postgres::{ClientWrapper, Object, Pool};
use futures_util::future::LocalBoxFuture;
use tokio::sync::{broadcast, mpsc, oneshot};
use tokio::task::{JoinSet, LocalSet};
use toolfold_core::DatabaseUrl;

use crate::engine::Pending;
use crate::error::StoreError;

pub(crate) use address::{Address, settings};
pub(crate) use manifests::keyed;
pub(crate) use schema::LOCKS;
pub(crate) use tokens::read as token;

use crate::cluster::Topic;

/// Links that are open at most, of one process.
pub(crate) const MOST_LINKS: usize = 8;
/// Questions that wait; who asks more is refused at once, as with a file.
const MOST_WAITING: usize = 256;
/// To get a link, and for an answer on it: together less than a client waits for a call.
pub(crate) const CONNECT: Duration = Duration::from_secs(5);
pub(crate) const ANSWER: Duration = Duration::from_secs(10);

/// What a question is put on.
pub(crate) type Link = ClientWrapper;
pub(crate) type Answer<T> = Result<T, tokio_postgres::Error>;

/// Questions of one lane are answered one after the other, in the order they came.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    Memory,
    Record,
    /// No order.
    Free,
}

#[derive(Debug, Clone)]
pub(crate) struct Postgres(Arc<Shared>);

#[derive(Debug)]
struct Shared {
    address: Address,
    waiting: Arc<AtomicUsize>,
    thread: Mutex<Option<Running>>,
    /// Who hears what others change, once somebody wants to.
    changes: Mutex<Option<broadcast::Sender<Topic>>>,
}

#[derive(Debug)]
struct Running {
    questions: mpsc::UnboundedSender<(Lane, Question)>,
    gone: oneshot::Receiver<()>,
}

type Question = Box<dyn FnOnce(Pool) -> LocalBoxFuture<'static, ()> + Send>;

impl Postgres {
    /// Connects, and brings the tables up to date where nobody has yet.
    pub(crate) async fn open(url: &DatabaseUrl) -> Result<Postgres, StoreError> {
        let (postgres, opened) = Postgres::begin(url)?;
        match opened.await {
            Ok(()) => Ok(postgres),
            Err(error) => {
                postgres.close().await;
                Err(error)
            }
        }
    }

    /// The same, and what came of it later.
    pub(crate) fn begin(url: &DatabaseUrl) -> Result<(Postgres, Pending<()>), StoreError> {
        let address = Address::new(url)?;
        let waiting = Arc::new(AtomicUsize::new(0));
        let running = start(&address).map_err(|error| StoreError::io(&address.shown, &error))?;
        let shown = address.shown.clone();
        let (thread, changes) = (Mutex::new(Some(running)), Mutex::default());
        let postgres = Postgres(Arc::new(Shared { address, waiting, thread, changes }));
        let opened = postgres.put(Lane::Record, move |pool| async move {
            let mut link = link(&pool, &shown).await?;
            schema::apply(&mut link, &shown).await
        });
        Ok((postgres, opened))
    }

    pub(crate) fn address(&self) -> &Address {
        &self.0.address
    }

    pub(crate) fn changes(&self) -> std::sync::MutexGuard<'_, Option<broadcast::Sender<Topic>>> {
        self.0.changes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a question now; what came of it.
    pub(crate) fn ask<T: Send + 'static>(
        &self,
        lane: Lane,
        work: impl AsyncFnOnce(&mut Link) -> Answer<T> + Send + 'static,
    ) -> Pending<T> {
        let shown = self.0.address.shown.clone();
        self.put(lane, move |pool| async move {
            let mut link = link(&pool, &shown).await?;
            let answered = tokio::time::timeout(ANSWER, work(&mut *link)).await;
            match answered {
                Ok(answer) => answer.map_err(|error| StoreError::database(&shown, &error)),
                Err(_) => {
                    drop(Object::take(link));
                    let why = format!("it did not answer within {} s", ANSWER.as_secs());
                    Err(StoreError::Unreachable { path: shown, why })
                }
            }
        })
    }

    fn put<T: Send + 'static, F>(&self, lane: Lane, work: impl FnOnce(Pool) -> F + Send + 'static) -> Pending<T>
    where
        F: Future<Output = Result<T, StoreError>> + 'static,
    {
        let waits = Waits::one_more(&self.0.waiting);
        if waits.before >= MOST_WAITING {
            let path = self.0.address.shown.clone();
            return Pending::refused(StoreError::Overloaded { path, waiting: MOST_WAITING });
        }
        let (give, answer) = Pending::awaited();
        let question: Question = Box::new(move |pool| {
            Box::pin(async move {
                let answer = work(pool).await;
                drop(waits);
                // Nobody waiting for it any more is fine.
                let _ = give.send(answer);
            })
        });
        let thread = self.0.thread.lock().unwrap_or_else(PoisonError::into_inner);
        match thread.as_ref().map(|running| running.questions.send((lane, question))) {
            Some(Ok(())) => answer,
            _ => Pending::refused(StoreError::Closed),
        }
    }

    pub(crate) async fn close(&self) {
        drop(self.changes().take());
        let running = self.0.thread.lock().unwrap_or_else(PoisonError::into_inner).take();
        if let Some(Running { questions, gone }) = running {
            drop(questions);
            let _ = gone.await;
        }
    }
}

/// One of those that wait, until it is dropped.
struct Waits {
    all: Arc<AtomicUsize>,
    before: usize,
}

impl Waits {
    fn one_more(all: &Arc<AtomicUsize>) -> Self {
        Waits { all: all.clone(), before: all.fetch_add(1, Ordering::Relaxed) }
    }
}

impl Drop for Waits {
    fn drop(&mut self) {
        self.all.fetch_sub(1, Ordering::Relaxed);
    }
}

async fn link(pool: &Pool, shown: &std::path::Path) -> Result<Object, StoreError> {
    pool.get().await.map_err(|error| StoreError::link(shown, &error))
}

fn start(address: &Address) -> std::io::Result<Running> {
    let (questions, asked) = mpsc::unbounded_channel();
    let (alive, gone) = oneshot::channel();
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    let address = address.clone();
    std::thread::Builder::new().name("store".to_owned()).spawn(move || {
        let local = LocalSet::new();
        local.block_on(&runtime, async move {
            let pool = address.pool();
            answer(&pool, asked).await;
            pool.close();
        });
        drop(alive);
    })?;
    Ok(Running { questions, gone })
}

/// Until nobody can ask any more and everybody has been answered.
async fn answer(pool: &Pool, mut asked: mpsc::UnboundedReceiver<(Lane, Question)>) {
    let mut tasks = JoinSet::new();
    let (memory, record) = (lane(&mut tasks, pool), lane(&mut tasks, pool));
    while let Some((lane, question)) = asked.recv().await {
        // A lane that is gone has dropped the question, and whoever waits hears that there is no answer.
        match lane {
            Lane::Memory => drop(memory.send(question)),
            Lane::Record => drop(record.send(question)),
            Lane::Free => drop(tasks.spawn_local(question(pool.clone()))),
        }
        while tasks.try_join_next().is_some() {}
    }
    drop((memory, record));
    while tasks.join_next().await.is_some() {}
}

fn lane(tasks: &mut JoinSet<()>, pool: &Pool) -> mpsc::UnboundedSender<Question> {
    let (put, mut next) = mpsc::unbounded_channel::<Question>();
    let pool = pool.clone();
    tasks.spawn_local(async move {
        while let Some(question) = next.recv().await {
            // In a task of its own: one that panics is one question that goes wrong.
            let pool = pool.clone();
            drop(tokio::task::spawn_local(async move { question(pool).await }).await);
        }
    });
    put
}

/// Where hints of changes go.
pub(crate) const CHANNEL: &str = "toolfold";

/// Counts a change and tells everybody who listens, when the transaction is done. That takes a lock of the whole database then,
/// so nothing that is on the way of a call says anything.
pub(crate) async fn notify(transaction: &deadpool_postgres::Transaction<'_>, change: &Topic) -> Answer<()> {
    let count = "INSERT INTO versions AS known (topic, number) VALUES ($1, 1)
                 ON CONFLICT (topic) DO UPDATE SET number = known.number + 1";
    transaction.execute(count, &[&change.as_str()]).await?;
    transaction.execute("SELECT pg_notify($1, $2)", &[&CHANNEL, &change.as_str()]).await.map(|_| ())
}

/// Of bytes that we wrote, or somebody else who is wrong about what a text is.
pub(crate) fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned())
}
