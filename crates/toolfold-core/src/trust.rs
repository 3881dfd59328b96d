//! How far a server is believed when it says what it offers.

use std::fmt;

/// What becomes of definitions that nobody has approved.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Hash)]
pub enum Trust {
    /// What is new serves as it first came; what changes afterwards is held until somebody approves it.
    #[default]
    FirstUse,
    /// What is new is held as well.
    Review,
    /// Nothing is held: whoever runs Toolfold vouches for the server, whatever it says.
    Always,
}

impl Trust {
    pub const ALL: [Trust; 3] = [Trust::FirstUse, Trust::Review, Trust::Always];

    pub fn as_str(self) -> &'static str {
        match self {
            Trust::FirstUse => "first-use",
            Trust::Review => "review",
            Trust::Always => "always",
        }
    }
}

impl fmt::Display for Trust {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
