//! MCP's messages on the wire, for both eras of the protocol.
//!
//! What a reader would get wrong: nothing in here knows what a tool is. A message is an envelope around raw JSON,
//! and raw JSON stays the bytes it came as. A gateway that parses what it only passes on loses fields it does not
//! know, rounds numbers it cannot hold and refuses what it does not expect; this one looks at an object's members
//! one level deep ([`Object`]) and leaves the rest alone.

mod header;
mod memory;
mod message;
mod object;
mod peer;
mod raw;
mod spool;
mod sse;
mod version;

pub use header::{
    BadAnnotation, METHOD_HEADER, NAME_HEADER, PARAM_PREFIX, ParameterHeader, SESSION_HEADER, VERSION_HEADER,
    decode_header, encode_header, name_of, parameter_headers,
};
pub use memory::{Memory, Share};
pub use message::{BadMessage, DEEPEST, Id, LONGEST_ID, LONGEST_METHOD, MOST_BATCHED, Message, RpcError};
pub use object::Object;
pub use peer::{BoxFuture, Peer, Silent};
pub use raw::{Raw, has_more_values, raw, raw_of};
pub use spool::{Intake, Spool, Taken};
pub use sse::{EventReader, StreamEvent};
pub use version::{Era, LATEST_LEGACY, LEGACY, MODERN, code, meta, negotiate};
