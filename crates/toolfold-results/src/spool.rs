//! Answers that are put away while they come in, so that a hundred megabytes are never in memory at once.
//!
//! What a reader would get wrong: what a transport gets back is the answer with its texts cut short, and whoever opened the
//! [`Slot`] must look into it for the whole. So a slot is only given with a call whose result would be kept anyway; where
//! it turns out that it is not (an error, a picture, half a character), the answer comes back as it was.

use std::borrow::Cow;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};

use bytes::Bytes;
use serde::Deserialize;
use serde_json::value::RawValue;
use toolfold_core::Principal;
use toolfold_wire::{Intake, Spool, Taken};

use crate::body::{ToolResult, text_of};
use crate::lexer::{Lexer, Listener};
use crate::sealed::{Sealed, Writing};
use crate::shelf::{Coming, Draft, Handle, NotKept, Room, Shelf};
use crate::survey::Surveyed;
use crate::walk::{Walk, Walked};

/// Where the answer to one call goes if it is long.
pub struct Slot {
    shelf: Arc<Shelf>,
    room: Room,
    /// From how many characters on a result is kept.
    over: usize,
    /// Bytes of its texts that stay in the answer, for whoever looks at them on the way.
    shown: usize,
    inside: Mutex<Inside>,
}

enum Inside {
    Empty,
    Filled(Arc<Spooled>),
    /// Nobody will look into it any more.
    Closed,
}

impl Slot {
    pub fn new(shelf: Arc<Shelf>, room: Room, over: usize, shown: usize) -> Arc<Slot> {
        Arc::new(Slot { shelf, room, over, shown, inside: Mutex::new(Inside::Empty) })
    }

    /// What was put into it.
    pub fn filled(&self) -> Option<Arc<Spooled>> {
        match &*self.inside.lock().unwrap_or_else(PoisonError::into_inner) {
            Inside::Filled(spooled) => Some(spooled.clone()),
            Inside::Empty | Inside::Closed => None,
        }
    }

    /// Takes nothing more: answers come as they are from now on. What is in it already stays.
    pub fn close(&self) {
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        if matches!(*inside, Inside::Empty) {
            *inside = Inside::Closed;
        }
    }

    /// Gives it back where nobody would look into it.
    fn fill(&self, spooled: Spooled) -> Result<(), Spooled> {
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        if !matches!(*inside, Inside::Empty) {
            return Err(spooled);
        }
        *inside = Inside::Filled(Arc::new(spooled));
        Ok(())
    }

    fn is_empty(&self) -> bool {
        matches!(*self.inside.lock().unwrap_or_else(PoisonError::into_inner), Inside::Empty)
    }
}

impl Spool for Slot {
    fn begin(self: Arc<Self>, id: u64) -> Option<Box<dyn Intake>> {
        if !self.is_empty() {
            return None;
        }
        let (file, walk) = (self.shelf.writing().ok()?, Walk::showing(self.shown));
        let coming = Coming::to(self.shelf.clone());
        Some(Box::new(Taking { slot: self, id, file, coming, walk: Some(walk), text: Utf8::default() }))
    }
}

struct Taking {
    slot: Arc<Slot>,
    id: u64,
    file: Writing,
    /// For whole pieces; the file may have a part of one more that there was no room for.
    coming: Coming,
    /// `None`: this is nothing to be kept.
    walk: Option<Walk>,
    text: Utf8,
}

impl Intake for Taking {
    fn take(&mut self, bytes: &[u8]) -> bool {
        // Of all that come in at once, so that they do not fill the disk together.
        let before = self.coming.bytes();
        if !self.coming.grow(bytes.len() as u64, self.slot.room.bytes) {
            return false;
        }
        if self.file.write(bytes).is_err() {
            self.coming.shrink(before);
            return false;
        }
        let is_text = self.text.feed(bytes);
        if let Some(walk) = &mut self.walk
            && (!is_text || walk.feed(bytes).is_err())
        {
            self.walk = None;
        }
        true
    }

    fn give_back(self: Box<Self>) -> Option<Vec<u8>> {
        let mut bytes = self.file.give_back()?;
        bytes.truncate(usize::try_from(self.coming.bytes()).ok()?);
        Some(bytes)
    }

    fn end(mut self: Box<Self>) -> Option<Taken> {
        let walk = self.walk.take().filter(|_| self.text.is_whole());
        let walked = walk.and_then(|walk| walk.finish().ok()).filter(|walked| walked.characters > self.slot.over);
        let Some(walked) = walked.filter(|walked| is_kept(walked, self.id)) else {
            return self.give_back().map(Taken::Whole);
        };
        let Walked { short, texts, structured, .. } = walked;
        let texts = texts.into_iter().map(|(_, span)| span).collect();
        let file = match self.file.finish() {
            Ok(file) => file,
            // The disk is full at the very last: what is not written is lost with it.
            Err(_) => return None,
        };
        let structured = structured.into_iter().next();
        match self.slot.fill(Spooled { file, texts, structured, _coming: self.coming }) {
            Ok(()) => Some(Taken::Short(Bytes::from(short))),
            Err(spooled) => spooled.whole().map(Taken::Whole),
        }
    }
}

