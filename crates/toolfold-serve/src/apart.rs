//! Reading what is large: on a thread of its own, so that whoever comes meanwhile does not wait for it.

/// From here on bytes are not looked through where requests are answered: it takes milliseconds.
const LARGE: usize = 512 * 1024;

/// Does the work here, or elsewhere where there are many bytes to it; `None` where it could not be done.
pub(crate) async fn apart<T: Send + 'static>(bytes: usize, work: impl FnOnce() -> T + Send + 'static) -> Option<T> {
    if bytes < LARGE {
        return Some(work());
    }
    tokio::task::spawn_blocking(work).await.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn what_is_large_is_read_on_another_thread() {
        let here = std::thread::current().id();
        let thread = || std::thread::current().id();
        assert_eq!(apart(10, thread).await, Some(here));
        assert_ne!(apart(LARGE, thread).await, Some(here));
    }
}
