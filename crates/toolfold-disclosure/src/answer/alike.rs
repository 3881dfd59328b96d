//! Tools of several servers that do the same stand in one line: whoever asks wants it done, and seldom cares by whom.
//!
//! What a reader would get wrong: whose comes first is not decided here. The hits are in that order already.

use toolfold_core::Entry;
use toolfold_index::Hit;

use crate::level::lines;
use crate::view::{Deed, View};

const MOST_NAMED: usize = 3;

/// A hit as it is shown, with those that do the same.
pub(super) struct Line {
    pub(super) entry: usize,
    pub(super) confidence: f32,
    pub(super) copies: usize,
    /// Among the hits.
    pub(super) place: usize,
    also: Vec<usize>,
}

impl Line {
    fn new(place: usize, hit: &Hit) -> Line {
        Line { entry: hit.entry, confidence: hit.confidence, copies: hit.copies, place, also: Vec::new() }
    }

    /// Everything that the line names.
    pub(super) fn entries(&self) -> impl Iterator<Item = usize> {
        std::iter::once(self.entry).chain(self.also.iter().copied().take(MOST_NAMED))
    }

    /// ` (also in gitlab-2)`; an id where the tool is called otherwise there, and the mark of what is grave there alone.
    pub(super) fn also_in(&self, view: &View<'_>) -> String {
        if self.also.is_empty() {
            return String::new();
        }
        let own = view.entry(self.entry);
        let is_grave = |entry: &Entry| lines(entry).grave;
        let named = self.also.iter().take(MOST_NAMED).map(|&other| {
            let other = view.entry(other);
            let mark = if is_grave(other) && !is_grave(own) { " !" } else { "" };
            if other.name() == own.name() { format!("{}{mark}", other.server()) } else { format!("{}{mark}", other.id) }
        });
        let more = if self.also.len() > MOST_NAMED { ", …" } else { "" };
        format!(" (also in {}{more})", named.collect::<Vec<_>>().join(", "))
    }
}

/// Each hit in a line of its own.
pub(super) fn apart(hits: &[Hit]) -> Vec<Line> {
    hits.iter().enumerate().map(|(place, hit)| Line::new(place, hit)).collect()
}

/// Hits that do the same in one line, where the best of them stood.
pub(super) fn joined(view: &View<'_>, hits: &[Hit]) -> Vec<Line> {
    let mut lines: Vec<(Line, Deed<'_>)> = Vec::with_capacity(hits.len());
    for (place, hit) in hits.iter().enumerate() {
        let deed = Deed::of(view, hit.entry);
        let is_same = |line: &Line, other: &Deed<'_>| is_elsewhere(view, line, hit.entry) && deed.is_same(other);
        match lines.iter().position(|(line, other)| is_same(line, other)) {
            Some(same) => {
                if join(view, &mut lines[same].0, hit) {
                    lines[same].1 = deed;
                }
            }
            None => lines.push((Line::new(place, hit), deed)),
        }
    }
    lines.into_iter().map(|(line, _)| line).collect()
}

/// Near-copies by one server are the index's to fold.
fn is_elsewhere(view: &View<'_>, line: &Line, entry: usize) -> bool {
    let server = |position: usize| view.entry(position).server();
    std::iter::once(line.entry).chain(line.also.iter().copied()).all(|other| server(other) != server(entry))
}

/// Whether the hit is now what the line shows: a tool that takes nothing, where the same one elsewhere takes something,
/// comes of a broken list.
fn join(view: &View<'_>, line: &mut Line, hit: &Hit) -> bool {
    let takes_something = |position: usize| lines(view.entry(position)).signature.as_deref() != Some("");
    let broken = !takes_something(line.entry) && takes_something(hit.entry);
    if broken {
        line.also.insert(0, std::mem::replace(&mut line.entry, hit.entry));
        line.copies = hit.copies;
    } else {
        line.also.push(hit.entry);
    }
    broken
}
