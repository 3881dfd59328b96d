//! Programs that a model writes, in JavaScript: run in a process that is thrown away afterwards.
//!
//! What a reader would get wrong: the engine's own limits are a courtesy. Every engine has an input that they do not stop,
//! and what holds is the process: it has nothing, can do nothing but compute and ask, and is killed from outside. So there
//! are two halves here that share nothing but [`protocol`]: [`worker`] is what the process does, [`run`] is what whoever
//! started it does.

mod limits;
mod processor;
pub mod protocol;
mod run;
mod thrown;
pub mod worker;

pub use limits::{LARGEST_RESULT, LONGEST_SOURCE, ScriptLimits};
pub use protocol::Ask;
pub use run::{Crash, End, Ended, Host, InnerCall, InnerOutcome, Over, Program, Script, run};
pub use thrown::{SERVER_ERROR, TOOL_ERROR, Thrown};
