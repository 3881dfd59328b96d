//! An HTTP client for whoever needs one: connections kept open, TLS, proxies, redirects, and credentials that can change
//! from one request to the next.
//!
//! What a reader would get wrong: nothing here knows MCP, and nothing here retries. A request is sent a second time in two
//! cases, and in both the server has said that it did nothing: it redirected, or it asked for other credentials.

mod client;
mod credentials;
mod dial;
mod error;
mod pool;
mod reach;

pub use client::{Fetched, HttpClient, Outgoing, SoleLine, Target, chunk, header_lines};
pub use credentials::{Asked, BadHeader, Challenge, Credentials, FixedHeaders, NoCredentials, Reaction};
pub use error::{BadTarget, NoClient, SendError};
pub use pool::{Response, Streamed};
pub use reach::Reach;
