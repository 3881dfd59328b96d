//! What a reload has to do, and nothing more: a server whose part of the file is the same is not touched.

use toolfold_core::ServerName;

use crate::config::{Config, Http};

#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Changes {
    pub added: Vec<ServerName>,
    pub removed: Vec<ServerName>,
    pub changed: Vec<ServerName>,
    /// What else differs, by its name in a file.
    pub parts: Vec<&'static str>,
}

impl Changes {
    pub fn is_empty(&self) -> bool {
        *self == Changes::default()
    }

    /// In words, without any value: `servers added: a b; changed: limits rules`.
    pub fn told(&self) -> String {
        let names = |names: &[ServerName]| names.iter().map(ServerName::as_str).collect::<Vec<_>>().join(" ");
        let all = [
            ("servers added", names(&self.added)),
            ("servers removed", names(&self.removed)),
            ("servers changed", names(&self.changed)),
            ("changed", self.parts.join(" ")),
        ];
        let told: Vec<String> =
            all.iter().filter(|(_, names)| !names.is_empty()).map(|(what, names)| format!("{what}: {names}")).collect();
        if told.is_empty() { "nothing differs".to_owned() } else { told.join("; ") }
    }
}

/// What differs: servers, each list in order of name, and the parts of a file beside them.
pub fn changed(old: &Config, new: &Config) -> Changes {
    let missing = |from: &Config, names: &Config| -> Vec<ServerName> {
        names.servers.keys().filter(|name| !from.servers.contains_key(*name)).cloned().collect()
    };
    let differs = |name: &&ServerName| old.servers.get(*name).is_some_and(|server| *server != new.servers[*name]);
    Changes {
        added: missing(old, new),
        removed: missing(new, old),
        changed: new.servers.keys().filter(differs).cloned().collect(),
        parts: parts(old, new),
    }
}

fn parts(old: &Config, new: &Config) -> Vec<&'static str> {
    // Every field is named, so that none that is added later is forgotten.
    let Config {
        surface,
        settings,
        pin,
        pin_used,
        prefer,
        doors,
        learn,
        budget,
        toolbox,
        servers: _,
        unusable,
        agents,
        skills,
        scripts,
        trust_agents,
        trust_skills,
        trust_scripts,
        code,
        nodes,
        precise,
        http,
        issuers,
        rules,
        mark_results,
        results,
        limits,
        audit,
        telemetry,
        oauth,
        key,
        store,
        cluster,
        files: _,
    } = old;
    // Whether whoever is here is let in follows from the rest, where nobody says it.
    let closed =
        |config: &Config| config.http.token.is_some() || !(config.issuers.is_empty() && config.rules.is_empty());
    let local = if closed(old) == closed(new) { http.local } else { new.http.local };
    let http = Http { local, ..http.clone() };
    let all = [
        ("surface", *surface != new.surface),
        ("groups", settings.groups != new.settings.groups),
        ("format", settings.format != new.settings.format),
        ("pin", (pin, pin_used) != (&new.pin, &new.pin_used)),
        ("prefer", *prefer != new.prefer),
        ("doors", *doors != new.doors),
        ("learn", *learn != new.learn),
        ("budget", *budget != new.budget),
        ("toolbox", *toolbox != new.toolbox),
        ("servers", *unusable != new.unusable),
        ("agents", (agents, trust_agents) != (&new.agents, &new.trust_agents)),
        ("skills", (skills, trust_skills) != (&new.skills, &new.trust_skills)),
        ("scripts", (scripts, trust_scripts) != (&new.scripts, &new.trust_scripts)),
        ("code", *code != new.code),
        ("nodes", *nodes != new.nodes),
        ("search", *precise != new.precise),
        ("http", http != new.http),
        ("issuers", *issuers != new.issuers),
        ("rules", *rules != new.rules),
        ("scan", *mark_results != new.mark_results),
        ("results", *results != new.results),
        ("limits", *limits != new.limits),
        ("audit", *audit != new.audit),
        ("telemetry", *telemetry != new.telemetry),
        ("oauth", *oauth != new.oauth),
        ("TOOLFOLD_KEY", *key != new.key),
        ("store", *store != new.store),
        ("cluster", *cluster != new.cluster),
    ];
    all.into_iter().filter_map(|(name, differs)| differs.then_some(name)).collect()
}
