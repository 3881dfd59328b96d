//! What servers offer beside tools: prompts, resources, templates, under names that are unique here. A prompt is named
//! like a tool; a resource keeps its URI where it is its server's own, and has the server's name put before it otherwise.

use std::collections::{BTreeSet, HashMap};

use toolfold_core::{ServerName, exposed_name, shown_line, told_apart};
use toolfold_upstream::Manifest;
use toolfold_wire::{Object, Raw, raw};
use tracing::warn;

use crate::claims::Claims;

/// A name or URI as one server knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Owned {
    pub(crate) server: ServerName,
    pub(crate) original: String,
}

#[derive(Default)]
pub(crate) struct Offers {
    pub(crate) prompts: Offered,
    pub(crate) resources: Offered,
    pub(crate) templates: Offered,
    /// Servers that have resources: those can be asked for one with their name before its address, listed or not.
    servers: BTreeSet<ServerName>,
    /// All that exist, whether they run or not: what has one's name before it is that one's and nobody else's.
    names: BTreeSet<ServerName>,
    /// Who lists an address that is nobody's alone.
    contested: HashMap<String, BTreeSet<ServerName>>,
}

/// Who can be asked for an address.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Whose {
    One(Owned),
    /// Several could be meant, and none of them was first.
    Several(Vec<ServerName>),
    /// It has the name before it of one that does not run, or has no resources.
    Away(ServerName),
    Nobody,
}

/// What is offered by one server, as it is merged.
#[derive(Clone, Copy)]
pub(crate) struct Offering<'a> {
    pub(crate) server: &'a ServerName,
    /// Whether names have the server's before them.
    pub(crate) prefix: bool,
    pub(crate) manifest: &'a Manifest,
}

/// One kind of offer: definitions in order, and the way back from each exposed key.
#[derive(Default)]
pub(crate) struct Offered {
    definitions: Vec<Raw>,
    owners: HashMap<String, Owned>,
    /// When each template came.
    since: HashMap<(ServerName, String), u64>,
}

impl PartialEq for Offered {
    fn eq(&self, other: &Self) -> bool {
        self.definitions.len() == other.definitions.len()
            && self.definitions.iter().zip(&other.definitions).all(|(a, b)| a.get() == b.get())
    }
}

impl Offers {
    /// `names` are all servers that exist, also those that offer nothing, or nothing yet.
    pub(crate) fn merge(offerings: Vec<Offering<'_>>, claims: &Claims, names: BTreeSet<ServerName>) -> Self {
        let mut offers = Offers { names, ..Offers::default() };
        let is_server = |name: &str| offers.names.contains(name);
        // An address that looks like another server's with its name before it would be taken for that.
        let misleads = |uri: &str| uri.split_once('+').is_some_and(|(name, _)| is_server(name));
        let is_prefixed = |prompt: &str| prompt.match_indices("__").any(|(at, _)| is_server(&prompt[..at]));
        let shared = shared_names(&offerings);
        let mut lists: [Offered; 3] = Default::default();
        for Offering { server, prefix, manifest } in &offerings {
            let (server, manifest) = (*server, *manifest);
            let [prompts, resources, templates] = &mut lists;
            prompts.add(server, "name", &manifest.prompts, |name| {
                let bare = !prefix && claims.is_of(&claimed_name(name), server) && !is_prefixed(name);
                let exposed = exposed_name((!bare).then_some(server), name);
                // Both are told apart: neither is asked for the other's.
                match shared.contains(&exposed) {
                    true => told_apart(server, name, &format!("{server} {name}")),
                    false => exposed,
                }
            });
            let address = |uri: &str| match claims.is_of(uri, server) && !misleads(uri) {
                true => uri.to_owned(),
                false => format!("{}{uri}", qualifier(server)),
            };
            resources.add(server, "uri", &manifest.resources, address);
            templates.add(server, "uriTemplate", &manifest.templates, address);
            templates.since.extend(template_times(manifest, claims, server));
            if !manifest.resources.is_empty() || !manifest.templates.is_empty() || has_resources(manifest) {
                offers.servers.insert(server.clone());
            }
        }
        [offers.prompts, offers.resources, offers.templates] = lists;
        offers.contested = offers.resources.contested();
        offers
    }

