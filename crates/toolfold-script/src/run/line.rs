//! Lines of a process that is not believed: each has a largest size.

use std::io::{Error, ErrorKind};

use tokio::io::AsyncReadExt;
use tokio::process::ChildStdout;

use crate::limits::LARGEST_RESULT;

/// The largest line: a value of the largest size in characters of several bytes, and what is around it.
const LONGEST: usize = 2 * LARGEST_RESULT;
const PIECE: usize = 64 * 1024;

pub(super) struct Lines {
    output: ChildStdout,
    bytes: Vec<u8>,
    /// Up to here there is no end of a line.
    looked: usize,
}

impl Lines {
    pub(super) fn new(output: ChildStdout) -> Self {
        Lines { output, bytes: Vec::new(), looked: 0 }
    }

    /// The next line; `None` at the end. Cancelled, nothing is lost.
    pub(super) async fn next(&mut self) -> Result<Option<String>, Error> {
        loop {
            if let Some(end) = self.bytes[self.looked..].iter().position(|byte| *byte == b'\n') {
                let rest = self.bytes.split_off(self.looked + end + 1);
                let mut line = std::mem::replace(&mut self.bytes, rest);
                line.pop();
                self.looked = 0;
                return String::from_utf8(line).map(Some).map_err(|_| Error::from(ErrorKind::InvalidData));
            }
            self.looked = self.bytes.len();
            if self.looked > LONGEST {
                return Err(Error::from(ErrorKind::FileTooLarge));
            }
            self.bytes.reserve(PIECE);
            if self.output.read_buf(&mut self.bytes).await? == 0 {
                return Ok(None);
            }
        }
    }
}
