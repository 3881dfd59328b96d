//! The program's allocator, and that it gives back what is freed.
//!
//! What a reader would get wrong: that an allocator does so by itself. This one returns freed memory a second later, when somebody
//! next allocates; a Toolfold that is asked nothing after twenty large requests would hold for ever what they took.

pub use mimalloc::MiMalloc;

/// `mi_option_purge_delay` of mimalloc's header, version 3, which the bindings have no name for.
const PURGE_DELAY: libmimalloc_sys::mi_option_t = 15;

/// From now on what is freed goes back to the system at once. To be called first, by the program whose allocator [`MiMalloc`] is.
#[expect(unsafe_code, reason = "the allocator has no other way to be told")]
pub fn give_back_at_once() {
    // SAFETY: the option exists in the version that is linked (the test below would notice another), any number is valid for it, and
    // mimalloc lets options be set at any time.
    unsafe { libmimalloc_sys::mi_option_set(PURGE_DELAY, 0) }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::*;

    #[global_allocator]
    static ALLOCATOR: MiMalloc = MiMalloc;

    /// Megabytes that this process has of the machine's memory.
    fn resident() -> usize {
        let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells");
        let line = status.lines().find(|line| line.starts_with("VmRSS")).expect("Linux tells");
        line.split_whitespace().nth(1).and_then(|kilobytes| kilobytes.parse::<usize>().ok()).expect("a number") / 1024
    }

    /// A thread that takes 32 MB in small pieces and ends.
    fn take() {
        let pieces: Vec<Vec<u8>> = (0..32 * 1024).map(|_| vec![1; 1024]).collect();
        assert_eq!(pieces.iter().map(Vec::len).sum::<usize>(), 32 << 20);
    }

    /// Looked at once, with nobody allocating in between: without the option all of it is still there.
    #[test]
    fn what_threads_took_is_given_back_when_they_end() {
        give_back_at_once();
        let before = resident();
        let threads: Vec<_> = (0..8).map(|_| std::thread::spawn(take)).collect();
        threads.into_iter().for_each(|thread| thread.join().expect("it only takes"));
        let after = resident();
        assert!(after < before + 24, "{before} MB before, {after} MB after 256 MB were taken and freed");
    }
}
