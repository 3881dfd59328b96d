//! From what was typed to what the program needs: variables expanded, paths made whole, defaults filled in, and every
//! combination that cannot work refused.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use toolfold_core::{DatabaseUrl, Format, Groups, Secret, ServerName, StorePlace, Surface, slug, words};

use crate::config::{Config, Learn, PreciseTier, Server};
use crate::expand::{Trouble, expand};
use crate::options::LoadOptions;
use crate::raw::{AUTO, Dialect, RawConfig, RawHttp, RawServer};
use crate::report::{Place, Report, quoted, shown_key};
use crate::table::{Field, Texts, Typed};

/// What a resolver may look at beside the file.
pub(crate) struct Surroundings<'a> {
    pub(crate) options: &'a LoadOptions,
    /// The folder that paths in the file are relative to.
    pub(crate) base: &'a Path,
}

pub(crate) struct Resolver<'a> {
    pub(crate) report: &'a mut Report,
    pub(crate) surroundings: Surroundings<'a>,
    pub(crate) dialect: Dialect,
    /// Variables that were wanted and are not set, while a server is read that may be left out for them.
    pub(crate) unset: Option<Vec<String>>,
    /// Keys of the server that is being read whose texts had variables in them.
    pub(crate) replaced: Vec<String>,
}

/// The configuration of a file, and what is needed to judge it once variables and flags have had their say.
#[derive(Default)]
pub(crate) struct Draft {
    pub(crate) config: Config,
    /// Where `listen` was typed.
    pub(crate) listen: Option<Place>,
    /// Somebody has to show who they are, by what was typed, even if it could not be used.
    pub(crate) closed: bool,
    /// The file says where the store is.
    pub(crate) store_typed: bool,
    /// Where each server is in the file.
    pub(crate) places: BTreeMap<ServerName, Place>,
    /// The file says where the encoder is, or that none is wanted.
    pub(crate) precise: Option<PreciseTier>,
    /// The file says whether there is an audit.
    pub(crate) audit: Option<Place>,
    /// The file says that this is one of several.
    pub(crate) cluster: Option<Place>,
}

