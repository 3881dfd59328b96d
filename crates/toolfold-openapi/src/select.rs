//! Which operations of a document become tools: `include` and `exclude` of a configuration.

use toolfold_core::Pattern;

/// What is a method where it stands alone or before a path, and no name of an operation.
const METHODS: [&str; 8] = ["GET", "PUT", "POST", "DELETE", "OPTIONS", "HEAD", "PATCH", "TRACE"];

/// One line of `include` or `exclude`: `tag:issues`, `/repos/*`, `GET /repos/*`, `DELETE`, or the name of an operation; `*` is
/// anything.
#[derive(Debug, Clone)]
enum Selector {
    Tag(Pattern),
    Path { method: Option<String>, path: Pattern },
    Name(Pattern),
}

pub(crate) struct Candidate<'a> {
    pub(crate) method: &'a str,
    pub(crate) path: &'a str,
    pub(crate) names: [Option<&'a str>; 2],
    pub(crate) tags: &'a [&'a str],
}

pub(crate) struct Selection {
    include: Vec<Selector>,
    exclude: Vec<Selector>,
}

impl Selection {
    pub(crate) fn new(include: &[String], exclude: &[String]) -> Self {
        let read = |texts: &[String]| texts.iter().map(|text| Selector::read(text)).collect();
        Selection { include: read(include), exclude: read(exclude) }
    }

    pub(crate) fn takes(&self, candidate: &Candidate<'_>) -> bool {
        let fits = |selectors: &[Selector]| selectors.iter().any(|selector| selector.fits(candidate));
        (self.include.is_empty() || fits(&self.include)) && !fits(&self.exclude)
    }
}

impl Selector {
    fn read(text: &str) -> Selector {
        let text = text.trim();
        if let Some(tag) = text.strip_prefix("tag:") {
            return Selector::Tag(Pattern::new(tag));
        }
        if text.starts_with('/') {
            return Selector::Path { method: None, path: Pattern::new(text) };
        }
        // `DELETE *` and `DELETE` alone: read as a name, it would leave nothing out.
        let (method, path) = text.split_once(char::is_whitespace).unwrap_or((text, "*"));
        let path = path.trim_start();
        if METHODS.contains(&method) || path.starts_with('/') {
            let method = Some(method.to_ascii_lowercase()).filter(|method| method != "*");
            return Selector::Path { method, path: Pattern::new(path) };
        }
        Selector::Name(Pattern::new(text))
    }

    fn fits(&self, candidate: &Candidate<'_>) -> bool {
        match self {
            Selector::Tag(tag) => candidate.tags.iter().any(|own| tag.matches(own)),
            Selector::Path { method, path } => {
                method.as_deref().is_none_or(|method| method == candidate.method) && path.matches(candidate.path)
            }
            Selector::Name(name) => candidate.names.iter().flatten().any(|own| name.matches(own)),
        }
    }
}
