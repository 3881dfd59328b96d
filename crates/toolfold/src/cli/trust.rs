//! `toolfold trust`: a `toolfold.toml` that was found by looking upwards is used after this, as it is now.
//!
//! Nothing of the file is run here, whatever it says.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use toolfold_config::{ApiSource, Config, LoadOptions, Transport, TrustError, TrustList, Verdict, load, nearest};
use toolfold_core::shown_line;

use super::output::{print, print_json};
use super::{Common, Fail};

#[derive(Args)]
#[command(
    after_help = "A toolfold.toml in this folder or above it is used only after somebody has looked at it and said so: \
it names programs to start and variables to send away. Its path and its content are remembered; when it changes, it has to \
be trusted again. A file named with --config or TOOLFOLD_CONFIG, and the one in your own configuration folder, need no trust."
)]
pub(crate) struct TrustCommand {
    /// The file [default: the nearest toolfold.toml, here or above]
    file: Option<PathBuf>,
    /// Tell what it would start and whether it is trusted, and change nothing
    #[arg(long, conflicts_with_all = ["revoke", "list"])]
    show: bool,
    /// Trust it no longer
    #[arg(long, conflicts_with = "list")]
    revoke: bool,
    /// List every file that is trusted
    #[arg(long, conflicts_with = "file")]
    list: bool,
}

impl TrustCommand {
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        let options = common.options();
        let Some(state) = &options.data_dir else {
            return Err(Fail::usage("there is no folder to remember it in")
                .hint("set HOME or XDG_STATE_HOME, or name the file with --config"));
        };
        let trusted = TrustList::new(state);
        if self.list {
            return list(&trusted, common);
        }
        let file = self.file(&options)?;
        let name = shown_line(&file.display().to_string()).into_owned();
        if self.revoke {
            return match trusted.revoke(&file).map_err(cannot)? {
                true => print(&format!("{name} is no longer trusted.")),
                false => Err(Fail::nothing(format!("{name} was not trusted."))),
            };
        }
        if !self.show {
            trusted.add(&file).map_err(cannot)?;
        }
        let content = std::fs::read(&file).map_err(|source| cannot(TrustError::Read { path: file.clone(), source }))?;
        let verdict = trusted.verdict(&file, &content);
        let config = load(&LoadOptions { file: Some(file), ..options }).map(|loaded| loaded.config);
        if common.json {
            return print_json(
                &json!({"file": name, "trusted": verdict == Verdict::Trusted, "servers": servers(&config)}),
            );
        }
        print(&format!(
            "{name} {}\n{}",
            told(verdict),
            servers(&config).iter().map(|line| format!("  {line}\n")).collect::<String>()
        ))
    }

    fn file(&self, options: &LoadOptions) -> Result<PathBuf, Fail> {
        let named = self.file.as_ref().or(options.file.as_ref()).map(|file| options.directory.join(file));
        let found = named.or_else(|| nearest(&options.directory));
        let found = found.ok_or_else(|| Fail::nothing("There is no toolfold.toml here or above."))?;
        // The one that is meant, however it was reached.
        Ok(found.canonicalize().unwrap_or(found))
    }
}

fn told(verdict: Verdict) -> &'static str {
    match verdict {
        Verdict::Trusted => "is trusted as it is now. It starts or reaches:",
        Verdict::Changed => "has changed since it was trusted. It would start or reach:",
        Verdict::Unknown => "is not trusted. It would start or reach:",
    }
}

/// A line for each server: what would run, without what variables hold.
fn servers(config: &Result<Config, toolfold_config::Problems>) -> Vec<String> {
    let config = match config {
        Ok(config) => config,
        Err(_) => return vec!["nothing: there are mistakes in it, see `toolfold check`".to_owned()],
    };
    let reached = config.servers.values().map(|server| match &server.transport {
        Transport::Stdio { command, .. } => format!("{}: {}", server.name, shown_line(command)),
        Transport::Api(source) => format!("{}: {}", server.name, shown_line(&reached_by(source))),
        Transport::Http { url, .. } | Transport::Agent { card: url, .. } => {
            format!("{}: {}", server.name, shown_line(url.split(['?', '#']).next().unwrap_or_default()))
        }
    });
    let unusable = config.unusable.iter().map(|(name, why)| format!("{name}: {why}"));
    let lines: Vec<String> = reached.chain(unusable).collect();
    if lines.is_empty() { vec!["no server".to_owned()] } else { lines }
}

/// Where the document of an API is and where requests go, and every program that a tool of it runs.
fn reached_by(source: &ApiSource) -> String {
    let base_url = source.base_url.as_deref().map(|url| url.split(['?', '#']).next().unwrap_or_default().to_owned());
    let mut all: Vec<String> = std::iter::once(source.shown()).chain(base_url).collect();
    all.extend(source.programs().map(str::to_owned));
    let mut seen = std::collections::BTreeSet::new();
    all.retain(|one| !one.is_empty() && seen.insert(one.clone()));
    all.join(", ")
}

fn list(trusted: &TrustList, common: &Common) -> Result<(), Fail> {
    let files = trusted.list();
    if common.json {
        return print_json(&files);
    }
    if files.is_empty() {
        return Err(Fail::nothing("No file is trusted."));
    }
    files.iter().try_for_each(|file| print(&shown_line(&file.path.display().to_string())))
}

fn cannot(error: TrustError) -> Fail {
    let fail = Fail::usage(shown_line(&error.to_string()));
    match error {
        TrustError::Stranger { .. } => fail.hint("if you trust it, name it with --config"),
        TrustError::Read { .. } => fail.hint("name the file: toolfold trust FILE"),
        TrustError::Write { .. } => fail,
    }
}
