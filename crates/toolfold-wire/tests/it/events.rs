//! Server-sent events, however the chunks break.

use proptest::prelude::*;
use toolfold_wire::{EventReader, StreamEvent};

fn read(chunks: &[&[u8]], limit: usize) -> Result<Vec<StreamEvent>, usize> {
    let mut reader = EventReader::new(limit);
    let mut events = Vec::new();
    for chunk in chunks {
        reader.feed(chunk, |event| events.push(event))?;
    }
    Ok(events)
}

#[test]
fn fields_comments_and_line_ends_are_understood() {
    let stream =
        b": hello\r\nid: 7\r\nretry: 50\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\nevent: x\rdata:tight\r\rdata\n\n\n";
    let events = read(&[stream], 1000).unwrap();
    assert_eq!(
        events,
        [
            StreamEvent { id: Some("7".into()), retry: Some(50), data: "{\"a\":\n1}".into(), name: None },
            StreamEvent { name: Some("x".into()), data: "tight".into(), ..StreamEvent::default() },
            StreamEvent::default(),
        ]
    );
}

#[test]
fn an_event_that_never_ends_is_given_up() {
    assert_eq!(read(&[b"data: ", &[b'x'; 100]], 50), Err(50));
}

proptest! {
    #[test]
    fn what_is_written_is_read_wherever_it_breaks(
        data in prop::collection::vec("[^\r\0]*", 1..5),
        breaks in prop::collection::vec(any::<prop::sample::Index>(), 0..8),
    ) {
        let text: String = data.iter().map(|data| StreamEvent::message(data.clone()).to_text()).collect();
        let mut places: Vec<usize> = breaks.iter().map(|place| place.index(text.len() + 1)).collect();
        places.extend([0, text.len()]);
        places.sort_unstable();
        let chunks: Vec<&[u8]> = places.windows(2).map(|ends| &text.as_bytes()[ends[0]..ends[1]]).collect();
        let got: Vec<String> = read(&chunks, usize::MAX).unwrap().into_iter().map(|event| event.data).collect();
        prop_assert_eq!(got, data);
    }

    /// What is taken out of an event before it is whole is its beginning, and it can be put back.
    #[test]
    fn an_event_can_be_taken_in_pieces(
        data in prop::collection::vec("[ a\nä😀]{0,12}", 1..4), piece in 1usize..9, from in 0usize..20, back in any::<bool>(),
    ) {
        let text: String = data.iter().map(|data| StreamEvent::message(data.clone()).to_text()).collect();
        let (mut reader, mut got, mut taken) = (EventReader::new(usize::MAX), Vec::new(), Vec::new());
        for chunk in text.as_bytes().chunks(piece) {
            reader.feed(chunk, |event| {
                let whole = [std::mem::take(&mut taken), event.data.into_bytes()].concat();
                got.push(String::from_utf8(whole).unwrap());
            }).unwrap();
            if reader.pending() > from {
                taken.append(&mut reader.take_data());
                prop_assert!(reader.pending() <= 9, "what was taken is not held");
            }
            if back && taken.len() > 30 {
                reader.give_back(std::mem::take(&mut taken));
            }
        }
        prop_assert_eq!(got, data);
    }

    #[test]
    fn no_bytes_make_the_reader_fall_over(bytes in prop::collection::vec(any::<u8>(), 0..512)) {
        let _ = read(&[&bytes], 100);
    }
}
