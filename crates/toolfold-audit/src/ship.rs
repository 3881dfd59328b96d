//! Where the store is a database, events are brought there. The file is then what a replica has written and the database may not have
//! yet: its chain is the replica's, goes on while the database is away, and is caught up with by itself.
//!
//! What a reader would get wrong: nothing is sent twice into a chain, and nothing is lost in between. An event keeps the number
//! that it got in the file, the database takes each number once, and whoever connects first compares both ends. The database is ahead
//! where a write reached it and the word of that did not come back; then its events are taken into the file.

use std::time::{Duration, Instant};

use toolfold_core::DatabaseUrl;
use toolfold_store::{AuditBound, AuditDatabase, AuditRow, StoreError};
use tracing::{info, warn};

use crate::file::{File, Head};

/// Events that are sent together.
const TOGETHER: usize = 500;
/// Between one try and the next while the database is away.
pub(crate) const AGAIN: Duration = Duration::from_secs(1);

pub(crate) struct Shipping {
    url: DatabaseUrl,
    link: Option<Linked>,
    /// Not tried again before.
    rests: Option<(Instant, StoreError)>,
    /// There is something in the file that the database does not have.
    pub(crate) behind: bool,
}

struct Linked {
    database: AuditDatabase,
    chain: String,
    /// The last that the database has.
    shipped: u64,
}

impl Shipping {
    pub(crate) fn new(url: DatabaseUrl) -> Self {
        Shipping { url, link: None, rests: None, behind: true }
    }

    /// Brings everything to the database that it does not have. While it is away, an error at once.
    pub(crate) fn catch_up(&mut self, file: &mut File) -> Result<(), StoreError> {
        if let Some((until, why)) = self.rests.as_ref().filter(|_| self.link.is_none())
            && Instant::now() < *until
        {
            return Err(why.clone());
        }
        let done = self.try_catch_up(file);
        self.note(done)
    }

    /// Whether the database answers, which has all there is then.
    pub(crate) fn reach(&mut self, file: &mut File) -> Result<(), StoreError> {
        self.catch_up(file)?;
        let Some(linked) = &self.link else { return Err(StoreError::Closed) };
        let answered = linked.database.head(&linked.chain).wait().map(drop);
        self.note(answered)
    }

    /// Adds what is about to be written to the file, and is not yet.
    pub(crate) fn add(&mut self, rows: Vec<AuditRow>) -> Result<(), StoreError> {
        let Some(linked) = &mut self.link else { return Err(StoreError::Closed) };
        let last = rows.last().map(|row| row.number as u64);
        let added = linked.database.add(&linked.chain, rows).wait();
        if let (Ok(()), Some(last)) = (&added, last) {
            linked.shipped = last;
        }
        self.note(added)
    }

    /// What the file has may not be what the database has: both are compared before anything else.
    pub(crate) fn doubt(&mut self) {
        self.link = None;
    }

    /// The last that the database has for sure.
    pub(crate) fn shipped(&self) -> Option<u64> {
        self.link.as_ref().map(|linked| linked.shipped)
    }

    /// Takes old events out of all chains that are beyond `over`: which, up to which number.
    pub(crate) fn cut(&mut self, over: AuditBound, to: AuditBound) -> Result<Vec<(String, i64)>, StoreError> {
        let Some(linked) = &self.link else { return Ok(Vec::new()) };
        linked.database.cut(over, to).wait()
    }

    fn note(&mut self, outcome: Result<(), StoreError>) -> Result<(), StoreError> {
        self.behind = outcome.is_err();
        match &outcome {
            Ok(()) => {
                if self.rests.take().is_some() {
                    info!("the audit is in the database again, with all that was written meanwhile");
                }
            }
            Err(error) => {
                if self.rests.is_none() {
                    warn!("the audit cannot be brought to the database: {error}");
                }
                self.link = None;
                self.rests = Some((Instant::now() + AGAIN, error.clone()));
            }
        }
        outcome
    }

    fn try_catch_up(&mut self, file: &mut File) -> Result<(), StoreError> {
        let linked = match &mut self.link {
            Some(linked) => linked,
            None => self.link.insert(connect(&self.url, file)?),
        };
        loop {
            let rows = file.after(linked.shipped, TOGETHER)?;
            let Some(last) = rows.last().map(|row| row.number as u64) else { return Ok(()) };
            linked.database.add(&linked.chain, rows).wait()?;
            linked.shipped = last;
        }
    }
}

/// Connects, and finds out up to where both are the same.
fn connect(url: &DatabaseUrl, file: &mut File) -> Result<Linked, StoreError> {
    let database = AuditDatabase::open_waiting(url)?;
    let mut chain = file.chain()?;
    let Some(there) = database.head(&chain).wait()? else {
        return Ok(Linked { database, chain, shipped: file.first()?.saturating_sub(1) });
    };
    let here = file.head()?;
    let mut shipped = there.number as u64;
    if shipped > here.number {
        let mut known = here;
        while known.number < shipped {
            let rows = database.after(&chain, known.number as i64, TOGETHER as i64).wait()?;
            if rows.is_empty() {
                break;
            }
            known = file.take_in(known, &rows)?;
        }
    } else if file.hash_of(shipped)?.is_some_and(|hash| hash != there.hash) {
        // An older copy of the file was brought back: from here on it is another chain.
        chain = file.new_chain()?;
        warn!(
            chain,
            "the audit of this machine differs from what the database has of it, and goes on as another chain"
        );
        shipped = file.first()?.saturating_sub(1);
    }
    Ok(Linked { database, chain, shipped })
}

/// An event on its way to the database.
pub(crate) fn row(head: Head, time: i64, tool: Option<String>, body: Vec<u8>) -> AuditRow {
    AuditRow { number: head.number as i64, time, tool, body, hash: head.hash }
}
