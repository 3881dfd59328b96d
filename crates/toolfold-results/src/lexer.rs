//! JSON, read as it comes in: in pieces that may break anywhere, and nothing of it is kept.
//!
//! What a reader would get wrong: this is as strict as the parser that reads whole texts, but for half characters
//! (`\ud83d` alone), which some programs write and which are let by as such. That its bytes are UTF-8 is the caller's to know.

use toolfold_wire::DEEPEST;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum JsonKind {
    Object,
    List,
    Text,
    Number,
    Boolean,
    Null,
}

/// Hears what there is. Places are counted in bytes from the beginning.
pub(crate) trait Listener {
    /// A value begins here.
    fn begin(&mut self, _at: u64, _kind: JsonKind) {}

    /// The value that began last, of those that have not ended, ends before this place.
    fn end(&mut self, _at: u64) {}

    /// The name of a member begins here.
    fn name(&mut self, _at: u64) {}

    /// The name has ended.
    fn named(&mut self) {}

    /// Part of a text or a name that stands as it is.
    fn run(&mut self, _at: u64, _bytes: &[u8]) {}

    /// A character of a text or a name that was escaped, from this place on; `None` for half of one.
    fn escaped(&mut self, _at: u64, _character: Option<char>) {}
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotJson;

pub(crate) struct Lexer {
    at: u64,
    /// What is open, from the outside in: whether it is an object.
    open: Vec<bool>,
    state: State,
}

#[derive(Debug, Clone, Copy)]
enum State {
    Value,
    /// After `[`.
    ValueOrEnd,
    /// After `{`.
    NameOrEnd,
    Name,
    Colon,
    /// After a value.
    After,
    Done,
    Text(Text),
    Number(Number),
    /// What is left of `true`, `false` or `null`.
    Word(&'static [u8]),
}

#[derive(Debug, Clone, Copy)]
struct Text {
    is_name: bool,
    /// Where an escape that is being read began.
    from: u64,
    escape: Escape,
}

#[derive(Debug, Clone, Copy)]
enum Escape {
    No,
    /// After the backslash; the first half of a character may stand before it.
    Begun(Option<u16>),
    Hex {
        left: u8,
        unit: u16,
        before: Option<u16>,
    },
    /// After the first half of a character.
    Half(u16),
}

#[derive(Debug, Clone, Copy)]
enum Number {
    Minus,
    Zero,
    Digits,
    Dot,
    Fraction,
    E,
    Sign,
    Exponent,
}

impl Lexer {
    pub(crate) fn new() -> Self {
        Lexer { at: 0, open: Vec::new(), state: State::Value }
    }

    /// Reads on.
    pub(crate) fn feed(&mut self, bytes: &[u8], to: &mut impl Listener) -> Result<(), NotJson> {
        let mut rest = bytes;
        while let Some(&byte) = rest.first() {
            let used = match self.state {
                State::Text(text) => self.text(text, byte, rest, to)?,
                state => self.step(state, byte, to)?,
            };
            rest = &rest[used..];
            self.at += used as u64;
        }
        Ok(())
    }

    /// There is no more: whether it was one whole value.
    pub(crate) fn finish(&mut self, to: &mut impl Listener) -> Result<(), NotJson> {
        if let State::Number(number) = self.state {
            self.end_number(number, to)?;
        }
        if matches!(self.state, State::Done) { Ok(()) } else { Err(NotJson) }
    }

    /// One byte outside of texts; how much of it was used: a number ends where something else begins.
    fn step(&mut self, state: State, byte: u8, to: &mut impl Listener) -> Result<usize, NotJson> {
        let is_space = matches!(byte, b' ' | b'\n' | b'\r' | b'\t');
        match (state, byte) {
            (State::Number(number), _) => match number.next(byte) {
                Some(next) => self.state = State::Number(next),
                None => {
                    self.end_number(number, to)?;
                    return Ok(0);
                }
            },
            (State::Word(rest), _) => match rest.split_first() {
                Some((first, [])) if *first == byte => self.ended(self.at + 1, to),
                Some((first, rest)) if *first == byte => self.state = State::Word(rest),
                _ => return Err(NotJson),
            },
            _ if is_space => {}
            (State::ValueOrEnd, b']') => self.close(false, to)?,
            (State::Value | State::ValueOrEnd, _) => self.value(byte, to)?,
            (State::NameOrEnd, b'}') => self.close(true, to)?,
            (State::NameOrEnd | State::Name, b'"') => {
                to.name(self.at);
                self.state = State::Text(Text { is_name: true, from: 0, escape: Escape::No });
            }
            (State::Colon, b':') => self.state = State::Value,
            (State::After, b',') => {
                self.state = if self.open.last() == Some(&true) { State::Name } else { State::Value };
            }
            (State::After, b'}') => self.close(true, to)?,
            (State::After, b']') => self.close(false, to)?,
            _ => return Err(NotJson),
        }
        Ok(1)
    }

