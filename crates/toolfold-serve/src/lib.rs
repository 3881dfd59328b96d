//! Transports: stdio and streamable HTTP, both eras of the protocol on each. This crate translates and never decides:
//! what a request means is the gateway's business, how it came in and how its answer goes out is ours.

// Whether a connection may move between threads is found out through everything that answering it may wait for: deeper than the
// usual 128 in some orders of looking.
#![recursion_limit = "256"]

mod apart;
mod asking;
mod asks;
mod budget;
mod calm;
mod conversation;
mod http;
mod info;
mod outbox;
mod running;
mod stateless;
mod stdio;
mod subscription;
mod text;
mod tidings;
mod too_often;

pub use http::{Address, Deadlines, OPENAPI, exposed, http_status, page_key, serve_http, serve_http_within};
pub use stdio::serve_stdio;
