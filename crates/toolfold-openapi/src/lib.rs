//! From the description of an API to tools, and from a tool's arguments to the request that they stand for: OpenAPI 3.0 and
//! 3.1, endpoints and commands that somebody described by hand.
//!
//! What a reader would get wrong: there is no model of OpenAPI here. A document is JSON that is walked, because real ones
//! break every rule of their own format: what is odd costs the operation it is in, never the document. And nothing is
//! inlined: schemas that an operation reaches are copied to its `$defs`, circles included, within a bound.

mod answer;
mod body;
mod command;
mod document;
mod endpoint;
mod name;
mod operation;
mod parameter;
mod place;
mod plan;
mod schema;
mod select;
mod span;
mod style;
mod text;
mod unfit;

pub use answer::{Answered, result};
pub use command::{BadCommand, CommandPlan};
pub use document::{Document, LARGEST, Unreadable, weight};
pub use endpoint::{BadEndpoint, endpoint};
pub use operation::{Api, ApiTool, LeftOut, Wishes, api};
pub use place::{BadBase, Base, BaseFrom};
pub use plan::{BadArguments, Prepared, RequestPlan};
