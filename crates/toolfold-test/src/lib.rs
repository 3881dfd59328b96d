//! What the tests of the other crates stand on: a fake MCP server that misbehaves on command, raw clients that show
//! every message as it came, a real PostgreSQL, a cable that can be pulled, and (as a binary) a server that passes the official conformance suite.
//!
//! The fake server is a real process, started from a binary of this crate. Cargo does not build the binaries of a
//! dependency: [`binary`] does, the first time somebody asks.

mod binary;
mod cable;
mod fake;
mod http_client;
mod inbox;
mod postgres;
pub mod provider;
pub mod server;
mod stdio_client;

pub use binary::binary;
pub use cable::Cable;
pub use fake::{FakeServer, RunningHttp};
pub use http_client::{HttpClient, HttpReply, plain_http};
pub use inbox::Question;
pub use postgres::Postgres;
pub use stdio_client::StdioClient;