    /// The servers that have resources, listed or not.
    pub(crate) fn servers(&self) -> impl Iterator<Item = &ServerName> {
        self.servers.iter()
    }

    /// Which server has a resource: the one that lists it or whose name stands before it, or the one whose template could have
    /// made it.
    pub(crate) fn resource(&self, uri: &str) -> Whose {
        match self.named(uri) {
            Whose::Nobody => self.made_by_template(uri),
            known => known,
        }
    }

    /// The same where a template is no reason: somebody may have given out the address.
    pub(crate) fn named(&self, uri: &str) -> Whose {
        if let Some(owner) = self.resources.owner(uri) {
            return Whose::One(owner.clone());
        }
        if let Some((server, original)) = self.qualified(uri) {
            let original = original.to_owned();
            return match self.servers.contains(&server) {
                true => Whose::One(Owned { server, original }),
                false => Whose::Away(server),
            };
        }
        match self.contested.get(uri) {
            Some(servers) => Whose::Several(servers.iter().cloned().collect()),
            None => Whose::Nobody,
        }
    }

    /// Whether nobody has to be waited for to know whose an address is.
    pub(crate) fn has(&self, uri: &str) -> bool {
        matches!(self.named(uri), Whose::One(_))
    }

    /// The server that is named before an address.
    fn qualified<'u>(&self, uri: &'u str) -> Option<(ServerName, &'u str)> {
        let (name, original) = uri.split_once('+')?;
        self.names.get(name).map(|server| (server.clone(), original))
    }

    /// The server that had a fitting template first.
    pub(crate) fn made_by_template(&self, uri: &str) -> Whose {
        let fitting = self.templates.owners.values().filter(|owner| fits_template(&owner.original, uri));
        let since = |owner: &Owned| self.templates.since.get(&(owner.server.clone(), owner.original.clone())).copied();
        let fitting: Vec<(u64, &ServerName)> =
            fitting.map(|owner| (since(owner).unwrap_or(u64::MAX), &owner.server)).collect();
        let Some(first) = fitting.iter().map(|(since, _)| *since).min() else { return Whose::Nobody };
        let servers: BTreeSet<&ServerName> =
            fitting.iter().filter(|(since, _)| *since == first).map(|(_, server)| *server).collect();
        match servers.len() {
            1 => {
                let server = servers.into_iter().next().cloned();
                server.map_or(Whose::Nobody, |server| Whose::One(Owned { server, original: uri.to_owned() }))
            }
            _ => Whose::Several(servers.into_iter().cloned().collect()),
        }
    }
}

fn template_times<'a>(
    manifest: &'a Manifest,
    claims: &'a Claims,
    server: &'a ServerName,
) -> impl Iterator<Item = ((ServerName, String), u64)> + 'a {
    addresses(&manifest.templates, "uriTemplate").into_iter().map(move |template| {
        let since = claims.since(&template);
        ((server.clone(), template), since)
    })
}

/// The addresses of a list of resources or templates.
pub(crate) fn addresses(items: &[Raw], key: &str) -> Vec<String> {
    items.iter().filter_map(|item| Object::parse(item)?.string(key)).filter(|text| !text.starts_with(NAME)).collect()
}

/// Stands before the name of a prompt among what is claimed: no address begins with it.
const NAME: char = '\u{1}';

