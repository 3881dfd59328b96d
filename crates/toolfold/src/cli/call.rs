//! `toolfold call`: one call, as a client would make it.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::sync::Arc;

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolfold_core::{Code, shown_json};
use toolfold_disclosure::View;
use toolfold_gateway::{Failed, Gateway, Request};
use toolfold_wire::{Object, Silent};

use super::arguments::Given;
use super::ask::{Answer, Ask};
use super::output::print;
use super::{Common, Fail, content, open};

#[derive(Args)]
pub(crate) struct Call {
    /// The tool: its id, its bare name, or any spelling that is clear
    tool: String,
    /// `name=value` for each argument, read as the tool's schema says (`name:=json` as JSON), or all of them as a JSON
    /// object: `{…}`, `@file`, or `-` for stdin
    arguments: Vec<String>,
    /// Write what the tool answers to a file, as it is: the first image, sound or file of the result, or else its text
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// A call on its way to a gateway.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Wanted {
    pub(crate) tool: String,
    given: Given,
}

impl Call {
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        let wanted = Wanted { given: Given::read(&self.arguments)?, tool: self.tool };
        let answer = open::ask(common, Ask::Call(wanted))?;
        let result: Value = serde_json::from_str(&answer.text).unwrap_or_default();
        match &self.output {
            Some(file) => std::fs::write(file, content::exact(&result))?,
            None if common.json => print(&shown_json(&answer.text))?,
            None => print(&content::for_people(&result, std::io::stdout().is_terminal()))?,
        }
        if result["isError"] == Value::Bool(true) { Err(Fail::silent(1)) } else { Ok(()) }
    }
}

impl Wanted {
    /// The result as the server gave it.
    pub(crate) async fn answer(&self, gateway: &Gateway, view: &View<'_>) -> Result<Answer, Fail> {
        let entry = view.resolve(&self.tool).ok().map(|position| view.entry(position));
        let schema = entry.map_or(Value::Null, |entry| entry.input_schema());
        let arguments = self.given.clone().into_object(&schema);
        let client = Arc::new(open::asker());
        let params = Object::new().with("name", &self.tool).with("arguments", &arguments);
        let result = gateway.call(Request::new(client, Arc::new(Silent), "tools/call", params)).await;
        result.map(|result| Answer::new(result.get())).map_err(|failed| {
            let wrong = matches!(&failed, Failed::Refused(refusal) if refusal.code == Code::InvalidArguments);
            let hints = if wrong { self.given.hints(&schema) } else { Vec::new() };
            hints.into_iter().fold(Fail::failed(&failed), Fail::hint)
        })
    }
}
