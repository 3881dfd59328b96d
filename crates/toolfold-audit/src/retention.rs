//! What is old is taken away from the beginning; the number and the hash of the last event that went are kept, so that the
//! rest can still be verified. That something went is an event itself.
//!
//! What a reader would get wrong: what is over a bound is cut to some way below it. Cut to the bound, the event that says so would be one
//! too many, and whatever happens next would be followed by another.

use rusqlite::{Connection, OptionalExtension};
use toolfold_config::Keep;
use toolfold_store::{AuditBound, StoreError};

use crate::event::{AuditEvent, EventKind};
use crate::file::{File, Head, cut};
use crate::moment::Moment;
use crate::ship::Shipping;

/// The most that is taken away at once: whoever waits for an event to be written waits for this too.
const AT_ONCE: u64 = 20_000;
const DAY: i64 = 24 * 3600 * 1_000_000;

/// Takes away what is over its time, or too much; whether there may be more of it.
pub(crate) fn apply(file: &mut File, keep: Keep) -> Result<bool, StoreError> {
    let path = file.path.clone();
    let failed = |error: rusqlite::Error| StoreError::new(&path, &error).of_record();
    let Some((first, last)) = due(&file.connection, keep).map_err(failed)? else { return Ok(false) };
    let mut batch = file.begin()?;
    // Another process may have been here meanwhile.
    let select = "SELECT hash FROM events WHERE number = ?1";
    let hash = batch.transaction.query_row(select, [last as i64], |row| row.get(0)).optional().map_err(failed)?;
    let Some(hash) = hash else { return Ok(false) };
    cut(&batch.transaction, Head { number: last, hash }).map_err(failed)?;
    let mut event = AuditEvent::new(batch.next(), Moment::now(), EventKind::Cut);
    event.events = Some(last - first + 1);
    event.about = Some(format!("events {first} to {last} were over their time or too many"));
    batch.append(&event).map_err(failed)?;
    batch.commit().map_err(failed)?;
    Ok(true)
}

/// The same where a database has it all: the file lets go of what is there, and what is old there goes, of all chains.
pub(crate) fn apply_shipped(file: &mut File, shipping: &mut Shipping, keep: Keep) -> Result<(), StoreError> {
    let Some(shipped) = shipping.shipped() else { return Ok(()) };
    file.let_go(shipped)?;
    let [over, to] = [Bound::of(keep), Bound::below(keep)].map(Bound::of_chain);
    let cut = shipping.cut(over, to)?;
    if cut.is_empty() {
        return Ok(());
    }
    let path = file.path.clone();
    let failed = |error: rusqlite::Error| StoreError::new(&path, &error).of_record();
    let mut batch = file.begin()?;
    let chains: Vec<String> = cut.iter().map(|(chain, number)| format!("{chain} up to {number}")).collect();
    let mut event = AuditEvent::new(batch.next(), Moment::now(), EventKind::Cut);
    event.about = Some(format!("events were over their time or too many: {}", chains.join(", ")));
    batch.append(&event).map_err(failed)?;
    batch.commit().map_err(failed)?;
    shipping.behind = true;
    Ok(())
}

/// What may be there.
#[derive(Clone, Copy)]
struct Bound {
    /// Nothing from before.
    since: i64,
    events: u64,
    bytes: u64,
}

impl Bound {
    fn of(keep: Keep) -> Bound {
        Bound { since: Moment::now().0.saturating_sub(days(keep)), events: keep.events, bytes: keep.bytes }
    }

    /// What is left once one of them was passed: a tenth less, and of time, which somebody may have to keep, a hundredth.
    fn below(keep: Keep) -> Bound {
        let Bound { since, events, bytes } = Bound::of(keep);
        Bound { since: since.saturating_add(days(keep) / 100), events: events - events / 10, bytes: bytes - bytes / 10 }
    }

    fn of_chain(self) -> AuditBound {
        AuditBound { older_than: self.since, most: i64::try_from(self.events).unwrap_or(i64::MAX) }
    }
}

fn days(keep: Keep) -> i64 {
    i64::try_from(keep.days).unwrap_or(i64::MAX).saturating_mul(DAY)
}

/// The first and the last of what has to go now.
fn due(connection: &Connection, keep: Keep) -> rusqlite::Result<Option<(u64, u64)>> {
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, Option<i64>>(0));
    let (Some(first), Some(last)) =
        (number("SELECT min(number) FROM events")?, number("SELECT max(number) FROM events")?)
    else {
        return Ok(None);
    };
    let (first, last) = (first as u64, last as u64);
    if beyond(connection, (first, last), Bound::of(keep))? == 0 {
        return Ok(None);
    }
    let going = beyond(connection, (first, last), Bound::below(keep))?;
    Ok((going > 0).then(|| (first, first + going - 1)))
}

/// How many of the first events are too many.
fn beyond(connection: &Connection, (first, last): (u64, u64), bound: Bound) -> rusqlite::Result<u64> {
    let count = last - first + 1;
    let too_many = count.saturating_sub(bound.events);
    let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let bytes = (pragma("page_count")? - pragma("freelist_count")?) as u64 * pragma("page_size")? as u64;
    // As if all were of one size; whether it was enough shows the next time.
    let share = u128::from(count) * u128::from(bytes.saturating_sub(bound.bytes));
    let too_large = share.div_ceil(u128::from(bytes.max(1))) as u64;
    let until = (first + AT_ONCE).min(last);
    let select = "SELECT max(number) FROM events WHERE number < ?1 AND time < ?2";
    let too_old = connection.query_row(select, [until as i64, bound.since], |row| row.get::<_, Option<i64>>(0))?;
    let too_old = too_old.map_or(0, |number| number as u64 - first + 1);
    // The last event stays: there is always a head that was really written.
    Ok(too_many.max(too_large).max(too_old).min(AT_ONCE).min(count - 1))
}
