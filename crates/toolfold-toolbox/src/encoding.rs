//! Tools that write text in another alphabet and read it back, and digests.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use serde_json::json;
use sha2::{Digest, Sha224, Sha256, Sha384, Sha512};

use crate::arguments::{Arguments, one_of};
use crate::page::Page;
use crate::problem::{LARGEST, Problem, told};
use crate::tool::{Replied, Reply, Tool, choice, flag, text};

const SMALLER: &str = "Take smaller pieces.";

const ALGORITHMS: [&str; 4] = ["sha256", "sha224", "sha384", "sha512"];

pub(crate) fn tools() -> Vec<Tool> {
    let binary = "Bytes that are not text are shown as hex.";
    vec![
        Tool::new("base64_encode", "Encode base64", "Encode text as base64.", base64_encode)
            .needs("text", text("The text to encode"))
            .takes("url_safe", flag("Use the alphabet for URLs and leave out padding")),
        Tool::new(
            "base64_decode",
            "Decode base64",
            "Decode base64, with or without padding, of the usual or the URL alphabet.",
            base64_decode,
        )
        .needs("text", text("The base64 to decode"))
        .gives(json!({"text": {"type": "string", "description": binary}, "encoding": {"enum": ["text", "hex"]}})),
        Tool::new("hex_encode", "Encode hex", "Write the bytes of a text in hexadecimal.", hex_encode)
            .needs("text", text("The text to encode")),
        Tool::new("hex_decode", "Decode hex", "Read hexadecimal bytes as text.", hex_decode)
            .needs("hex", text("The hexadecimal digits; spaces and colons between them are ignored")),
        Tool::new(
            "url_encode",
            "Encode for URLs",
            "Percent-encode text so that it can stand in any part of a URL.",
            url_encode,
        )
        .needs("text", text("The text to encode")),
        Tool::new("url_decode", "Decode from URLs", "Decode percent-encoded text.", url_decode)
            .needs("text", text("The text to decode"))
            .takes("form", flag("Read + as a space, as HTML forms write it")),
        Tool::new("hash_digest", "Hash text", "Compute the SHA-2 digest (checksum) of a text.", digest)
            .needs("text", text("The text to hash"))
            .takes("algorithm", choice("The algorithm; sha256 if left out", &ALGORITHMS))
            .gives(json!({"algorithm": {"type": "string"}, "hex": {"type": "string"}, "base64": {"type": "string"}})),
    ]
}

fn base64_encode(arguments: &Arguments<'_>) -> Replied {
    let text = arguments.text("text")?;
    within(text.len() / 3 * 4)?;
    let encoded = if arguments.flag("url_safe")? { URL_SAFE_NO_PAD.encode(text) } else { STANDARD.encode(text) };
    Ok(Reply::Text(encoded))
}

fn base64_decode(arguments: &Arguments<'_>) -> Replied {
    let text = arguments.text("text")?;
    within(text.len() / 4 * 3)?;
    let given: String = text.chars().filter(|c| !c.is_whitespace()).collect();
    let usual = given.trim_end_matches('=').replace('-', "+").replace('_', "/");
    let bytes = STANDARD_NO_PAD.decode(usual).map_err(|error| told!("`text` is not base64: {error}"))?;
    Ok(Reply::Json(match String::from_utf8(bytes) {
        Ok(text) => json!({"text": text, "encoding": "text"}),
        Err(error) => json!({"text": hex(error.as_bytes())?, "encoding": "hex"}),
    }))
}

fn hex_encode(arguments: &Arguments<'_>) -> Replied {
    Ok(Reply::Text(hex(arguments.text("text")?.as_bytes())?))
}

fn hex_decode(arguments: &Arguments<'_>) -> Replied {
    let given = arguments.text("hex")?.trim();
    within(given.len() / 2)?;
    let digits: Vec<char> =
        given.trim_start_matches("0x").chars().filter(|c| !c.is_whitespace() && *c != ':').collect();
    if !digits.len().is_multiple_of(2) {
        return Err(told!("`hex` has an odd number of digits. Every byte is two digits."));
    }
    let byte =
        |pair: &[char]| Some(pair[0].to_digit(16)? * 16 + pair[1].to_digit(16)?).and_then(|n| u8::try_from(n).ok());
    let bytes: Option<Vec<u8>> = digits.chunks(2).map(byte).collect();
    let bytes = bytes.ok_or_else(|| told!("`hex` has something other than the digits 0-9 and a-f in it."))?;
    let text = String::from_utf8(bytes).map_err(|_| told!("These bytes are not text in UTF-8."))?;
    Ok(Reply::Text(text))
}

fn url_encode(arguments: &Arguments<'_>) -> Replied {
    let mut page = Page::new(arguments.fuel, SMALLER);
    for byte in arguments.text("text")?.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
            page.push_char(char::from(byte))?;
        } else {
            page.push(&format!("%{byte:02X}"))?;
        }
    }
    Ok(Reply::Text(page.finish()))
}

fn url_decode(arguments: &Arguments<'_>) -> Replied {
    let (text, form) = (arguments.text("text")?, arguments.flag("form")?);
    within(text.len() / 3)?;
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        rest = after;
        match first {
            b'%' => {
                let digits = after.get(..2).and_then(|digits| std::str::from_utf8(digits).ok());
                let byte = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok());
                bytes.push(byte.ok_or_else(|| told!("A % in `text` is not followed by two hexadecimal digits."))?);
                rest = &after[2..];
            }
            b'+' if form => bytes.push(b' '),
            byte => bytes.push(*byte),
        }
    }
    String::from_utf8(bytes).map(Reply::Text).map_err(|_| told!("The decoded bytes are not text in UTF-8."))
}

fn digest(arguments: &Arguments<'_>) -> Replied {
    let text = arguments.text("text")?;
    let algorithm = arguments.word_or("algorithm", "sha256")?;
    let bytes = match algorithm {
        "sha224" => Sha224::digest(text).to_vec(),
        "sha256" => Sha256::digest(text).to_vec(),
        "sha384" => Sha384::digest(text).to_vec(),
        "sha512" => Sha512::digest(text).to_vec(),
        other => return Err(one_of("algorithm", other, &ALGORITHMS)),
    };
    Ok(Reply::Json(json!({"algorithm": algorithm, "hex": hex(&bytes)?, "base64": STANDARD.encode(&bytes)})))
}

fn hex(bytes: &[u8]) -> Result<String, Problem> {
    within(2 * bytes.len())?;
    let digit = |n: u8| char::from_digit(u32::from(n), 16).unwrap_or('0');
    Ok(bytes.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect())
}

/// Asked before anything of that length is made.
fn within(length: usize) -> Result<(), Problem> {
    if length > LARGEST { Err(Problem::TooLarge(SMALLER)) } else { Ok(()) }
}
