//! Whether an entry is Toolfold itself. Taken over it would stand behind itself; to be taken out it must be ours.

use std::net::IpAddr;

use serde_json::Value;
use url::{Host, Url};

use crate::definition::ServerDefinition;
use crate::read::{Reading, server};
use crate::table::{ENTRY_NAME, Variables};

/// Where Toolfold listens unless it is told otherwise.
pub const USUAL_PORT: u16 = 7420;

/// Within so many words a runner of programs has named the program: `docker run -i --rm toolfold`.
const SOON: usize = 5;

/// Whether a definition starts Toolfold, or reaches the one that listens on this port here.
pub fn is_own(definition: &ServerDefinition, port: u16) -> bool {
    let words: Vec<&str> =
        definition.command.iter().chain(&definition.args).flat_map(|text| text.split_whitespace()).collect();
    let is_program = words.iter().enumerate().take(SOON).any(|(at, word)| {
        let name = word.rsplit(['/', '\\']).next().unwrap_or(word);
        // `npx toolfold@latest`, `docker run toolfold:1`, `toolfold.exe`
        let name = name.split(['@', ':']).next().unwrap_or(name).trim_end_matches(".exe");
        // A path behind another program may be a folder of that name, which that one is to work in.
        let is_run = at == 0 || !word.contains(['/', '\\']) || words.get(at + 1) == Some(&"serve");
        name == ENTRY_NAME && is_run
    });
    is_program || definition.url.as_deref().is_some_and(|url| is_own_address(url, port))
}

/// The same of an entry as a client writes it.
pub(crate) fn is_own_entry(entry: &Value) -> bool {
    let reading = Reading { variables: Variables::Nothing, timeout: None, home: None, project: None };
    let read = server(ENTRY_NAME, entry, reading).outcome;
    // Under our name, any address of this machine is one that `install --http` was told.
    // So is a program that is told what `install` tells it, whatever its file is called.
    let is_told = |read: &ServerDefinition| read.args.starts_with(&["serve".to_owned(), "--stdio".to_owned()]);
    read.is_ok_and(|read| {
        is_own(&read, USUAL_PORT) || is_told(&read) || read.url.as_deref().and_then(local_port).is_some()
    })
}

fn is_own_address(url: &str, port: u16) -> bool {
    local_port(url) == Some(port)
}

fn local_port(url: &str) -> Option<u16> {
    let url = Url::parse(url).ok()?;
    let is_local = match url.host()? {
        Host::Domain(name) => name == "localhost" || name.ends_with(".localhost"),
        Host::Ipv4(ip) => IpAddr::from(ip).is_loopback() || ip.is_unspecified(),
        Host::Ipv6(ip) => ip.is_loopback() || ip.is_unspecified(),
    };
    url.port_or_known_default().filter(|_| is_local)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_of_that_name_is_not_toolfold() {
        let own = |line: &str| {
            let mut words = line.split(' ').map(str::to_owned);
            let definition =
                ServerDefinition { command: words.next(), args: words.collect(), ..ServerDefinition::default() };
            is_own(&definition, USUAL_PORT)
        };
        for line in [
            "/usr/bin/toolfold serve --stdio",
            "npx -y toolfold@latest serve",
            "uvx toolfold",
            "docker run -i --rm toolfold:1",
            "sh -c /opt/toolfold serve --stdio",
            "C:\\bin\\toolfold.exe serve",
        ] {
            assert!(own(line), "{line}");
        }
        for line in ["npx -y server-filesystem /home/ada/toolfold", "git-mcp --repository /src/toolfold", "toolfolder"]
        {
            assert!(!own(line), "{line}");
        }
    }
}
