//! A server's lists as offers: one for everything that a model can read of it.

use std::collections::HashSet;

use toolfold_config::{Server, Transport};
use toolfold_trust::{Offer, What};
use toolfold_wire::{Object, Raw};

use crate::known::Listed;

/// Everything that a list offers. Of two of one kind and name the first counts, as it does everywhere.
pub(crate) fn offers_of(listed: &Listed) -> Vec<Offer> {
    let tools = &listed.tools;
    let entries = tools.entries.iter().map(|entry| Offer {
        // Whatever can be called is pinned as what can be called.
        what: if entry.is_tool() { What::Tool } else { entry.kind.into() },
        name: entry.name().to_owned(),
        fingerprint: entry.fingerprint,
        definition: entry.definition.clone(),
    });
    let Some(manifest) = &listed.manifest else { return entries.collect() };
    let words = Offer::of_server(tools.title.as_deref(), tools.instructions.as_deref());
    let items = |what: What, key: &'static str, list: &[Raw]| -> Vec<Offer> {
        let mut names = HashSet::new();
        let read = list.iter().filter_map(|item| Offer::of_item(what, key, item));
        read.filter(|offer| names.insert(offer.name.clone())).collect()
    };
    let mut offers: Vec<Offer> = words.into_iter().chain(entries).collect();
    offers.extend(items(What::Prompt, "name", &manifest.prompts));
    offers.extend(items(What::Resource, "uri", &manifest.resources));
    offers.extend(items(What::Template, "uriTemplate", &manifest.templates));
    offers
}

/// Commands that run whatever their first argument that is no flag names.
const RUNNERS: [&str; 15] = [
    "npx", "bunx", "bun", "pnpm", "yarn", "npm", "node", "deno", "tsx", "uvx", "uv", "pipx", "python", "python3",
    "java",
];
/// Words before that argument which say what a runner is to do.
const VERBS: [&str; 6] = ["run", "exec", "dlx", "x", "tool", "--"];
/// Which program or place a server is, whatever it is told to work on. Somebody who configures one twice gets the same
/// tools twice, and nobody imitates anybody.
///
/// What a reader would get wrong: where it cannot be told which argument is the program, all of them are it. Two copies of
/// one program are then held as if they were two; the other way round an imitation would not be seen.
pub(crate) fn program_of(server: &Server) -> String {
    match &server.transport {
        Transport::Stdio { command, args, .. } => {
            let name = command.rsplit(['/', '\\']).next().unwrap_or(command).trim_end_matches(".exe");
            let name = name.trim_end_matches(".cmd");
            let own = match RUNNERS.contains(&name) {
                // Flags are kept: `--from` names a package as well.
                true => {
                    let named = |arg: &String| !arg.starts_with('-') && !VERBS.contains(&arg.as_str());
                    args.iter().position(named).map_or(&args[..], |place| &args[..=place])
                }
                false => &args[..],
            };
            std::iter::once(command).chain(own).map(String::as_str).collect::<Vec<_>>().join(" ")
        }
        Transport::Http { url, .. } | Transport::Agent { card: url, .. } => {
            url.split(['?', '#']).next().unwrap_or_default().to_owned()
        }
        Transport::Api(source) => source.shown(),
    }
}

/// The text of a server's own words, from their definition.
pub(crate) fn own_words(definition: Option<&Raw>) -> (Option<String>, Option<String>) {
    let words = definition.and_then(Object::parse).unwrap_or_default();
    (words.string("title"), words.string("instructions"))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use toolfold_core::ServerName;

    use super::*;

    fn program(command: &str, args: &[&str]) -> String {
        let args = args.iter().map(ToString::to_string).collect();
        let transport = Transport::Stdio { command: command.to_owned(), args, env: BTreeMap::new(), cwd: None };
        program_of(&Server::new(ServerName::new("s").unwrap(), transport))
    }

    #[test]
    fn one_program_configured_twice_is_one_program() {
        let files = |folder| program("npx", &["-y", "@modelcontextprotocol/server-filesystem", folder]);
        assert_eq!(files("/a"), files("/b"));
        assert_ne!(files("/a"), program("npx", &["-y", "server-filesystem", "/a"]));
        assert_ne!(program("docker", &["run", "-i", "mcp/git"]), program("docker", &["run", "-i", "mcp/evil"]));
        assert_eq!(program("node", &["x/index.js", "1"]), program("node", &["x/index.js", "2"]));
    }

    #[test]
    fn two_programs_are_two_however_they_are_run() {
        assert_ne!(program("uvx", &["weather"]), program("uvx", &["evil"]));
        assert_ne!(program("npx", &["files", "/a"]), program("npx", &["evil", "/a"]));
        assert_ne!(program("uvx", &["--from", "good", "serve"]), program("uvx", &["--from", "evil", "serve"]));
        assert_ne!(program("python", &["-m", "good"]), program("python", &["-m", "evil"]));
        assert_ne!(program("C:\\node\\npx.cmd", &["-y", "good"]), program("C:\\node\\npx.cmd", &["-y", "evil"]));
        let image = |image| program("docker", &["run", "-i", "-v", "/a:/b", image]);
        assert_ne!(image("mcp/git"), image("mcp/evil"));
        assert_ne!(program("start", &["--script", "good"]), program("start", &["--script", "evil"]));
        assert_ne!(program("sh", &["-c", "good /a"]), program("sh", &["-c", "evil /a"]));
    }
}
