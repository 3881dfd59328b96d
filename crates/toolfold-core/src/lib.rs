//! The nouns of Toolfold: names and ids, entries and their fingerprints, refusals, secrets. No IO, no clock, no
//! runtime; everything here can be built in a test with one line.
//!
//! # Glossary
//!
//! The same word is used in code, configuration, command line and documents; one that is not here needs a reason.
//!
//! | word | meaning |
//! |---|---|
//! | server | one source of tools: an MCP server over stdio or HTTP, or a set of tools inside the program |
//! | client | whoever asks: a session, one request without a session, or the program itself |
//! | principal | who stands behind a client ([`Principal`]); sessions, streams, parked calls and toolsets belong to one |
//! | rule | who may see or call what ([`AccessRule`]); what a principal may not see does not exist for them |
//! | tool | one callable definition of a server; its id is `server.tool` ([`ToolId`]) |
//! | entry | anything that can be found: a tool, an agent, a skill, a prompt, a resource ([`Entry`], [`Kind`]) |
//! | definition | what a server says of one tool, raw JSON as it came |
//! | manifest | everything a server said of itself when it was last listed; remembered between runs |
//! | node | a category of the ontology, addressed by a path; an entry may be in several ([`NodeRule`]) |
//! | catalog | the immutable, numbered collection of all entries and nodes |
//! | index | what searches a catalog |
//! | snapshot | a catalog, its index and the configuration they were made with; a request is answered from exactly one |
//! | view | what of a snapshot exists for one client; the only way to it |
//! | gate | the one way to a server: calls, reads, subscriptions, notifications |
//! | surface | the meta-tools a client is shown, and the shapes they answer in ([`Surface`]) |
//! | meta-tool | a tool of Toolfold itself, such as `find_tools` and `call_tool` |
//! | level | how much of an entry is revealed, from its name alone to its full schema |
//! | exposed name | how a pinned or loaded tool is called in a list: `server__tool` ([`exposed_name`]) |
//! | pinned tool | one that is always in the list beside the meta-tools |
//! | loaded tool | one that a session asked to have in its list; without a session, a *toolset* holds them by a handle |
//! | refusal | why something is not done, in words a model can act on ([`Refusal`], [`Code`]) |
//! | fingerprint | what an entry is, in 32 bytes ([`Fingerprint`]) |
//! | pin, held | the fingerprint that an entry was accepted with; what is there and differs from it is held until approved |
//! | parked call | one that waits for its client's answer to a server's question |
//! | pending, in flight | accepted and waiting; sent and not yet answered |
//! | permit, share | the right to do one more thing; a part of a budget of bytes |
//! | memory, record | what may be lost and what may not, of what outlives the process |
//! | legacy, modern | the eras of MCP: with a session (up to 2025-11-25), and without (from 2026-07-28) |
//! | upstream, downstream | towards servers, towards clients |

mod absent;
mod entry;
mod fingerprint;
mod foreign;
mod fuel;
mod hex;
mod name;
mod node_rule;
mod pattern;
mod principal;
mod refusal;
mod rule;
mod secret;
mod store_place;
mod surface;
mod trust;
pub mod words;
mod written;

pub use absent::{Absence, Absent};
pub use entry::{Alike, BadDefinition, Entry, Hints, Kind, Lines};
pub use fingerprint::Fingerprint;
pub use foreign::{LONGEST_LINE, beginning, shown, shown_json, shown_line};
pub use fuel::{Fuel, Spent, Stop, StopWhenDropped};
pub use hex::{from_hex, to_hex};
pub use name::{BadName, ServerName, ToolId, exposed_name, slug, told_apart};
pub use node_rule::NodeRule;
pub use pattern::Pattern;
pub use principal::{Credential, Identity, Principal, Proof, RESERVED};
pub use refusal::{Blame, Code, Next, NextAction, Refusal};
pub use rule::{AccessRule, RiskClass, RuleEffect};
pub use secret::Secret;
pub use store_place::{DatabaseUrl, StorePlace};
pub use surface::{Doors, Format, Groups, Surface, SurfaceSettings};
pub use trust::Trust;
pub use written::Written;