/// Whether what is left of a message is the answer to this request, and one whose texts are kept: each text that was cut is
/// one that would be read as such.
fn is_kept(walked: &Walked, id: u64) -> bool {
    #[derive(Deserialize)]
    struct Answer<'a> {
        id: Option<u64>,
        #[serde(borrow)]
        result: &'a RawValue,
        #[serde(borrow, default)]
        error: Option<&'a RawValue>,
        #[serde(borrow, default)]
        method: Option<&'a RawValue>,
    }
    let Ok(answer) = serde_json::from_slice::<Answer<'_>>(&walked.short) else { return false };
    let Ok(result) = serde_json::from_str::<ToolResult<'_>>(answer.result.get()) else { return false };
    // A question is no result, however long it is.
    let is_done = result.result_type.as_deref().is_none_or(|kind| kind != "input_required");
    let texts: Vec<usize> =
        result.content.iter().enumerate().filter(|(_, item)| text_of(item).is_some()).map(|(place, _)| place).collect();
    let is_answer = answer.id == Some(id) && answer.error.is_none() && answer.method.is_none();
    let is_read = walked.texts.iter().map(|(item, _)| *item).eq(texts) && walked.structured.len() <= 1;
    is_answer && is_done && !result.is_error && is_read
}

/// A whole answer that was put away.
pub struct Spooled {
    file: Sealed,
    texts: Vec<Range<u64>>,
    structured: Option<Range<u64>>,
    _coming: Coming,
}

impl Spooled {
    /// Bytes of the message.
    pub fn bytes(&self) -> u64 {
        self.file.bytes()
    }

    /// The message as it came; `None` where it cannot be read any more.
    pub fn whole(&self) -> Option<Vec<u8>> {
        self.file.whole(0)
    }

    /// Keeps what there is to read in it for its owner, and says what that is.
    pub fn shelve(
        &self,
        shelf: &Shelf,
        whose: (&Principal, &str),
        room: Room,
        characters: usize,
    ) -> Result<(Handle, Surveyed), NotKept> {
        let mut draft = shelf.begin(room, characters)?;
        match &self.structured {
            Some(span) => self.copy(span, &mut |piece| draft.write(piece))?,
            None => {
                for (place, span) in self.texts.iter().enumerate() {
                    if place > 0 {
                        draft.write(b"\n")?;
                    }
                    self.decode(span, &mut draft)?;
                }
            }
        }
        shelf.keep(whose, draft, room)
    }

    fn copy(&self, span: &Range<u64>, to: &mut dyn FnMut(&[u8]) -> Result<(), NotKept>) -> Result<(), NotKept> {
        let mut done = Ok(());
        let read = self.file.read(span.clone(), |piece| {
            done = to(piece);
            done.is_ok()
        });
        done.and(read.ok_or(NotKept::Sealing))
    }

    /// A text of JSON as what it means.
    fn decode(&self, span: &Range<u64>, draft: &mut Draft) -> Result<(), NotKept> {
        let (mut lexer, mut decoded) = (Lexer::new(), Decoded::default());
        // It was read as JSON once: between quotes it is again.
        let _ = lexer.feed(b"\"", &mut decoded);
        self.copy(span, &mut |piece| {
            lexer.feed(piece, &mut decoded).map_err(|_| NotKept::Sealing)?;
            draft.write(&decoded.0)?;
            decoded.0.clear();
            Ok(())
        })
    }
}

#[derive(Default)]
struct Decoded(Vec<u8>);

impl Listener for Decoded {
    fn run(&mut self, _: u64, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn escaped(&mut self, _: u64, character: Option<char>) {
        let character = character.unwrap_or(char::REPLACEMENT_CHARACTER);
        self.0.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes());
    }
}

/// Whether bytes are text, in pieces that may break within a character.
#[derive(Default)]
struct Utf8 {
    begun: Vec<u8>,
}

impl Utf8 {
    fn feed(&mut self, bytes: &[u8]) -> bool {
        let bytes = match self.begun.is_empty() {
            true => Cow::Borrowed(bytes),
            false => Cow::Owned([&self.begun, bytes].concat()),
        };
        match std::str::from_utf8(&bytes) {
            Ok(_) => self.begun.clear(),
            Err(error) if error.error_len().is_none() => self.begun = bytes[error.valid_up_to()..].to_vec(),
            Err(_) => return false,
        }
        true
    }

