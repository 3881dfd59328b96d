//! What the process of a script does: it goes behind its walls, reads the script, runs it, and ends. It asks for everything
//! else, and waits for answers where the script has nothing else to do.

mod engine;
mod walls;

use std::io::{self, BufRead, StdinLock, StdoutLock, Write, stdin, stdout};
use std::process::ExitCode;

use crate::protocol::{Begin, Said};

/// The name by which a program is told to be this.
pub const COMMAND: &str = "__script";

/// Runs one script for whoever holds the other ends of stdin and stdout.
pub fn main() -> ExitCode {
    walls::step_back();
    let mut outside = Outside { input: stdin().lock(), output: stdout().lock() };
    let Ok(Some(line)) = outside.line() else { return ExitCode::FAILURE };
    let Ok(begin) = serde_json::from_str::<Begin>(&line) else { return ExitCode::FAILURE };
    let walls = walls::build(&begin.limits);
    if outside.say(&Said::Ready(walls)).is_err() {
        return ExitCode::FAILURE;
    }
    match engine::run(&begin, outside) {
        Ok(()) => ExitCode::SUCCESS,
        Err(_) => ExitCode::FAILURE,
    }
}

/// Whoever started this process.
struct Outside {
    input: StdinLock<'static>,
    output: StdoutLock<'static>,
}

impl Outside {
    /// The next line; `None` when there is nobody any more.
    fn line(&mut self) -> io::Result<Option<String>> {
        let mut line = String::new();
        let read = self.input.read_line(&mut line)?;
        Ok((read > 0).then_some(line))
    }

    fn say(&mut self, said: &Said) -> io::Result<()> {
        self.say_line(&serde_json::to_string(said)?)
    }

    fn say_line(&mut self, line: &str) -> io::Result<()> {
        self.output.write_all(line.as_bytes())?;
        self.output.write_all(b"\n")?;
        self.output.flush()
    }
}
