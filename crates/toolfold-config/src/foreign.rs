//! Files of other programs that are no plain `mcpServers` files: Codex's TOML, Goose's YAML, JSON with comments and the rest
//! of the table of clients. They are translated to Toolfold's own words first, so a problem names the key, not the line.

use std::path::Path;

use toolfold_clients::{Environment, FileFormat, recognise};

use crate::node;
use crate::options::LoadOptions;
use crate::raw::RawConfig;
use crate::report::{Place, Report};
use crate::source::Source;

/// `None` where the file is ours, or one that is read as it is.
pub(crate) fn read(source: &Source, options: &LoadOptions, report: &mut Report) -> Option<RawConfig> {
    let environment = Environment::new(options.environment.clone(), options.directory.clone(), None);
    let recognised = match recognise(&source.path, &source.text, &environment) {
        Some(recognised) => recognised,
        None => {
            // Read on, it would be told what is wrong with it as TOML.
            let broken = FileFormat::Yaml.parse(&source.text).err().filter(|_| is_yaml(&source.path))?;
            report.placeless = true;
            report.error(&Place::default(), broken.to_string(), None);
            return node::from_toml("", report).map(|root| RawConfig::read(&root, report));
        }
    };
    report.placeless = true;
    for (server, note) in &recognised.notes {
        report.warn(&Place::new(None, format!("servers.{server}")), note.clone(), None);
    }
    if recognised.toml.trim() == "[servers]" {
        let message = format!("is a file of {}, and has no server in it that can be used", recognised.client);
        report.warn(&Place::default(), message, None);
    }
    node::from_toml(&recognised.toml, report).map(|root| RawConfig::read(&root, report))
}

fn is_yaml(path: &Path) -> bool {
    path.extension().is_some_and(|ending| ending == "yaml" || ending == "yml")
}
