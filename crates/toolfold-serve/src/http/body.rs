//! The body of a request: read once, into one buffer, within a time that follows from how much has come.
//!
//! What a reader would get wrong: nothing here waits with a timer for a body that is already there, which is nearly every one. Nor
//! is one counted before it is waited for; while a small one is, its connection counts it, and what is large has its own share.

use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body as _, Incoming};
use hyper::header::{self, HeaderMap};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolfold_wire::{Memory, Share};

use super::App;
use super::connections::Admitted;
use super::place::Part;
use crate::budget::{LITTLE, SMALL, counted};

/// The largest request body.
pub(crate) const LARGEST_BODY: usize = 32 * 1024 * 1024;
/// What comes earns a body more time at this rate.
const BYTES_PER_SECOND: usize = 64 * 1024;
/// What a body may still take when the program is to end.
const FAREWELL: Duration = Duration::from_secs(1);
/// What is taken of a body that is refused, so that its sender hears of it.
const MOST_DISCARDED: usize = 2 * LARGEST_BODY;
/// From here on a body has a buffer of its own from the system.
const LARGE: usize = 1024 * 1024;
/// Memory is taken in steps of this many bytes.
const STEP: usize = 256 * 1024;

/// Why there is no body.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub(crate) enum NoBody {
    #[error("The body is larger than {LARGEST_BODY} bytes.")]
    TooLarge,
    #[error("The body broke off.")]
    Broken,
    #[error("The body did not come in time.")]
    Late,
    #[error("Too many requests are being worked on. Try again later.")]
    NoMemory,
    #[error("Toolfold is stopping.")]
    Stopping,
}

/// A body on its way in, and the connection that it comes over.
pub(crate) struct Coming {
    pub(crate) body: Incoming,
    pub(crate) from: Arc<Admitted>,
}

/// Reads the whole body.
pub(crate) async fn read(app: &App, headers: &HeaderMap, coming: Coming) -> Result<Bytes, NoBody> {
    let mut reading = Reading { patience: Patience::of(app), coming };
    let announced = reading.coming.body.size_hint().exact().unwrap_or(0);
    if announced == 0 && !headers.contains_key(header::TRANSFER_ENCODING) {
        return Ok(Bytes::new());
    }
    let read = match usize::try_from(announced) {
        Ok(announced) if announced <= LARGEST_BODY => reading.collect(app, announced).await,
        _ => Err(NoBody::TooLarge),
    };
    if matches!(read, Err(NoBody::TooLarge | NoBody::NoMemory)) {
        reading.patience = Patience::of(app);
        reading.discard(&app.stop).await;
    }
    read
}

/// Room for all of a large body, and memory for as much as has come: pages nobody wrote to cost nothing. What is larger still gets
/// more room than any allocator keeps for later, so that it goes back to the system with the request.
fn make_room(whole: &mut Vec<u8>, announced: usize) -> Result<(), NoBody> {
    let room = if announced > LARGE { LARGEST_BODY + LARGE } else { announced };
    whole.try_reserve_exact(room.saturating_sub(whole.len())).map_err(|_| NoBody::NoMemory)
}

/// Takes as much of the memory as this many bytes need, in steps, once they are more than small.
fn grow(share: &mut Option<Share>, bodies: &Memory, size: usize) -> Result<(), NoBody> {
    let held = share.as_ref().map_or(0, Share::bytes);
    if size <= held.max(SMALL) {
        return Ok(());
    }
    let more = (size - held).div_ceil(STEP) * STEP;
    let granted = match share {
        Some(share) => share.grow(more),
        None => {
            *share = bodies.take(more);
            share.is_some()
        }
    };
    if granted { Ok(()) } else { Err(NoBody::NoMemory) }
}

struct Reading {
    patience: Patience,
    coming: Coming,
}

impl Reading {
    async fn collect(&mut self, app: &App, announced: usize) -> Result<Bytes, NoBody> {
        let Some(first) = self.frame(0, &app.stop).await? else { return Ok(Bytes::new()) };
        if first.len() == announced && announced <= LITTLE {
            // Nearly always. The buffer that it lies in may be much larger, and is free for the next one.
            return Ok(Bytes::copy_from_slice(&first));
        }
        let (mut whole, mut share, mut next) = (Vec::new(), None, Some(first));
        while let Some(more) = next {
            let size = whole.len() + more.len();
            if size > LARGEST_BODY {
                return Err(NoBody::TooLarge);
            }
            if size > SMALL && share.is_none() {
                make_room(&mut whole, announced)?;
                self.coming.from.place.let_go(Part::Body);
            }
            grow(&mut share, &app.budget.bodies, size)?;
            whole.extend_from_slice(&more);
            drop(more);
            next = self.frame(if share.is_none() { size } else { 0 }, &app.stop).await?;
        }
        let share = match share {
            Some(share) => Some(share),
            None => app.reserve.work(whole.len(), &app.budget),
        };
        share.map(|share| counted(whole, share)).ok_or(NoBody::NoMemory)
    }

