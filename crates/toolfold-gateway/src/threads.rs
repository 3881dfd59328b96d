//! Threads for work that a stranger decides the length of: few, waited for with an end, and told when nobody waits any
//! more.
//!
//! The runtime has 512 threads for what blocks. Without a bound of our own, 512 calls that never end would take them
//! all, and the store, the files and the reloading of the configuration with them.

use std::time::Duration;

use tokio::sync::{Semaphore, SemaphorePermit, oneshot};
use tokio::task::spawn_blocking;
use tokio::time::timeout;
use toolfold_core::Stop;

pub(crate) struct Threads {
    permits: Semaphore,
    /// How long somebody waits for a thread.
    patience: Duration,
    /// For work that takes much memory: on threads that end with it. The system's allocator keeps what a thread has given back for
    /// whoever has its place next; on the runtime's threads, which last, each of them would come to keep as much.
    is_large: bool,
}

/// The right to one of the threads, for one work after the other.
pub(crate) struct Seat {
    _permit: SemaphorePermit<'static>,
    is_large: bool,
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
        Threads { permits: Semaphore::const_new(count), patience, is_large: false }
    }

    /// For work that takes much memory.
    pub(crate) const fn for_large(count: usize, patience: Duration) -> Threads {
        Threads { permits: Semaphore::const_new(count), patience, is_large: true }
    }

    /// Runs `work` on a thread of its own. Dropping the future sets its `Stop`; work that looks at it gives its thread
    /// back then, and work that does not keeps it.
    pub(crate) async fn run<T, F>(&'static self, work: F) -> Result<T, NoAnswer>
    where
        T: Send + 'static,
        F: FnOnce(&Stop) -> T + Send + 'static,
    {
        self.turn().await?.run(work).await.map(|(_, done)| done)
    }

    /// Waits for a thread. Who needs something large for their work gets it afterwards: nobody waits with it in their hands.
    pub(crate) async fn turn(&'static self) -> Result<Seat, NoAnswer> {
        let permit = timeout(self.patience, self.permits.acquire()).await;
        let Ok(Ok(permit)) = permit else { return Err(NoAnswer::Busy) };
        Ok(Seat { _permit: permit, is_large: self.is_large })
    }

    /// As many as this are at work, until it is dropped.
    #[cfg(test)]
    pub(crate) async fn busy(&'static self, count: u32) -> SemaphorePermit<'static> {
        self.permits.acquire_many(count).await.unwrap()
    }
}

impl Seat {
    /// As [`Threads::run`]; what it gives back is good for another work.
    pub(crate) async fn run<T, F>(self, work: F) -> Result<(Seat, T), NoAnswer>
    where
        T: Send + 'static,
        F: FnOnce(&Stop) -> T + Send + 'static,
    {
        let stop = Stop::default();
        let _stopped_when_dropped = stop.when_dropped();
        let (is_large, (give, wait)) = (self.is_large, oneshot::channel());
        // The work has the turn with it: it is over when the work is, whether or not somebody still waits for that.
        let work = move || drop(give.send((work(&stop), self)));
        if is_large {
            std::thread::Builder::new().name("large work".to_owned()).spawn(work).map_err(|_| NoAnswer::Crashed)?;
        } else {
            spawn_blocking(work);
        }
        wait.await.map(|(done, turn)| (turn, done)).map_err(|_| NoAnswer::Crashed)
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

    static LARGE: Threads = Threads::for_large(1, Duration::ZERO);

    /// One work after the other, none of them on a thread that lasts; what crashes takes nothing with it.
    #[tokio::test]
    async fn a_turn_is_good_for_one_work_after_the_other() {
        let (turn, first) = LARGE.turn().await.unwrap().run(|_| std::thread::current().id()).await.unwrap();
        assert_eq!(LARGE.run(|_| ()).await, Err(NoAnswer::Busy), "the turn is not over");
        let (turn, second) = turn.run(|_| std::thread::current().id()).await.unwrap();
        assert!(first != second && first != std::thread::current().id());
        assert_eq!(turn.run(|_| panic!("on purpose")).await.map(|(_, ())| ()), Err(NoAnswer::Crashed));
        assert_eq!(LARGE.run(|_| 7).await, Ok(7));
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
