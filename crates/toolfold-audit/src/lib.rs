//! What happened here, written down so that it can be shown later that nothing was changed or left out: who searched for
//! what, which tools that showed, which of them was called, and what came of it.
//!
//! What a reader would get wrong: whoever tells something (a [`Note`]) does no work. Numbers, the link from a call back to
//! the search that showed its tool, blanking, hashing and the disk are all the business of one thread, behind a queue with
//! a bound. Only with `strict` somebody waits for it.
//!
//! The file is SQLite. An event is stored as the bytes of a JSON object, and its hash is over the hash before it and
//! exactly these bytes, so whatever is changed later breaks the chain at that event. What the chain cannot show is that its
//! end was cut off: for that, the head is to be kept elsewhere.
//!
//! Where the store is a database that replicas share, each has a chain of its own in such a file, and brings it there (`ship.rs`).

mod event;
mod moment;
mod note;

mod blank;
mod chain_file;
mod file;
mod recorder;
mod render;
mod retention;
mod ship;
mod switch;
mod trail;
mod writer;

mod export;
mod read;
mod shared;
mod usage;
mod verify;

pub use blank::Hides;
pub use event::{AuditEvent, EventKind, Sizes};
pub use export::{cef, json_line};
pub use file::Head;
pub use moment::{Moment, shown_time};
pub use note::{AnswerGiven, Denied, Ended, Listing, Lookup, Matter, Note, Shown, Who};
pub use read::{Reader, Stored};
pub use recorder::{Audit, AuditError, Settings, Told};
pub use shared::{Seen, SharedReader};
pub use usage::{PrincipalUse, Tally, ToolUse};
pub use verify::{Break, Verified};
