//! The thinnest server there can be: what comes in is looked through for its id and its method, and answered with bytes
//! that were there before. The floor that everything is measured from.
//!
//! A process of its own, `xtask thin-server stdio LIST [JOURNAL]`, `xtask thin-server http LIST…`, or
//! `xtask thin-server large BYTES LIST…`, which answers calls with that much; over HTTP list number N is at the path `/N`. It speaks no more of the protocol than Toolfold asks of a server with a session.

use std::io::{BufRead, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Arc;

use anyhow::{Context, Result, bail};

const GREETING: &str =
    r#"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"thin","version":"1"}}"#;
const ANSWER: &str = r#"{"content":[{"type":"text","text":"some words that are neither many nor few"}]}"#;
const LARGEST_HEAD: usize = 64 * 1024;

/// Never returns while it is spoken to.
pub fn serve(arguments: &[String]) -> Result<()> {
    match arguments {
        [way, list, journal @ ..] if way == "stdio" => stdio(&pages(list)?, journal.first()),
        [way, lists @ ..] if way == "http" => http(lists, ANSWER.to_owned()),
        [way, bytes, lists @ ..] if way == "large" => http(lists, large(bytes.parse()?)),
        _ => bail!("a thin server is `stdio LIST [JOURNAL]`, `http LIST…` or `large BYTES LIST…`"),
    }
}

fn pages(list: &str) -> Result<Vec<String>> {
    let text = std::fs::read_to_string(list).with_context(|| list.to_owned())?;
    Ok(text.lines().map(str::to_owned).collect())
}

fn stdio(pages: &[String], journal: Option<&String>) -> Result<()> {
    if let Some(journal) = journal {
        std::fs::OpenOptions::new().create(true).append(true).open(journal)?.write_all(b"start\n")?;
    }
    let (mut input, mut output) = (std::io::stdin().lock(), std::io::stdout().lock());
    let (mut line, mut answer) = (Vec::new(), Vec::new());
    while input.read_until(b'\n', &mut line)? > 0 {
        answer.clear();
        if reply(&line, pages, ANSWER, &mut answer) {
            answer.push(b'\n');
            output.write_all(&answer)?;
            output.flush()?;
        }
        line.clear();
    }
    Ok(())
}

/// A list of rows with so many bytes, as a tool would answer with it.
fn large(bytes: usize) -> String {
    let row = r#"{\"id\":1,\"name\":\"somebody\",\"note\":\"some words that are neither many nor few\"}"#;
    let rows = vec![row; bytes / (row.len() + 1)].join(",");
    format!("{{\"content\":[{{\"type\":\"text\",\"text\":\"[{rows}]\"}}]}}")
}

fn http(lists: &[String], said: String) -> Result<()> {
    let lists = lists.iter().map(|list| pages(list)).collect::<Result<Vec<_>>>()?;
    let listener = TcpListener::bind("127.0.0.1:0")?;
    eprintln!("http://{}/", listener.local_addr()?);
    let lists = Arc::new((lists, said));
    for stream in listener.incoming() {
        let (stream, lists) = (stream?, Arc::clone(&lists));
        // A client that goes away ends its thread; the next one has another.
        std::thread::spawn(move || connection(stream, &lists.0, &lists.1));
    }
    Ok(())
}

fn connection(mut stream: TcpStream, lists: &[Vec<String>], said: &str) -> Result<()> {
    stream.set_nodelay(true)?;
    let (mut buffer, mut used) = (vec![0; LARGEST_HEAD], 0);
    let (mut answer, mut body) = (Vec::new(), Vec::new());
    loop {
        let (head, length) = loop {
            if let Some(found) = head(&buffer[..used]) {
                break found;
            }
            let read = stream.read(&mut buffer[used..])?;
            if read == 0 {
                return Ok(());
            }
            used += read;
        };
        let whole = head + length;
        if buffer.len() < whole {
            buffer.resize(whole, 0);
        }
        if used < whole {
            stream.read_exact(&mut buffer[used..whole])?;
            used = whole;
        }
        body.clear();
        answer.clear();
        if reply(&buffer[head..whole], listed(&buffer[..head], lists), said, &mut body) {
            write!(
                answer,
                "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {}\r\n\r\n",
                body.len()
            )?;
            answer.extend_from_slice(&body);
        } else {
            let status = if buffer.starts_with(b"POST") { "202 Accepted" } else { "405 Method Not Allowed" };
            write!(answer, "HTTP/1.1 {status}\r\ncontent-length: 0\r\n\r\n")?;
        }
        stream.write_all(&answer)?;
        buffer.copy_within(whole..used, 0);
        used -= whole;
    }
}

/// Where the head ends, and how long the body is.
fn head(bytes: &[u8]) -> Option<(usize, usize)> {
    let end = find(bytes, b"\r\n\r\n")? + 4;
    let length = bytes[..end].split(|byte| *byte == b'\n').find_map(|line| {
        let name = b"content-length:";
        let value = line.get(name.len()..).filter(|_| line[..name.len()].eq_ignore_ascii_case(name))?;
        std::str::from_utf8(value).ok()?.trim().parse().ok()
    });
    Some((end, length.unwrap_or(0)))
}

/// The list at the path of a request.
fn listed<'a>(head: &[u8], lists: &'a [Vec<String>]) -> &'a [String] {
    let path = head.split(|byte| *byte == b' ').nth(1).and_then(|path| path.get(1..)).unwrap_or_default();
    let number = std::str::from_utf8(path).ok().and_then(|text| text.parse::<usize>().ok());
    number.and_then(|number| lists.get(number)).map_or(&[], Vec::as_slice)
}

/// The answer to a message; whether there is one.
fn reply(message: &[u8], pages: &[String], said: &str, out: &mut Vec<u8>) -> bool {
    let Some(id) = member(message, b"\"id\":") else { return false };
    let method = member(message, b"\"method\":").unwrap_or_default();
    let result = match method {
        b"\"tools/call\"" => said,
        b"\"initialize\"" => GREETING,
        b"\"tools/list\"" => {
            let cursor = member(message, b"\"cursor\":").and_then(|text| std::str::from_utf8(text).ok());
            let page = cursor.and_then(|text| text.trim_matches('"').parse().ok()).unwrap_or(0);
            pages.get::<usize>(page).map_or(r#"{"tools":[]}"#, String::as_str)
        }
        b"\"ping\"" => "{}",
        _ => {
            write_parts(out, id, br#""error":{"code":-32601,"message":"no such method"}}"#);
            return true;
        }
    };
    write_parts(out, id, b"\"result\":");
    out.extend_from_slice(result.as_bytes());
    out.push(b'}');
    true
}

fn write_parts(out: &mut Vec<u8>, id: &[u8], rest: &[u8]) {
    out.extend_from_slice(b"{\"jsonrpc\":\"2.0\",\"id\":");
    out.extend_from_slice(id);
    out.push(b',');
    out.extend_from_slice(rest);
}

/// The value after a key, up to the next comma or bracket. Good for what Toolfold writes, not for JSON at large.
fn member<'a>(message: &'a [u8], key: &[u8]) -> Option<&'a [u8]> {
    let rest = &message[find(message, key)? + key.len()..];
    let end = rest.iter().position(|byte| matches!(byte, b',' | b'}'))?;
    Some(rest[..end].trim_ascii())
}

fn find(bytes: &[u8], wanted: &[u8]) -> Option<usize> {
    bytes.windows(wanted.len()).position(|window| window == wanted)
}
