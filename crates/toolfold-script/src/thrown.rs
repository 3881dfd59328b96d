//! Why something a script asked for did not come: what is thrown inside of it, and what its caller gets where the script
//! did not catch it.

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolfold_core::Refusal;

/// The code of what a tool itself calls an error.
pub const TOOL_ERROR: &str = "TOOL_ERROR";
/// The code of what a server answers with an error instead of a result.
pub const SERVER_ERROR: &str = "SERVER_ERROR";

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Thrown {
    pub code: String,
    pub message: String,
    #[serde(default)]
    pub hints: Vec<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub details: Option<Value>,
}

impl Thrown {
    pub fn new(code: &str, message: impl Into<String>) -> Self {
        Thrown { code: code.to_owned(), message: message.into(), hints: Vec::new(), details: None }
    }

    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hints.push(hint.into());
        self
    }
}

impl From<&Refusal> for Thrown {
    fn from(refusal: &Refusal) -> Self {
        Thrown {
            code: refusal.code.as_str().to_owned(),
            message: refusal.message.clone(),
            hints: refusal.hints.clone(),
            details: refusal.details.clone(),
        }
    }
}
