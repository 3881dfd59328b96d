//! Transports: stdio and streamable HTTP, both eras of the protocol on each. This crate translates and never decides:
//! what a request means is the gateway's business, how it came in and how its answer goes out is ours.

mod asks;
mod era;
mod http;
mod info;
mod legacy;
mod listen;
mod modern;
mod running;
mod stdio;

pub use http::{Address, serve_http};
pub use stdio::serve_stdio;
