//! How a command fails: what it says, and the exit code that goes with it.

use std::process::ExitCode;

use toolfold_core::{Code, Refusal};

use super::output::tell;

#[derive(Debug)]
pub(crate) struct Fail {
    code: u8,
    message: String,
}

impl Fail {
    /// Nothing was found, or a check failed.
    pub(crate) fn nothing(message: impl Into<String>) -> Self {
        Fail { code: 1, message: message.into() }
    }

    /// The command line or the configuration is wrong.
    pub(crate) fn usage(message: impl Into<String>) -> Self {
        Fail { code: 2, message: message.into() }
    }

    /// A server failed, or the machine did.
    pub(crate) fn server(message: impl Into<String>) -> Self {
        Fail { code: 3, message: message.into() }
    }

    pub(crate) fn refused(refusal: &Refusal) -> Self {
        let mut message = format!("error: {}", refusal.message);
        for (place, hint) in refusal.hints.iter().enumerate() {
            let gap = if place == 0 { "\n" } else { "" };
            message.push_str(&format!("{gap}\nhint: {hint}"));
        }
        let code = match refusal.code {
            Code::ServerUnavailable | Code::ServerTimeout | Code::TooLarge => 3,
            Code::InvalidArguments | Code::InvalidRequest | Code::InvalidCursor => 2,
            _ => 1,
        };
        Fail { code, message }
    }

    pub(crate) fn report(self) -> ExitCode {
        if !self.message.is_empty() {
            tell(&self.message);
        }
        ExitCode::from(self.code)
    }
}

impl From<std::io::Error> for Fail {
    fn from(error: std::io::Error) -> Self {
        // Whoever read our output has had enough of it.
        if error.kind() == std::io::ErrorKind::BrokenPipe {
            return Fail { code: 0, message: String::new() };
        }
        Fail::server(format!("error: {error}"))
    }
}
