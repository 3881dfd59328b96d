//! The names of the surfaces: what `surface = "…"`, `--surface` and `/mcp/<surface>` accept, and what can be set about
//! them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::name::ServerName;

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Surface {
    /// Two meta-tools in front of everything.
    #[default]
    Compact,
    /// Pinned tools, a search, and a tool that calls what it found.
    Hybrid,
    /// A search and a tool that reads definitions; what was read is then listed.
    TwoPhase,
    /// One meta-tool that searches and executes.
    Single,
    /// Find, describe, load, and see what is loaded.
    Lifecycle,
    /// Three levels of detail, asked for one after the other.
    Levels,
    /// A tree of capabilities to walk and search.
    Ontology,
    /// Nine tools for clients that filter and page by themselves. They call servers backends, and what is in front of
    /// them a gateway, which is the word in configurations.
    #[serde(rename = "gateway")]
    Backends,
    /// Find tools, and write programs that call them.
    Code,
    /// Every tool as it is: progressive disclosure switched off.
    Direct,
}

/// What a configuration may say about surfaces. Each setting concerns one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct SurfaceSettings {
    /// `levels`.
    pub groups: Groups,
    /// `hybrid`.
    pub format: Format,
}

/// Meta-tools that call only some tools, so that a host can let those through without asking. Normally none.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Doors {
    /// One that calls only what is known to read.
    pub by_risk: bool,
    /// One for each of these servers, which calls only its tools.
    pub servers: Vec<ServerName>,
}

/// Whether there is one discovery tool for everything, or one for each server.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Groups {
    #[default]
    Joined,
    Split,
}

/// How search results are written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Format {
    #[default]
    Json,
    Xml,
}

impl Doors {
    pub const NONE: Doors = Doors { by_risk: false, servers: Vec::new() };
}

impl Surface {
    pub const ALL: [Surface; 10] = [
        Surface::Compact,
        Surface::Hybrid,
        Surface::TwoPhase,
        Surface::Single,
        Surface::Lifecycle,
        Surface::Levels,
        Surface::Ontology,
        Surface::Backends,
        Surface::Code,
        Surface::Direct,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Surface::Compact => "compact",
            Surface::Hybrid => "hybrid",
            Surface::TwoPhase => "two-phase",
            Surface::Single => "single",
            Surface::Lifecycle => "lifecycle",
            Surface::Levels => "levels",
            Surface::Ontology => "ontology",
            Surface::Backends => "gateway",
            Surface::Code => "code",
            Surface::Direct => "direct",
        }
    }

    /// What it is, for people who choose one.
    pub fn summary(self) -> &'static str {
        match self {
            Surface::Compact => "Two tools in front of everything: one finds, one calls.",
            Surface::Hybrid => "A search with categories and a tool that uses what it found; answers in JSON or XML.",
            Surface::TwoPhase => {
                "A search, and a tool that reads definitions; what was read is then listed and callable."
            }
            Surface::Single => "One tool that searches and executes.",
            Surface::Lifecycle => "Find, describe, load, see what is loaded; loaded tools are listed themselves.",
            Surface::Levels => "Three levels of detail, asked for one after the other; agents too.",
            Surface::Ontology => "A tree of capabilities to walk and to search, as under `/v1`.",
            Surface::Backends => "Nine tools for clients that filter and page by themselves.",
            Surface::Code => "Find tools, and run programs that call many of them at once.",
            Surface::Direct => "Every tool as it is: progressive disclosure switched off.",
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