impl Resolver<'_> {
    pub(crate) fn run(&mut self, raw: &RawConfig) -> Draft {
        let mut draft = Draft::default();
        let config = &mut draft.config;
        if let Some(surface) = self.text(&raw.surface).and_then(|text| self.surface(&text)) {
            config.surface = surface;
        }
        let groups = [("joined", Groups::Joined), ("split", Groups::Split)];
        config.settings.groups = self.choice(&raw.groups, &groups, Groups::Joined);
        let formats = [("json", Format::Json), ("xml", Format::Xml)];
        config.settings.format = self.choice(&raw.format, &formats, Format::Json);
        config.pin = self.texts(&raw.pin);
        config.pin_used = config.pin.iter().any(|pin| pin == AUTO);
        config.pin.retain(|pin| pin != AUTO);
        if let Some(budget) = raw.budget.given() {
            config.budget = self.budget(budget);
        }
        config.toolbox = raw.toolbox.given().map_or(!raw.names_servers, |toolbox| toolbox.value);
        (config.servers, config.unusable) = self.servers(&raw.servers);
        config.agents = self.paths(&raw.agents);
        config.skills = self.paths(&raw.skills);
        config.trust_agents = self.trust(&raw.trust_agents);
        config.trust_skills = self.trust(&raw.trust_skills);
        config.scripts = self.paths(&raw.scripts);
        config.trust_scripts = self.trust(&raw.trust_scripts);
        config.code = self.code(&raw.code);
        config.mark_results = self.choice(&raw.results, &[("off", false), ("mark", true)], false);
        config.results = self.results(&raw.kept);
        config.nodes = self.nodes(&raw.nodes);
        config.prefer = self.preferred(&raw.prefer, raw);
        config.doors = self.doors(raw, config);
        let learn = [("off", Learn::Off), ("names", Learn::Names), ("queries", Learn::Queries)];
        config.learn = self.choice(&raw.learn, &learn, Learn::default());
        self.refuse_taken_names(raw, config);
        draft.places = places(&raw.servers);
        draft.store_typed = !raw.store.is_absent();
        if let Some(store) = self.text(&raw.store) {
            config.store = self.store(&store);
        }
        draft.precise = self.text(&raw.precise).and_then(|text| self.precise(&text));
        draft.config.limits = self.limits(&raw.limits);
        draft.config.telemetry = self.telemetry(&raw.telemetry);
        draft.config.oauth = self.oauth(&raw.oauth);
        (draft.config.cluster, draft.cluster) = self.cluster(&raw.cluster);
        (draft.config.audit, draft.audit) = self.audit(&raw.audit);
        draft.config.rules = self.rules(raw);
        draft.config.issuers = self.issuers(&raw.issuers);
        draft.closed = !raw.rules.is_empty() || !raw.issuers.is_empty();
        self.http(&raw.http, &mut draft);
        let own = Resolver::own_document(&raw.oauth, draft.config.http.public_url.as_deref());
        draft.config.oauth.client_metadata = draft.config.oauth.client_metadata.take().or(own);
        draft
    }

    fn surface(&mut self, text: &Expanded) -> Option<Surface> {
        let surface = Surface::parse(&text.value);
        if surface.is_none() {
            let (message, hint) = unknown_surface(&text.typed.value);
            self.report.error(&text.typed.place, message, hint);
        }
        surface
    }

    fn budget(&mut self, budget: &Typed<i64>) -> usize {
        match usize::try_from(budget.value) {
            Ok(tokens @ 50..=1_000_000) => tokens,
            _ => {
                let hint =
                    "an answer needs at least 50 tokens to say anything, and a million is more than a model reads";
                self.report.error(&budget.place, "must be between 50 and 1000000", hint.to_owned());
                Config::default().budget
            }
        }
    }

    fn store(&mut self, text: &Expanded) -> Option<StorePlace> {
        match text.value.as_str() {
            "memory" => None,
            "" => {
                self.report.error(&text.typed.place, "is empty", "write a path, or \"memory\"".to_owned());
                None
            }
            text => Some(store_place(text, |path| self.path(path))),
        }
    }

    fn precise(&mut self, text: &Expanded) -> Option<PreciseTier> {
        match text.value.as_str() {
            AUTO => None,
            "off" => Some(PreciseTier::Off),
            "" => {
                let hint = "write a path, \"auto\" or \"off\"".to_owned();
                self.report.error(&text.typed.place, "is empty", hint);
                None
            }
            path => Some(PreciseTier::File(self.path(path))),
        }
    }

    fn paths(&mut self, field: &Field<Texts>) -> Vec<PathBuf> {
        let items = field.given().map_or(&[][..], |typed| &typed.value);
        let mut paths = Vec::new();
        for item in items {
            match self.expanded(item) {
                Some(text) if text.value.is_empty() => {
                    self.report.error(&item.place, "is empty", "write a file or a folder".to_owned());
                }
                Some(text) => paths.push(self.path(&text.value)),
                None => {}
            }
        }
        paths
    }

    /// Names of servers. One that is nowhere in the file is a slip of the pen, since it would never come first.
    fn preferred(&mut self, field: &Field<Texts>, raw: &RawConfig) -> Vec<ServerName> {
        let items = field.given().map_or(&[][..], |typed| &typed.value);
        let mut preferred = Vec::new();
        for item in items {
            let Some(text) = self.expanded(item) else { continue };
            let known = raw.servers.iter().any(|server| server.name == text.value) || text.value == TOOLBOX;
            match ServerName::new(&text.value) {
                Ok(name) if known => preferred.push(name),
                _ => {
                    let names = raw.servers.iter().map(|server| server.name.as_str());
                    let hint = words::nearest(&text.value, names).map(|near| format!("did you mean `{near}`?"));
                    self.report.error(&item.place, format!("there is no server {}", quoted(&item.value)), hint);
                }
            }
        }
        preferred
    }

    /// Agents, skills and scripts are listed like the tools of servers of these names.
    fn refuse_taken_names(&mut self, raw: &RawConfig, config: &Config) {
        for (name, paths) in [("agents", &config.agents), ("skills", &config.skills), ("scripts", &config.scripts)] {
            let taken = !paths.is_empty() && config.servers.keys().any(|server| server.as_str() == name);
            if let Some(server) = raw.servers.iter().find(|server| taken && server.name == name) {
                let message = format!("`[{name}]` has this name already");
                self.report.error(&server.place, message, "rename the server".to_owned());
            }
        }
    }

    fn http(&mut self, raw: &RawHttp, draft: &mut Draft) {
        let http = &mut draft.config.http;
        if let Some(text) = self.text(&raw.listen) {
            match listen(&text.value) {
                Some(address) => {
                    http.listen = address;
                    draft.listen = Some(text.typed.place.clone());
                }
                None => {
                    let message = format!("{} is not an address to listen on", quoted(&text.typed.value));
                    self.report.error(&text.typed.place, message, LISTEN_HINT.to_owned());
                }
            }
        }
        http.hosts = self.texts(&raw.hosts);
        http.origins = self.texts(&raw.origins);
        draft.closed |= !raw.token.is_absent();
        if let Some(text) = self.text(&raw.token) {
            if text.value.is_empty() || !text.value.chars().all(|c| c.is_ascii_graphic()) {
                let hint = "a token is one or more visible ASCII characters, without spaces";
                self.report.error(&text.typed.place, "cannot be used as a token", hint.to_owned());
            }
            http.token = Some(Secret::new(text.value));
        }
        http.public_url = self.public_url(&raw.public_url);
        let closed = draft.closed.then_some(false);
        http.local = raw.local.given().map(|local| local.value).or(closed);
    }

    /// The servers that can be reached, and why others cannot.
    fn servers(&mut self, raw: &[RawServer]) -> (BTreeMap<ServerName, Server>, BTreeMap<ServerName, String>) {
        let (mut servers, mut unusable) = (BTreeMap::new(), BTreeMap::new());
        let mut taken: BTreeMap<ServerName, &str> = BTreeMap::new();
        for raw in raw {
            let Some(name) = self.name(raw) else { continue };
            if let Some(other) = taken.insert(name.clone(), &raw.name) {
                let message = format!("is called `{name}`, and so is {}", shown_key(other));
                self.report.error(&raw.place, message, "rename one of the two".to_owned());
            } else if raw.enabled.given().is_none_or(|enabled| enabled.value) {
                self.unset = self.surroundings.options.lenient.then(Vec::new);
                self.replaced.clear();
                let before = self.report.len();
                let server = self.server(name.clone(), raw);
                let lenient = self.unset.is_some();
                let unset = self.unset.take().unwrap_or_default();
                if !unset.is_empty() {
                    unusable.insert(name, self.left_out(&unset, raw));
                } else if let Some(why) = lenient.then(|| self.report.take_back(before, &self.replaced)).flatten() {
                    let hint = "look at the variables that it is made of, where Toolfold is started".to_owned();
                    self.report.warn(&raw.place, format!("is left out: {why}"), hint);
                    unusable.insert(name, why);
                } else if let Some(server) = server {
                    servers.insert(name, server);
                }
            }
        }
        (servers, unusable)
    }

    fn left_out(&mut self, unset: &[String], raw: &RawServer) -> String {
        let why = match unset {
            [only] => format!("the variable {only} is not set"),
            several => format!("the variables {} are not set", several.join(", ")),
        };
        let hint = "set it where Toolfold is started: clients often start servers with few variables".to_owned();
        self.report.warn(&raw.place, format!("is left out: {why}"), hint);
        why
    }

    fn name(&mut self, raw: &RawServer) -> Option<ServerName> {
        let plain = slug(&raw.name);
        match (ServerName::new(raw.name.clone()), self.dialect) {
            (Ok(name), _) => Some(name),
            (Err(_), Dialect::Client) if (1..=64).contains(&plain.len()) => {
                self.report.warn(&raw.place, format!("is called `{plain}` here"), None);
                ServerName::new(plain).ok()
            }
            (Err(_), dialect) => {
                let hint = (dialect == Dialect::Toolfold && (1..=64).contains(&plain.len()))
                    .then(|| format!("call it `{plain}`"));
                self.report.error(&raw.place, "a server's name is 1 to 64 letters, digits, `_` or `-`", hint);
                None
            }
        }
    }

    /// The text of a key with its variables replaced; `None` where it is missing or something was wrong with it.
    pub(crate) fn text<'t>(&mut self, field: &'t Field<String>) -> Option<Expanded<'t>> {
        field.given().and_then(|typed| self.expanded(typed))
    }

    pub(crate) fn texts(&mut self, field: &Field<Texts>) -> Vec<String> {
        let items = field.given().map_or(&[][..], |typed| &typed.value);
        items.iter().filter_map(|item| self.expanded(item)).map(|text| text.value).collect()
    }

    pub(crate) fn expanded<'t>(&mut self, typed: &'t Typed<String>) -> Option<Expanded<'t>> {
        let variables = &self.surroundings.options.environment;
        let expanded = expand(&typed.value, self.dialect, &|name| variables.get(name).cloned());
        if expanded.as_ref().is_ok_and(|value| *value != typed.value) {
            self.replaced.push(typed.place.key.clone());
        }
        match expanded {
            // No operating system takes a zero byte in a path, an argument or a variable, nor does HTTP.
            Ok(value) if value.contains('\0') => {
                self.report.error(&typed.place, "holds a zero byte", None);
                None
            }
            Ok(value) => Some(Expanded { value, typed }),
            Err(troubles) => {
                for trouble in &troubles {
                    if let (Trouble::Unset(name), Some(unset)) = (trouble, &mut self.unset) {
                        if !unset.contains(name) {
                            unset.push(name.clone());
                        }
                        continue;
                    }
                    let (message, hint) = describe(trouble, self.dialect);
                    self.report.error(&typed.place, message, hint);
                }
                None
            }
        }
    }

    /// A path in the file, relative to the file; `~/` is the home folder.
    pub(crate) fn path(&self, text: &str) -> PathBuf {
        whole_path(text, self.surroundings.base, &self.surroundings.options.environment)
    }
}

