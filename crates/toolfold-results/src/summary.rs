//! What is said in the place of a result that is kept: what it is, how it begins and ends, and how to read the rest.

use crate::body::{Body, Notation};
use crate::excerpt;
use crate::items::{Items, Sort};
use crate::shelf::Handle;

/// Characters of the outline; of a thousand members the first are enough.
const LONGEST_OUTLINE: usize = 1_500;

/// `characters`: what may be shown of the beginning and the end. `tool`: how the tool that reads it is called here.
pub fn summary(body: &Body, handle: &Handle, characters: usize, tool: &str) -> String {
    let items = Items::of(body.format, &body.text);
    let format = if body.format == Notation::Json { "JSON" } else { "text" };
    let mut said = format!(
        "The result is {format} of {} characters. It is kept whole, and this is what it is.\n",
        body.characters
    );
    if let Some(outline) = &body.outline {
        let outline: String = outline.chars().take(LONGEST_OUTLINE).collect();
        said.push_str(&format!("Outline: {outline}\n"));
    }
    said.push_str(&begin_and_end(&items, characters));
    said.push_str(&next(handle, &items, tool));
    said
}

fn begin_and_end(items: &Items<'_>, characters: usize) -> String {
    let (count, plural) = (items.len(), items.sort.plural());
    let of = items.within.as_ref().map_or_else(String::new, |name| format!(" of {name:?}"));
    let (head, tail) = excerpt::ends(items, characters);
    if head + tail == 0 {
        let longest = items.get(0).chars().count();
        return format!("{count} {plural}{of}; the first has {longest} characters, too many to show here.\n");
    }
    let shown =
        |range: std::ops::Range<usize>| range.map(|place| format!("{}\n", items.get(place))).collect::<String>();
    let mut said = String::new();
    if head > 0 {
        said.push_str(&format!("{plural} 0 to {} of {count}{of}:\n{}", head - 1, shown(0..head)));
    }
    if head + tail < count {
        said.push_str("…\n");
    }
    if tail > 0 {
        said.push_str(&format!(
            "{plural} {} to {} of {count}{of}:\n{}",
            count - tail,
            count - 1,
            shown(count - tail..count)
        ));
    }
    said
}

/// The next step, as a call to make.
fn next(handle: &Handle, items: &Items<'_>, tool: &str) -> String {
    let ways = match items.sort {
        Sort::Line => "offset and limit (lines), or grep (a regular expression)",
        _ => "query (JMESPath), grep (a regular expression), or offset and limit (items)",
    };
    format!("To read more, call {tool} with {{\"result\": \"{handle}\"}} and {ways}.")
}
