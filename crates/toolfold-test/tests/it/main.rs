//! The fakes themselves: what other tests rely on is tested here first.

mod conformance;
mod http;
mod stdio;
