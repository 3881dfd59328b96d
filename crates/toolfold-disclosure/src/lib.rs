//! How much of an entry is shown, to whom, in which shape: levels, answers within a budget, surfaces, and the check of
//! arguments before a call.
//!
//! What a reader would get wrong: nothing in here acts. [`surface::route`] says what a request asks for, and does so at
//! once; [`surface::answer`] makes the answer of what needs no server, which may take a while; the rest the gateway does.
//! All of it is pure: the same view gives the same bytes.

mod answer;
pub mod arguments;
mod cursor;
pub mod level;
mod schema;
pub mod surface;
pub mod tokens;
mod types;
mod view;

pub use answer::{Answered, DOUBT, ShownHits, answered, is_doubtful, shown};
pub use arguments::Checker;
pub use level::Level;
pub use surface::{
    Action, Browse, Describe, Load, MetaTool, RUN, Search, SearchNodes, Shape, Unknown, active, answer, describing,
    door_tools, finding, fitted, instructions, is_door_of, is_meta, is_reserved, is_reserved_beside, loaded,
    meta_tools, refusal_result, reserved_names, route, shut, tools, written_as,
};
pub use types::declarations;
pub use view::{View, Withheld};
