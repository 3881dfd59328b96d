//! The command: parse, configure, run. What each command does is in the file of its name.

mod cli;

use std::process::ExitCode;

/// A call is a hundred small allocations, and the system's allocators take a sixth of its time; musl's, with which the static binary is
/// linked, has one lock for all threads besides.
#[global_allocator]
static ALLOCATOR: toolfold_memory::MiMalloc = toolfold_memory::MiMalloc;

fn main() -> ExitCode {
    toolfold_memory::give_back_at_once();
    // The process of a script: before anything else is looked at, and without anything else.
    if std::env::args_os().nth(1).is_some_and(|first| first == toolfold_script::worker::COMMAND) {
        return toolfold_script::worker::main();
    }
    cli::main()
}
