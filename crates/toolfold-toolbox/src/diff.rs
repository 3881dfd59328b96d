//! A unified diff of two texts, by the longest common subsequence of their lines.

/// The table below may have this many cells; beyond it the answer is not worth the memory.
const MOST_CELLS: usize = 4_000_000;
const CONTEXT: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edit {
    Keep,
    Remove,
    Add,
}

/// `None` where the texts differ in too many lines.
pub(crate) fn unified(before: &str, after: &str) -> Option<String> {
    let (old, new): (Vec<&str>, Vec<&str>) = (before.lines().collect(), after.lines().collect());
    let edits = edits(&old, &new)?;
    let mut text = String::new();
    let mut start = 0;
    while let Some(first) = edits[start..].iter().position(|edit| *edit != Edit::Keep).map(|n| n + start) {
        let from = first.saturating_sub(CONTEXT).max(start);
        let to = hunk_end(&edits, first);
        write_hunk(&mut text, &edits, (from, to), &old, &new);
        start = to;
    }
    Some(text)
}

/// Hunks whose contexts would touch are one hunk.
fn hunk_end(edits: &[Edit], first: usize) -> usize {
    let mut last = first;
    for (n, edit) in edits.iter().enumerate().skip(first) {
        if *edit != Edit::Keep {
            last = n;
        } else if n - last > 2 * CONTEXT {
            break;
        }
    }
    (last + 1 + CONTEXT).min(edits.len())
}

fn write_hunk(text: &mut String, edits: &[Edit], (from, to): (usize, usize), old: &[&str], new: &[&str]) {
    let count = |edits: &[Edit], not: Edit| edits.iter().filter(|edit| **edit != not).count();
    let (mut a, mut b) = (count(&edits[..from], Edit::Add), count(&edits[..from], Edit::Remove));
    let (old_lines, new_lines) = (count(&edits[from..to], Edit::Add), count(&edits[from..to], Edit::Remove));
    // Where a side has no line, the line before is named: that is how patch reads it.
    let (at_old, at_new) = (a + usize::from(old_lines > 0), b + usize::from(new_lines > 0));
    text.push_str(&format!("@@ -{at_old},{old_lines} +{at_new},{new_lines} @@\n"));
    for edit in &edits[from..to] {
        let (sign, line) = match edit {
            Edit::Keep => (' ', old[a]),
            Edit::Remove => ('-', old[a]),
            Edit::Add => ('+', new[b]),
        };
        a += usize::from(*edit != Edit::Add);
        b += usize::from(*edit != Edit::Remove);
        text.push_str(&format!("{sign}{line}\n"));
    }
}

fn edits(old: &[&str], new: &[&str]) -> Option<Vec<Edit>> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[head..], &new[head..]);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[..old.len() - tail], &new[..new.len() - tail]);
    let mut edits = vec![Edit::Keep; head];
    edits.extend(middle(old, new)?);
    edits.extend(vec![Edit::Keep; tail]);
    Some(edits)
}

fn middle(old: &[&str], new: &[&str]) -> Option<Vec<Edit>> {
    let width = new.len() + 1;
    if (old.len() + 1).checked_mul(width)? > MOST_CELLS {
        return None;
    }
    // common[a][b]: the length of the longest common subsequence of old[a..] and new[b..].
    let mut common = vec![0u32; (old.len() + 1) * width];
    for a in (0..old.len()).rev() {
        for b in (0..new.len()).rev() {
            common[a * width + b] = match old[a] == new[b] {
                true => common[(a + 1) * width + b + 1] + 1,
                false => common[(a + 1) * width + b].max(common[a * width + b + 1]),
            };
        }
    }
    let (mut a, mut b, mut edits) = (0, 0, Vec::new());
    while a < old.len() || b < new.len() {
        let edit = if a < old.len() && b < new.len() && old[a] == new[b] {
            Edit::Keep
        } else if b == new.len() || (a < old.len() && common[(a + 1) * width + b] >= common[a * width + b + 1]) {
            Edit::Remove
        } else {
            Edit::Add
        };
        a += usize::from(edit != Edit::Add);
        b += usize::from(edit != Edit::Remove);
        edits.push(edit);
    }
    Some(edits)
}
