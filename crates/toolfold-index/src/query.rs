//! What can be asked and what is answered.

use toolfold_core::{Entry, Kind, ServerName};

use crate::analyse::Field;
use crate::learned::{Learned, Lift};

/// An empty text asks for everything the filter lets through, by id.
#[derive(Debug, Clone, Default)]
pub struct Query<'a> {
    pub text: &'a str,
    pub filter: Filter<'a>,
    pub limit: usize,
    pub offset: usize,
    pub ranker: Ranker,
    /// Whether only what may be an answer is found: nothing at all where even the best is none.
    pub answers_only: bool,
    /// Whether hits say why they are where they are.
    pub explain: bool,
    /// What was learned from use.
    pub learned: Option<&'a Learned>,
}

/// Which side ranks. The single sides are for comparison.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ranker {
    #[default]
    Fused,
    Lexical,
    Semantic,
}

/// What an entry must be to count. `None` everywhere lets everything through.
#[derive(Debug, Clone, Default)]
pub struct Filter<'a> {
    /// By position: whether the entry exists at all for whoever asks.
    pub scope: Option<&'a [bool]>,
    pub servers: Option<Vec<ServerName>>,
    /// Positions, ascending: the entries of a node.
    pub within: Option<&'a [usize]>,
    pub kind: Option<Kind>,
    /// One of these must be among the tags that its definition brings along, in whatever case.
    pub tags: Option<Vec<String>>,
    pub read_only: Option<bool>,
    pub destructive: Option<bool>,
    /// The beginning of the id or of the bare name.
    pub prefix: Option<String>,
}

#[derive(Debug, Clone)]
pub struct Found {
    /// The asked page, best first.
    pub hits: Vec<Hit>,
    /// Hits on all pages.
    pub total: usize,
    /// Those among them that are found where answers alone are asked for.
    pub answers: usize,
    /// The chance that anything here is what was asked for; 1 where that cannot be told.
    pub fits: f32,
}

#[derive(Debug, Clone)]
pub struct Hit {
    /// The entry's position in the catalog.
    pub entry: usize,
    /// Good for ordering the hits of one query, nothing else.
    pub score: f32,
    /// 0 to 1, comparable between queries: the chance that this is what was asked for.
    pub confidence: f32,
    /// Near-copies by the same server that stand behind this one.
    pub copies: usize,
    /// Whether it is found where answers alone are asked for, and not only beside others.
    pub is_answer: bool,
    /// Empty unless it was asked for.
    pub explain: Explain,
}

/// Why a hit is where it is.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Explain {
    /// The query names this entry: nothing else comes before it.
    pub named: bool,
    pub terms: Vec<TermMatch>,
    /// What the words earn, as a share of what an entry would earn that has them all and nothing else.
    pub lexical: f32,
    /// The cosine between the meanings of query and entry.
    pub semantic: f32,
    /// How much more alike the encoder finds them than entries usually are, against the most alike entry.
    pub precise: Option<f32>,
    /// How near the single words of the query come to words of the entry; only the best hits are compared so.
    pub near: Option<f32>,
    /// The same by the encoder's pieces, where it has such.
    pub precisely_near: Option<f32>,
    /// The score of words, meaning and parts alone.
    pub mixed: f32,
    /// What it adds that it does what is wanted, or takes that it does something else.
    pub deed: f32,
    /// What that is made of: a number for each thing that is looked at, named in `training/deeds.py`.
    pub deeds: Vec<f32>,
    /// How near the thing that the query names comes to words of the entry; of several the one that comes least near.
    pub least_near: f32,
    /// The part of a request for several things that it fits best.
    pub part: Option<String>,
    /// What it gains by having been called after requests like this one.
    pub learned: Option<Lift>,
    /// The entry that does the same and would be here, were the server of this one not preferred. Who searches for somebody
    /// knows that, an index does not.
    pub preferred_to: Option<usize>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct TermMatch {
    /// The word as the index knows it: a stem, a surface form, or what a misspelling was read as.
    pub term: String,
    pub fields: Vec<Field>,
    pub score: f32,
}

impl Filter<'_> {
    pub(crate) fn is_open(&self) -> bool {
        let Filter { scope, servers, within, kind, tags, read_only, destructive, prefix } = self;
        scope.is_none()
            && servers.is_none()
            && within.is_none()
            && kind.is_none()
            && tags.is_none()
            && read_only.is_none()
            && destructive.is_none()
            && prefix.is_none()
    }

    pub(crate) fn admits(&self, position: usize, entry: &Entry) -> bool {
        let asked = |wanted: Option<bool>, said: Option<bool>, default: bool| {
            wanted.is_none_or(|wanted| said.unwrap_or(default) == wanted)
        };
        // The defaults are MCP's own: a tool that says nothing may write, and may destroy.
        let read_only = entry.hints.read_only.unwrap_or(false);
        self.scope.is_none_or(|scope| scope.get(position).copied().unwrap_or(false))
            && self.servers.as_ref().is_none_or(|servers| servers.contains(entry.server()))
            && self.within.is_none_or(|within| within.binary_search(&position).is_ok())
            && self.kind.is_none_or(|kind| entry.kind == kind)
            && asked(self.read_only, Some(read_only), false)
            && asked(self.destructive, entry.hints.destructive, !read_only)
            && self.prefix.as_ref().is_none_or(|prefix| has_prefix(entry, prefix))
            && self.tags.as_ref().is_none_or(|tags| has_tag(entry, tags))
    }
}

fn has_tag(entry: &Entry, tags: &[String]) -> bool {
    entry.tags().iter().any(|own| tags.iter().any(|tag| tag.eq_ignore_ascii_case(own)))
}

fn has_prefix(entry: &Entry, prefix: &str) -> bool {
    entry.name().starts_with(prefix) || entry.id.to_string().starts_with(prefix)
}
