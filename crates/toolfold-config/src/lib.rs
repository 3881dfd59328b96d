//! From files, environment and flags to a [`Config`], or to every problem at once.

mod config;

pub use config::{Config, EraChoice, Http, Server, Start, Timeouts, Transport};