    fn value(&mut self, byte: u8, to: &mut impl Listener) -> Result<(), NotJson> {
        let (kind, state) = match byte {
            b'{' => (JsonKind::Object, State::NameOrEnd),
            b'[' => (JsonKind::List, State::ValueOrEnd),
            b'"' => (JsonKind::Text, State::Text(Text { is_name: false, from: 0, escape: Escape::No })),
            b'-' => (JsonKind::Number, State::Number(Number::Minus)),
            b'0' => (JsonKind::Number, State::Number(Number::Zero)),
            b'1'..=b'9' => (JsonKind::Number, State::Number(Number::Digits)),
            b't' => (JsonKind::Boolean, State::Word(b"rue")),
            b'f' => (JsonKind::Boolean, State::Word(b"alse")),
            b'n' => (JsonKind::Null, State::Word(b"ull")),
            _ => return Err(NotJson),
        };
        if matches!(kind, JsonKind::Object | JsonKind::List) {
            if self.open.len() == DEEPEST {
                return Err(NotJson);
            }
            self.open.push(kind == JsonKind::Object);
        }
        to.begin(self.at, kind);
        self.state = state;
        Ok(())
    }

    fn close(&mut self, is_object: bool, to: &mut impl Listener) -> Result<(), NotJson> {
        if self.open.pop() != Some(is_object) {
            return Err(NotJson);
        }
        self.ended(self.at + 1, to);
        Ok(())
    }

    fn ended(&mut self, at: u64, to: &mut impl Listener) {
        to.end(at);
        self.state = if self.open.is_empty() { State::Done } else { State::After };
    }

    fn end_number(&mut self, number: Number, to: &mut impl Listener) -> Result<(), NotJson> {
        match number {
            Number::Zero | Number::Digits | Number::Fraction | Number::Exponent => {
                self.ended(self.at, to);
                Ok(())
            }
            Number::Minus | Number::Dot | Number::E | Number::Sign => Err(NotJson),
        }
    }

