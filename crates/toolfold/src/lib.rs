//! Toolfold as a library: put your program's own tools behind the gateway, beside MCP servers or alone.
//!
//! ```
//! use serde_json::json;
//! use toolfold::{Output, Registry};
//!
//! let mut tools = Registry::new("greeter");
//! tools.register(
//!     "greet",
//!     "Greet somebody by name.",
//!     json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}),
//!     |arguments| Output::Text(format!("Hello, {}!", arguments["name"].as_str().unwrap_or("you"))),
//! );
//! assert_eq!(tools.count(), 1);
//! ```

pub mod eval;
mod registry;
pub mod toolbox;
pub mod watch;

pub use registry::Registry;
pub use toolfold_config::{Config, LoadOptions, load};
pub use toolfold_gateway::{Gateway, LocalServer, LocalTool, Options, Output};
pub use toolfold_serve::{serve_http, serve_stdio};
