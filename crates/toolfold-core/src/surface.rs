//! The names of the surfaces: what `surface = "…"`, `--surface` and `/mcp/<surface>` accept.

use std::fmt;

use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Surface {
    /// Two meta-tools in front of everything.
    #[default]
    Compact,
    /// Every tool as it is: progressive disclosure switched off.
    Direct,
}

impl Surface {
    pub const ALL: [Surface; 2] = [Surface::Compact, Surface::Direct];

    pub fn as_str(self) -> &'static str {
        match self {
            Surface::Compact => "compact",
            Surface::Direct => "direct",
        }
    }

    pub fn parse(name: &str) -> Option<Self> {
        Surface::ALL.into_iter().find(|surface| surface.as_str() == name)
    }
}

impl fmt::Display for Surface {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}
