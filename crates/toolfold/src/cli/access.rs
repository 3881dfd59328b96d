//! `toolfold access`: what somebody may see and call, and which rule says so.
//!
//! What a reader would get wrong: nobody has to prove anything here. Whoever may read the configuration may ask what it
//! means for anybody.

use clap::Args;
use serde::{Deserialize, Serialize};
use serde_json::json;
use toolfold_core::{Identity, Principal, Proof, shown_line};
use toolfold_disclosure::View;
use toolfold_gateway::{Gateway, Permission};

use super::ask::{Answer, Needs};
use super::ls::not_there;
use super::output::{Style, as_json, table};
use super::{Fail, ask};

#[derive(Debug, Args, Serialize, Deserialize)]
#[command(
    after_help = "Without rules in the configuration everybody may call everything. From the first rule on nothing is allowed \
that no rule grants, what one forbids is forbidden whatever the others say, and the order of rules does not matter. What may not \
be seen does not exist for that principal: not in lists, not in searches, not in counts. Exit codes: 0 done, 1 nothing exists for \
them or the tool is unknown, 2 usage or configuration."
)]
pub(crate) struct Access {
    /// One tool [default: everything that exists for them]
    tool: Option<String>,
    /// Whom: the name of a token or of an issuer's subject; local and token are whoever runs Toolfold
    #[arg(long = "as", value_name = "NAME", default_value = "local")]
    name: String,
    /// Groups they are in, beside those of their token
    #[arg(long, value_name = "GROUP", value_delimiter = ',')]
    groups: Vec<String>,
    /// Scopes of their token
    #[arg(long, value_name = "SCOPE", value_delimiter = ',')]
    scopes: Vec<String>,
    /// What their issuer says of them beside, as NAME=VALUE
    #[arg(long, value_name = "NAME=VALUE", value_delimiter = ',', value_parser = claim)]
    claims: Vec<(String, String)>,
    /// List also what does not exist for them
    #[arg(long)]
    all: bool,
}

fn claim(text: &str) -> Result<(String, String), &'static str> {
    let (name, value) = text.split_once('=').ok_or("a claim is NAME=VALUE")?;
    Ok((name.to_owned(), value.to_owned()))
}

impl Access {
    pub(crate) fn needs(&self) -> Needs {
        self.tool.as_deref().map_or(Needs::All, ask::server_of)
    }

    pub(crate) async fn answer(&self, gateway: &Gateway, style: Style) -> Result<Answer, Fail> {
        let principal = self.principal(gateway).await;
        let permissions = gateway.access().permissions(&principal).await;
        match &self.tool {
            Some(tool) => self.one(gateway, tool, &permissions, style),
            None => self.everything(&permissions, style),
        }
    }

    /// As they would come: with the groups of their token, where there is one of this name.
    async fn principal(&self, gateway: &Gateway) -> Principal {
        let own = match self.name.as_str() {
            "local" => Principal::local(),
            "token" => Principal::token(),
            name => gateway.tokens().owner(name).await.unwrap_or_else(|| Principal::named(name, Vec::new())),
        };
        let mut identity: Identity = own.identity().clone();
        identity.groups.extend(self.groups.iter().cloned());
        identity.scopes.extend(self.scopes.iter().cloned());
        for (name, value) in &self.claims {
            identity.claims.entry(name.clone()).or_default().push(value.clone());
        }
        if !(self.scopes.is_empty() && self.claims.is_empty()) && identity.proof == Proof::Named {
            identity.proof = Proof::Signed(String::new());
        }
        Principal::new(identity)
    }

    fn one(&self, gateway: &Gateway, tool: &str, all: &[Permission], style: Style) -> Result<Answer, Fail> {
        let scope = gateway.whole();
        let view: View<'_> = scope.view();
        let known = view.resolve(tool).map(|place| view.entry(place).id.to_string());
        let found = known.ok().and_then(|id| all.iter().find(|permission| permission.listed == id));
        let found = found.or_else(|| all.iter().find(|permission| permission.id == tool));
        let Some(found) = found else {
            if let Some(absent) = view.absent_of(tool) {
                return Err(not_there(absent));
            }
            let nearest = view.nearest(tool);
            let fail = Fail::nothing(format!("There is no tool {}.", shown_line(tool)));
            return Err(nearest.into_iter().fold(fail, |fail, near| fail.hint(near)));
        };
        if style.json {
            return Ok(Answer::new(as_json(&json!({"principal": self.name, "permission": found}))?));
        }
        let may = match found.level {
            "call" => "may call",
            "see" => "may see, and not call,",
            _ => "knows nothing of",
        };
        let why = found.rule.as_ref().map_or("there are no rules".to_owned(), Clone::clone);
        Ok(Answer::new(format!("{} {may} {}: {why}", shown_line(&self.name), shown_line(&found.id))))
    }

    fn everything(&self, all: &[Permission], style: Style) -> Result<Answer, Fail> {
        let shown: Vec<&Permission> = all.iter().filter(|one| self.all || one.level != "nothing").collect();
        let seen = all.iter().filter(|one| one.level != "nothing").count();
        if style.json {
            return Ok(Answer::new(as_json(&json!({"principal": self.name, "permissions": shown}))?));
        }
        let rows: Vec<Vec<String>> = shown
            .iter()
            .map(|one| {
                vec![one.level.to_owned(), shown_line(&one.id).into_owned(), one.rule.clone().unwrap_or_default()]
            })
            .collect();
        let text = table(&rows);
        let but = (seen == 0).then(|| {
            Fail::nothing(format!("Nothing exists for {}.", shown_line(&self.name)))
                .hint("`[[rules]]` in the configuration grant it; --all lists what there is")
        });
        Ok(Answer { text, but })
    }
}
