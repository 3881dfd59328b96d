//! Whom a tool imitates, among those that were accepted before it.
//!
//! What a reader would get wrong: the order is that of tools and not of servers. A server that has long been there may get a
//! new tool today, and that one is later than everything.

use std::collections::{HashMap, HashSet};

use crate::context::{SAME, plain, shared, words};
use crate::lookalike::outline;
use crate::visible::excerpt;

/// Tools of one outline that a new one is compared with. Nobody has so many by accident, and with few of them somebody could
/// hide a tool behind others.
const MOST_COMPARED: usize = 1_000;

/// Tools that are there, in the order they came.
#[derive(Debug, Default)]
pub struct Accepted {
    outlines: HashMap<String, Vec<Tool>>,
}

#[derive(Debug)]
struct Tool {
    server: String,
    /// What program its server is: copies of one program are no imitation of each other.
    program: String,
    name: String,
    words: HashSet<String>,
}

impl Accepted {
    pub fn new() -> Accepted {
        Accepted::default()
    }

    pub fn add(&mut self, server: &str, program: &str, name: &str, description: &str) {
        let (server, program) = (server.to_owned(), program.to_owned());
        let tool = Tool { server, program, name: name.to_owned(), words: words(description) };
        self.outlines.entry(outline(name)).or_default().push(tool);
    }

    /// What a new tool imitates, in words that follow its name.
    pub fn imitated(&self, server: &str, program: &str, name: &str, description: &str) -> Option<String> {
        let words = words(description);
        let others = self.outlines.get(&outline(name))?.iter();
        let others = others.filter(|other| other.server != server && other.program != program).take(MOST_COMPARED);
        let mut found = others.filter_map(|other| {
            let disguised = plain(&other.name) != plain(name);
            let alike = shared(&words, &other.words);
            let how = match disguised {
                true => "has a name that looks like",
                false if alike >= SAME => "has the name and the description of",
                false => return None,
            };
            Some(format!("{how} {}.{}, which was there before", other.server, excerpt(&other.name)))
        });
        found.next()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "Reads a file and gives its text back.";

    fn accepted() -> Accepted {
        let mut accepted = Accepted::new();
        accepted.add("files", "npx files", "read_file", TEXT);
        accepted
    }

    #[test]
    fn a_copy_on_another_server_imitates_and_one_of_the_same_program_does_not() {
        let accepted = accepted();
        let imitated = |server, program, name, text| accepted.imitated(server, program, name, text);
        assert_eq!(
            imitated("evil", "npx evil", "read_file", TEXT).as_deref(),
            Some("has the name and the description of files.read_file, which was there before")
        );
        assert!(imitated("evil", "npx evil", "rеad_file", "Anything.").unwrap().starts_with("has a name that looks"));
        assert_eq!(imitated("files", "npx files", "read_file", TEXT), None);
        assert_eq!(imitated("more-files", "npx files", "read_file", TEXT), None);
        assert_eq!(imitated("evil", "npx evil", "read_file", "Takes pictures of birds in winter."), None);
        assert_eq!(imitated("evil", "npx evil", "write_file", TEXT), None);
    }
}
