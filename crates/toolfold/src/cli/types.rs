//! `toolfold types`: what scripts may call, as declarations of TypeScript.

use clap::Args;
use serde::{Deserialize, Serialize};
use toolfold_core::{ServerName, shown_json, words};
use toolfold_disclosure::{View, declarations};

use super::Fail;
use super::ask::{Answer, Needs};
use super::ls::not_there;
use super::output::{Style, as_json};

#[derive(Debug, Args, Serialize, Deserialize)]
pub(crate) struct Types {
    /// Only of these servers
    servers: Vec<String>,
}

impl Types {
    pub(crate) fn needs(&self) -> Needs {
        match self.servers.as_slice() {
            [only] => Needs::Server(only.clone()),
            _ => Needs::All,
        }
    }

    pub(crate) fn answer(&self, view: &View<'_>, style: Style) -> Result<Answer, Fail> {
        let mut only = Vec::new();
        for wanted in &self.servers {
            let known = view.servers().find(|server| server.as_str() == wanted);
            only.push(known.cloned().ok_or_else(|| unknown(view, wanted))?);
        }
        let text = declarations(view, &only);
        Ok(Answer::new(match style.json {
            true => as_json(&serde_json::json!({ "declarations": text }))?,
            // TypeScript has the escapes of JSON: what is declared stays the same.
            false => shown_json(&text).into_owned(),
        }))
    }
}

fn unknown(view: &View<'_>, wanted: &str) -> Fail {
    if let Some(absent) = view.absent().iter().find(|absent| absent.server.as_str() == wanted) {
        return not_there(absent);
    }
    let nearest = words::nearest(wanted, view.servers().map(ServerName::as_str));
    let fail = Fail::usage(format!("there is no server {wanted:?}"));
    match nearest {
        Some(near) => fail.hint(format!("did you mean `{near}`?")),
        None => fail,
    }
}
