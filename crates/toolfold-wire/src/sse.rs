//! Server-sent events, read byte by byte as they arrive and written as text.

/// One event. `data` is the payload; several `data:` lines were joined with newlines.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StreamEvent {
    pub id: Option<String>,
    pub name: Option<String>,
    pub data: String,
    pub retry: Option<u64>,
}

impl StreamEvent {
    pub fn message(data: impl Into<String>) -> Self {
        StreamEvent { data: data.into(), ..StreamEvent::default() }
    }

    /// The event as it goes over the wire.
    pub fn to_text(&self) -> String {
        let mut text = String::with_capacity(self.data.len() + 16);
        if let Some(id) = &self.id {
            text.push_str(&format!("id: {id}\n"));
        }
        if let Some(name) = &self.name {
            text.push_str(&format!("event: {name}\n"));
        }
        if let Some(retry) = self.retry {
            text.push_str(&format!("retry: {retry}\n"));
        }
        for line in self.data.split('\n') {
            text.push_str("data: ");
            text.push_str(line);
            text.push('\n');
        }
        text.push('\n');
        text
    }
}

/// Puts events together from chunks that may break anywhere, inside a character included.
#[derive(Debug)]
pub struct EventReader {
    line: Vec<u8>,
    event: StreamEvent,
    has_data: bool,
    after_return: bool,
    size: usize,
    limit: usize,
    /// How much of this event was taken out before it was whole.
    taken: usize,
    /// The line goes on with data whose beginning was taken out.
    goes_on: bool,
}

impl EventReader {
    /// `limit`: how many bytes one event may have before the stream is given up.
    pub fn new(limit: usize) -> Self {
        EventReader {
            line: Vec::new(),
            event: StreamEvent::default(),
            has_data: false,
            after_return: false,
            size: 0,
            limit,
            taken: 0,
            goes_on: false,
        }
    }

    /// Feeds a chunk; `Err` when an event outgrew the limit.
    pub fn feed(&mut self, chunk: &[u8], mut each: impl FnMut(StreamEvent)) -> Result<(), usize> {
        for &byte in chunk {
            let skip = self.after_return && byte == b'\n';
            self.after_return = byte == b'\r';
            if skip {
                continue;
            }
            if byte == b'\n' || byte == b'\r' {
                self.end_line(&mut each);
                continue;
            }
            self.size += 1;
            if self.size > self.limit {
                return Err(self.limit);
            }
            self.line.push(byte);
        }
        Ok(())
    }

    /// How much there is of an event whose end is not there yet.
    pub fn pending(&self) -> usize {
        self.size - self.taken
    }

    /// Takes out what there is of the data of an event whose end is not there yet; the event comes with the rest of it.
    pub fn take_data(&mut self) -> Vec<u8> {
        let mut data = std::mem::take(&mut self.event.data).into_bytes();
        let begun = self.line.strip_prefix(b"data:").filter(|begun| !self.goes_on && !begun.is_empty());
        if let Some(begun) = begun {
            self.line = begun.strip_prefix(b" ").unwrap_or(begun).to_vec();
            self.goes_on = true;
            if std::mem::replace(&mut self.has_data, true) {
                data.push(b'\n');
            }
        }
        if self.goes_on {
            // A character whose end is not there yet stays.
            let rest = self.line.split_off(self.line.len() - begun_character(&self.line));
            data.append(&mut std::mem::replace(&mut self.line, rest));
        }
        self.taken = self.size - self.line.len();
        data
    }

    /// Puts back what was taken out of this event.
    pub fn give_back(&mut self, data: Vec<u8>) {
        self.event.data = String::from_utf8(data).unwrap_or_else(|bad| String::from_utf8_lossy(bad.as_bytes()).into());
        self.taken = 0;
    }

    fn end_line(&mut self, each: &mut impl FnMut(StreamEvent)) {
        let line = std::mem::take(&mut self.line);
        if std::mem::take(&mut self.goes_on) {
            self.event.data.push_str(&String::from_utf8_lossy(&line));
            return;
        }
        if line.is_empty() {
            let event = std::mem::take(&mut self.event);
            // An event without data still tells the reader where to resume (id) and when (retry).
            if std::mem::take(&mut self.has_data) || event.id.is_some() || event.retry.is_some() {
                each(event);
            }
            (self.size, self.taken) = (0, 0);
            return;
        }
        let line = String::from_utf8_lossy(&line);
        let (field, value) = line.split_once(':').unwrap_or((&line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "data" => {
                if std::mem::replace(&mut self.has_data, true) {
                    self.event.data.push('\n');
                }
                self.event.data.push_str(value);
            }
            "id" if !value.contains('\0') => self.event.id = Some(value.to_owned()),
            "event" => self.event.name = Some(value.to_owned()),
            "retry" => self.event.retry = value.parse().ok(),
            _ => {}
        }
    }
}

/// How many bytes at the end are the beginning of a character.
fn begun_character(bytes: &[u8]) -> usize {
    let needed = |first: u8| match first {
        0xc0..0xe0 => 2,
        0xe0..0xf0 => 3,
        0xf0.. => 4,
        _ => 1,
    };
    let begins = |byte: &&u8| **byte & 0b1100_0000 != 0b1000_0000;
    let last = bytes.iter().rev().take(3).enumerate().find(|(_, byte)| begins(byte));
    last.map_or(0, |(after, first)| if needed(*first) > after + 1 { after + 1 } else { 0 })
}
