//! Messages as server-sent events. A large one is not copied for it: its buffer goes out between two small ones.

use bytes::Bytes;

/// A sign of life.
pub(crate) const STILL_HERE: &[u8] = b": still here\n\n";
/// Up to here a copy costs less than two more pieces.
const SMALL: usize = 16 * 1024;

/// A message of one line as an event, in one piece or three.
pub(crate) fn event(id: Option<&str>, line: Bytes) -> impl DoubleEndedIterator<Item = Bytes> + use<> {
    let id = id.map(|id| format!("id: {id}\n")).unwrap_or_default();
    let pieces = if line.len() <= SMALL {
        let mut whole = Vec::with_capacity(id.len() + line.len() + 8);
        whole.extend_from_slice(id.as_bytes());
        whole.extend_from_slice(b"data: ");
        whole.extend_from_slice(&line);
        whole.extend_from_slice(b"\n\n");
        [Some(whole.into()), None, None]
    } else {
        [Some((id + "data: ").into()), Some(line), Some(Bytes::from_static(b"\n\n"))]
    };
    pieces.into_iter().flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_and_large_messages_read_the_same() {
        for size in [3, SMALL * 2] {
            let line = Bytes::from("x".repeat(size));
            let pieces: Vec<Bytes> = event(Some("7-1"), line.clone()).collect();
            let mut reader = toolfold_wire::EventReader::new(SMALL * 4);
            let mut read = Vec::new();
            for piece in pieces {
                reader.feed(&piece, |event| read.push((event.id, event.data))).unwrap();
            }
            assert_eq!(read, [(Some("7-1".to_owned()), "x".repeat(size))]);
        }
    }
}
