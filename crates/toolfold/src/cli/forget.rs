//! `toolfold forget`: what was learned from use is forgotten, here and in the instance that runs.

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolfold_disclosure::View;
use toolfold_gateway::Gateway;

use super::Fail;
use super::ask::Answer;
use super::output::{Style, as_json};

#[derive(Debug, Args, Serialize, Deserialize)]
#[command(
    after_help = "Toolfold remembers which tools were called after which requests, and puts them a little higher when \
something like it is asked again. By default a request is kept as numbers that stand for its words; with learn = \"queries\" in \
the configuration its text is kept too, and with learn = \"off\" nothing is. What was forgotten here, other running instances \
forget within a minute."
)]
pub(crate) struct Forget {
    /// Only what was learned of this tool
    tool: Option<String>,
    /// What was learned with any configuration, not with this one alone
    #[arg(long)]
    all: bool,
}

impl Forget {
    pub(crate) async fn answer(&self, gateway: &Gateway, view: &View<'_>, style: Style) -> Result<Answer, Fail> {
        // A tool that is not there any more is forgotten by its id.
        let known = |name: &str| view.resolve(name).map(|place| view.entry(place).id.to_string());
        let tool = self.tool.as_deref().map(|name| known(name).unwrap_or_else(|_| name.to_owned()));
        let forgotten = gateway.forget(tool.as_deref(), self.all).await;
        let forgotten = forgotten.map_err(|error| Fail::machine(error.to_string()))?;
        if style.json {
            return Ok(Answer::new(as_json(&json!({"forgotten": forgotten}))?));
        }
        Ok(Answer::new(match forgotten {
            0 => "There was nothing to forget.".to_owned(),
            1 => "Forgot one habit.".to_owned(),
            many => format!("Forgot {many} habits."),
        }))
    }
}
