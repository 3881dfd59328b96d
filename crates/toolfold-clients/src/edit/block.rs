//! Lines of ours in a file whose entries have no names: between two comments, and nothing outside of them.

use super::layout::{Layout, after_eol, line_end, line_start};
use super::{EditError, Edited, Splice, Traces, finish};
use crate::format::FileFormat;

const FIRST: &str = "# Toolfold wrote what is from here";
const LAST: &str = "# to here.";

/// Sets the lines. `None`: they are there already.
pub(crate) fn set_block(text: &str, lines: &str) -> Result<Option<Edited>, EditError> {
    FileFormat::Toml.parse(text)?;
    let eol = Layout::of(text).eol;
    let block = format!("{FIRST}\n{}\n{LAST}\n", lines.trim_end()).replace('\n', eol);
    let splice = match place(text)? {
        Some((start, end)) if text[start..end] == block => return Ok(None),
        Some((start, end)) => Splice::replace(text, start..end, block),
        None => {
            let gap = if text.is_empty() {
                ""
            } else if text.ends_with('\n') {
                eol
            } else {
                &eol.repeat(2)
            };
            Splice::insert(text.len(), format!("{gap}{block}"))
        }
    };
    checked(finish("", text, vec![splice], Traces::default())).map(Some)
}

/// Takes them out. `None`: there are none.
pub(crate) fn remove_block(text: &str) -> Result<Option<Edited>, EditError> {
    let Some((start, end)) = place(text)? else { return Ok(None) };
    // With the empty line that came with it.
    let before = super::layout::before_eol(text, start);
    let start = if before > 0 && text[..before].ends_with('\n') { before } else { start };
    checked(finish("", text, vec![Splice::remove(text, start..end)], Traces::default())).map(Some)
}

fn checked(edited: Edited) -> Result<Edited, EditError> {
    FileFormat::Toml.parse(&edited.text)?;
    Ok(edited)
}

/// From the first line of ours to behind the last.
fn place(text: &str) -> Result<Option<(usize, usize)>, EditError> {
    let lines = |wanted: &str| -> Vec<usize> {
        let found = text.match_indices(wanted).map(|(at, _)| at);
        found.filter(|at| line_start(text, *at) == *at && text[*at..line_end(text, *at)] == *wanted).collect()
    };
    match (&lines(FIRST)[..], &lines(LAST)[..]) {
        ([], []) => Ok(None),
        ([first], [last]) if first < last => Ok(Some((*first, after_eol(text, line_end(text, *last))))),
        _ => Err(EditError::Unusual("the lines of Toolfold".to_owned())),
    }
}
