//! As much of the encoding of Protocol Buffers as messages of OTLP need. Written by hand: a dozen lines, where a generator
//! would bring its own build.

/// A message that is being written.
#[derive(Default)]
pub(crate) struct Message(Vec<u8>);

impl Message {
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }

    pub(crate) fn varint(mut self, field: u32, number: u64) -> Self {
        self.tag(field, 0);
        self.number(number);
        self
    }

    pub(crate) fn fixed64(mut self, field: u32, number: u64) -> Self {
        self.tag(field, 1);
        self.0.extend(number.to_le_bytes());
        self
    }

    pub(crate) fn fixed32(mut self, field: u32, number: u32) -> Self {
        self.tag(field, 5);
        self.0.extend(number.to_le_bytes());
        self
    }

    pub(crate) fn double(self, field: u32, number: f64) -> Self {
        self.fixed64(field, number.to_bits())
    }

    pub(crate) fn bytes(mut self, field: u32, bytes: &[u8]) -> Self {
        self.tag(field, 2);
        self.number(bytes.len() as u64);
        self.0.extend(bytes);
        self
    }

    pub(crate) fn text(self, field: u32, text: &str) -> Self {
        self.bytes(field, text.as_bytes())
    }

    pub(crate) fn message(self, field: u32, inner: Message) -> Self {
        self.bytes(field, &inner.0)
    }

    pub(crate) fn messages(self, field: u32, inner: impl IntoIterator<Item = Message>) -> Self {
        inner.into_iter().fold(self, |whole, part| whole.message(field, part))
    }

    /// Numbers of eight bytes each, one after the other.
    pub(crate) fn packed(self, field: u32, numbers: impl IntoIterator<Item = u64>) -> Self {
        let bytes: Vec<u8> = numbers.into_iter().flat_map(u64::to_le_bytes).collect();
        self.bytes(field, &bytes)
    }

    fn tag(&mut self, field: u32, kind: u32) {
        self.number(u64::from(field << 3 | kind));
    }

    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.0.push(number as u8 | 0x80);
            number >>= 7;
        }
        self.0.push(number as u8);
    }
}

/// `KeyValue` of OTLP, with text as its value.
pub(crate) fn attribute(key: &str, value: &str) -> Message {
    Message::default().text(1, key).message(2, Message::default().text(1, value))
}

/// The same with a number.
pub(crate) fn number(key: &str, value: u64) -> Message {
    Message::default().text(1, key).message(2, Message::default().varint(3, value))
}

/// `Resource` and `InstrumentationScope`: who says it.
pub(crate) fn resource() -> Message {
    let version = env!("CARGO_PKG_VERSION");
    let attributes = [("service.name", "toolfold"), ("service.version", version)];
    Message::default().messages(1, attributes.map(|(key, value)| attribute(key, value)))
}

pub(crate) fn scope() -> Message {
    Message::default().text(1, "toolfold").text(2, env!("CARGO_PKG_VERSION"))
}