    fn is_whole(&self) -> bool {
        self.begun.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{Value, json};

    use super::*;

    const ROOM: Room = Room { bytes: 5_000_000, age: Duration::from_secs(3600) };

    fn slot(over: usize) -> (tempfile::TempDir, Arc<Slot>) {
        let folder = tempfile::tempdir().unwrap();
        let shelf = Arc::new(Shelf::new(folder.path(), "").unwrap());
        (folder, Slot::new(shelf, ROOM, over, 10))
    }

    fn take(slot: &Arc<Slot>, message: &[u8]) -> Option<Taken> {
        let mut intake = slot.clone().begin(7).unwrap();
        for piece in message.chunks(1_001) {
            assert!(intake.take(piece));
        }
        intake.end()
    }

    fn answer(result: Value) -> Vec<u8> {
        json!({"jsonrpc": "2.0", "id": 7, "result": result}).to_string().into_bytes()
    }

    /// What is kept of a message that is taken in.
    fn kept(message: &[u8]) -> (Value, String) {
        let (_folder, slot) = slot(100);
        let Some(Taken::Short(short)) = take(&slot, message) else { panic!("it is to be kept") };
        let spooled = slot.filled().unwrap();
        assert!(spooled.whole().unwrap() == message && spooled.bytes() == message.len() as u64);
        let ada = Principal::local();
        let (handle, _) = spooled.shelve(&slot.shelf, (&ada, "a.b"), ROOM, 100).unwrap();
        let text = slot.shelf.find(&ada, &handle, ROOM).unwrap().take_down().unwrap().text;
        (serde_json::from_slice(&short).unwrap(), text)
    }

    #[test]
    fn a_long_answer_is_kept_as_it_would_be_from_memory() {
        let long = "Zeile \"ä\" \u{1f600}\t\n".repeat(2_000);
        let items = json!([{"id": 1, "text": long}, {"id": 2}]);
        let text = |text: &str| json!({"type": "text", "text": text});
        for result in [
            json!({"content": [text(&long)]}),
            json!({"content": [text(&long), {"type": "resource_link", "uri": "a:b", "name": "n"}, text("end")], "_meta": {"a": 1}}),
            json!({"content": [text(&items.to_string())]}),
            json!({"content": [text("x")], "structuredContent": {"items": items}}),
        ] {
            let message = answer(result.clone());
            let (short, kept) = kept(&message);
            let result = result.to_string();
            let body = crate::body_of(&result, 100).unwrap();
            assert!(kept == body.text, "the same is kept");
            assert!(short.to_string().len() < 1_000, "{short}");
            let result: Value = serde_json::from_str(&result).unwrap();
            assert_eq!(short["result"]["_meta"], result["_meta"]);
            let short = short["result"].to_string();
            assert_eq!(crate::body_of(&short, 0).unwrap().others, body.others, "what is no text stays");
        }
    }

    #[test]
    fn what_is_not_to_be_kept_comes_back_as_it_was() {
        let long = "x".repeat(10_000);
        let text = json!({"type": "text", "text": long});
        let twice = format!(r#"{{"id":7,"result":{{"content":[{{"type":"text","text":"{long}","text":"{long}"}}]}}}}"#);
        let mut broken = answer(json!({"content": [text]}));
        broken[5_000] = 0xff;
        for message in [
            answer(json!({"content": [text], "isError": true})),
            answer(json!({"content": [{"type": "other", "text": long}]})),
            answer(json!({"contents": [text]})),
            answer(json!({"content": [text], "resultType": "input_required"})),
            json!({"jsonrpc": "2.0", "id": 8, "result": {"content": [text]}}).to_string().into_bytes(),
            json!({"jsonrpc": "2.0", "id": 7, "error": {"code": 1, "message": long}}).to_string().into_bytes(),
            twice.into_bytes(),
            broken,
            long.into_bytes(),
        ] {
            let (_folder, slot) = slot(100);
            let Some(Taken::Whole(whole)) = take(&slot, &message) else { panic!("it is not to be kept") };
            assert!(whole == message && slot.filled().is_none());
        }
    }

    #[test]
    fn short_answers_closed_slots_and_too_much_are_not_taken() {
        let message = answer(json!({"content": [{"type": "text", "text": "x".repeat(10_000)}]}));
        let (_folder, slot) = slot(20_000);
        assert!(matches!(take(&slot, &message), Some(Taken::Whole(_))), "not long enough");
        let (_folder, slot) = self::slot(100);
        let mut intake = slot.clone().begin(7).unwrap();
        assert!(intake.take(&message));
        slot.close();
        assert!(matches!(intake.end(), Some(Taken::Whole(whole)) if whole == message), "nobody looks any more");
        assert!(slot.clone().begin(7).is_none());
        let (_folder, slot) = self::slot(100);
        let mut intake = slot.clone().begin(7).unwrap();
        let much = vec![b' '; 3_000_000];
        assert!(intake.take(&much) && !intake.take(&much), "more than there is room for");
        let mut other = Slot::new(slot.shelf.clone(), ROOM, 100, 10).begin(8).unwrap();
        assert!(!other.take(&much), "more than there is room for beside the first");
        assert!(intake.give_back().unwrap() == much);
        assert!(other.take(&much), "what was given back takes no room");
    }
}
