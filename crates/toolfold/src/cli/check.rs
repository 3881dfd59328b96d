//! `toolfold check`: every problem of the configuration, or a line that says there is none.

use clap::Args;
use serde_json::json;
use toolfold_config::{Config, LoadOptions, Origin, Problem, Severity, TrustList, Verdict, load};
use toolfold_core::{shown, shown_line};
use toolfold_gateway::{Documents, Unusable};

use super::doctor::Doctor;
use super::fail::problem_json;
use super::output::{print, print_json};
use super::{Common, Fail};

#[derive(Args)]
pub(crate) struct Check {
    /// Try also whether every server can be started or reached, as `toolfold doctor` does
    #[arg(long)]
    connect: bool,
}

impl Check {
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        if self.connect {
            return Doctor::default().run(common);
        }
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
                notices.extend(untrusted(&loaded.origin, &options));
                if common.json {
                    let notices: Vec<_> = notices.iter().map(problem_json).collect();
                    return print_json(
                        &json!({"ok": true, "file": file, "servers": loaded.config.servers.keys().collect::<Vec<_>>(), "problems": notices}),
                    );
                }
                for notice in &notices {
                    print(&shown(&notice.to_string()))?;
                }
                let servers = loaded.config.servers.len();
                let plural = if servers == 1 { "" } else { "s" };
                print(&match file {
                    Some(file) if servers == 0 && loaded.config.unusable.is_empty() => {
                        let served = served_without_servers(&loaded.config);
                        format!("{} is right, and names no server: {served}.", shown_line(&file))
                    }
                    Some(file) => format!("{} is right: {servers} server{plural}.", shown_line(&file)),
                    None => "No configuration was found, so the built-in toolbox is served. That is fine.".to_owned(),
                })
            }
            Err(problems) => {
                if common.json {
                    let found: Vec<_> = problems.0.iter().map(problem_json).collect();
                    print_json(&json!({"ok": false, "problems": found}))?;
                    return Err(Fail::silent(2));
                }
                Err(Fail::problems(&problems))
            }
        }
    }
}

/// What a configuration serves that names no server.
pub(crate) fn served_without_servers(config: &Config) -> &'static str {
    match (config.toolbox, config.agents.is_empty() && config.skills.is_empty() && config.scripts.is_empty()) {
        (true, _) => "the built-in toolbox is served",
        (false, false) => "its agents and skills are served",
        (false, true) => "nothing is served",
    }
}

/// A file that is right and would not be used.
fn untrusted(origin: &Origin, options: &LoadOptions) -> Option<Problem> {
    let Origin::File(path) = origin else { return None };
    let found = options.file.is_none() && !options.environment.contains_key("TOOLFOLD_CONFIG");
    let users = options.user_config_dir.as_deref().is_some_and(|folder| path.parent() == Some(folder));
    let content = std::fs::read(path).ok()?;
    let trusted = options.data_dir.as_deref().map(|state| TrustList::new(state).verdict(path, &content));
    (found && !users && trusted != Some(Verdict::Trusted)).then(|| Problem {
        message: "is not used yet: it was found here, and nobody has trusted it as it is now".to_owned(),
        hint: Some("look at it, then run: toolfold trust".to_owned()),
        ..warning(path.clone())
    })
}

/// A file of an agent or a skill that is not served. The configuration is right all the same.
fn left_out(Unusable { path, why }: Unusable) -> Problem {
    Problem { message: why, ..warning(path) }
}

fn warning(file: std::path::PathBuf) -> Problem {
    let (key, message) = (String::new(), String::new());
    Problem { severity: Severity::Warning, file: Some(file), line: None, column: None, key, message, hint: None }
}
