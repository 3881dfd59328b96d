//! In-process tools: how a Rust program, and Toolfold's own toolbox, puts its functions behind the gateway.

use std::sync::Arc;

use serde_json::{Value, json};
use toolfold_core::{ServerName, slug};
use toolfold_gateway::{LocalServer, LocalTool, Output};
use toolfold_wire::BoxFuture;

/// A named set of tools. Registering is cheap: a handler is built when its tool is first called.
#[derive(Debug, Clone)]
pub struct Registry {
    name: ServerName,
    title: Option<String>,
    tools: Vec<LocalTool>,
}

impl Registry {
    /// `name` is the tools' server, as in `name.tool`; what a name cannot hold becomes `_`.
    pub fn new(name: &str) -> Self {
        let plain: String = slug(name).chars().take(64).collect();
        let name = ServerName::new(plain).or_else(|_| ServerName::new("local"));
        Registry { name: name.expect("`local` is a server name"), title: None, tools: Vec::new() }
    }

    pub fn title(&mut self, title: impl Into<String>) -> &mut Self {
        self.title = Some(title.into());
        self
    }

    /// Registers a tool that computes its answer; it may block.
    pub fn register(
        &mut self,
        name: &str,
        description: &str,
        input_schema: Value,
        run: impl Fn(Value) -> Output + Send + Sync + 'static,
    ) -> &mut Self {
        self.add(LocalTool::blocking(definition(name, description, input_schema), run))
    }

    /// Registers a tool that waits for something; `build` makes its handler when it is first called.
    pub fn register_async<H>(
        &mut self,
        name: &str,
        description: &str,
        input_schema: Value,
        build: impl Fn() -> H + Send + Sync + 'static,
    ) -> &mut Self
    where
        H: Fn(Value) -> BoxFuture<'static, Output> + Send + Sync + 'static,
    {
        self.add(LocalTool::new(definition(name, description, input_schema), move || Arc::new(build())))
    }

    /// Registers a tool by its whole definition; a second one of the same name replaces the first.
    pub fn add(&mut self, tool: LocalTool) -> &mut Self {
        self.tools.retain(|known| known.name() != tool.name());
        self.tools.push(tool);
        self
    }

    pub fn count(&self) -> usize {
        self.tools.len()
    }

    pub fn into_server(self) -> LocalServer {
        LocalServer { name: self.name, title: self.title, tools: self.tools }
    }
}

fn definition(name: &str, description: &str, input_schema: Value) -> Value {
    json!({"name": name, "description": description, "inputSchema": input_schema})
}
