//! Where one connection stands: what it is waiting for, and since when. The connection writes it down as it goes, and
//! one sweep over all of them ends those that are past their time, so that no request pays for a timer.

use std::io;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::atomic::{AtomicU8, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use toolfold_wire::{Memory, Share};

use super::connections::Admitted;
use crate::budget::LITTLE;

/// No more is read at once, half of the buffer that a connection begins with: what comes behind a request stays with the system until
/// there is time for it, and the buffer, which the connection keeps, stays as large as it was.
const READ: usize = 4 * 1024;
/// Only a head makes that buffer larger. Behind one that is longer than this the connection ends, and its buffer with it.
const LONG_HEAD: usize = 8 * 1024;

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
    /// Bytes that have come of a head.
    head: AtomicUsize,
    /// Bytes that could not be written.
    unsent: AtomicUsize,
    /// What is counted of each part.
    held: Mutex<[Option<Share>; 3]>,
    cut: CancellationToken,
}

/// What lies here of a connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Part {
    /// A head that did not come in one piece, until the request is answered.
    Head,
    /// A small body that is still coming.
    Body,
    /// An answer that is not taken.
    Unsent,
}

impl Place {
    pub(crate) fn new(peer: IpAddr) -> Self {
        Place {
            peer,
            head: AtomicUsize::new(0),
            unsent: AtomicUsize::new(0),
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

    /// Since when its client is waited for, where it is.
    pub(crate) fn waits_since(&self) -> Instant {
        match self.stalled.load(Ordering::Relaxed) {
            0 => self.since(),
            stalled => self.began + Duration::from_millis(stalled),
        }
    }

    /// Whether it is this client's turn: to send the rest of something, or to take an answer.
    pub(crate) fn keeps_us_waiting(&self) -> bool {
        self.phase() != Phase::Busy
            || self.stalled.load(Ordering::Relaxed) > 0
            || self.held()[Part::Body as usize].is_some()
    }

    /// Some bytes came in.
    fn heard(&self, bytes: usize) {
        match self.phase() {
            Phase::Busy => return,
            Phase::Idle => self.enter(Phase::Head),
            Phase::Head => {}
        }
        self.head.fetch_add(bytes, Ordering::Relaxed);
    }

    /// How many bytes have come of a head that is not whole, where that is worth counting.
    fn half_a_head(&self) -> Option<usize> {
        Some(self.head.load(Ordering::Relaxed)).filter(|head| *head > LITTLE && self.awaits_head())
    }

    /// Whether its head was so long that this is the connection's last request.
    pub(crate) fn had_a_long_head(&self) -> bool {
        let is_counted = self.head.load(Ordering::Relaxed) > LONG_HEAD;
        is_counted && self.held()[Part::Head as usize].as_ref().is_some_and(|share| share.bytes() > LONG_HEAD)
    }

    /// What is unsent of an answer of which nothing was taken for this long, where it is worth counting.
    pub(crate) fn stalled_with(&self, now: Instant, long: Duration) -> Option<usize> {
        let stalled = Duration::from_millis(self.stalled.load(Ordering::Relaxed));
        let is_long = !stalled.is_zero() && now.saturating_duration_since(self.began + stalled) > long;
        Some(self.unsent.load(Ordering::Relaxed)).filter(|unsent| is_long && *unsent > LITTLE)
    }

    /// Counts so many bytes of this; `false` where there is no memory for them.
    pub(crate) fn hold(&self, part: Part, bytes: usize, memory: &Memory) -> bool {
        let held = &mut self.held()[part as usize];
        let more = bytes.saturating_sub(held.as_ref().map_or(0, Share::bytes));
        match held {
            _ if more == 0 => true,
            Some(share) => share.grow(more),
            None => {
                *held = memory.take(more);
                held.is_some()
            }
        }
    }

    pub(crate) fn let_go(&self, part: Part) {
        self.held()[part as usize] = None;
    }

    /// Whoever counted an answer that was taken meanwhile counted nothing.
    pub(crate) fn let_go_of_what_is_sent(&self) {
        if self.stalled.load(Ordering::Relaxed) == 0 {
            self.let_go(Part::Unsent);
        }
    }

    pub(crate) fn holds(&self) -> usize {
        self.held().iter().flatten().map(Share::bytes).sum()
    }

    /// Ends the connection, and gives back what it holds at once; how much that was.
    pub(crate) fn give_up(&self) -> usize {
        self.cut();
        std::mem::take(&mut *self.held()).iter().flatten().map(Share::bytes).sum()
    }

    fn held(&self) -> MutexGuard<'_, [Option<Share>; 3]> {
        self.held.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn enter(&self, phase: Phase) {
        self.since.store(self.now().as_millis() as u64, Ordering::Relaxed);
        self.phase.store(phase as u8, Ordering::Relaxed);
    }

    /// So many bytes were to be written.
    fn wrote(&self, outcome: &Poll<io::Result<usize>>, bytes: usize) {
        let was_stalled = self.stalled.load(Ordering::Relaxed) > 0;
        if outcome.is_ready() {
            self.stalled.store(0, Ordering::Relaxed);
            if was_stalled {
                self.let_go(Part::Unsent);
            }
        } else {
            // More may be added to it meanwhile.
            self.unsent.store(bytes, Ordering::Relaxed);
            if !was_stalled {
                self.stalled.store((self.now().as_millis() as u64).max(1), Ordering::Relaxed);
            }
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
        place.enter(Phase::Busy);
        Busy(place.clone())
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        // Behind a long one the connection ends; until it has, the head lies here.
        if !self.0.had_a_long_head() && self.0.head.swap(0, Ordering::Relaxed) > LITTLE {
            self.0.let_go(Part::Head);
        }
        self.0.enter(Phase::Idle);
    }
}

/// A socket that writes down how it is getting on.
#[derive(Debug)]
pub(crate) struct Watched {
    pub(crate) socket: TcpStream,
    pub(crate) admitted: Arc<Admitted>,
}

impl AsyncRead for Watched {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, into: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let watched = &mut *self;
        let place = &watched.admitted.place;
        // What came before is no whole head yet. One that comes in one piece is never counted, nor is a body behind it.
        if let Some(head) = place.half_a_head() {
            watched.admitted.hold(Part::Head, head);
        }
        let before = into.filled().len();
        let mut little = (&mut watched.socket).take(READ as u64);
        let read = Pin::new(&mut little).poll_read(cx, into);
        if read.is_ready() {
            place.heard(into.filled().len() - before);
        }
        read
    }
}

impl AsyncWrite for Watched {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.socket).poll_write(cx, bytes);
        self.admitted.place.wrote(&wrote, bytes.len());
        wrote
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        slices: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let wrote = Pin::new(&mut self.socket).poll_write_vectored(cx, slices);
        self.admitted.place.wrote(&wrote, slices.iter().map(|slice| slice.len()).sum());
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
        place.heard(1);
        assert!(overdue(&place, MINUTE));
    }

