//! Work that may take long is done where nobody waits for it: taking thirty megabytes apart on a thread of the runtime
//! would be thirty milliseconds in which no other call is answered.

/// Smaller messages cost less than the way to another thread.
pub(crate) const LARGE: usize = 256 * 1024;

/// Does the work here where it is about few bytes, and on a thread of its own where it is about many.
pub(crate) async fn apart<T: Send + 'static>(bytes: usize, work: impl FnOnce() -> T + Send + 'static) -> T {
    if bytes <= LARGE {
        return work();
    }
    match tokio::task::spawn_blocking(work).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The runtime is going down, and this task with it.
            Err(_) => std::future::pending().await,
        },
    }
}
