//! `toolfold trust`: a `toolfold.toml` that was found by looking upwards is used after this, as it is now.
//!
//! Nothing of the file is run here, whatever it says.

use std::path::PathBuf;

use clap::Args;
use serde_json::json;
use toolfold_config::{Config, LoadOptions, TrustError, TrustList, Verdict, WrittenServer, as_written, load, nearest};
use toolfold_core::shown_line;
use toolfold_upstream::speaks_of_secret;

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
        let paragraphs = match &config {
            Ok(config) => paragraphs(config, &String::from_utf8_lossy(&content)),
            Err(_) => vec![vec!["nothing: there are mistakes in it, see `toolfold check`".to_owned()]],
        };
        if common.json {
            let servers: Vec<String> = paragraphs.iter().map(|lines| lines.join("; ")).collect();
            return print_json(&json!({"file": name, "trusted": verdict == Verdict::Trusted, "servers": servers}));
        }
        let told_lines = paragraphs.iter().map(|lines| format!("  {}\n", lines.join("\n    ")));
        print(&format!("{name} {}\n{}", told(verdict), told_lines.collect::<String>()))
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

/// What would run and be reached, as the file has it: the names of variables, and not what they hold. The first line of each
/// is the server.
fn paragraphs(config: &Config, text: &str) -> Vec<Vec<String>> {
    let written = as_written(text).unwrap_or_default();
    let mut all: Vec<Vec<String>> = written.servers.iter().map(|server| server_lines(server, config)).collect();
    if all.is_empty() {
        all.push(vec!["no server".to_owned()]);
    }
    let elsewhere =
        |(key, text): &(String, String)| vec![format!("elsewhere: {} = {}", shown_line(key), setting(key, text))];
    all.extend(written.elsewhere.iter().map(elsewhere));
    all
}

fn server_lines(server: &WrittenServer, config: &Config) -> Vec<String> {
    let commands = server.commands.iter().map(|words| {
        let words: Vec<String> = words.iter().map(|word| as_word(word)).collect();
        shown_line(&words.join(" ")).into_owned()
    });
    let addresses = server.addresses.iter().map(|place| shown_line(&bare(place)).into_owned());
    let mut ways: Vec<String> = commands.chain(addresses).collect();
    if ways.len() == 1 {
        ways[0] = format!("{}: {}", shown_line(&server.name), ways[0]);
    } else {
        ways.insert(0, format!("{}:", shown_line(&server.name)));
    }
    let variable = |(name, value): &(String, String)| format!("is given {}", assigned(name, value, "="));
    let header = |(name, value): &(String, String)| format!("is sent {}", assigned(name, value, ": "));
    let more = |(key, value): &(String, String)| format!("{} = {}", shown_line(key), setting(key, value));
    ways.extend(server.env.iter().map(variable));
    ways.extend(server.headers.iter().map(header));
    ways.extend(server.more.iter().map(more));
    let unusable = config.unusable.iter().find(|(name, _)| name.as_str() == server.name);
    ways.extend(unusable.map(|(_, why)| format!("not as things are: {}", shown_line(why))));
    ways
}

/// A value that somebody wrote into the file is theirs to read there, and may be a secret.
fn assigned(name: &str, value: &str, between: &str) -> String {
    let hidden = !value.contains("${") && (between != "=" || speaks_of_secret(name));
    format!("{}{between}{}", shown_line(name), if hidden { "…".into() } else { shown_line(value) })
}

/// The same of a setting. Where a secret is read from or sent to is none.
fn setting(key: &str, value: &str) -> String {
    let last = key.rsplit('.').next().unwrap_or_default();
    let is_place = value.contains("://") || last.ends_with("_file") || value.contains("${");
    let is_secret = speaks_of_secret(last) || last == "assertion" || key.contains(".headers.");
    if is_secret && !is_place { "…".to_owned() } else { shown_line(&bare(value)).into_owned() }
}

/// A literal query may be a key, and what stands before the host a password. With a variable in it, it is what somebody has to
/// see.
fn bare(place: &str) -> String {
    let Some((scheme, rest)) = place.split_once("://").filter(|_| !place.contains("${")) else {
        return place.to_owned();
    };
    let rest = rest.split(['?', '#']).next().unwrap_or_default();
    let (host, path) = rest.split_at(rest.find('/').unwrap_or(rest.len()));
    let host = host.rsplit_once('@').map_or_else(|| host.to_owned(), |(_, host)| format!("…@{host}"));
    format!("{scheme}://{host}{path}")
}

/// As a person would type it; escaped where that would do something to a terminal.
fn as_word(word: &str) -> String {
    let plain = !word.is_empty() && word.chars().all(|c| c.is_alphanumeric() || "/._-+@:,=%^~${}".contains(c));
    if plain { word.to_owned() } else { format!("{word:?}") }
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
