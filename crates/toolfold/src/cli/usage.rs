//! `toolfold usage`: what was called, by whom, found how, how long it took, what that cost in tokens and what it saved.
//!
//! What a reader would get wrong: what is saved is an estimate with two assumptions, and both are said. A client without
//! Toolfold would have had every definition in its context once for each conversation; and the definitions are those of today.

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolfold_audit::{Moment, Reader, SharedReader, Tally};
use toolfold_core::shown_line;
use toolfold_disclosure::{View, tokens, tools};
use toolfold_gateway::Gateway;

use super::ask::{Answer, Ask};
use super::output::{Style, as_json, table};
use super::{Common, Fail, audit};

const DAY: i64 = 24 * 3600 * 1_000_000;

#[derive(Debug, Clone, Copy, Args, Serialize, Deserialize)]
pub(crate) struct Since {
    /// Only of the last so many days
    #[arg(long, value_name = "DAYS")]
    days: Option<u32>,
    /// How many tools to show
    #[arg(long, short = 'n', default_value_t = 20)]
    lines: usize,
}

#[derive(Debug, Args, Serialize, Deserialize)]
#[command(
    after_help = "Counted from the audit, so only what is still in it counts. Saved is what all definitions of today would have \
cost in every conversation, less what Toolfold's own list and its answers cost."
)]
pub(crate) struct UsageCommand {
    #[command(flatten)]
    since: Since,
}

impl UsageCommand {
    pub(crate) fn of(since: Since) -> Self {
        UsageCommand { since }
    }

    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        // Before anything is started: without an audit there is nothing to say.
        if common.load(&common.options())?.config.audit.database.is_none() {
            drop(audit::open(common)?);
        }
        common.ask(Ask::Usage(self))
    }

    pub(crate) async fn answer(&self, gateway: &Gateway, view: &View<'_>, style: Style) -> Result<Answer, Fail> {
        let config = gateway.config();
        if let Some(audit) = gateway.audit() {
            audit.flush().await;
        }
        let since = self.since.days.map_or(0, |days| Moment::now().0 - i64::from(days) * DAY);
        let usage = match &config.audit.database {
            Some(url) => SharedReader::open(url).and_then(|reader| reader.usage(Moment(since))),
            None => {
                let path = config.audit.path.as_deref();
                let reader = path.map(Reader::open).transpose().map_err(audit::failed)?.flatten();
                let Some(reader) = reader else { return Err(Fail::nothing("Nothing is written down yet.")) };
                reader.usage(Moment(since))
            }
        };
        let usage = usage.map_err(audit::failed)?;
        let costs = Costs::of(&usage, view, config.surface);
        let text = match style.json {
            true => as_json(&json!({"usage": usage, "tokens": costs}))?,
            false => told(&usage, &costs, self.since.lines, style),
        };
        Ok(Answer::new(text))
    }
}

/// In tokens.
#[derive(Serialize)]
struct Costs {
    /// All definitions, once.
    definitions: u64,
    /// What is listed instead, once.
    listed: u64,
    /// Answers of meta-tools, all together.
    answers: u64,
    saved: i64,
}

impl Costs {
    fn of(usage: &Tally, view: &View<'_>, surface: toolfold_core::Surface) -> Costs {
        let count = |text: &str| tokens::count(text) as u64;
        let definitions = view.tools().map(|place| count(view.entry(place).definition.get())).sum();
        let listed = tools(surface, view).iter().map(|tool| count(tool.get())).sum();
        let answers = usage.tokens;
        let each = definitions as i64 - listed as i64;
        Costs { definitions, listed, answers, saved: each * usage.conversations as i64 - answers as i64 }
    }
}

fn told(usage: &Tally, costs: &Costs, lines: usize, style: Style) -> String {
    let mut rows = vec![
        ["tool", "calls", "failed", "refused", "discovered", "direct", "median", "95 %", "tokens", "by"]
            .map(|head| style.bold(head))
            .to_vec(),
    ];
    let mut tools: Vec<_> = usage.tools.iter().collect();
    tools.sort_by(|(a, one), (b, other)| other.calls.cmp(&one.calls).then_with(|| a.cmp(b)));
    for (name, tool) in tools.iter().take(lines) {
        let by: Vec<&str> = tool.principals.iter().map(String::as_str).collect();
        rows.push(vec![
            shown_line(name).into_owned(),
            tool.calls.to_string(),
            tool.failed.to_string(),
            tool.refused.to_string(),
            tool.discovered.to_string(),
            tool.direct.to_string(),
            format!("{:.1} ms", tool.median),
            format!("{:.1} ms", tool.p95),
            tool.tokens.to_string(),
            shown_line(&by.join(", ")).into_owned(),
        ]);
    }
    let mut text = table(&rows);
    let left = tools.len().saturating_sub(lines);
    if left > 0 {
        text.push_str(&format!("and {left} more\n"));
    }
    text.push_str(&format!(
        "\n{} calls: {} of tools that were found here, {} of tools that were known. {} refused.\n",
        usage.calls, usage.discovered, usage.direct, usage.refused
    ));
    text.push_str(&format!(
        "{} searches, {} looks around, {} descriptions in {} conversations: {} tokens of answers.\n",
        usage.searches, usage.browses, usage.descriptions, usage.conversations, costs.answers
    ));
    text.push_str(&format!(
        "All definitions are {} tokens, the list instead {}. Saved: about {} tokens.\n",
        costs.definitions, costs.listed, costs.saved
    ));
    text
}
