//! What a request asks for: a closed set of verbs, each with a question that any surface can put.
//!
//! What a reader would get wrong: an action has done nothing yet. Routing reads arguments and looks names up; everything
//! that searches, reads schemas or counts tokens happens in `answer`, wherever the gateway chooses to run that. A question
//! therefore carries a shape: how the surface that asked writes the answer down.

use toolfold_core::{Kind, Refusal};
use toolfold_wire::Raw;

use super::View;
use crate::level::Level;

/// How an answer to a question is written. The functions stand in the surfaces' own files.
pub type Shape<Question> = fn(&View<'_>, &Question) -> Result<Raw, Refusal>;

/// What a request asks for. Positions belong to the view's catalog.
#[derive(Debug, Clone)]
pub enum Action {
    Browse(Browse, Shape<Browse>),
    Search(Search, Shape<Search>),
    Nodes(SearchNodes, Shape<SearchNodes>),
    Describe(Describe, Shape<Describe>),
    Load(Load),
    /// What is active: of this client, or of a set that was loaded without a session.
    Active {
        toolset: Option<String>,
    },
    Call {
        entry: usize,
        arguments: Option<Raw>,
        /// The parts of its result that alone are wanted; none for the whole.
        fields: Vec<String>,
    },
    /// A door that does not lead to what is named.
    Shut {
        entry: usize,
        refusal: Refusal,
    },
    /// More of a result that was kept.
    Read(Option<Raw>),
    /// A program of the client's.
    Run {
        code: String,
        input: Option<Raw>,
    },
    /// A tool is named that is not there: what is there instead takes a while to find out.
    Unknown(Unknown),
    Refuse(Refusal),
}

/// What is in a node; the empty path is the root.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Browse {
    pub path: Vec<String>,
    pub kind: Option<Kind>,
    pub tags: Vec<String>,
    pub limit: usize,
    pub offset: usize,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Search {
    pub query: String,
    pub path: Vec<String>,
    pub kind: Option<Kind>,
    pub tags: Vec<String>,
    /// As it was asked for: there may be none of that name.
    pub server: Option<String>,
    /// The beginning of an id or a bare name.
    pub prefix: Option<String>,
    /// The most that is shown of a hit.
    pub detail: Level,
    /// Whether a hit is shown with arguments to call it with.
    pub examples: bool,
    /// Whether as many hits are shown as it takes, each in as much detail as it deserves, rather than a number that was
    /// asked for.
    pub as_needed: bool,
    pub limit: usize,
    pub offset: usize,
}

/// Which nodes answer a query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SearchNodes {
    pub query: String,
    pub limit: usize,
}

/// More about what is named, in whatever spelling.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Describe {
    pub names: Vec<String>,
    /// Parameters that alone are asked for; none for the whole.
    pub parameters: Vec<String>,
    pub detail: Level,
}

/// Tools a client wants to have at hand, in the order asked for.
#[derive(Debug, Clone)]
pub struct Load {
    pub tools: Vec<usize>,
    /// The set to add to, for a client without a session.
    pub toolset: Option<String>,
    /// What is answered, where that does not depend on how the loading goes: then it may fail unnoticed.
    pub(super) shape: Option<Shape<Load>>,
}

/// Names that mean nothing, or too much.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    pub names: Vec<String>,
    /// Whether all of them were to be loaded.
    pub loading: bool,
}

impl Action {
    /// The words that say what it is about.
    pub(super) fn about(&self) -> String {
        match self {
            Action::Browse(browse, _) => browse.path.join(" "),
            Action::Search(search, _) => {
                let server = search.server.as_deref().into_iter();
                let path = search.path.iter().map(String::as_str);
                server.chain([search.query.as_str()]).chain(path).collect::<Vec<_>>().join(" ")
            }
            Action::Nodes(nodes, _) => nodes.query.clone(),
            Action::Describe(describe, _) => describe.names.join(" "),
            Action::Unknown(unknown) => unknown.names.join(" "),
            _ => String::new(),
        }
    }
}

impl Browse {
    /// Everything in a node.
    pub fn at(path: Vec<String>) -> Browse {
        Browse { path, kind: None, tags: Vec::new(), limit: usize::MAX, offset: 0 }
    }
}

impl Search {
    /// The best tools for a query, wherever they are.
    pub fn tools(query: String, limit: usize) -> Search {
        Search {
            query,
            path: Vec::new(),
            kind: Some(Kind::Tool),
            tags: Vec::new(),
            server: None,
            prefix: None,
            detail: Level::Summary,
            examples: false,
            as_needed: false,
            limit,
            offset: 0,
        }
    }
}

impl Describe {
    pub fn one(name: String, detail: Level) -> Describe {
        Describe { names: vec![name], parameters: Vec::new(), detail }
    }
}

impl Load {
    /// What is answered, where that is known before anything is loaded.
    pub fn answered(&self, view: &View<'_>) -> Option<Result<Raw, Refusal>> {
        self.shape.map(|shape| shape(view, self))
    }
}
