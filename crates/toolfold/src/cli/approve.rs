//! `toolfold approve`: what is held, and letting it through or refusing it.
//!
//! What a reader would get wrong: an id means what is held under it now. Whoever wants to be sure that it is what they have
//! read names its fingerprint as well, `ID@FINGERPRINT`, as the list shows it.

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolfold_core::{Principal, shown_line};
use toolfold_gateway::{Decision, Gateway, HeldEntry, HeldList, Undecided};
use toolfold_scan::Severity;

use super::ask::{Answer, Ask, Needs};
use super::output::{Style, as_json};
use super::{Common, Fail, instance, open};

/// Entries that are shown at once. More are never read; `--json` has them all.
const MOST_SHOWN: usize = 100;

#[derive(Debug, Args, Serialize, Deserialize)]
#[command(
    after_help = "What servers say is accepted when it is first seen; what changes afterwards is held until somebody approves \
it here, and so is what is new on a server with trust = \"review\", what the scanner finds hard, and what imitates another \
server's tool. While a change is held, what was accepted before goes on serving.

Without arguments everything that is held is listed, with what is different and every character visible. An id is a tool's, \
or as it is listed; with @ and the beginning of its fingerprint it means that definition and no later one. What is refused \
with --deny does not serve, neither as it is nor as it was, until the server takes it back or it is approved after all.

Where `toolfold serve` runs with the same configuration, it takes effect there at once. Exit codes: 0 done, 1 not held, \
2 usage or configuration, 3 the record cannot be used."
)]
pub(crate) struct Approve {
    /// What to approve [default: list everything that is held]
    #[arg(value_name = "ID")]
    ids: Vec<String>,
    /// Everything of this server
    #[arg(long, value_name = "NAME")]
    server: Vec<String>,
    /// Everything that is held
    #[arg(long, conflicts_with_all = ["ids", "server"])]
    all: bool,
    /// Refuse it instead
    #[arg(long)]
    deny: bool,
    /// List it, and change nothing
    #[arg(long, conflicts_with_all = ["all", "deny"])]
    list: bool,
}

impl Approve {
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        if self.deny && self.is_list() {
            return Err(Fail::usage("nothing is named that could be refused").hint("name ids, a --server, or --all"));
        }
        let decides = !self.is_list();
        common.ask(Ask::Approve(self))?;
        if decides {
            open::runtime()?.block_on(instance::tell_all(common, || Ask::Approve(Approve::look_again())));
        }
        Ok(())
    }

    /// What makes an instance look at the record again.
    fn look_again() -> Approve {
        Approve { ids: Vec::new(), server: Vec::new(), all: false, deny: false, list: true }
    }

    fn is_list(&self) -> bool {
        self.list || (self.ids.is_empty() && self.server.is_empty() && !self.all)
    }

    pub(crate) fn needs(&self) -> Needs {
        match &self.server[..] {
            [only] if self.ids.is_empty() => Needs::Server(only.clone()),
            _ => Needs::All,
        }
    }

    pub(crate) async fn answer(&self, gateway: &Gateway, style: Style) -> Result<Answer, Fail> {
        gateway.approvals().recheck().await;
        if self.is_list() {
            return self.listed(gateway, style).await;
        }
        let (ids, servers) = (self.ids.clone(), self.server.clone());
        let decision = Decision { ids, servers, all: self.all, deny: self.deny, by: Principal::local() };
        let decided = gateway.approvals().decide(decision).await.map_err(|why| undecided(&why))?;
        if let Some(first) = decided.unknown.first() {
            let fail = Fail::nothing(format!("{} is not held; nothing was changed.", shown_line(first)));
            return Err(fail.hint("`toolfold approve` lists what is held"));
        }
        if decided.ids.is_empty() {
            return Err(Fail::nothing("Nothing of it is held."));
        }
        let verb = if self.deny { "denied" } else { "approved" };
        Ok(Answer::new(match style.json {
            true => as_json(&json!({ verb: decided.ids }))?,
            false => decided.ids.iter().map(|id| format!("{verb} {}\n", shown_line(id))).collect(),
        }))
    }

    async fn listed(&self, gateway: &Gateway, style: Style) -> Result<Answer, Fail> {
        let limit = if style.json { usize::MAX } else { MOST_SHOWN };
        let mut list = HeldList { total: 0, held: Vec::new(), review: Vec::new() };
        let servers: Vec<Option<String>> = match self.server.is_empty() {
            true => vec![None],
            false => self.server.iter().cloned().map(Some).collect(),
        };
        for server in servers {
            let part = gateway.approvals().list(server, 0, limit).await;
            list.total += part.total;
            list.held.extend(part.held);
            list.review = part.review;
        }
        Ok(Answer::new(if style.json { as_json(&list)? } else { told(&list, style) }))
    }
}

fn undecided(why: &Undecided) -> Fail {
    let fail = Fail::machine(shown_line(&why.to_string()));
    match why {
        Undecided::Store(error) => fail.hint(error.hint()),
        Undecided::Late => fail.hint("try again"),
        _ => fail,
    }
}

fn told(list: &HeldList, style: Style) -> String {
    let mut text: String = list.held.iter().map(|held| entry(held, style)).collect();
    if list.held.is_empty() {
        text.push_str("Nothing is held.\n");
    }
    if list.total > list.held.len() {
        text.push_str(&format!("… and {} more; `--json` has them all\n", list.total - list.held.len()));
    }
    if !list.review.is_empty() {
        let shown: Vec<_> = list.review.iter().take(MOST_SHOWN).map(|id| shown_line(id).into_owned()).collect();
        text.push_str(&format!(
            "Served, and worth a look (`toolfold scan` says why; approve it to have it left out here): {}\n",
            shown.join(", ")
        ));
    }
    text
}

fn entry(held: &HeldEntry, style: Style) -> String {
    let print: String = held.fingerprint.chars().take(16).collect();
    let meanwhile = match (held.denied, held.serves_old) {
        (_, true) => "what was accepted serves meanwhile",
        (true, _) => "nothing of it serves",
        _ => "nothing of it serves yet",
    };
    let mut text = format!("{} ({}): {}; {meanwhile}\n", style.bold(&held.id), held.kind, held.why);
    text.push_str(&style.dim(&format!("  {}@{print}\n", held.id)));
    for finding in &held.findings {
        // As `toolfold scan` has it.
        let severity = if finding.severity == Severity::Hard { "hard  " } else { "review" };
        text.push_str(&format!(
            "  {severity}  {} at {}: {}\n",
            finding.rule,
            shown_line(&finding.place),
            shown_line(&finding.reason)
        ));
    }
    text.extend(held.diff.lines().map(|line| format!("    {line}\n")));
    if let Some(cut) = held.diff_cut {
        text.push_str(&format!("    … {cut} bytes more\n"));
    }
    text.push('\n');
    text
}
