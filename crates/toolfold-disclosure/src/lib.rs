//! How much of an entry is shown, to whom, in which shape: levels, answers within a budget, surfaces, and the check of
//! arguments before a call.
//!
//! What a reader would get wrong: nothing in here acts. [`surface::route`] says what a request asks for; the gateway
//! does it. All of it is pure: the same view gives the same bytes.

mod answer;
pub mod arguments;
mod cursor;
pub mod level;
mod schema;
pub mod surface;
pub mod tokens;

pub use arguments::Checker;
pub use level::Level;
pub use surface::{
    Action, Browse, Describe, Load, Search, View, active, answer, fitted, instructions, loaded, refusal_result, route,
    tools,
};
