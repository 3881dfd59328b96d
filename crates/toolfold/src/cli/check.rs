//! `toolfold check`: every problem of the configuration, or a line that says there is none.

use clap::Args;
use serde_json::json;
use toolfold_config::{LoadOptions, Origin, Problem, Severity, load};
use toolfold_gateway::{Documents, Unusable};

use super::output::{print, print_json};
use super::{Common, Fail};

#[derive(Args)]
pub(crate) struct Check {}

impl Check {
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        // Looking at a file runs nothing, so it need not be trusted.
        let options = LoadOptions { lenient: false, trusting: true, look_for_commands: true, ..common.options() };
        match load(&options) {
            Ok(loaded) => {
                let file = match &loaded.origin {
                    Origin::File(path) => Some(path.display().to_string()),
                    Origin::Default => None,
                };
                let mut notices = loaded.notices.clone();
                notices.extend(Documents::read(&loaded.config).unusable.into_iter().map(left_out));
                if common.json {
                    let notices: Vec<_> = notices.iter().map(as_json).collect();
                    return print_json(
                        &json!({"ok": true, "file": file, "servers": loaded.config.servers.keys().collect::<Vec<_>>(), "problems": notices}),
                    );
                }
                for notice in &notices {
                    print(&notice.to_string())?;
                }
                let servers = loaded.config.servers.len();
                let plural = if servers == 1 { "" } else { "s" };
                print(&match file {
                    Some(file) => format!("{file} is right: {servers} server{plural}."),
                    None => "No configuration was found, so the built-in toolbox is served. That is fine.".to_owned(),
                })
            }
            Err(problems) => {
                if common.json {
                    let found: Vec<_> = problems.0.iter().map(as_json).collect();
                    print_json(&json!({"ok": false, "problems": found}))?;
                    return Err(Fail::usage(""));
                }
                Err(Fail::usage(problems.to_string()))
            }
        }
    }
}

/// A file of an agent or a skill that is not served. The configuration is right all the same.
fn left_out(Unusable { path, why }: Unusable) -> Problem {
    Problem {
        severity: Severity::Warning,
        file: Some(path),
        line: None,
        column: None,
        key: String::new(),
        message: why,
        hint: None,
    }
}

fn as_json(problem: &Problem) -> serde_json::Value {
    json!({
        "severity": format!("{:?}", problem.severity).to_lowercase(),
        "file": problem.file.as_ref().map(|file| file.display().to_string()),
        "line": problem.line,
        "column": problem.column,
        "key": problem.key,
        "message": problem.message,
        "hint": problem.hint,
    })
}