/// Names that prompts of several servers come to with their server's before them: `b__c` of `a`, and `c` of `a__b`.
fn shared_names(offerings: &[Offering<'_>]) -> BTreeSet<String> {
    let mut first: HashMap<String, &ServerName> = HashMap::new();
    let mut shared = BTreeSet::new();
    for Offering { server, manifest, .. } in offerings {
        for name in addresses(&manifest.prompts, "name") {
            let exposed = exposed_name(Some(server), &name);
            if first.get(&exposed).is_some_and(|other| other != server) {
                shared.insert(exposed);
            } else {
                first.insert(exposed, server);
            }
        }
    }
    shared
}

fn claimed_name(prompt: &str) -> String {
    format!("{NAME}{prompt}")
}

/// What a server says is its own: addresses, and the names of its prompts where its own name does not stand before them.
pub(crate) fn claimed(manifest: &Manifest, prefix: bool) -> Vec<String> {
    let mut all = addresses(&manifest.resources, "uri");
    all.extend(addresses(&manifest.templates, "uriTemplate"));
    if !prefix {
        all.extend(addresses(&manifest.prompts, "name").iter().map(|name| claimed_name(name)));
    }
    all
}

fn has_resources(manifest: &Manifest) -> bool {
    manifest.capabilities.as_ref().and_then(Object::parse).is_some_and(|object| object.contains("resources"))
}

impl Offered {
    fn add(&mut self, server: &ServerName, key: &str, items: &[Raw], expose: impl Fn(&str) -> String) {
        for item in items {
            let Some(mut definition) = Object::parse(item) else { continue };
            let Some(original) = definition.string(key) else { continue };
            let mut exposed = expose(&original);
            if self.owners.get(&exposed).is_some_and(|owner| owner.server == *server) {
                continue;
            }
            if self.owners.contains_key(&exposed) {
                exposed = exposed_name(Some(server), &original);
            }
            // Two names of servers and of what they have may come to the same: nobody takes it from who has it.
            if let Some(owner) = self.owners.get(&exposed) {
                let other = &owner.server;
                warn!(%server, %other, name = %shown_line(&original), "another server has what this comes to: it is left out");
                continue;
            }
            let entry = if exposed == original { item.clone() } else { definition.set(key, &exposed).to_raw() };
            self.owners.insert(exposed, Owned { server: server.clone(), original });
            self.definitions.push(entry);
        }
    }

    /// What several servers list, and none of them as its own.
    fn contested(&self) -> HashMap<String, BTreeSet<ServerName>> {
        let mut all: HashMap<&str, BTreeSet<&ServerName>> = HashMap::new();
        for owner in self.owners.values() {
            all.entry(&owner.original).or_default().insert(&owner.server);
        }
        let several = all.into_iter().filter(|(_, servers)| servers.len() > 1);
        several.map(|(uri, servers)| (uri.to_owned(), servers.into_iter().cloned().collect())).collect()
    }

    pub(crate) fn owner(&self, exposed: &str) -> Option<&Owned> {
        self.owners.get(exposed)
    }

    /// In the order of the alphabet: what is nearest must not depend on how they are kept.
    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        let mut names: Vec<&str> = self.owners.keys().map(String::as_str).collect();
        names.sort_unstable();
        names.into_iter()
    }

    pub(crate) fn to_list(&self, key: &str) -> Raw {
        raw(&Object::new().with(key, &self.definitions))
    }
}

fn qualifier(server: &ServerName) -> String {
    format!("{server}+")
}

/// The longest address that is compared with others. A longer one is nobody's, and a template that is longer makes none.
pub(crate) const LONGEST_ADDRESS: usize = 8 * 1024;

