//! How a server's list is, as it is noted in the log: what has been said already, and the last time in the same words, is not
//! said again.
//!
//! What a reader would get wrong: a server can have thousands of odd tools, and the file is a megabyte of lines about them.
//! Every line is looked at once for all notes together, never once for each.

use std::collections::HashMap;

/// Fields that say what a note is about, where one server has several of a kind.
pub(super) const ABOUT: [&str; 3] = ["tool", "operation", "method"];
/// A text of a server's may look like many of them, and have many spaces: then it may be said again.
const MOST_BEGINS: usize = 4;
const MOST_SPACES: usize = 16;
/// After these the same words are news.
const DECISIONS: [&str; 2] = ["approved", "refused"];

#[derive(Debug)]
pub(super) struct Remark {
    /// Without the time.
    pub(super) text: String,
    /// How it begins, and what it is about: the last line that is alike says what was so before.
    begins: String,
    about: String,
}

impl Remark {
    /// `about`: one of the fields, as it stands among them, or nothing.
    pub(super) fn new(message: &str, fields: &str, about: String) -> Remark {
        let begins = message.split(": ").next().unwrap_or_default().to_owned();
        Remark { text: format!("{message}{fields}"), begins, about }
    }
}

/// The last line that is like each of some notes.
#[derive(Debug, Default)]
pub(super) struct Told {
    /// By how a note begins, of which there are few, and by what it is about.
    last: HashMap<String, HashMap<String, Last>>,
    decisions: usize,
}

/// What a line said, and how many decisions there had been before it.
type Last = Option<(usize, String)>;

impl Told {
    pub(super) fn of<'n>(notes: impl Iterator<Item = &'n Remark>) -> Told {
        let mut told = Told::default();
        for Remark { begins, about, .. } in notes {
            told.last.entry(begins.clone()).or_default().insert(about.clone(), None);
        }
        told
    }

    pub(super) fn is_empty(&self) -> bool {
        self.last.is_empty()
    }

    /// The next line, with its time.
    pub(super) fn hear(&mut self, line: &str) {
        let Some((_, text)) = line.split_once(' ') else { return };
        if DECISIONS.iter().any(|verb| text.starts_with(verb)) {
            self.decisions += 1;
            return;
        }
        for (_, alike) in self.last.iter_mut().filter(|(begins, _)| text.starts_with(begins.as_str())) {
            for about in abouts(text) {
                if let Some(last) = alike.get_mut(about) {
                    *last = Some((self.decisions, text.to_owned()));
                }
            }
        }
    }

    /// Whether this is what was said last.
    pub(super) fn says(&self, note: &Remark) -> bool {
        let last = self.last.get(&note.begins).and_then(|alike| alike.get(&note.about)?.as_ref());
        last.is_some_and(|(before, text)| *before == self.decisions && *text == note.text)
    }
}

/// Everything that a line may be about, and nothing: a field ends at the end of the line or at a space, and its value may have
/// spaces.
fn abouts(text: &str) -> impl Iterator<Item = &str> {
    let begins = ABOUT.iter().flat_map(move |name| {
        let begun = move |(at, _): (usize, &str)| text[at + 1..].strip_prefix(name)?.starts_with('=').then_some(at);
        text.match_indices(' ').filter_map(begun).take(MOST_BEGINS)
    });
    let fields = begins.flat_map(move |from| {
        let ends = text[from + 1..].match_indices(' ').map(move |(at, _)| from + 1 + at);
        ends.take(MOST_SPACES).chain([text.len()]).map(move |end| &text[from..end])
    });
    fields.chain([""])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_something_is_is_written_when_it_is_another_than_before() {
        let is_in = |text: &str, about: &str, lines: &str| {
            let note = Remark::new(text.strip_suffix(about).unwrap(), about, about.to_owned());
            let mut told = Told::of([&note].into_iter());
            lines.lines().for_each(|line| told.hear(line));
            told.says(&note)
        };
        let (one, other) = ("a tool is set aside: no name tool=1", "a tool is set aside: no name tool=12");
        let lines = format!("T {one}\nT stderr line=x\n");
        assert!(is_in(one, " tool=1", &lines));
        assert!(!is_in(other, " tool=12", &lines), "another tool");
        assert!(!is_in("a tool is set aside: no schema tool=1", " tool=1", &lines), "another reason");
        assert!(
            !is_in(one, " tool=1", &format!("{lines}T a tool is set aside: no schema tool=1\n")),
            "it was so before"
        );
        assert!(!is_in(one, " tool=1", &format!("{lines}T approved entries=1 by=local\n")), "somebody has decided");
        assert!(is_in(one, " tool=1", &format!("T approved entries=1\n{lines}T {other}\n")), "others do not matter");
        let spaced = "an operation is left out operation=get /a b why=x";
        assert!(is_in(spaced, " operation=get /a b why=x", &format!("T {spaced}\n")));
        let hostile = format!("a list could not be read error={}", " tool= method=".repeat(1_000));
        assert!(abouts(&hostile).count() <= ABOUT.len() * MOST_BEGINS * (MOST_SPACES + 1) + 1);
        let all: Vec<&str> = abouts(spaced).collect();
        assert_eq!(
            all,
            [" operation=get", " operation=get /a", " operation=get /a b", " operation=get /a b why=x", ""]
        );
    }
}