fn places(servers: &[RawServer]) -> BTreeMap<ServerName, Place> {
    servers.iter().filter_map(|raw| Some((ServerName::new(slug(&raw.name)).ok()?, raw.place.clone()))).collect()
}

/// What a text became, and what was typed: only the latter may be quoted in a message.
pub(crate) struct Expanded<'t> {
    pub(crate) value: String,
    pub(crate) typed: &'t Typed<String>,
}

/// The server that the built-in tools are of.
pub(crate) const TOOLBOX: &str = "toolbox";

pub(crate) const LISTEN_HINT: &str = "write an address and a port: \"127.0.0.1:7420\"";

/// An address to listen on, as people write it: `127.0.0.1:7420`, `[::1]:7420`, `localhost:7420`, or `:7420`, which is this
/// machine alone: whoever means every network says so.
pub fn listen(text: &str) -> Option<SocketAddr> {
    let text = text.trim();
    match text.strip_prefix("localhost:").or_else(|| text.strip_prefix(':')) {
        Some(port) => port.parse().ok().map(|port: u16| SocketAddr::from(([127, 0, 0, 1], port))),
        None => text.parse().ok(),
    }
}

pub(crate) fn unknown_surface(typed: &str) -> (String, String) {
    let names = Surface::ALL.map(Surface::as_str);
    let hint = match words::nearest(typed, names) {
        Some(near) => format!("did you mean `{near}`?"),
        None => format!("surfaces: {}", names.join(", ")),
    };
    (format!("there is no surface {}", quoted(typed)), hint)
}

