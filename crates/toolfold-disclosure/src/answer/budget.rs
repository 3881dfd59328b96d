//! Fitting lines into tokens. Every line that can be shown at all is, at its shortest; then the first ones, which are the
//! best ones, take what is left for their longer forms. No line is ever cut.

use toolfold_core::{Entry, Lines};

use crate::level::{FORMS, Level, line, lines};
use crate::tokens::count;

/// Something that is shown in one line, in one of several forms, the longest first.
pub(super) enum Item<'a> {
    /// What is known of an entry from before. `first` is its longest form here.
    Entry {
        entry: &'a Entry,
        lines: &'a Lines,
        first: usize,
        suffix: String,
    },
    Text(Vec<String>),
}

impl<'a> Item<'a> {
    /// An entry in as many forms as there are up to a level.
    pub(super) fn entry(entry: &'a Entry, most: Level, suffix: String) -> Self {
        let first = FORMS.iter().position(|form| *form <= most).unwrap_or(FORMS.len() - 1);
        // What cannot be called has no signature.
        let first = if entry.is_tool() { first } else { first.max(1) };
        Item::Entry { entry, lines: lines(entry), first, suffix }
    }

    fn forms(&self) -> usize {
        match self {
            Item::Entry { first, .. } => FORMS.len() - first,
            Item::Text(forms) => forms.len(),
        }
    }

    /// What its longest form costs.
    pub(super) fn most(&self) -> usize {
        self.cost(0)
    }

    fn cost(&self, form: usize) -> usize {
        match self {
            // A remark begins with a space, where tokens end too.
            Item::Entry { lines, first, suffix, .. } => lines.costs[first + form] as usize + cost(suffix),
            Item::Text(forms) => forms.get(form).map_or(0, |text| cost(text)),
        }
    }

    fn text(&self, form: usize) -> String {
        match self {
            Item::Entry { entry, lines, first, suffix } => line(entry, lines, FORMS[first + form]) + suffix,
            Item::Text(forms) => forms.get(form).cloned().unwrap_or_default(),
        }
    }
}

/// As many lines as fit, at least one.
pub(super) fn fit(items: &[Item<'_>], budget: usize) -> Vec<String> {
    let mut left = budget;
    let mut shortest: Vec<usize> = Vec::with_capacity(items.len());
    for item in items {
        let cost = item.cost(item.forms().saturating_sub(1));
        if cost > left && !shortest.is_empty() {
            break;
        }
        left = left.saturating_sub(cost);
        shortest.push(cost);
    }
    let mut lines = Vec::with_capacity(shortest.len());
    for (item, shortest) in items.iter().zip(shortest) {
        let extra = |form: usize| item.cost(form).saturating_sub(shortest);
        if let Some((form, extra)) = (0..item.forms()).map(|form| (form, extra(form))).find(|(_, extra)| *extra <= left)
        {
            left -= extra;
            lines.push(item.text(form));
        }
    }
    lines
}

/// Several answers within one budget: what the short ones leave over is shared among the longer ones. `make` makes the one at a
/// place within so many tokens, and says what it costs.
pub(super) fn shared<T>(count: usize, budget: usize, make: impl Fn(usize, usize) -> (T, usize)) -> Vec<(T, usize)> {
    let mut made: Vec<(T, usize)> = (0..count).map(|place| make(place, budget)).collect();
    if made.iter().map(|(_, cost)| cost).sum::<usize>() <= budget {
        return made;
    }
    let mut shortest_first: Vec<usize> = (0..count).collect();
    shortest_first.sort_by_key(|place| made[*place].1);
    let mut left = budget;
    for (done, place) in shortest_first.into_iter().enumerate() {
        let share = left / (count - done);
        if made[place].1 > share {
            made[place] = make(place, share);
        }
        left = left.saturating_sub(made[place].1);
    }
    made
}

/// A line and its end.
pub(super) fn cost(line: &str) -> usize {
    count(line) + 1
}
