//! MCP clients for the servers behind Toolfold, one supervisor each.
//!
//! What a reader would get wrong: nothing here knows the catalog, and nothing here decides what a client may see. A
//! server's definitions, results, questions and errors are carried as the JSON they came as. The only things rewritten
//! are the ones that belong to one connection: request ids, progress tokens and, in the stateless era, `_meta`.

mod allowance;
mod apart;
mod backoff;
mod behind;
mod blank;
mod buffer;
mod call;
mod clock;
mod closing;
mod connection;
mod era;
mod house;
mod http;
mod http_stream;
mod incoming;
mod intake;
mod lines;
mod listing;
mod login;
mod made;
mod manifest;
mod oauth;
mod offspring;
mod only;
mod outbox;
mod outgoing;
mod owner;
mod process;
mod question;
mod reaper;
mod rhythm;
mod said;
mod sent;
mod shared;
mod stdio;
mod supervisor;
mod unopened;
mod upstream;
mod wishes;

pub use behind::{Behind, is_behind, stand_for};
pub use blank::{Blanks, speaks_of_secret};
pub use call::{Call, CallError};
pub use clock::seconds_now;
pub use house::House;
pub use incoming::MOST_QUESTIONS;
pub use manifest::Manifest;
pub use oauth::{
    KeptLogin, Leased, LoginOwner, MemoryVault, Need, NoLogin, NoVisitor, NotKept, Record, Unvisited, Vault, Visit,
};
pub use only::{Arbiter, Ending, MANIFEST, Nowhere, Remote, Sign, Tenure, Where};
pub use question::put_question;
pub use upstream::{Event, LONGEST_THOUGHT, Parted, Report, State, Upstream};
