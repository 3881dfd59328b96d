//! Upstream against real processes and real sockets. The stdio server is `server.py`, a script with traits; the HTTP
//! server is in `http_server.rs`.

#![allow(clippy::unwrap_used, reason = "in a test a panic is the report; the lint's own exception stops at helpers")]

mod eras;
mod http;
mod http_server;
mod kit;
mod limits;
mod logins;
mod made;
mod made_agents;
mod made_commands;
mod made_logins;
mod reaper;
mod routing;
mod stdio;
mod supervision;
