//! Where one connection stands: what it is waiting for, and since when. The connection writes it down as it goes, and
//! one sweep over all of them ends those that are past their time, so that no request pays for a timer.

use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolfold_wire::{Memory, Share};

use crate::budget::LITTLE;

/// A head that is more than little takes memory in steps of this many bytes.
const STEP: usize = 16 * 1024;

/// How long a client may take for what.
#[derive(Debug, Clone, Copy)]
pub struct Deadlines {
    /// From the first byte of a request, or the beginning of a connection, to the end of the request's head.
    pub head: Duration,
    /// What a body has to begin with, and the most that it can ever have left: what comes earns it more.
    pub body: Duration,
    /// Between two requests. Longer than the pools of usual clients keep a connection: who closes first is not in doubt.
    pub idle: Duration,
    /// To take none of an answer.
    pub stalled: Duration,
    /// After the signal to stop, for calls under way to be answered.
    pub drain: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Deadlines {
            head: Duration::from_secs(10),
            body: Duration::from_secs(20),
            idle: Duration::from_secs(120),
            stalled: Duration::from_secs(30),
            drain: Duration::from_secs(20),
        }
    }
}

/// What a connection is waiting for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
enum Phase {
    /// For the head of a request.
    Head,
    /// For us: a request is being answered.
    Busy,
    /// For the next request.
    Idle,
}

#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) peer: IpAddr,
    began: Instant,
    phase: AtomicU8,
    /// Milliseconds after `began`.
    since: AtomicU64,
    /// Likewise, since when nothing could be written; 0 while writing goes on.
    stalled: AtomicU64,
    /// Bytes of the head that is coming, and what holds them where they are more than little.
    head: AtomicUsize,
    held: Mutex<Option<Share>>,
    cut: CancellationToken,
}

impl Place {
    pub(crate) fn new(peer: IpAddr) -> Self {
        Place {
            peer,
            head: AtomicUsize::new(0),
            held: Mutex::default(),
            began: Instant::now(),
            phase: AtomicU8::new(Phase::Head as u8),
            since: AtomicU64::new(0),
            stalled: AtomicU64::new(0),
            cut: CancellationToken::new(),
        }
    }

    /// Ends the connection, whatever it is doing.
    pub(crate) fn cut(&self) {
        self.cut.cancel();
    }

    #[cfg(test)]
    pub(crate) fn is_cut(&self) -> bool {
        self.cut.is_cancelled()
    }

    pub(crate) async fn was_cut(&self) {
        self.cut.cancelled().await;
    }

    /// Whether nothing would be lost with it: no request is being answered, and all answers are out.
    pub(crate) fn is_quiet(&self) -> bool {
        self.phase() != Phase::Busy && self.stalled.load(Ordering::Relaxed) == 0
    }

    /// Whether the head of a request is awaited that may be on its way: the first one, or one that has begun.
    pub(crate) fn awaits_head(&self) -> bool {
        self.phase() == Phase::Head
    }

    /// Whether it is past its time.
    pub(crate) fn is_overdue(&self, now: Instant, deadlines: &Deadlines) -> bool {
        let now = now.saturating_duration_since(self.began);
        let since = |at: &AtomicU64| now.saturating_sub(Duration::from_millis(at.load(Ordering::Relaxed)));
        if self.stalled.load(Ordering::Relaxed) > 0 && since(&self.stalled) > deadlines.stalled {
            return true;
        }
        match self.phase() {
            Phase::Head => since(&self.since) > deadlines.head,
            Phase::Idle => since(&self.since) > deadlines.idle,
            Phase::Busy => false,
        }
    }

    /// Since when it has been as it is.
    pub(crate) fn since(&self) -> Instant {
        self.began + Duration::from_millis(self.since.load(Ordering::Relaxed))
    }

    /// Some bytes came in. Where all heads together are too large, who sends more of one has to go.
    fn heard(&self, bytes: usize, heads: &Memory) {
        match self.phase() {
            Phase::Busy => return,
            Phase::Idle => self.enter(Phase::Head),
            Phase::Head => {}
        }
        let head = self.head.fetch_add(bytes, Ordering::Relaxed) + bytes;
        if head > LITTLE && !self.holds(head, heads) {
            self.cut();
        }
    }

    fn holds(&self, bytes: usize, heads: &Memory) -> bool {
        let mut held = self.held.lock().unwrap_or_else(PoisonError::into_inner);
        let more = bytes.saturating_sub(held.as_ref().map_or(0, Share::bytes)).div_ceil(STEP) * STEP;
        match &mut *held {
            Some(share) => more == 0 || share.grow(more),
            none => {
                *none = heads.take(more);
                none.is_some()
            }
        }
    }

