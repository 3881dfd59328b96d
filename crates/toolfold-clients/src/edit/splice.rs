//! Text out, text in, at one place. Everything between two splices is the file's own.

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Splice {
    pub at: usize,
    pub removed: String,
    pub inserted: String,
}

impl Splice {
    pub(crate) fn insert(at: usize, text: impl Into<String>) -> Splice {
        Splice { at, removed: String::new(), inserted: text.into() }
    }

    pub(crate) fn remove(text: &str, range: std::ops::Range<usize>) -> Splice {
        Splice::replace(text, range, "")
    }

    pub(crate) fn replace(text: &str, range: std::ops::Range<usize>, with: impl Into<String>) -> Splice {
        Splice { at: range.start, removed: text[range].to_owned(), inserted: with.into() }
    }
}

/// They are in order and do not overlap.
pub(crate) fn apply(text: &str, splices: &[Splice]) -> String {
    let mut result = String::with_capacity(text.len());
    let mut done = 0;
    for splice in splices {
        result.push_str(&text[done..splice.at]);
        result.push_str(&splice.inserted);
        done = splice.at + splice.removed.len();
    }
    result + &text[done..]
}
