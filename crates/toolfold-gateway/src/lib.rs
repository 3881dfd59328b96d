//! The running thing: one snapshot that readers take without a lock, one writer that publishes the next, and dispatch
//! between them. It knows no transport: whoever has a message and a [`Peer`](toolfold_wire::Peer) to answer can use it.

mod bridge;
mod call;
mod change;
mod check;
mod dispatch;
mod files;
mod front_matter;
mod gateway;
mod known;
mod loading;
mod local;
mod offers;
mod precise;
mod request;
mod snapshot;
mod source;
mod subscriptions;
mod threads;
mod usage;
mod writer;

pub use change::{Change, PROMPTS_CHANGED, RESOURCE_UPDATED, RESOURCES_CHANGED, TOOLS_CHANGED, updated};
pub use files::{Documents, Unusable, document_files};
pub use gateway::{Gateway, Options, ServerStatus};
pub use local::{Bounds, Handler, LocalServer, LocalTool, Output};
pub use precise::encode_all;
pub use request::{Client, ClientKind, LogLevel, Request};
pub use snapshot::Snapshot;
pub use source::Failed;
pub use subscriptions::Watch;
