//! A cable between two that speak over TCP: what is said into it is written down, and it can be pulled out and put in again.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use tokio::task::JoinHandle;

pub struct Cable {
    address: SocketAddr,
    state: Arc<State>,
    taking: JoinHandle<()>,
}

struct State {
    to: SocketAddr,
    plugged: watch::Sender<bool>,
    /// By connection.
    heard: Mutex<Vec<Vec<u8>>>,
}

impl Cable {
    /// A cable to an address. What connects to [`Cable::address`] is connected to there.
    pub async fn to(to: SocketAddr) -> Cable {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap_or_else(|error| panic!("no port: {error}"));
        let address = listener.local_addr().unwrap_or_else(|error| panic!("no address: {error}"));
        let state = Arc::new(State { to, plugged: watch::Sender::new(true), heard: Mutex::default() });
        let shared = state.clone();
        let taking = tokio::spawn(async move {
            while let Ok((socket, _)) = listener.accept().await {
                tokio::spawn(carry(socket, shared.clone()));
            }
        });
        Cable { address, state, taking }
    }

    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Cuts every connection and lets none through.
    pub fn pull(&self) {
        self.state.plugged.send_replace(false);
    }

    pub fn plug(&self) {
        self.state.plugged.send_replace(true);
    }

    /// What was said into each connection.
    pub fn heard(&self) -> Vec<Vec<u8>> {
        self.state.heard.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Cable {
    fn drop(&mut self) {
        self.taking.abort();
    }
}

async fn carry(socket: TcpStream, state: Arc<State>) {
    let mut plugged = state.plugged.subscribe();
    if !*plugged.borrow_and_update() {
        return;
    }
    let Ok(other) = TcpStream::connect(state.to).await else { return };
    let ((mut asks, mut hears), (mut answers, mut asked)) = (socket.into_split(), other.into_split());
    let there = async {
        let number = {
            let mut heard = state.heard.lock().unwrap_or_else(PoisonError::into_inner);
            heard.push(Vec::new());
            heard.len() - 1
        };
        let mut piece = vec![0; 64 * 1024];
        while let Ok(size @ 1..) = asks.read(&mut piece).await {
            state.heard.lock().unwrap_or_else(PoisonError::into_inner)[number].extend_from_slice(&piece[..size]);
            if asked.write_all(&piece[..size]).await.is_err() {
                return;
            }
        }
    };
    tokio::select! {
        () = there => {}
        _ = tokio::io::copy(&mut answers, &mut hears) => {}
        _ = plugged.wait_for(|plugged| !plugged) => {}
    }
}
