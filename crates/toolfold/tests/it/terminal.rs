//! A terminal, and what somebody sees who sits at it.

use std::fs::{File, OpenOptions};
use std::io::{Read, Write};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};

/// A program on a terminal of this many columns. Ends with the test.
pub(crate) struct Terminal {
    child: Child,
    keys: File,
    screen: Receiver<Vec<u8>>,
    seen: String,
}

impl Terminal {
    pub(crate) fn start(mut command: Command, columns: u16) -> Terminal {
        let ours = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY | OpenptFlags::CLOEXEC).unwrap();
        grantpt(&ours).unwrap();
        unlockpt(&ours).unwrap();
        let name = ptsname(&ours, Vec::new()).unwrap();
        let theirs = OpenOptions::new().read(true).write(true).open(name.to_str().unwrap()).unwrap();
        tcsetwinsize(&theirs, Winsize { ws_row: 40, ws_col: columns, ws_xpixel: 0, ws_ypixel: 0 }).unwrap();
        let end = || Stdio::from(theirs.try_clone().unwrap());
        let child = command.stdin(end()).stdout(end()).stderr(end()).env("TERM", "xterm").spawn().unwrap();
        let keys = File::from(ours);
        let mut from = keys.try_clone().unwrap();
        let (tell, screen) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count) = from.read(&mut bytes) {
                if count == 0 || tell.send(bytes[..count].to_vec()).is_err() {
                    break;
                }
            }
        });
        Terminal { child, keys, screen, seen: String::new() }
    }

    pub(crate) fn press(&mut self, keys: &[u8]) {
        self.keys.write_all(keys).unwrap();
    }

    /// What was seen, once this is part of it.
    pub(crate) fn until(&mut self, text: &str) -> &str {
        let begun = Instant::now();
        while !self.seen.contains(text) {
            assert!(begun.elapsed() < Duration::from_secs(60), "{text:?} was never seen:\n{}", self.seen);
            self.look();
        }
        &self.seen
    }

    /// Everything, and how it ended.
    pub(crate) fn end(mut self) -> (String, Option<i32>) {
        let status = loop {
            self.look();
            if let Some(status) = self.child.try_wait().unwrap() {
                break status;
            }
        };
        while let Ok(bytes) = self.screen.recv_timeout(Duration::from_millis(100)) {
            self.seen.push_str(&String::from_utf8_lossy(&bytes));
        }
        (std::mem::take(&mut self.seen), status.code())
    }

    fn look(&mut self) {
        if let Ok(bytes) = self.screen.recv_timeout(Duration::from_millis(50)) {
            self.seen.push_str(&String::from_utf8_lossy(&bytes));
        }
    }
}

impl Drop for Terminal {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
