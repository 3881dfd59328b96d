//! Toolfold as a library: put your program's own tools behind the gateway, beside MCP servers or alone.
//!
//! ```
//! use serde_json::json;
//! use toolfold::{Output, Registry, Toolfold};
//!
//! # #[tokio::main]
//! # async fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let mut tools = Registry::new("greeter");
//! tools.register(
//!     "greet",
//!     "Greet somebody by name.",
//!     json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}),
//!     |arguments| Output::Text(format!("Hello, {}!", arguments["name"].as_str().unwrap_or("you"))),
//! );
//! let tools = Toolfold::start([tools]).await?;
//! let best = &tools.find("greet a person by name", 3)[0];
//! assert_eq!(best.name, "greeter.greet");
//! tools.load(&[&best.name])?;
//! assert!(tools.is_active("greet"));
//! let result = tools.call("greet", json!({"name": "Ada"})).await?;
//! assert_eq!(result["content"][0]["text"], "Hello, Ada!");
//! # Ok(())
//! # }
//! ```

mod embed;
mod registry;
pub mod toolbox;
pub mod watch;

pub use embed::{Description, MOST_ACTIVE, Match, Toolfold};
pub use registry::Registry;
pub use toolfold_config::{Config, LoadOptions, load};
pub use toolfold_core::{Refusal, Surface};
pub use toolfold_eval as eval;
pub use toolfold_gateway::{Failed, Gateway, LocalServer, LocalTool, Options, Output};
pub use toolfold_serve::{serve_http, serve_stdio};
pub use toolfold_wire::BoxFuture;
