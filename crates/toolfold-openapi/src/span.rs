//! A template in pieces: text that stays, and `{name}`, where an argument goes.

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Span {
    Text(String),
    Name(String),
}

impl Span {
    pub(crate) fn name(&self) -> Option<&str> {
        match self {
            Span::Text(_) => None,
            Span::Name(name) => Some(name),
        }
    }
}