    /// Takes the rest of a body that is refused and lets go of it: most clients read no answer before they have sent all.
    async fn discard(&mut self, stop: &CancellationToken) {
        let mut left = MOST_DISCARDED;
        while let Ok(Some(bytes)) = self.frame(0, stop).await
            && left > bytes.len()
        {
            left -= bytes.len();
        }
    }

    /// The next piece; `None` at the end. So many bytes lie here and are counted while it is waited for.
    async fn frame(&mut self, lying: usize, stop: &CancellationToken) -> Result<Option<Bytes>, NoBody> {
        loop {
            let next = self.coming.body.frame();
            tokio::pin!(next);
            let next = match futures_util::poll!(&mut next) {
                Poll::Ready(next) => next,
                Poll::Pending => {
                    if lying > LITTLE {
                        self.coming.from.hold(Part::Body, lying);
                    }
                    self.patience.wait(next, stop).await?
                }
            };
            match next {
                None => return Ok(None),
                Some(Err(_)) => return Err(NoBody::Broken),
                Some(Ok(frame)) => {
                    // Trailers mean nothing here.
                    if let Ok(bytes) = frame.into_data() {
                        self.patience.earn(bytes.len(), Instant::now());
                        return Ok(Some(bytes));
                    }
                }
            }
        }
    }
}

impl Drop for Reading {
    fn drop(&mut self) {
        self.coming.from.place.let_go(Part::Body);
    }
}

/// How long a body is waited for.
struct Patience {
    grace: Duration,
    /// Not looked at the clock before the first wait.
    deadline: Option<Instant>,
}

impl Patience {
    fn of(app: &App) -> Self {
        Patience { grace: app.deadlines.body, deadline: None }
    }

    async fn wait<T>(&mut self, next: impl Future<Output = T>, stop: &CancellationToken) -> Result<T, NoBody> {
        let deadline = *self.deadline.get_or_insert_with(|| Instant::now() + self.grace);
        let stopped = async {
            stop.cancelled().await;
            tokio::time::sleep(FAREWELL).await;
        };
        tokio::select! {
            next = next => Ok(next),
            () = tokio::time::sleep_until(deadline) => Err(NoBody::Late),
            () = stopped => Err(NoBody::Stopping),
        }
    }

    fn earn(&mut self, bytes: usize, now: Instant) {
        if let Some(deadline) = &mut self.deadline {
            let earned = Duration::from_secs_f64(bytes as f64 / BYTES_PER_SECOND as f64);
            *deadline = (*deadline + earned).min(now + self.grace).max(*deadline);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_body_that_drips_is_out_of_time_and_one_that_comes_is_not() {
        let (grace, second) = (Duration::from_secs(20), Duration::from_secs(1));
        let mut now = Instant::now();
        let mut patience = Patience { grace, deadline: Some(now + grace) };
        let mut come = |patience: &mut Patience, bytes| {
            now += second;
            patience.earn(bytes, now);
            patience.deadline.is_some_and(|deadline| deadline > now)
        };
        assert!((0..100).all(|_| come(&mut patience, BYTES_PER_SECOND)));
        assert!(!(0..21).all(|_| come(&mut patience, 1)));
        let now = Instant::now();
        let mut patience = Patience { grace, deadline: Some(now + grace) };
        patience.earn(LARGEST_BODY, now);
        assert_eq!(patience.deadline, Some(now + grace), "nobody saves up time to stand still");
    }

    #[test]
    fn what_is_large_takes_memory_as_it_comes() {
        let memory = Memory::new(3 * STEP);
        let mut share = None;
        grow(&mut share, &memory, SMALL).unwrap();
        assert!(share.is_none());
        grow(&mut share, &memory, SMALL + 1).unwrap();
        assert_eq!(memory.used(), STEP);
        grow(&mut share, &memory, STEP + 1).unwrap();
        assert_eq!(memory.used(), 2 * STEP);
        assert_eq!(grow(&mut share, &memory, 4 * STEP), Err(NoBody::NoMemory));
    }
}