    #[test]
    fn a_head_is_counted_until_it_is_answered_and_the_connection_ends_behind_a_long_one() {
        let (memory, place) = (Memory::new(1 << 20), place());
        let answer = |size: usize| {
            place.heard(size);
            assert_eq!(place.half_a_head(), Some(size).filter(|size| *size > LITTLE));
            if let Some(head) = place.half_a_head() {
                assert!(place.hold(Part::Head, head, &memory));
            }
            place.heard(READ);
            let busy = Busy::at(&place);
            place.heard(LONG_HEAD);
            assert_eq!((memory.used(), place.half_a_head()), (if size > LITTLE { size } else { 0 }, None));
            let is_last = place.had_a_long_head();
            drop(busy);
            is_last
        };
        assert!(!answer(LITTLE) && !answer(LONG_HEAD));
        assert_eq!(memory.used(), 0);
        assert!(answer(LONG_HEAD + 1));
        assert_eq!(memory.used(), LONG_HEAD + 1, "its buffer is still there");
    }

    #[test]
    fn what_is_held_is_given_back_at_once_by_who_has_to_go() {
        let (memory, place) = (Memory::new(2 * LITTLE), place());
        assert!(place.hold(Part::Body, LITTLE, &memory) && place.hold(Part::Body, LITTLE, &memory));
        assert!(place.hold(Part::Unsent, LITTLE, &memory) && !place.hold(Part::Unsent, LITTLE + 1, &memory));
        assert_eq!((memory.used(), place.holds()), (2 * LITTLE, 2 * LITTLE));
        place.let_go_of_what_is_sent();
        assert_eq!(memory.used(), LITTLE);
        assert_eq!(place.give_up(), LITTLE);
        assert_eq!((memory.used(), place.is_cut()), (0, true));
    }

    #[test]
    fn an_answer_is_counted_when_nothing_was_taken_of_it_for_a_while() {
        let place = place();
        let after = |long: u64| place.stalled_with(place.began + Duration::from_secs(long), Duration::from_secs(1));
        assert_eq!(after(60), None);
        place.wrote(&Poll::Pending, LITTLE);
        place.wrote(&Poll::Pending, LITTLE + 1);
        assert_eq!((after(0), after(2)), (None, Some(LITTLE + 1)), "the last of it counts, and the time of the first");
        place.wrote(&Poll::Ready(Ok(1)), LITTLE + 1);
        assert_eq!(after(60), None);
        place.wrote(&Poll::Pending, LITTLE);
        assert_eq!(after(60), None, "what is little is not");
    }

    #[test]
    fn who_takes_nothing_of_an_answer_is_given_up() {
        let place = place();
        let _busy = Busy::at(&place);
        place.wrote(&Poll::Pending, 1);
        assert!(!overdue(&place, Duration::from_secs(29)) && overdue(&place, MINUTE));
        place.wrote(&Poll::Ready(Ok(1)), 1);
        assert!(!overdue(&place, MINUTE));
    }
}
