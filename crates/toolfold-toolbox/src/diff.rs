//! A unified diff of two texts, by the longest common subsequence of their lines.

use std::collections::HashMap;

use toolfold_core::Fuel;

use crate::page::Page;
use crate::problem::{Problem, told};

/// The table below may have this many cells; beyond it the answer is not worth the memory.
const MOST_CELLS: usize = 4_000_000;
/// Lines of a text.
const MOST_LINES: usize = 200_000;
const CONTEXT: usize = 3;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Edit {
    Keep,
    Remove,
    Add,
}

pub(crate) fn unified(before: &str, after: &str, fuel: &Fuel) -> Result<String, Problem> {
    let (old, new) = (lines(before, fuel)?, lines(after, fuel)?);
    let edits = edits(&old, &new, fuel)?;
    let mut page = Page::new(fuel, "Compare smaller parts.");
    // The lines of either text before `start`.
    let (mut start, mut a, mut b) = (0, 0, 0);
    while let Some(first) = edits[start..].iter().position(|edit| *edit != Edit::Keep).map(|n| n + start) {
        fuel.burn_for(first - start, 8)?;
        let from = first.saturating_sub(CONTEXT).max(start);
        // All that was kept in between is in both texts.
        (a, b) = (a + from - start, b + from - start);
        let to = hunk_end(&edits, first);
        write_hunk(&mut page, &edits[from..to], (&mut a, &mut b), &old, &new)?;
        start = to;
    }
    Ok(page.finish())
}

fn too_many() -> Problem {
    told!("The texts differ in too many lines to compare. Compare smaller parts.")
}

fn lines<'t>(text: &'t str, fuel: &Fuel) -> Result<Vec<&'t str>, Problem> {
    let lines: Vec<&str> = text.lines().take(MOST_LINES + 1).collect();
    fuel.burn_for(lines.len(), 1)?;
    if lines.len() > MOST_LINES { Err(too_many()) } else { Ok(lines) }
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

fn write_hunk(
    page: &mut Page<'_>,
    edits: &[Edit],
    (a, b): (&mut usize, &mut usize),
    old: &[&str],
    new: &[&str],
) -> Result<(), Problem> {
    let count = |not: Edit| edits.iter().filter(|edit| **edit != not).count();
    let (old_lines, new_lines) = (count(Edit::Add), count(Edit::Remove));
    // Where a side has no line, the line before is named: that is how patch reads it.
    let (at_old, at_new) = (*a + usize::from(old_lines > 0), *b + usize::from(new_lines > 0));
    page.push(&format!("@@ -{at_old},{old_lines} +{at_new},{new_lines} @@\n"))?;
    for edit in edits {
        let (sign, line) = match edit {
            Edit::Keep => (" ", old[*a]),
            Edit::Remove => ("-", old[*a]),
            Edit::Add => ("+", new[*b]),
        };
        *a += usize::from(*edit != Edit::Add);
        *b += usize::from(*edit != Edit::Remove);
        page.push(sign)?;
        page.push(line)?;
        page.push("\n")?;
    }
    Ok(())
}

fn edits(old: &[&str], new: &[&str], fuel: &Fuel) -> Result<Vec<Edit>, Problem> {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[head..], &new[head..]);
    let tail = old.iter().rev().zip(new.iter().rev()).take_while(|(a, b)| a == b).count();
    let (old, new) = (&old[..old.len() - tail], &new[..new.len() - tail]);
    let mut edits = vec![Edit::Keep; head];
    edits.extend(middle(old, new, fuel)?);
    edits.extend(vec![Edit::Keep; tail]);
    Ok(edits)
}

fn middle(old: &[&str], new: &[&str], fuel: &Fuel) -> Result<Vec<Edit>, Problem> {
    let width = new.len() + 1;
    let cells = (old.len() + 1).checked_mul(width).filter(|cells| *cells <= MOST_CELLS).ok_or_else(too_many)?;
    // Lines are compared millions of times, and may be long: numbers stand for them.
    let mut known: HashMap<&str, usize> = HashMap::new();
    let mut number = |line| {
        let next = known.len();
        *known.entry(line).or_insert(next)
    };
    let old: Vec<usize> = old.iter().map(|line| number(line)).collect();
    let new: Vec<usize> = new.iter().map(|line| number(line)).collect();
    // common[a][b]: the length of the longest common subsequence of old[a..] and new[b..].
    let mut common = vec![0u32; cells];
    for a in (0..old.len()).rev() {
        fuel.burn_for(new.len(), 4)?;
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
    Ok(edits)
}
