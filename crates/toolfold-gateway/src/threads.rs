//! Threads for work that a stranger decides the length of: few, waited for with an end, and told when nobody waits any
//! more.
//!
//! The runtime has 512 threads for what blocks. Without a bound of our own, 512 calls that never end would take them
//! all, and the store, the files and the reloading of the configuration with them.

use std::time::Duration;

use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use toolfold_core::Stop;

pub(crate) struct Threads {
    permits: Semaphore,
    /// How long somebody waits for a thread.
    patience: Duration,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoAnswer {
    #[error("all threads are at work")]
    Busy,
    #[error("the work crashed")]
    Crashed,
}

impl Threads {
    pub(crate) const fn new(count: usize, patience: Duration) -> Threads {
        Threads { permits: Semaphore::const_new(count), patience }
    }

    /// Runs `work` on a thread of its own. Dropping the future sets its `Stop`; work that looks at it gives its thread
    /// back then, and work that does not keeps it.
    pub(crate) async fn run<T, F>(&'static self, work: F) -> Result<T, NoAnswer>
    where
        T: Send + 'static,
        F: FnOnce(&Stop) -> T + Send + 'static,
    {
        let permit = timeout(self.patience, self.permits.acquire()).await;
        let Ok(Ok(permit)) = permit else { return Err(NoAnswer::Busy) };
        let stop = Stop::default();
        let _stopped_when_dropped = stop.when_dropped();
        let work = spawn_blocking(move || {
            let _held = permit;
            work(&stop)
        });
        work.await.map_err(|_| NoAnswer::Crashed)
    }

    /// As many as this are at work, until it is dropped.
    #[cfg(test)]
    pub(crate) async fn busy(&'static self, count: u32) -> tokio::sync::SemaphorePermit<'static> {
        self.permits.acquire_many(count).await.unwrap()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use toolfold_core::{Fuel, Spent};

    use super::*;

    static TWO: Threads = Threads::new(2, Duration::from_secs(10));

    /// What is cancelled stops, and its thread serves the next one.
    #[tokio::test]
    async fn work_that_nobody_waits_for_ends() {
        let (ended, seen) = mpsc::channel();
        for _ in 0..2 {
            let ended = ended.clone();
            let endless = TWO.run(move |stop| {
                let fuel = Fuel::stoppable(u64::MAX, stop.clone());
                let why = loop {
                    if let Err(why) = fuel.burn(1) {
                        break why;
                    }
                };
                ended.send(why).unwrap();
            });
            assert!(timeout(Duration::from_millis(20), endless).await.is_err());
        }
        assert_eq!(TWO.run(|_| 7).await, Ok(7));
        assert_eq!((seen.recv(), seen.recv()), (Ok(Spent::Stopped), Ok(Spent::Stopped)));
    }

    static ONE: Threads = Threads::new(1, Duration::ZERO);

    #[tokio::test]
    async fn waiting_for_a_thread_has_an_end() {
        let held = ONE.permits.acquire().await;
        assert_eq!(ONE.run(|_| ()).await, Err(NoAnswer::Busy));
        drop(held);
        assert_eq!(ONE.run(|_| ()).await, Ok(()));
    }
}
