//! Bytes as digits of base 16, two for each, in lower case: how hashes, random names and places in traces are written.

use std::fmt::Write;

pub fn to_hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::with_capacity(2 * bytes.len()), |mut text, byte| {
        // Writing to a string cannot fail.
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// What [`to_hex`] wrote, and nothing else: one way to write something is enough to compare it by.
pub fn from_hex<const N: usize>(text: &str) -> Option<[u8; N]> {
    if text.len() != 2 * N || !text.bytes().all(|byte| byte.is_ascii_digit() || (b'a'..=b'f').contains(&byte)) {
        return None;
    }
    let mut bytes = [0; N];
    for (place, byte) in bytes.iter_mut().enumerate() {
        *byte = u8::from_str_radix(&text[2 * place..2 * place + 2], 16).ok()?;
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_and_nothing_like_it() {
        assert_eq!(to_hex(&[0, 0x7f, 0xff]), "007fff");
        assert_eq!(from_hex("007fff"), Some([0, 0x7f, 0xff]));
        for wrong in ["", "007ff", "007fff0", "007FFF", "+07fff", "00 fff", "00é5f"] {
            assert_eq!(from_hex::<3>(wrong), None, "{wrong}");
        }
    }
}
