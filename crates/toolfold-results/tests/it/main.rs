//! Queries against the language's own tests, and readings as somebody asks for them.

mod compliance;
mod long;
mod reading;
