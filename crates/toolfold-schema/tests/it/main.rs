//! The check against another implementation, and against schemas that are meant to never end.

#![allow(clippy::unwrap_used, reason = "a test that cannot be set up has failed")]

mod agreement;
mod hostile;
mod table;
