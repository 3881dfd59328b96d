//! Text that grows within a bound: it is refused before it is too long, not afterwards.

use std::io;

use serde::Serialize;
use toolfold_core::Fuel;

use crate::problem::{LARGEST, Problem};

/// Bytes that are copied in a step of work.
const BYTES_IN_A_STEP: usize = 32;

pub(crate) struct Page<'f> {
    text: String,
    fuel: &'f Fuel,
    /// What to do where it becomes too long.
    instead: &'static str,
}

impl<'f> Page<'f> {
    pub(crate) fn new(fuel: &'f Fuel, instead: &'static str) -> Self {
        Page { text: String::new(), fuel, instead }
    }

    pub(crate) fn push(&mut self, part: &str) -> Result<(), Problem> {
        self.fuel.burn_for(part.len(), BYTES_IN_A_STEP)?;
        if self.text.len() + part.len() > LARGEST {
            return Err(Problem::TooLarge(self.instead));
        }
        self.text.push_str(part);
        Ok(())
    }

    pub(crate) fn push_char(&mut self, c: char) -> Result<(), Problem> {
        self.push(c.encode_utf8(&mut [0; 4]))
    }

    pub(crate) fn push_blanks(&mut self, count: usize) -> Result<(), Problem> {
        if self.text.len() + count > LARGEST {
            return Err(Problem::TooLarge(self.instead));
        }
        self.push(&" ".repeat(count))
    }

    pub(crate) fn finish(self) -> String {
        self.text
    }
}

/// Whether a value has at most so many bytes as JSON; it is not written for that.
pub(crate) fn fits(value: &impl Serialize, most: usize) -> bool {
    serde_json::to_writer(Limited { written: Vec::new(), left: most, keep: false }, value).is_ok()
}

/// A value as JSON, cut where it becomes long.
pub(crate) fn cut(value: &impl Serialize, most: usize) -> String {
    let mut limited = Limited { written: Vec::new(), left: most, keep: true };
    let whole = serde_json::to_writer(&mut limited, value).is_ok();
    let text = String::from_utf8_lossy(&limited.written);
    if whole { text.into_owned() } else { format!("{}…", text.trim_end_matches('\u{fffd}')) }
}

/// Takes so many bytes and then fails, which is what ends the writing.
pub(crate) struct Limited {
    pub(crate) written: Vec<u8>,
    pub(crate) left: usize,
    pub(crate) keep: bool,
}

impl io::Write for Limited {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.left);
        self.left -= taken;
        if self.keep {
            self.written.extend_from_slice(&bytes[..taken]);
        }
        if taken < bytes.len() { Err(io::ErrorKind::FileTooLarge.into()) } else { Ok(taken) }
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