/// A database, or a file.
pub(crate) fn store_place(text: &str, path: impl FnOnce(&str) -> PathBuf) -> StorePlace {
    match DatabaseUrl::parse(text) {
        Some(url) => StorePlace::Database(url),
        None => StorePlace::File(path(text)),
    }
}

pub(crate) fn whole_path(text: &str, base: &Path, variables: &BTreeMap<String, String>) -> PathBuf {
    let below_home = text.strip_prefix("~/").or_else(|| (text == "~").then_some(""));
    match (below_home, variables.get("HOME")) {
        (Some(below), Some(home)) => Path::new(home).join(below),
        // By components, so that `./x` becomes `base/x`: the path is shown to people.
        _ => base.join(text).components().collect(),
    }
}

fn describe(trouble: &Trouble, dialect: Dialect) -> (String, Option<String>) {
    let dollar = match dialect {
        Dialect::Toolfold => Some("write `$$` where a dollar sign is meant".to_owned()),
        Dialect::Client => None,
    };
    match trouble {
        Trouble::Unset(name) => {
            let hint = format!("set it, or give a default: `${{{name}:-…}}`");
            (format!("the variable `{name}` is not set"), Some(hint))
        }
        Trouble::Unclosed => ("`${` is never closed".to_owned(), dollar),
        Trouble::NotAName(name) if name.starts_with("input:") => {
            let hint = "Toolfold cannot ask for it: put the value into an environment variable and name that";
            (format!("`${{{}}}` is asked for by an editor", name.escape_debug()), Some(hint.to_owned()))
        }
        Trouble::NotAName(name) => (format!("{} is not the name of a variable", quoted(name)), dollar),
        Trouble::TooDeep => ("has defaults inside defaults, too deep to follow".to_owned(), None),
    }
}
