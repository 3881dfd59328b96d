//! Checking arguments: at once where that is quick, as nearly always, and on a thread of its own where it is not.

use std::sync::Arc;
use std::time::Duration;

use toolfold_core::{Entry, Fuel, Refusal};
use toolfold_disclosure::Checker;
use toolfold_disclosure::arguments::{LONG, QUICK};
use toolfold_wire::Raw;
use tracing::warn;

use crate::threads::Threads;

static THREADS: Threads = Threads::new(4, Duration::from_secs(5));

/// The arguments to send, or why not. What cannot be checked in time is let through: the server has the last word.
pub(crate) async fn check(
    checker: &Arc<Checker>,
    entry: &Arc<Entry>,
    arguments: Option<Raw>,
) -> Result<Option<Raw>, Refusal> {
    let checked = match checker.check_within(entry, arguments.clone(), &Fuel::new(QUICK)) {
        Ok(checked) => checked,
        Err(_) => at_length(checker, entry, arguments).await,
    };
    for (tool, why) in checker.take_unusable() {
        warn!(%tool, "its arguments cannot be checked in full, so they are let through: {why}");
    }
    checked
}

async fn at_length(checker: &Arc<Checker>, entry: &Arc<Entry>, arguments: Option<Raw>) -> Result<Option<Raw>, Refusal> {
    let (on_thread, entry, given) = (checker.clone(), entry.clone(), arguments.clone());
    let work = THREADS.run(move |stop| on_thread.check_at_length(&entry, given, &Fuel::stoppable(LONG, stop.clone())));
    match work.await {
        Ok(Ok(checked)) => checked,
        _ => Ok(arguments),
    }
}
