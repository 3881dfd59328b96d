//! Percent signs: what of a value may stand in an address as it is, and what must not mean anything there.

use serde_json::Value;

/// Everything but letters, digits and `-._~`: no value ends the part of the address that it is in.
pub(crate) fn encoded(text: &str) -> String {
    percent(text, |_| false)
}

/// Reserved characters stay, apart from those that would begin another parameter or the end of the query.
pub(crate) fn lightly_encoded(text: &str) -> String {
    percent(text, |byte| b":/?@!$'()*,;".contains(&byte))
}

fn percent(text: &str, stays: fn(u8) -> bool) -> String {
    let mut out = String::with_capacity(text.len());
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) || stays(byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// The text that percent signs stand for. What is none stays.
pub(crate) fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::with_capacity(bytes.len()), 0);
    while at < bytes.len() {
        let code = (bytes[at] == b'%').then(|| text.get(at + 1..at + 3)).flatten();
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                out.push(byte);
                at += 3;
            }
            None => {
                out.push(bytes[at]);
                at += 1;
            }
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// A value as a parameter shows it: text as it is, everything that has no other form as JSON.
pub(crate) fn plain(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Null => String::new(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_value_leaves_its_place() {
        assert_eq!(encoded("../a b/?x=1&y#%\r\n\\é"), "..%2Fa%20b%2F%3Fx%3D1%26y%23%25%0D%0A%5C%C3%A9");
        assert_eq!(lightly_encoded("a/b?c&d#e+f=g"), "a/b?c%26d%23e%2Bf%3Dg");
        assert_eq!(decoded("a%2Fb%zz%"), "a/b%zz%");
    }
}
