//! `doors`: the word `risk`, or names of servers.
//!
//! What a reader would get wrong: a list that has the word in it names a server that is called so.

use toolfold_core::{Doors, ServerName, words};

use crate::config::Config;
use crate::raw::RawConfig;
use crate::report::{Report, quoted};
use crate::resolve::{Resolver, TOOLBOX};
use crate::table::{Field, Table, Texts, Typed};

const RISK: &str = "risk";

#[derive(Debug, Default)]
pub(crate) struct RawDoors {
    word: Field<String>,
    servers: Field<Texts>,
}

impl RawDoors {
    pub(crate) fn read(table: &mut Table<'_>, report: &mut Report) -> RawDoors {
        match table.is_text("doors") {
            true => RawDoors { word: table.text("doors", report), servers: Field::Absent },
            false => RawDoors { word: Field::Absent, servers: table.texts("doors", report) },
        }
    }
}

impl Resolver<'_> {
    /// The doors of servers that there are: one that is switched off has none.
    pub(crate) fn doors(&mut self, raw: &RawConfig, config: &Config) -> Doors {
        if let Some(word) = self.text(&raw.doors.word) {
            let by_risk = word.value == RISK;
            if !by_risk {
                self.no_such_word(word.typed, raw);
            }
            return Doors { by_risk, servers: Vec::new() };
        }
        let items = raw.doors.servers.given().map_or(&[][..], |typed| &typed.value);
        let mut servers: Vec<ServerName> = Vec::new();
        for item in items {
            let Some(text) = self.expanded(item) else { continue };
            let typed = raw.servers.iter().any(|server| server.name == text.value);
            match ServerName::new(&text.value) {
                Ok(name) if is_there(config, &name) && !servers.contains(&name) => servers.push(name),
                Ok(name) if typed || is_there(config, &name) => {}
                _ => self.no_such_server(item, raw),
            }
        }
        Doors { by_risk: false, servers }
    }

    fn no_such_word(&mut self, word: &Typed<String>, raw: &RawConfig) {
        let message = format!("expected \"{RISK}\" or a list of servers, found {}", quoted(&word.value));
        let is_server = raw.servers.iter().any(|server| server.name == word.value);
        let hint = match is_server {
            true => format!("write it as `[{}]`", quoted(&word.value)),
            false => match words::nearest(&word.value, [RISK]) {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("\"{RISK}\" adds call_tool_readonly, `[\"github\"]` adds call_github"),
            },
        };
        self.report.error(&word.place, message, hint);
    }

    fn no_such_server(&mut self, item: &Typed<String>, raw: &RawConfig) {
        let names = raw.servers.iter().map(|server| server.name.as_str());
        let hint = match item.value.as_str() {
            RISK => Some(format!("write it without brackets: `doors = \"{RISK}\"`")),
            typed => words::nearest(typed, names).map(|near| format!("did you mean `{near}`?")),
        };
        self.report.error(&item.place, format!("there is no server {}", quoted(&item.value)), hint);
    }
}

fn is_there(config: &Config, name: &ServerName) -> bool {
    let own =
        (name.as_str() == TOOLBOX && config.toolbox) || (name.as_str() == "scripts" && !config.scripts.is_empty());
    own || config.servers.contains_key(name) || config.unusable.contains_key(name)
}
