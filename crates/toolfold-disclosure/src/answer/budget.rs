//! Fitting lines into tokens. Every line that can be shown at all is, at its shortest; then the first ones, which are the
//! best ones, take what is left for their longer forms. No line is ever cut.

use crate::tokens::count;

/// For each item its forms, longest first. Returns as many lines as fit, at least one.
pub(super) fn fit(items: &[Vec<String>], budget: usize) -> Vec<String> {
    let mut left = budget;
    let mut shown = 0;
    let shortest: Vec<usize> = items.iter().map(|forms| forms.last().map_or(0, |line| cost(line))).collect();
    for (place, cost) in shortest.iter().enumerate() {
        if *cost > left && place > 0 {
            break;
        }
        left = left.saturating_sub(*cost);
        shown += 1;
    }
    let mut lines = Vec::with_capacity(shown);
    for (forms, shortest) in items.iter().zip(shortest).take(shown) {
        let affordable =
            forms.iter().map(|line| (line, cost(line).saturating_sub(shortest))).find(|(_, extra)| *extra <= left);
        if let Some((line, extra)) = affordable {
            left -= extra;
            lines.push(line.clone());
        }
    }
    lines
}

/// A line and its end.
pub(super) fn cost(line: &str) -> usize {
    count(line) + 1
}
