//! The binary as others meet it: people at a terminal, other people's servers and clients, and servers that do their
//! worst.
#![allow(
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a test reports by panicking and printing"
)]

mod addresses;
mod agents;
mod apis;
mod approve;
mod as_agents;
mod audit;
mod behind;
mod book;
mod catalogs;
mod clients;
mod clients_files;
mod command_line;
mod conformance;
mod database;
mod deploy;
mod doctor;
mod documents;
mod eval;
mod fakes;
mod faults;
mod fields;
mod frozen;
mod hangs;
mod hook;
mod inspector;
mod kept;
mod learning;
mod logins;
mod long_results;
mod measured;
mod mended;
mod newcomer;
mod notes;
mod page;
mod peers;
mod people;
mod preferring;
mod readme;
mod registry;
mod scan;
mod scripts;
mod second_start;
mod signin;
mod surfaces;
mod terminal;
mod trusting;
mod truth;
mod world;
