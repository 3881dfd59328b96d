//! The scanner on definitions that are labelled: our own, and others where they are beside the repository.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test reports by panicking and printing"
)]

mod bounds;
mod labelled;
mod real;
mod whole;
