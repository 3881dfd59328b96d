//! What one script may take.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// The longest source, in bytes.
pub const LONGEST_SOURCE: usize = 64 * 1024;
/// What is printed, in bytes; the rest is dropped and said to be.
pub(crate) const MOST_PRINTED: usize = 16 * 1024;
/// The largest result that is handed to a script, and the largest thing a script may say at once.
pub const LARGEST_RESULT: usize = 8 * 1024 * 1024;
/// Calls that are under way at once; others wait inside the script.
pub(crate) const AT_ONCE: usize = 8;
/// How much longer than its time a script may compute until it is killed.
pub(crate) const GRACE: Duration = Duration::from_millis(500);

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ScriptLimits {
    /// Computing time. It stands still while the script waits.
    pub cpu: Duration,
    /// Bytes of its heap.
    pub memory: usize,
    /// Things it may ask for: calls, searches, descriptions.
    pub calls: usize,
    /// From its start to its end; it stands still while a person is asked something.
    pub time: Duration,
}

impl Default for ScriptLimits {
    fn default() -> Self {
        ScriptLimits {
            cpu: Duration::from_secs(2),
            memory: 64 * 1024 * 1024,
            calls: 50,
            time: Duration::from_secs(120),
        }
    }
}
