//! The beginning and the end of a text, at whole parts: what stands at the end (an error, a total) is often what matters.

use crate::items::Items;

/// Of the characters there are for it, so much is for the beginning.
const HEAD: f64 = 0.6;

/// So many parts from the beginning and from the end, together within `characters`.
pub(crate) fn ends(items: &Items<'_>, characters: usize) -> (usize, usize) {
    let for_head = (characters as f64 * HEAD) as usize;
    let head = fitting((0..items.len()).map(|place| items.get(place)), for_head);
    let left = items.len() - head;
    let tail = fitting((head..items.len()).rev().map(|place| items.get(place)), characters - for_head).min(left);
    (head, tail)
}

fn fitting<'a>(parts: impl Iterator<Item = &'a str>, characters: usize) -> usize {
    let mut left = characters;
    let fits = |part: &&str| {
        // A separator goes with each.
        let Some(rest) = left.checked_sub(part.chars().take(characters + 1).count() + 1) else { return false };
        left = rest;
        true
    };
    parts.take_while(fits).count()
}
