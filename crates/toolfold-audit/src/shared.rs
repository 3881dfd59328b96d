//! The audit of all replicas, read from the database where they keep it: chain by chain where it is checked, and in the order in
//! which events were committed where somebody follows.

use toolfold_core::DatabaseUrl;
use toolfold_store::{AuditDatabase, AuditPlace, AuditRow, StoreError};

use crate::event::AuditEvent;
use crate::file::Head;
use crate::moment::Moment;
use crate::read::{LONGEST_CHAIN, Stored};
use crate::verify::{Verified, broken, check};

/// Events that are asked for together.
const TOGETHER: i64 = 1000;

/// Looks at what all replicas wrote. For a thread that may wait.
pub struct SharedReader(AuditDatabase);

/// Up to where somebody has seen everything.
#[derive(Debug, Clone, Default)]
pub struct Seen(AuditPlace);

impl SharedReader {
    pub fn open(url: &DatabaseUrl) -> Result<SharedReader, StoreError> {
        AuditDatabase::open_waiting(url).map(SharedReader)
    }

    /// The end of every chain.
    pub fn heads(&self) -> Result<Vec<(String, Head)>, StoreError> {
        let mut heads = Vec::new();
        for (chain, _) in self.0.chains().wait()? {
            if let Some(head) = self.0.head(&chain).wait()? {
                heads.push((chain, Head { number: head.number as u64, hash: head.hash }));
            }
        }
        Ok(heads)
    }

    /// The last events, oldest first, and up to where that is.
    pub fn tail(&self, count: usize) -> Result<(Vec<Stored>, Seen), StoreError> {
        let (rows, place) = self.0.last(i64::try_from(count).unwrap_or(i64::MAX)).wait()?;
        Ok((rows.into_iter().map(stored).collect(), Seen(place)))
    }

    /// What came after that.
    pub fn after(&self, seen: &mut Seen, count: usize) -> Result<Vec<Stored>, StoreError> {
        let (rows, place) = self.0.since(seen.0.clone(), i64::try_from(count).unwrap_or(i64::MAX)).wait()?;
        seen.0 = place;
        Ok(rows.into_iter().map(stored).collect())
    }

    /// The events of this number: of one chain, or of all.
    pub fn show(&self, chain: Option<&str>, number: u64) -> Result<Vec<Stored>, StoreError> {
        Ok(self.0.numbered(chain, number as i64).wait()?.into_iter().map(stored).collect())
    }

    /// The last events of a tool, and with each what led to it, by time.
    pub fn trace(&self, tool: &str, count: usize) -> Result<Vec<Stored>, StoreError> {
        let rows = self.0.of_tool(tool, i64::try_from(count).unwrap_or(i64::MAX)).wait()?;
        let mut all: Vec<Stored> = rows.into_iter().map(stored).collect();
        let cause = |stored: &Stored| Some((stored.chain.clone()?, stored.event()?.follows?));
        let mut causes: Vec<(String, u64)> = all.iter().filter_map(cause).collect();
        while let Some((chain, number)) = causes.pop() {
            let known = all.iter().any(|stored| stored.number == number && stored.chain.as_deref() == Some(&chain));
            if known || all.len() > count + LONGEST_CHAIN * count {
                continue;
            }
            for found in self.show(Some(&chain), number)? {
                causes.extend(cause(&found));
                all.push(found);
            }
        }
        all.sort_by(|a, b| (a.time, &a.chain, a.number).cmp(&(b.time, &b.chain, b.number)));
        Ok(all)
    }

    /// Every event from a moment on, chain by chain, until `each` says that it is enough.
    pub fn each(&self, since: Moment, mut each: impl FnMut(&Stored) -> bool) -> Result<(), StoreError> {
        for (chain, cut) in self.0.chains().wait()? {
            let mut last = cut.map_or(0, |cut| cut.number);
            loop {
                let rows = self.0.after(&chain, last, TOGETHER).wait()?;
                let Some(end) = rows.last().map(|row| row.number) else { break };
                last = end;
                for row in rows {
                    let stored = stored((chain.clone(), row));
                    if stored.time >= since && !each(&stored) {
                        return Ok(());
                    }
                }
            }
        }
        Ok(())
    }

    /// Looks at every event of every chain.
    pub fn verify(&self) -> Result<Vec<(String, Verified)>, StoreError> {
        let mut verdicts = Vec::new();
        for (chain, cut) in self.0.chains().wait()? {
            let cut = cut.map(|cut| Head { number: cut.number as u64, hash: cut.hash });
            let verdict = self.verify_one(&chain, cut)?;
            verdicts.push((chain, verdict));
        }
        Ok(verdicts)
    }

    fn verify_one(&self, chain: &str, cut: Option<Head>) -> Result<Verified, StoreError> {
        let (mut before, mut events) = (cut.unwrap_or_default(), 0);
        loop {
            let rows = self.0.after(chain, before.number as i64, TOGETHER).wait()?;
            if rows.is_empty() {
                return Ok(Verified::Sound { events, cut: cut.map(|cut| cut.number), head: before });
            }
            for row in rows {
                let stored = stored((chain.to_owned(), row));
                if let Err(broken) = check(&stored, &before) {
                    return Ok(Verified::Broken(broken));
                }
                if stored.event().is_none() {
                    return Ok(Verified::Broken(broken(stored.number, "it is not an event")));
                }
                before = Head { number: stored.number, hash: stored.hash };
                events += 1;
            }
        }
    }

    /// What was used, by whom, by all replicas.
    pub fn usage(&self, since: Moment) -> Result<crate::Tally, StoreError> {
        let mut usage = crate::Tally::default();
        self.each(since, |stored| {
            stored.event().iter().for_each(|event: &AuditEvent| usage.count(event));
            true
        })?;
        Ok(usage.finished())
    }
}

fn stored((chain, row): (String, AuditRow)) -> Stored {
    Stored {
        chain: Some(chain),
        number: row.number as u64,
        time: Moment(row.time),
        tool: row.tool,
        body: row.body,
        hash: row.hash,
    }
}
