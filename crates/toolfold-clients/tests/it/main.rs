//! Other programs' files: read, changed and put back, on files of our own making.
#![allow(clippy::unwrap_used, reason = "a test reports by panicking")]

mod edit;
mod edit_anything;
