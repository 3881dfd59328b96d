//! Asking the client itself: its own status command, run once and given a time.

use std::io::Read;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use crate::environment::Environment;
use crate::files;
use crate::table::{ENTRY_NAME, KnownClient, Proof};

/// What the client says of Toolfold.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Verified {
    /// It starts Toolfold and speaks with it.
    Connected,
    /// It reads the entry; whether it connects is not asked by its command.
    Listed,
    /// What it said instead.
    Failed(String),
    /// It cannot be asked: why.
    Unknown(&'static str),
}

/// Why its program says nothing.
#[derive(Debug, thiserror::Error)]
enum Unanswered {
    #[error("its program cannot be started: {0}")]
    NotStarted(std::io::Error),
    #[error("its program did not answer within {} seconds", PATIENCE.as_secs())]
    TooLate,
}

/// Longer than any of them takes that works.
const PATIENCE: Duration = Duration::from_secs(60);
const LOOK: Duration = Duration::from_millis(50);
const MOST_OUTPUT: u64 = 1 << 20;

pub fn verify(environment: &Environment, client: &KnownClient) -> Verified {
    let (Some(program), Some(status)) = (client.program, client.status) else {
        return Verified::Unknown("it has no command that tells");
    };
    let paths = environment.variables.get("PATH").map_or("", String::as_str);
    let Some(path) = files::find_program(program, paths) else {
        return Verified::Unknown("its program is not on the PATH");
    };
    let mut command = Command::new(path);
    command.args(status.arguments).current_dir(&environment.directory).env("NO_COLOR", "1");
    let (succeeded, said) = match run(&mut command) {
        Ok(answer) => answer,
        Err(why) => return Verified::Failed(why.to_string()),
    };
    let line = said.lines().find(|line| is_about_us(line)).unwrap_or_default().trim().to_owned();
    let good = match status.proof {
        Proof::ExitCode => succeeded,
        Proof::Line(word) => line.contains(word),
    };
    match (good, status.connects) {
        (true, true) => Verified::Connected,
        (true, false) => Verified::Listed,
        (false, _) if line.is_empty() => Verified::Failed("it does not name Toolfold".to_owned()),
        (false, _) => Verified::Failed(line),
    }
}

/// Whether a line begins with our name, after marks. Somebody else's may have it in a path.
fn is_about_us(line: &str) -> bool {
    line.split_whitespace().take(3).any(|word| word.trim_end_matches(':') == ENTRY_NAME)
}

/// Whether it succeeded, and everything it said.
fn run(command: &mut Command) -> Result<(bool, String), Unanswered> {
    let started = command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let mut child = started.map_err(Unanswered::NotStarted)?;
    let pipes = [child.stdout.take().map(reader), child.stderr.take().map(reader)];
    let begun = Instant::now();
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break status,
            Ok(None) if begun.elapsed() < PATIENCE => std::thread::sleep(LOOK),
            _ => {
                let _ = child.kill();
                let _ = child.wait();
                return Err(Unanswered::TooLate);
            }
        }
    };
    let said: Vec<String> = pipes.into_iter().flatten().map(|thread| thread.join().unwrap_or_default()).collect();
    Ok((status.success(), said.join("\n")))
}

fn reader(pipe: impl Read + Send + 'static) -> std::thread::JoinHandle<String> {
    std::thread::spawn(move || {
        let mut bytes = Vec::new();
        // What was read until it broke is what was said.
        let _ = pipe.take(MOST_OUTPUT).read_to_end(&mut bytes);
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

#[cfg(test)]
mod tests {
    use super::is_about_us;

    #[test]
    fn a_path_with_our_name_is_not_us() {
        for line in [
            "toolfold: /opt/toolfold serve --stdio - ✔ Connected",
            "✓ toolfold: /opt/toolfold serve (stdio) - Connected",
            "●  ✓ toolfold \u{1b}[90mconnected",
            "toolfold  stdio  connected  [user]",
        ] {
            assert!(is_about_us(line), "{line}");
        }
        for line in ["│      \u{1b}[90mpython3 /src/toolfold/clock.py", "other: /src/toolfold/x - ✔ Connected", ""]
        {
            assert!(!is_about_us(line), "{line}");
        }
    }
}
