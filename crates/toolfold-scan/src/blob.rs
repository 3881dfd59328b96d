//! Text that has to be decoded to be read: base64, hex, percent signs, numbers of characters. What comes out is looked at
//! with the same eyes as everything else; a blob that decodes to nothing of interest is none of our business.

use std::ops::Range;
use std::sync::LazyLock;

use base64::Engine;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};
use regex::Regex;

/// Bytes of a blob that are decoded. What is longer is no command.
const LONGEST: usize = 8 * 1024;
/// Blobs of one text that are decoded.
const MOST: usize = 32;

const CONFIG: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, CONFIG);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, CONFIG);

static BLOBS: LazyLock<Option<Regex>> = LazyLock::new(|| {
    // Without a bound above: each is a run that ends at the first byte that does not belong to it, so no byte is looked
    // at twice.
    let hex = r"(?:0x)?(?:[0-9a-fA-F]{2}){10,}|(?:[0-9a-fA-F]{2}[ :]){10,}[0-9a-fA-F]{2}|(?:\\x[0-9a-fA-F]{2}){6,}";
    let percent = r"(?:[\w./:=-]{0,12}%[0-9a-fA-F]{2}){5,}[\w./:=-]{0,40}|(?:\\u00[0-9a-fA-F]{2}){6,}";
    let base64 = r"[A-Za-z0-9+/_-]{20,}={0,2}";
    Regex::new(&format!("{percent}|{hex}|{base64}")).ok()
});

/// What the blobs of a text say, each with its place.
pub(crate) fn decoded(text: &str, work: &mut u64) -> Vec<(Range<usize>, String)> {
    let Some(blobs) = BLOBS.as_ref() else { return Vec::new() };
    *work += 2 * text.len() as u64;
    let found = blobs.find_iter(text).take(MOST);
    let decoded = found.filter_map(|blob| Some((blob.range(), decode(blob.as_str())?)));
    decoded.collect()
}

fn decode(blob: &str) -> Option<String> {
    let blob = blob.get(..blob.len().min(LONGEST))?;
    let hex = || {
        hex(&blob.strip_prefix("0x").unwrap_or(blob).replace([' ', ':'], "").replace("\\x", "").replace("\\u00", ""))
    };
    let bytes: Vec<Vec<u8>> = [
        blob.contains('%').then(|| percent(blob)),
        hex(),
        STANDARD.decode(blob).ok(),
        URL_SAFE.decode(blob).ok(),
        // Half a group is missing, or the blob was cut.
        STANDARD.decode(&blob[..blob.len() / 4 * 4]).ok(),
    ]
    .into_iter()
    .flatten()
    .collect();
    bytes.into_iter().filter_map(|bytes| String::from_utf8(bytes).ok()).find(|text| is_text(text))
}

/// Something that a person could have written: words do not come out of random bytes.
fn is_text(text: &str) -> bool {
    text.len() >= 6 && text.chars().all(|c| !c.is_control() || c.is_whitespace())
}

fn hex(digits: &str) -> Option<Vec<u8>> {
    if !digits.len().is_multiple_of(2) || !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        return None;
    }
    (0..digits.len() / 2).map(|pair| u8::from_str_radix(&digits[pair * 2..pair * 2 + 2], 16).ok()).collect()
}

fn percent(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while at < bytes.len() {
        let coded =
            text.get(at + 1..at + 3).filter(|_| bytes[at] == b'%').and_then(|pair| u8::from_str_radix(pair, 16).ok());
        out.push(coded.unwrap_or(bytes[at]));
        at += if coded.is_some() { 3 } else { 1 };
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn first(text: &str) -> Option<String> {
        decoded(text, &mut 0).into_iter().next().map(|(_, text)| text)
    }

    #[test]
    fn several_codes_are_read() {
        assert_eq!(
            first("seed=cm0gLXJmIH4vLmNhY2hlICYmIGN1cmwgeA== end").as_deref(),
            Some("rm -rf ~/.cache && curl x")
        );
        assert_eq!(first("726d202d7266207e2f2e6361636865202626").as_deref(), Some("rm -rf ~/.cache &&"));
        assert_eq!(first("%72%6d%20%2d%72%66%20%7e%2f").as_deref(), Some("rm -rf ~/"));
        assert_eq!(first(r"\x72\x6d\x20\x2d\x72\x66\x20\x7e").as_deref(), Some("rm -rf ~"));
        assert_eq!(first("a plain description of a tool"), None);
        assert_eq!(first("9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08"), None);
    }

    proptest! {
        #[test]
        fn anything_can_be_decoded(text in "[A-Za-z0-9+/=%x ]{0,300}") {
            let mut work = 0;
            decoded(&text, &mut work);
            prop_assert_eq!(work, 2 * text.len() as u64);
        }
    }
}
