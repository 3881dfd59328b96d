//! What servers offer beside tools: prompts, resources, templates, under names that are unique here. A prompt is named
//! like a tool; a resource keeps its URI, and only the second server to use the same URI gets its name put before it.

use std::collections::{BTreeMap, HashMap};

use toolfold_core::{ServerName, exposed_name};
use toolfold_upstream::Manifest;
use toolfold_wire::{Object, Raw, raw};

/// A name or URI as one server knows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Owned {
    pub(crate) server: ServerName,
    pub(crate) original: String,
}

#[derive(Default, PartialEq)]
pub(crate) struct Offers {
    pub(crate) prompts: Offered,
    pub(crate) resources: Offered,
    pub(crate) templates: Offered,
}

/// One kind of offer: definitions in order, and the way back from each exposed key.
#[derive(Default)]
pub(crate) struct Offered {
    definitions: Vec<Raw>,
    owners: HashMap<String, Owned>,
}

impl PartialEq for Offered {
    fn eq(&self, other: &Self) -> bool {
        self.definitions.len() == other.definitions.len()
            && self.definitions.iter().zip(&other.definitions).all(|(a, b)| a.get() == b.get())
    }
}

impl Offers {
    pub(crate) fn merge<'a>(servers: impl Iterator<Item = (&'a ServerName, bool, &'a Manifest)>) -> Self {
        let mut offers = Offers::default();
        for (server, prefix, manifest) in servers {
            offers.prompts.add(server, "name", &manifest.prompts, |name| exposed_name(prefix.then_some(server), name));
            offers.resources.add(server, "uri", &manifest.resources, str::to_owned);
            offers.templates.add(server, "uriTemplate", &manifest.templates, str::to_owned);
        }
        offers
    }

    /// Which server has a resource: the one that lists it, or the first whose template could have made it.
    pub(crate) fn resource(&self, uri: &str) -> Option<Owned> {
        if let Some(owner) = self.resources.owner(uri) {
            return Some(owner.clone());
        }
        let by_name = self.templates.owners.iter().collect::<BTreeMap<_, _>>();
        by_name.into_iter().find_map(|(template, owner)| {
            let (fits, original) = match template.strip_prefix(&qualifier(&owner.server)) {
                Some(_) if owner.original != *template => {
                    let rest = uri.strip_prefix(&qualifier(&owner.server))?;
                    (fits_template(&owner.original, rest), rest)
                }
                _ => (fits_template(template, uri), uri),
            };
            fits.then(|| Owned { server: owner.server.clone(), original: original.to_owned() })
        })
    }

    /// The URI that clients know for a server's own.
    pub(crate) fn exposed_uri(&self, server: &ServerName, uri: &str) -> String {
        let qualified = format!("{}{uri}", qualifier(server));
        if self.resources.owners.contains_key(&qualified) { qualified } else { uri.to_owned() }
    }
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
                exposed = if key == "name" {
                    exposed_name(Some(server), &original)
                } else {
                    format!("{}{original}", qualifier(server))
                };
            }
            let entry = if exposed == original { item.clone() } else { definition.set(key, &exposed).to_raw() };
            let owner = Owned { server: server.clone(), original };
            if self.owners.insert(exposed, owner).is_none() {
                self.definitions.push(entry);
            }
        }
    }

    pub(crate) fn owner(&self, exposed: &str) -> Option<&Owned> {
        self.owners.get(exposed)
    }

    pub(crate) fn names(&self) -> impl Iterator<Item = &str> {
        self.owners.keys().map(String::as_str)
    }

    pub(crate) fn to_list(&self, key: &str) -> Raw {
        raw(&Object::new().with(key, &self.definitions))
    }
}

fn qualifier(server: &ServerName) -> String {
    format!("{server}+")
}

/// Whether a URI could come from a template: the literal pieces stand in it, in order, the first at the start.
fn fits_template(template: &str, uri: &str) -> bool {
    let mut rest = uri;
    let mut pieces = template.split(['{', '}']).step_by(2).enumerate().peekable();
    while let Some((place, piece)) = pieces.next() {
        let last = pieces.peek().is_none();
        rest = match rest.find(piece) {
            Some(0) if place == 0 => &rest[piece.len()..],
            Some(_) if place == 0 => return false,
            _ if last => return rest.ends_with(piece),
            Some(at) => &rest[at + piece.len()..],
            None => return false,
        };
    }
    rest.is_empty()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_match_what_they_could_have_made() {
        assert!(fits_template("test://template/{id}/data", "test://template/7/data"));
        assert!(fits_template("file:///{path}", "file:///a/b.txt"));
        assert!(fits_template("x://all", "x://all"));
        assert!(!fits_template("x://all", "x://all/more"));
        assert!(!fits_template("test://template/{id}/data", "test://template/7/other"));
        assert!(!fits_template("git://{repo}", "file://git"));
    }

    #[test]
    fn the_second_server_with_a_uri_is_qualified() {
        let manifest = |text: &str| serde_json::from_str::<Manifest>(text).unwrap();
        let one = manifest(
            r#"{"era":"legacy","version":"2025-11-25","tools":[],"prompts":[{"name":"ask"}],"resources":[{"uri":"x://a"}],"templates":[]}"#,
        );
        let (first, second) = (ServerName::new("first").unwrap(), ServerName::new("second").unwrap());
        let offers = Offers::merge([(&first, true, &one), (&second, false, &one)].into_iter());
        assert_eq!(offers.prompts.to_list("prompts").get(), r#"{"prompts":[{"name":"first__ask"},{"name":"ask"}]}"#);
        assert_eq!(
            offers.resources.to_list("resources").get(),
            r#"{"resources":[{"uri":"x://a"},{"uri":"second+x://a"}]}"#
        );
        assert_eq!(offers.resource("second+x://a").unwrap().server, second);
        assert_eq!(offers.exposed_uri(&second, "x://a"), "second+x://a");
    }
}