/// Whether a URI could come from a template: the literal pieces stand in it, in order, the first at the start.
pub(crate) fn fits_template(template: &str, uri: &str) -> bool {
    if template.len() > LONGEST_ADDRESS || uri.len() > LONGEST_ADDRESS {
        return false;
    }
    let mut pieces = template.split(['{', '}']).step_by(2).peekable();
    let Some(mut rest) = pieces.next().and_then(|first| uri.strip_prefix(first)) else { return false };
    while let Some(piece) = pieces.next() {
        if pieces.peek().is_none() {
            return rest.ends_with(piece);
        }
        let Some(at) = rest.find(piece) else { return false };
        rest = &rest[at + piece.len()..];
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::claims::Claimant;

    #[test]
    fn templates_match_what_they_could_have_made() {
        assert!(fits_template("test://template/{id}/data", "test://template/7/data"));
        assert!(fits_template("file:///{path}", "file:///a/b.txt"));
        assert!(fits_template("x://all", "x://all"));
        assert!(!fits_template("x://all", "x://all/more"));
        assert!(!fits_template("test://template/{id}/data", "test://template/7/other"));
        assert!(!fits_template("git://{repo}", "file://git"));
        assert!(fits_template("x://{a}/{b}.txt", "x://1/2.txt/3.txt") && !fits_template("x://{a}/{b}.txt", "x://1/2"));
        // What is very long is compared with nothing.
        let long = |length: usize| format!("x://{}", "a".repeat(length - 4));
        assert!(
            fits_template("x://{a}", &long(LONGEST_ADDRESS)) && !fits_template("x://{a}", &long(LONGEST_ADDRESS + 1))
        );
        assert!(!fits_template(&format!("x://{}", "{a}".repeat(LONGEST_ADDRESS)), "x://a"));
    }

    fn manifest(text: &str) -> Manifest {
        let whole = format!(r#"{{"era":"legacy","version":"2025-11-25","tools":[],{text}}}"#);
        serde_json::from_str(&whole).unwrap()
    }

    /// What servers offer, one after the other in time.
    fn merged(servers: &[(&ServerName, bool, &Manifest)]) -> Offers {
        let (mut claims, none) = (Claims::default(), BTreeSet::new());
        for number in 1..=servers.len() {
            let claimants: Vec<Claimant<'_>> = servers[..number]
                .iter()
                .map(|(server, prefix, manifest)| Claimant {
                    server,
                    addresses: claimed(manifest, *prefix),
                    second: &none,
                })
                .collect();
            claims.update(&claimants, number as u64);
        }
        let offerings = servers.iter().map(|&(server, prefix, manifest)| Offering { server, prefix, manifest });
        let names = servers.iter().map(|(server, ..)| (*server).clone()).collect();
        Offers::merge(offerings.collect(), &claims, names)
    }

    #[test]
    fn the_second_server_with_a_uri_is_qualified() {
        let one = manifest(r#""prompts":[{"name":"ask"}],"resources":[{"uri":"x://a"}],"templates":[]"#);
        let (first, second) = (ServerName::new("first").unwrap(), ServerName::new("second").unwrap());
        let offers = merged(&[(&first, true, &one), (&second, false, &one)]);
        assert_eq!(offers.prompts.to_list("prompts").get(), r#"{"prompts":[{"name":"first__ask"},{"name":"ask"}]}"#);
        assert_eq!(
            offers.resources.to_list("resources").get(),
            r#"{"resources":[{"uri":"x://a"},{"uri":"second+x://a"}]}"#
        );
        let of = |server: &ServerName| Whose::One(Owned { server: server.clone(), original: "x://a".to_owned() });
        assert_eq!(offers.resource("second+x://a"), of(&second));
        assert_eq!(offers.resource("x://a"), of(&first));
        assert_eq!(offers.resource("x://b"), Whose::Nobody);
    }

    #[test]
    fn a_prompt_of_a_later_server_takes_no_name_away() {
        let one = manifest(r#""prompts":[{"name":"review"}],"resources":[],"templates":[]"#);
        let taking = r#""prompts":[{"name":"review"},{"name":"notes__plan"}],"resources":[{"uri":"\u0001review"}],"templates":[]"#;
        let other = manifest(taking);
        let plan = manifest(r#""prompts":[{"name":"plan"}],"resources":[],"templates":[]"#);
        let [zulu, alpha, notes] = ["zulu", "alpha", "notes"].map(|name| ServerName::new(name).unwrap());
        // In the order of the alphabet, as they are merged; `zulu` was there first.
        let (mut claims, none) = (Claims::default(), BTreeSet::new());
        let all = [(&alpha, false, &other), (&notes, true, &plan), (&zulu, false, &one)];
        for (wave, count) in [(1, 2), (2, 3)] {
            let said = all.iter().rev().take(count).rev();
            let claimants: Vec<Claimant<'_>> = said
                .map(|(server, prefix, manifest)| Claimant {
                    server,
                    addresses: claimed(manifest, *prefix),
                    second: &none,
                })
                .collect();
            claims.update(&claimants, wave);
        }
        let offerings = all.map(|(server, prefix, manifest)| Offering { server, prefix, manifest });
        let names = [&zulu, &alpha, &notes].map(Clone::clone);
        let offers = Offers::merge(offerings.into(), &claims, names.into());
        let owner = |name: &str| offers.prompts.owner(name).map(|owner| owner.server.as_str());
        assert_eq!((owner("review"), owner("alpha__review")), (Some("zulu"), Some("alpha")));
        assert_eq!((owner("notes__plan"), owner("alpha__notes__plan")), (Some("notes"), Some("alpha")));
        let at_once = merged(&[(&alpha, false, &other)]);
        assert_eq!(at_once.prompts.owner("review").map(|owner| owner.server.as_str()), Some("alpha"));
    }

    #[test]
    fn a_template_of_a_later_server_takes_nothing_away() {
        let wide = manifest(r#""prompts":[],"resources":[],"templates":[{"uriTemplate":"file:///{path}"}]"#);
        let narrow = manifest(r#""prompts":[],"resources":[],"templates":[{"uriTemplate":"file:///home/{x}"}]"#);
        let (files, evil) = (ServerName::new("files").unwrap(), ServerName::new("evil").unwrap());
        let offers = merged(&[(&files, true, &wide), (&evil, true, &narrow)]);
        let owner = Owned { server: files, original: "file:///home/me".to_owned() };
        assert_eq!(offers.resource("file:///home/me"), Whose::One(owner));
        let owner = Owned { server: evil, original: "file:///home/me".to_owned() };
        assert_eq!(offers.resource("evil+file:///home/me"), Whose::One(owner));
    }

    /// `b__c` of `a` and `c` of `a__b`: nobody is asked for the other's, and nobody's is gone.
    #[test]
    fn prompts_that_come_to_one_name_are_both_told_apart() {
        let one = manifest(r#""prompts":[{"name":"c"},{"name":"alone"}],"resources":[],"templates":[]"#);
        let other = manifest(r#""prompts":[{"name":"b__c"}],"resources":[],"templates":[]"#);
        let (longer, shorter) = (ServerName::new("a__b").unwrap(), ServerName::new("a").unwrap());
        let offers = merged(&[(&longer, true, &one), (&shorter, true, &other)]);
        assert_eq!(offers.prompts.owner("a__b__c"), None);
        let names: Vec<&str> = offers.prompts.names().collect();
        assert_eq!(names.len(), 3, "{names:?}");
        for name in names {
            let owner = offers.prompts.owner(name).unwrap();
            let whole = format!("{}__{}", owner.server, owner.original);
            assert!(name.starts_with(&whole) && (name.len() == whole.len() + 9) == (name != "a__b__alone"), "{name}");
        }
    }

    #[test]
    fn what_has_the_name_of_a_server_before_it_is_of_nobody_else() {
        let listed = r#""prompts":[{"name":"files__plan"}],"resources":[{"uri":"files+x://1"}],"templates":[{"uriTemplate":"{+all}"},{"uriTemplate":"files+{all}"}]"#;
        let (files, evil) = (ServerName::new("files").unwrap(), ServerName::new("evil").unwrap());
        let manifest = manifest(listed);
        let offering = Offering { server: &evil, prefix: false, manifest: &manifest };
        let mut claims = Claims::default();
        let addresses = claimed(&manifest, false);
        claims.update(&[Claimant { server: &evil, addresses, second: &BTreeSet::new() }], 1);
        // It does not run.
        let offers = Offers::merge(vec![offering], &claims, [&files, &evil].map(Clone::clone).into());
        for uri in ["files+x://1", "files+x://2", "files+"] {
            assert_eq!(offers.resource(uri), Whose::Away(files.clone()), "{uri}");
            assert!(!offers.has(uri));
        }
        assert!(offers.has("evil+files+x://1") && offers.prompts.owner("files__plan").is_none());
        assert!(offers.prompts.owner("evil__files__plan").is_some());
        assert!(matches!(offers.resource("git+https://a"), Whose::One(_)), "git is no server");
    }
}
