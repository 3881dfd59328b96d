//! What is old is taken away from the beginning; the number and the hash of the last event that went are kept, so that the
//! rest can still be verified. That something went is an event itself.

use rusqlite::{Connection, OptionalExtension};
use toolfold_config::Keep;
use toolfold_store::StoreError;

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
    let oldest = Moment::now().0 - i64::try_from(keep.days).unwrap_or(i64::MAX).saturating_mul(DAY);
    let cut = shipping.cut(oldest, keep.events)?;
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

/// The first and the last of what has to go now.
fn due(connection: &Connection, keep: Keep) -> rusqlite::Result<Option<(u64, u64)>> {
    let number = |sql: &str| connection.query_row(sql, [], |row| row.get::<_, Option<i64>>(0));
    let (Some(first), Some(last)) =
        (number("SELECT min(number) FROM events")?, number("SELECT max(number) FROM events")?)
    else {
        return Ok(None);
    };
    let (first, last) = (first as u64, last as u64);
    let count = last - first + 1;
    let too_many = count.saturating_sub(keep.events);
    let pragma = |name: &str| connection.pragma_query_value(None, name, |row| row.get::<_, i64>(0));
    let bytes = (pragma("page_count")? - pragma("freelist_count")?) as u64 * pragma("page_size")? as u64;
    // A tenth at a time: what is freed shows when whole pages are.
    let too_large = if bytes > keep.bytes { (count / 10).max(1) } else { 0 };
    let oldest = Moment::now().0 - i64::try_from(keep.days).unwrap_or(i64::MAX).saturating_mul(DAY);
    let until = (first + AT_ONCE).min(last);
    let select = "SELECT max(number) FROM events WHERE number < ?1 AND time < ?2";
    let too_old = connection.query_row(select, [until as i64, oldest], |row| row.get::<_, Option<i64>>(0))?;
    let too_old = too_old.map_or(0, |number| number as u64 - first + 1);
    // The last event stays: there is always a head that was really written.
    let going = too_many.max(too_large).max(too_old).min(AT_ONCE).min(count - 1);
    Ok((going > 0).then(|| (first, first + going - 1)))
}