    /// Inside of a text or a name; how many bytes were used.
    fn text(&mut self, mut text: Text, byte: u8, rest: &[u8], to: &mut impl Listener) -> Result<usize, NotJson> {
        let mut used = 1;
        match text.escape {
            Escape::No => match byte {
                b'"' if text.is_name => {
                    to.named();
                    self.state = State::Colon;
                    return Ok(1);
                }
                b'"' => {
                    self.ended(self.at + 1, to);
                    return Ok(1);
                }
                b'\\' => (text.from, text.escape) = (self.at, Escape::Begun(None)),
                ..b' ' => return Err(NotJson),
                _ => {
                    used = rest.iter().position(|byte| matches!(byte, b'"' | b'\\' | ..b' ')).unwrap_or(rest.len());
                    to.run(self.at, &rest[..used]);
                }
            },
            Escape::Begun(before) => {
                if byte == b'u' {
                    text.escape = Escape::Hex { left: 4, unit: 0, before };
                } else {
                    half(before, text.from, to);
                    to.escaped(text.from, Some(simple(byte)?));
                    text.escape = Escape::No;
                }
            }
            Escape::Hex { left, unit, before } => {
                let digit = char::from(byte).to_digit(16).ok_or(NotJson)? as u16;
                let unit = unit << 4 | digit;
                text.escape = match left {
                    1 => character(before, unit, text.from, to),
                    _ => Escape::Hex { left: left - 1, unit, before },
                };
            }
            // The place stays that of the first half.
            Escape::Half(before) if byte == b'\\' => text.escape = Escape::Begun(Some(before)),
            Escape::Half(before) => {
                half(Some(before), text.from, to);
                (text.escape, used) = (Escape::No, 0);
            }
        }
        self.state = State::Text(text);
        Ok(used)
    }
}

impl Number {
    fn next(self, byte: u8) -> Option<Number> {
        match (self, byte) {
            (Number::Minus, b'0') => Some(Number::Zero),
            (Number::Minus, b'1'..=b'9') | (Number::Digits, b'0'..=b'9') => Some(Number::Digits),
            (Number::Zero | Number::Digits, b'.') => Some(Number::Dot),
            (Number::Dot | Number::Fraction, b'0'..=b'9') => Some(Number::Fraction),
            (Number::Zero | Number::Digits | Number::Fraction, b'e' | b'E') => Some(Number::E),
            (Number::E, b'+' | b'-') => Some(Number::Sign),
            (Number::E | Number::Sign | Number::Exponent, b'0'..=b'9') => Some(Number::Exponent),
            _ => None,
        }
    }
}

/// The first half of a character that no second one follows.
fn half(before: Option<u16>, at: u64, to: &mut impl Listener) {
    if before.is_some() {
        to.escaped(at, None);
    }
}

/// Four digits have been read, perhaps after the first half of a character.
fn character(before: Option<u16>, unit: u16, at: u64, to: &mut impl Listener) -> Escape {
    let pair = before.and_then(|before| char::decode_utf16([before, unit]).next()?.ok());
    if let Some(character) = pair {
        to.escaped(at, Some(character));
        return Escape::No;
    }
    half(before, at, to);
    match unit {
        0xd800..=0xdbff => Escape::Half(unit),
        _ => {
            to.escaped(at, char::from_u32(u32::from(unit)));
            Escape::No
        }
    }
}

fn simple(byte: u8) -> Result<char, NotJson> {
    match byte {
        b'"' | b'\\' | b'/' => Ok(char::from(byte)),
        b'b' => Ok('\u{8}'),
        b'f' => Ok('\u{c}'),
        b'n' => Ok('\n'),
        b'r' => Ok('\r'),
        b't' => Ok('\t'),
        _ => Err(NotJson),
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Value;

    use super::*;

    /// Makes the value again from what it hears.
    #[derive(Default)]
    struct Told {
        text: String,
        spans: Vec<(u64, u64)>,
        open: Vec<u64>,
    }

    impl Listener for Told {
        fn begin(&mut self, at: u64, _: JsonKind) {
            self.open.push(at);
        }

        fn end(&mut self, at: u64) {
            self.spans.push((self.open.pop().unwrap(), at));
        }

        fn run(&mut self, _: u64, bytes: &[u8]) {
            self.text.push_str(&String::from_utf8_lossy(bytes));
        }

        fn escaped(&mut self, _: u64, character: Option<char>) {
            self.text.push(character.unwrap_or('?'));
        }
    }

    fn told(json: &str, piece: usize) -> Option<Told> {
        let (mut lexer, mut told) = (Lexer::new(), Told::default());
        for piece in json.as_bytes().chunks(piece.max(1)) {
            lexer.feed(piece, &mut told).ok()?;
        }
        lexer.finish(&mut told).ok().map(|()| told)
    }

    #[test]
    fn values_and_their_places() {
        let json = r#" {"a": [1, -2.5e+3, true], "b": "x\ny\u00e4\ud83d\ude00\/", "c": {}} "#;
        for piece in [1, 2, 3, 7, 1000] {
            // One character in pieces would be shown as two here: what is not ASCII is escaped above.
            let told = told(json, piece).unwrap();
            assert_eq!(told.text, "abx\nyä😀/c");
            let spans: Vec<&str> = told.spans.iter().map(|(from, to)| &json[*from as usize..*to as usize]).collect();
            assert_eq!(spans[..4], ["1", "-2.5e+3", "true", "[1, -2.5e+3, true]"]);
            assert_eq!(spans[5..], ["{}", json.trim()]);
        }
        assert_eq!(told(r#""\ud83d \ud83d\n \ude00""#, 1).unwrap().text, "? ?\n ?");
    }

    #[test]
    fn what_is_no_json_is_told_apart() {
        let wrong = [
            "",
            "{",
            "[1,]",
            "{\"a\":1,}",
            "01",
            "1.",
            "-",
            "1e",
            "tru",
            "truex",
            "\"\n\"",
            "[1]]",
            "{]",
            "[}",
            "{1:2}",
        ];
        for json in wrong.into_iter().chain([r#""\x""#, r#""\u12g4""#, "[1 2]", "{\"a\" 1}", "nul", "1 2", "+1", "'a'"])
        {
            assert!(told(json, 1).is_none() && told(json, 100).is_none(), "{json}");
            assert!(serde_json::from_str::<Value>(json).is_err(), "{json}");
        }
        assert!(told(&format!("{}{}", "[".repeat(128), "]".repeat(128)), 9).is_some());
        assert!(told(&format!("{}{}", "[".repeat(129), "]".repeat(129)), 9).is_none());
    }

    proptest! {
        /// The same is JSON here and there, however it is broken into pieces.
        #[test]
        fn it_agrees_with_the_parser_of_whole_texts(
            json in "[\\[\\]{}:, \"a\\\\u0-9.eEtrufalsn+-]{0,40}", piece in 1usize..5,
        ) {
            let is_json = serde_json::from_str::<&serde_json::value::RawValue>(&json).is_ok();
            prop_assert_eq!(told(&json, piece).is_some(), is_json, "{}", json);
        }
    }
}