    /// The head is here, and what it says has been taken out of the buffer.
    fn read(&self) {
        if self.head.swap(0, Ordering::Relaxed) > LITTLE {
            self.held.lock().unwrap_or_else(PoisonError::into_inner).take();
        }
    }

    fn enter(&self, phase: Phase) {
        self.since.store(self.now().as_millis() as u64, Ordering::Relaxed);
        self.phase.store(phase as u8, Ordering::Relaxed);
    }

    fn wrote(&self, outcome: &Poll<io::Result<usize>>) {
        if outcome.is_ready() {
            self.stalled.store(0, Ordering::Relaxed);
        } else if self.stalled.load(Ordering::Relaxed) == 0 {
            self.stalled.store((self.now().as_millis() as u64).max(1), Ordering::Relaxed);
        }
    }

    fn phase(&self) -> Phase {
        match self.phase.load(Ordering::Relaxed) {
            0 => Phase::Head,
            1 => Phase::Busy,
            _ => Phase::Idle,
        }
    }

    fn now(&self) -> Duration {
        self.began.elapsed()
    }
}

/// A request is being answered for as long as this lives.
#[derive(Debug)]
pub(crate) struct Busy(Arc<Place>);

impl Busy {
    pub(crate) fn at(place: &Arc<Place>) -> Self {
        place.read();
        place.enter(Phase::Busy);
        Busy(place.clone())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.0.enter(Phase::Idle);
    }
}

/// A socket that writes down how it is getting on.
#[derive(Debug)]
pub(crate) struct Watched {
    pub(crate) socket: TcpStream,
    pub(crate) place: Arc<Place>,
    pub(crate) heads: Memory,
}

impl AsyncRead for Watched {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let before = into.filled().len();
        let read = Pin::new(&mut self.socket).poll_read(cx, into);
        if read.is_ready() {
            self.place.heard(into.filled().len() - before, &self.heads);
        }
        read
    }
}

impl AsyncWrite for Watched {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.socket).poll_write(cx, bytes);
        self.place.wrote(&wrote);
        wrote
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.socket).poll_write_vectored(cx, slices);
        self.place.wrote(&wrote);
        wrote
    }

    fn is_write_vectored(&self) -> bool {
        self.socket.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.socket).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Arc<Place> {
        Arc::new(Place::new(IpAddr::from([127, 0, 0, 1])))
    }

    fn overdue(place: &Place, after: Duration) -> bool {
        place.is_overdue(place.began + after, &Deadlines::default())
    }

    const MINUTE: Duration = Duration::from_secs(60);

    #[test]
    fn heads_and_pauses_between_requests_have_their_time_and_answers_as_much_as_they_need() {
        let place = place();
        assert!(!overdue(&place, Duration::from_secs(10)));
        assert!(overdue(&place, Duration::from_secs(11)) && place.is_quiet());
        let busy = Busy::at(&place);
        assert!(!overdue(&place, 60 * MINUTE) && !place.is_quiet());
        drop(busy);
        assert!(!overdue(&place, MINUTE) && overdue(&place, 3 * MINUTE));
        // The first byte of the next request: its head has its own time, not what is left of the pause.
        place.heard(1, &Memory::new(0));
        assert!(overdue(&place, MINUTE));
    }

    #[test]
    fn heads_have_their_memory_together_and_give_it_back_when_they_are_read() {
        let heads = Memory::new(2 * STEP);
        let (one, other) = (place(), place());
        one.heard(LITTLE, &heads);
        assert_eq!(heads.used(), 0);
        one.heard(STEP, &heads);
        assert_eq!((heads.used(), one.is_cut()), (2 * STEP, false));
        other.heard(LITTLE, &heads);
        assert!(!other.is_cut(), "an ordinary head needs none of it");
        other.heard(1, &heads);
        assert!(other.is_cut());
        drop(Busy::at(&one));
        assert_eq!(heads.used(), 0);
    }

    #[test]
    fn who_takes_nothing_of_an_answer_is_given_up() {
        let place = place();
        let _busy = Busy::at(&place);
        place.wrote(&Poll::Pending);
        assert!(!overdue(&place, Duration::from_secs(29)) && overdue(&place, MINUTE));
        place.wrote(&Poll::Ready(Ok(1)));
        assert!(!overdue(&place, MINUTE));
    }
}
