//! Other programs' files: read, changed and put back, on files of our own making.
#![allow(clippy::unwrap_used, clippy::print_stderr, reason = "a test reports by panicking and printing")]

mod add;
mod add_anything;
mod edit;
mod edit_anything;
mod home;
mod import;
mod install;
mod recognise;
mod rules;
mod table;
