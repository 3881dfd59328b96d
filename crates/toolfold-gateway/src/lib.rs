//! The running thing: one snapshot that readers take without a lock, one writer that publishes the next, and dispatch
//! between them. It knows no transport: whoever has a message and a [`Peer`](toolfold_wire::Peer) to answer can use it.

mod advertised;
mod aside;
mod build;
mod call;
mod change;
mod check;
mod claims;
mod disclosed;
mod dispatch;
mod files;
mod front_matter;
mod gate;
mod gateway;
mod instruments;
mod kept;
mod known;
mod learning;
mod local;
mod offered;
mod offers;
mod precise;
mod progress;
mod recording;
mod remembered;
mod request;
mod scope;
mod snapshot;
mod threads;
mod toolsets;
mod trust;
mod turned_away;
mod turnstile;
mod usage;
mod writer;

pub use advertised::Advertised;
pub use change::{Change, PROMPTS_CHANGED, RESOURCE_UPDATED, RESOURCES_CHANGED, TOOLS_CHANGED, updated};
pub use files::{Documents, Unusable, document_files};
pub use gate::{CallRecord, Failed, Watch};
pub use gateway::{Gateway, Options, ServerStatus};
pub use learning::UsedRequest;
pub use local::{Bounds, Handler, LocalServer, LocalTool, Output, Unregistered};
pub use precise::encode_all;
pub use request::{Client, ClientKind, LONGEST_WATCHED, LogLevel, MOST_WATCHED, Request};
pub use scope::Scope;
pub use trust::{Decided, Decision, HeldEntry, HeldList, Undecided};
