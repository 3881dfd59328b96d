//! The body of a request: read once, into one buffer, within a time that follows from how much has come.
//!
//! What a reader would get wrong: nothing here waits with a timer for a body that is already there, which is nearly every one.

use std::task::Poll;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::body::{Body as _, Incoming};
use hyper::header::{self, HeaderMap};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolfold_wire::Share;

use super::App;
use crate::budget::{Budget, LITTLE, SMALL, counted};

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
    #[error("Too many large requests are being worked on. Try again later.")]
    NoMemory,
    #[error("Toolfold is stopping.")]
    Stopping,
}

/// Reads the whole body.
pub(crate) async fn read(app: &App, headers: &HeaderMap, mut body: Incoming) -> Result<Bytes, NoBody> {
    let read = collect(app, headers, &mut body).await;
    if matches!(read, Err(NoBody::TooLarge | NoBody::NoMemory)) {
        discard(app, body).await;
    }
    read
}

/// Takes the rest of a body that is refused and lets go of it: most clients read no answer before they have sent all.
async fn discard(app: &App, mut body: Incoming) {
    let mut reading = Reading { grace: app.deadlines.body, deadline: None };
    let mut left = MOST_DISCARDED;
    while let Ok(Some(bytes)) = reading.frame(&mut body, &app.stop).await
        && left > bytes.len()
    {
        left -= bytes.len();
    }
}

async fn collect(app: &App, headers: &HeaderMap, body: &mut Incoming) -> Result<Bytes, NoBody> {
    let announced = body.size_hint().exact().unwrap_or(0);
    if announced > LARGEST_BODY as u64 {
        return Err(NoBody::TooLarge);
    }
    if announced == 0 && !headers.contains_key(header::TRANSFER_ENCODING) {
        return Ok(Bytes::new());
    }
    let mut reading = Reading { grace: app.deadlines.body, deadline: None };
    let Some(first) = reading.frame(body, &app.stop).await? else { return Ok(Bytes::new()) };
    if first.len() as u64 == announced && first.len() <= SMALL {
        // All of it in one piece, as it lies in the buffer of the connection: nothing to copy.
        if first.len() <= LITTLE {
            return Ok(first);
        }
        let share = app.budget.small.take(first.len()).ok_or(NoBody::NoMemory)?;
        return Ok(counted(first, share));
    }
    // Room for all of it, and memory for as much as has come: pages nobody wrote to cost nothing. What is large gets more
    // room than any allocator keeps for later, so that it goes back to the system with the request.
    let room = if announced as usize > LARGE { LARGEST_BODY + LARGE } else { announced as usize };
    let mut whole = Vec::new();
    whole.try_reserve_exact(room).map_err(|_| NoBody::NoMemory)?;
    let mut share = None;
    let mut next = Some(first);
    while let Some(more) = next {
        if whole.len() + more.len() > LARGEST_BODY {
            return Err(NoBody::TooLarge);
        }
        whole.extend_from_slice(&more);
        grow(&mut share, &app.budget, whole.len())?;
        next = reading.frame(body, &app.stop).await?;
    }
    Ok(match share {
        Some(share) => counted(whole, share),
        None => whole.into(),
    })
}

/// Takes as much of the memory as this many bytes need, in steps.
fn grow(share: &mut Option<Share>, budget: &Budget, size: usize) -> Result<(), NoBody> {
    let held = share.as_ref().map_or(0, Share::bytes);
    if size <= held.max(LITTLE) {
        return Ok(());
    }
    // What is small has all it may need at once, and leaves its part to others when it is not small any more.
    let granted = match share {
        Some(share) if held > SMALL => share.grow((size - held).div_ceil(STEP) * STEP),
        _ => {
            let part =
                if size <= SMALL { budget.small.take(SMALL) } else { budget.bodies.take(size.div_ceil(STEP) * STEP) };
            part.map(|part| *share = Some(part)).is_some()
        }
    };
    if granted { Ok(()) } else { Err(NoBody::NoMemory) }
}

struct Reading {
    grace: Duration,
    /// Not looked at the clock before the first wait.
    deadline: Option<Instant>,
}

impl Reading {
    /// The next piece; `None` at the end.
    async fn frame(&mut self, body: &mut Incoming, stop: &CancellationToken) -> Result<Option<Bytes>, NoBody> {
        loop {
            let next = body.frame();
            tokio::pin!(next);
            let next = match futures_util::poll!(&mut next) {
                Poll::Ready(next) => next,
                Poll::Pending => self.wait(next, stop).await?,
            };
            match next {
                None => return Ok(None),
                Some(Err(_)) => return Err(NoBody::Broken),
                Some(Ok(frame)) => {
                    // Trailers mean nothing here.
                    if let Ok(bytes) = frame.into_data() {
                        self.earn(bytes.len(), Instant::now());
                        return Ok(Some(bytes));
                    }
                }
            }
        }
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
    use toolfold_wire::Memory;

    use super::*;

    #[test]
    fn a_body_that_drips_is_out_of_time_and_one_that_comes_is_not() {
        let (grace, second) = (Duration::from_secs(20), Duration::from_secs(1));
        let mut now = Instant::now();
        let mut reading = Reading { grace, deadline: Some(now + grace) };
        let mut come = |reading: &mut Reading, bytes| {
            now += second;
            reading.earn(bytes, now);
            reading.deadline.is_some_and(|deadline| deadline > now)
        };
        assert!((0..100).all(|_| come(&mut reading, BYTES_PER_SECOND)));
        assert!(!(0..21).all(|_| come(&mut reading, 1)));
        let now = Instant::now();
        let mut reading = Reading { grace, deadline: Some(now + grace) };
        reading.earn(LARGEST_BODY, now);
        assert_eq!(reading.deadline, Some(now + grace), "nobody saves up time to stand still");
    }

    #[test]
    fn what_is_large_takes_memory_as_it_comes() {
        let budget = Budget::within(&Memory::new(8 * STEP));
        let mut share = None;
        grow(&mut share, &budget, LITTLE).unwrap();
        assert!(share.is_none());
        grow(&mut share, &budget, LITTLE + 1).unwrap();
        grow(&mut share, &budget, SMALL).unwrap();
        assert_eq!((budget.small.used(), budget.bodies.used()), (SMALL, 0));
        grow(&mut share, &budget, SMALL + 1).unwrap();
        assert_eq!((budget.small.used(), budget.bodies.used()), (0, STEP));
        grow(&mut share, &budget, STEP + 1).unwrap();
        assert_eq!(budget.bodies.used(), 2 * STEP);
        assert_eq!(grow(&mut share, &budget, 5 * STEP), Err(NoBody::NoMemory));
    }

    #[test]
    fn many_that_are_small_have_their_part() {
        let budget = Budget::within(&Memory::new(16 * SMALL));
        let mut shares: Vec<Option<Share>> = (0..5).map(|_| None).collect();
        let granted = shares.iter_mut().map(|share| grow(share, &budget, SMALL));
        assert_eq!(granted.filter(Result::is_ok).count(), 4);
        grow(&mut None, &budget, SMALL + 1).unwrap();
    }
}
