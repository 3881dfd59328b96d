//! What serves of a list once it has been judged.

use std::collections::HashMap;
use std::sync::Arc;

use toolfold_catalog::ServerTools;
use toolfold_config::Server;
use toolfold_core::{Entry, Fingerprint, Kind};
use toolfold_trust::{Offer, Raised, Ruling, Succession, What, Why, succeed, understands};
use toolfold_upstream::Manifest;
use toolfold_wire::{Object, Raw, raw_of};

use super::docket::Sentence;
use super::held::Held;
use super::offers::own_words;
use crate::known::Listed;

/// What became of a list.
pub(crate) struct Judged {
    pub(crate) served: Listed,
    pub(crate) held: Vec<Arc<Held>>,
    /// Ids of what serves and has things in it that are worth a look.
    pub(crate) review: Vec<String>,
}

impl Judged {
    /// Everything serves.
    pub(crate) fn whole(listed: Listed) -> Judged {
        Judged { served: listed, held: Vec::new(), review: Vec::new() }
    }
}

/// An accepted entry that declares more risk than was known.
pub(crate) struct Raise {
    pub(crate) what: What,
    pub(crate) name: String,
    pub(crate) raised: Raised,
}

/// What serves of this list, and what has to be remembered of it. `old` has the definitions that were accepted, by fingerprint; `config` is there for a server.
pub(crate) fn serve(
    listed: &Listed,
    config: Option<&Server>,
    sentences: Vec<Sentence>,
    old: &HashMap<Fingerprint, String>,
) -> (Judged, Vec<Raise>) {
    let server = listed.tools.name.clone();
    let mut kept: HashMap<(What, String), Raw> = HashMap::new();
    let (mut held, mut raises, mut replaced) = (Vec::new(), Vec::new(), false);
    for Sentence { offer, verdict, accepted, raised, .. } in sentences {
        if let Ruling::Serve | Ruling::Accept = verdict {
            kept.insert((offer.what, offer.name), offer.definition);
            continue;
        }
        let was = accepted.and_then(|print| definition(&offer, print, old));
        let succession = was.as_ref().map(|was| succeed(was, &offer.definition, raised));
        let (why, serving) = match (verdict, succession) {
            (Ruling::Changed { was }, Some((succession, now))) => {
                if now != raised {
                    raises.push(Raise { what: offer.what, name: offer.name.clone(), raised: now });
                }
                match succession {
                    Succession::New => {
                        kept.insert((offer.what, offer.name), offer.definition);
                        continue;
                    }
                    Succession::Old(definition) if was == offer.fingerprint => (Why::LessRisk, Some(definition)),
                    Succession::Old(definition) => {
                        let understood = understands(offer.what, &offer.definition, &definition);
                        (Why::Changed, understood.then_some(definition))
                    }
                }
            }
            (Ruling::Hold(why), _) => (why, None),
            _ => (Why::Changed, None),
        };
        replaced = true;
        let (serves, shown) = (serving.is_some(), serving.clone().or(was));
        kept.extend(serving.map(|definition| ((offer.what, offer.name.clone()), definition)));
        held.push(Arc::new(Held::new(server.clone(), offer, why, shown, serves)));
    }
    if !replaced {
        return (Judged::whole(listed.clone()), raises);
    }
    let served = match (&listed.manifest, config) {
        (Some(manifest), Some(config)) => Listed::read(config, Arc::new(without(manifest, kept)), None),
        _ => Listed { tools: Arc::new(documents(&listed.tools, &mut kept)), manifest: None },
    };
    (Judged { served, held, review: Vec::new() }, raises)
}

/// The definition that was accepted. One that is not what its fingerprint says was damaged where it was kept, and is as good as
/// gone.
fn definition(offer: &Offer, print: Fingerprint, old: &HashMap<Fingerprint, String>) -> Option<Raw> {
    if print == offer.fingerprint {
        return Some(offer.definition.clone());
    }
    let kept = raw_of(old.get(&print)?).ok()?;
    (offer.what.print(&kept) == Some(print)).then_some(kept)
}

/// A manifest with what serves of it alone.
fn without(manifest: &Manifest, mut kept: HashMap<(What, String), Raw>) -> Manifest {
    let mut list = |what: What, key: &str, items: &[Raw]| -> Vec<Raw> {
        let name = |item: &Raw| Object::parse(item)?.string(key);
        items.iter().filter_map(|item| kept.remove(&(what, name(item)?))).collect()
    };
    let tools = list(What::Tool, "name", &manifest.tools);
    let prompts = list(What::Prompt, "name", &manifest.prompts);
    let resources = list(What::Resource, "uri", &manifest.resources);
    let templates = list(What::Template, "uriTemplate", &manifest.templates);
    let (title, instructions) = own_words(kept.get(&(What::Server, String::new())));
    let mut info = manifest.server_info.as_ref().and_then(Object::parse).unwrap_or_default();
    match title {
        Some(title) => drop(info.set("title", &title)),
        None => drop(info.remove("title")),
    }
    let server_info = manifest.server_info.as_ref().map(|_| info.to_raw());
    Manifest { tools, prompts, resources, templates, instructions, server_info, ..manifest.clone() }
}

/// Agents, skills or scripts that serve.
fn documents(tools: &ServerTools, kept: &mut HashMap<(What, String), Raw>) -> ServerTools {
    let entry = |entry: &Arc<Entry>| {
        let definition = kept.remove(&(entry.kind.into(), entry.name().to_owned()))?;
        if definition == entry.definition {
            return Some(entry.clone());
        }
        match entry.kind {
            Kind::Tool => Entry::tool(&tools.name, &definition).ok().map(Arc::new),
            kind => Entry::document(&tools.name, kind, &definition).ok().map(Arc::new),
        }
    };
    let entries = tools.entries.iter().filter_map(entry).collect();
    ServerTools {
        name: tools.name.clone(),
        prefix: tools.prefix,
        title: tools.title.clone(),
        instructions: tools.instructions.clone(),
        entries,
        offered: Vec::new(),
    }
}
