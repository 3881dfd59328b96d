//! The way back: a place on this machine to which a browser brings what the login server said. It is there for one login
//! and for a few minutes, answers one question, and shows nothing that somebody else wrote.

use std::time::Duration;

use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use tokio::net::{TcpListener, TcpStream};

pub(super) const PATH: &str = "/callback";
const LARGEST_HEAD: u64 = 16 * 1024;
/// A browser that has connected says at once what it wants.
const PATIENCE: Duration = Duration::from_secs(5);

/// A browser that came back, and waits to be told how it went.
pub(super) struct Returned {
    pub(super) query: String,
    stream: TcpStream,
}

/// The next one that comes to the right place. Others are sent away.
pub(super) async fn next(listener: &TcpListener) -> std::io::Result<Returned> {
    loop {
        let (stream, _) = listener.accept().await?;
        let Ok(Some((stream, query))) = tokio::time::timeout(PATIENCE, read(stream)).await else { continue };
        match query {
            Some(query) => return Ok(Returned { query, stream }),
            None => reply(stream, "404 Not Found", "There is nothing here.").await,
        }
    }
}

impl Returned {
    pub(super) async fn tell(self, good: bool, words: &str) {
        reply(self.stream, if good { "200 OK" } else { "400 Bad Request" }, words).await;
    }
}

/// The query of the first line, where it asks for our place.
async fn read(stream: TcpStream) -> Option<(TcpStream, Option<String>)> {
    let mut reader = BufReader::new(stream).take(LARGEST_HEAD);
    let mut first = String::new();
    reader.read_line(&mut first).await.ok()?;
    let mut line = String::new();
    while !matches!(line.as_str(), "\r\n" | "\n") {
        line.clear();
        if reader.read_line(&mut line).await.ok()? == 0 {
            return None;
        }
    }
    let target = first.strip_prefix("GET ").and_then(|rest| rest.split(' ').next());
    let query = target.and_then(|target| target.split_once('?')).filter(|(path, _)| *path == PATH);
    Some((reader.into_inner().into_inner(), query.map(|(_, query)| query.to_owned())))
}

async fn reply(mut stream: TcpStream, status: &str, words: &str) {
    let text = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/plain; charset=utf-8\r\nX-Content-Type-Options: nosniff\r\n\
         Content-Security-Policy: default-src 'none'\r\nReferrer-Policy: no-referrer\r\nCache-Control: no-store\r\n\
         Content-Length: {}\r\nConnection: close\r\n\r\n{words}\n",
        words.len() + 1
    );
    // Whoever does not wait for the words has come back all the same.
    let _ = tokio::time::timeout(PATIENCE, async {
        stream.write_all(text.as_bytes()).await?;
        stream.shutdown().await
    })
    .await;
}
