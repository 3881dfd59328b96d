//! The ladder: how much of an entry is revealed. Every rung is derived from the definition: the one line that search
//! shows once and for all, the others each time they are asked for.

mod apart;
mod details;
mod document;
mod example;
mod filled;
mod illustrated;
mod limit;
mod lines;
mod members;
mod opening;
mod order;
mod page;
mod parameter;
mod part;
mod pattern;
mod phrase;
mod prose;
mod purpose;
mod reduced;
mod said;
mod shape;
mod signature;
mod simple;
mod within;

pub use details::{describe, usage};
pub use example::example;
pub(crate) use lines::FORMS;
pub use lines::{line, lines, marked_summary, summary};
pub use page::{details_page, full_page, full_page_within, parameter_page, parameter_page_within};
pub use parameter::parameter;
use prose::description;
pub use reduced::{compact_schema, micro_schema, short_description};
pub use signature::{Signature, signature};
pub use within::{describe_within, parameter_within};

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    Name,
    Summary,
    Signature,
    Details,
    Full,
}

impl Level {
    pub const ALL: [Level; 5] = [Level::Name, Level::Summary, Level::Signature, Level::Details, Level::Full];

    pub fn as_str(self) -> &'static str {
        match self {
            Level::Name => "name",
            Level::Summary => "summary",
            Level::Signature => "signature",
            Level::Details => "details",
            Level::Full => "full",
        }
    }

    /// The name of a level, or another name that is in use for it.
    pub fn parse(name: &str) -> Option<Level> {
        Some(match name.trim().to_lowercase().replace('-', "_").as_str() {
            "name" | "names" | "name_only" | "0" => Level::Name,
            "summary" | "browse" | "name_description" | "1" => Level::Summary,
            "signature" | "micro_schema" | "1s" => Level::Signature,
            "details" | "detail" | "compact_schema" | "2" => Level::Details,
            "full" | "full_schema" | "schema" | "3" => Level::Full,
            _ => return None,
        })
    }
}
