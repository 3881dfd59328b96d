//! Both transports and both eras, over real sockets and streams, with real server processes behind them.

mod bridge;
mod http;
mod proxy;
mod stdio;
mod support;
