//! The command: parse, configure, run. What each command does is in the file of its name.

mod cli;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::main()
}
