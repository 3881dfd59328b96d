//! The command: parse, configure, run. What each command does is in the file of its name.

mod cli;

use std::process::ExitCode;

/// The static binary is linked with musl, whose own allocator has one lock for all threads.
#[cfg(target_env = "musl")]
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    cli::main()
}
