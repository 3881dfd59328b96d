//! A task whose parts wake each other is polled again on the spot, and nobody else is woken for it.
//!
//! What a reader would get wrong: to the scheduler a task that is woken while it is polled is one that steps back for others. It
//! goes to the end of the queue, and another thread is woken to help with what is there: nothing. A call does that twice, as the
//! connection to its server is driven by the task that waits for the answer, so that each call cost two futile wake-ups.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::task::{Context, Poll, Wake, Waker};

use futures_util::task::AtomicWaker;

/// Polls in a row. Whoever has more to do than that lets others have their turn.
const IN_A_ROW: usize = 4;

const RESTING: u8 = 0;
const POLLED: u8 = 1;
/// Woken since it began to be polled.
const WOKEN: u8 = 2;

pub(crate) struct Calm<F> {
    work: Pin<Box<F>>,
    bell: Arc<Bell>,
    /// What rings the bell.
    waker: Waker,
}

#[derive(Default)]
struct Bell {
    state: AtomicU8,
    /// Who hears it while the work rests.
    task: AtomicWaker,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        let noted = self.state.compare_exchange(POLLED, WOKEN, Ordering::AcqRel, Ordering::Acquire);
        if noted == Err(RESTING) {
            self.task.wake();
        }
    }
}

impl<F: Future> Calm<F> {
    pub(crate) fn new(work: F) -> Self {
        let bell = Arc::new(Bell::default());
        Calm { work: Box::pin(work), waker: bell.clone().into(), bell }
    }
}

impl<F: Future> Future for Calm<F> {
    type Output = F::Output;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<F::Output> {
        let Calm { work, bell, waker } = &mut *self;
        // Before the work can rest, or what rings then would be heard by nobody.
        bell.task.register(context.waker());
        for _ in 0..IN_A_ROW {
            bell.state.store(POLLED, Ordering::Release);
            let polled = work.as_mut().poll(&mut Context::from_waker(waker));
            let rests = bell.state.compare_exchange(POLLED, RESTING, Ordering::AcqRel, Ordering::Acquire).is_ok();
            if polled.is_ready() || rests {
                return polled;
            }
        }
        bell.state.store(RESTING, Ordering::Release);
        context.waker().wake_by_ref();
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::AtomicUsize;

    use tokio::sync::oneshot;

    use super::*;

    #[derive(Default)]
    struct Counted(AtomicUsize);

    impl Wake for Counted {
        fn wake(self: Arc<Self>) {
            self.0.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Polls once; what came of it, and how often the task was woken by then.
    fn poll<F: Future>(work: &mut Calm<F>, task: &Arc<Counted>) -> (Poll<F::Output>, usize) {
        let waker = task.clone().into();
        let polled = Pin::new(work).poll(&mut Context::from_waker(&waker));
        (polled, task.0.load(Ordering::Relaxed))
    }

    #[test]
    fn parts_that_wake_each_other_wake_nobody_else() {
        let task = Arc::new(Counted::default());
        let mut work = Calm::new(async {
            let (answer, answered) = oneshot::channel();
            let (late, ()) = tokio::join!(answered, async { answer.send(7).unwrap() });
            late.unwrap()
        });
        assert_eq!(poll(&mut work, &task), (Poll::Ready(7), 0));
    }

    #[test]
    fn what_never_rests_lets_others_have_their_turn() {
        let (task, polls) = (Arc::new(Counted::default()), AtomicUsize::new(0));
        let mut work = Calm::new(std::future::poll_fn(|context| {
            polls.fetch_add(1, Ordering::Relaxed);
            context.waker().wake_by_ref();
            Poll::<()>::Pending
        }));
        assert_eq!(poll(&mut work, &task), (Poll::Pending, 1));
        assert_eq!(polls.load(Ordering::Relaxed), IN_A_ROW);
        assert_eq!(poll(&mut work, &task), (Poll::Pending, 2));
    }

    #[test]
    fn what_rests_is_woken_from_outside_and_by_its_newest_task() {
        let (first, second) = (Arc::new(Counted::default()), Arc::new(Counted::default()));
        let (answer, answered) = oneshot::channel();
        let mut work = Calm::new(answered);
        assert_eq!(poll(&mut work, &first), (Poll::Pending, 0));
        assert_eq!(poll(&mut work, &second), (Poll::Pending, 0));
        answer.send(7).unwrap();
        assert_eq!((first.0.load(Ordering::Relaxed), second.0.load(Ordering::Relaxed)), (0, 1));
        assert_eq!(poll(&mut work, &second), (Poll::Ready(Ok(7)), 1));
    }

    /// Whoever is on another thread finds it polled as often as resting.
    #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
    async fn nothing_that_is_said_meanwhile_is_missed() {
        let (to, mut from) = tokio::sync::mpsc::channel(1);
        let (back, mut heard) = tokio::sync::mpsc::channel(1);
        let echo = Calm::new(async move {
            while let Some(number) = from.recv().await {
                back.send(number).await.unwrap();
            }
        });
        let echo = tokio::spawn(echo);
        for number in 0..20_000 {
            to.send(number).await.unwrap();
            assert_eq!(heard.recv().await, Some(number));
        }
        drop(to);
        echo.await.unwrap();
    }
}
