//! What is said in the place of a result that is kept: what it is, how it begins and ends, and how to read the rest.

use crate::body::Notation;
use crate::excerpt::Ends;
use crate::items::Sort;
use crate::shelf::Handle;
use crate::survey::{Layout, Surveyed};

/// Characters of the outline; of a thousand members the first are enough.
const LONGEST_OUTLINE: usize = 1_500;

/// `tool`: how the tool that reads it is called here.
pub fn summary(surveyed: &Surveyed, handle: &Handle, tool: &str) -> String {
    let Surveyed { format, characters, outline, ends, layout, .. } = surveyed;
    let format = if *format == Notation::Json { "JSON" } else { "text" };
    let mut said =
        format!("The result is {format} of {characters} characters. It is kept whole, and this is what it is.\n");
    if let Some(outline) = outline {
        let outline: String = outline.chars().take(LONGEST_OUTLINE).collect();
        said.push_str(&format!("Outline: {outline}\n"));
    }
    said.push_str(&begin_and_end(ends, layout));
    said.push_str(&next(handle, layout.sort, tool));
    said
}

fn begin_and_end(ends: &Ends, layout: &Layout) -> String {
    let (count, plural) = (ends.count(), layout.sort.plural());
    let of = layout.within.as_ref().map_or_else(String::new, |(name, _)| format!(" of {name:?}"));
    let (head, tail) = (ends.head().len(), ends.tail().len());
    if head + tail == 0 {
        let longest = ends.first();
        return format!("{count} {plural}{of}; the first has {longest} characters, too many to show here.\n");
    }
    let mut said = String::new();
    if head > 0 {
        said.push_str(&format!("{plural} 0 to {} of {count}{of}:\n", head - 1));
        ends.head().iter().for_each(|part| said.push_str(&format!("{part}\n")));
    }
    if head + tail < count {
        said.push_str("…\n");
    }
    if tail > 0 {
        said.push_str(&format!("{plural} {} to {} of {count}{of}:\n", count - tail, count - 1));
        ends.tail().for_each(|part| said.push_str(&format!("{part}\n")));
    }
    said
}

/// The next step, as a call to make.
fn next(handle: &Handle, sort: Sort, tool: &str) -> String {
    let ways = match sort {
        Sort::Line => "offset and limit (lines), or grep (a regular expression)",
        _ => "query (JMESPath), grep (a regular expression), or offset and limit (items)",
    };
    format!("To read more, call {tool} with {{\"result\": \"{handle}\"}} and {ways}.")
}
