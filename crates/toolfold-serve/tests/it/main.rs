//! Both transports and both eras, over real sockets and streams, with real server processes behind them.

#![allow(clippy::unwrap_used, reason = "a test that panics has said what it had to say")]

mod access;
mod advertised;
mod audited;
mod bridge;
mod cluster;
mod cluster_one;
mod cluster_trouble;
mod copies;
mod door;
mod doors;
mod handles;
mod http;
mod interference;
mod issuers;
mod lagged;
mod learned;
mod limits;
mod measured;
mod openapi;
mod page;
mod properties;
mod proxy;
mod rest;
mod revoked;
mod scopes;
mod slow;
mod stdio;
mod strangers;
mod support;
mod surfaces;
mod unseen_work;
mod ways_in;
