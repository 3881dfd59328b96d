//! More requests than are allowed: when to come back, as every transport says it.

use std::time::Duration;

use serde_json::{Value, json};
use toolfold_core::{Code, Refusal};
use toolfold_wire::{RpcError, code};

#[derive(Debug, Clone, Copy)]
pub(crate) struct TooOften {
    pub(crate) seconds: u64,
}

impl TooOften {
    pub(crate) fn new(wait: Duration) -> Self {
        TooOften { seconds: wait.as_secs_f64().ceil().max(1.0) as u64 }
    }

    pub(crate) fn message(self) -> String {
        format!("Too many requests. Come back in {} s.", self.seconds)
    }

    /// For whoever speaks JSON-RPC.
    pub(crate) fn rpc_error(self) -> RpcError {
        let mut data = self.details();
        data["code"] = Value::from(Code::RateLimited.as_str());
        RpcError::new(code::INVALID_REQUEST, self.message()).with_data(&data)
    }

    /// For whoever speaks HTTP alone.
    pub(crate) fn refusal(self) -> Refusal {
        Refusal::new(Code::RateLimited, self.message()).details(self.details())
    }

    fn details(self) -> Value {
        json!({"retry_after_seconds": self.seconds})
    }
}
