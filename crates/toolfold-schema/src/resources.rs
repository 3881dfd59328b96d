//! The names inside a document: schemas with an `$id` of their own, and their anchors. Found in one walk, before anything
//! refers to them.

use std::collections::HashMap;

use serde_json::Value;
use toolfold_core::{Fuel, Spent};
use url::Url;

use crate::draft::{Draft, below};

/// What a document without a name is called, so that relative names have something to be relative to.
const NAMELESS: &str = "json-schema:///";

/// A schema with a name, as it is needed when a value is checked.
#[derive(Debug, Default)]
pub(crate) struct Resource {
    /// Places of `$dynamicAnchor`s, by name.
    pub(crate) dynamic: HashMap<String, u32>,
    /// The node of the whole, if `$recursiveAnchor` is set.
    pub(crate) recursive: Option<u32>,
}

/// As it is while a document is read.
pub(crate) struct FoundResource<'v> {
    pub(crate) draft: Draft,
    pub(crate) url: Url,
    pub(crate) root: &'v Value,
    pub(crate) anchors: HashMap<&'v str, &'v Value>,
    pub(crate) dynamic: HashMap<&'v str, &'v Value>,
}

/// The full name of what is not in this document.
pub(crate) struct Elsewhere(pub(crate) String);

pub(crate) struct Names<'v> {
    pub(crate) found: Vec<FoundResource<'v>>,
    by_url: HashMap<String, usize>,
    /// By place in memory: the document does not move while it is read.
    by_root: HashMap<*const Value, usize>,
}

impl<'v> Names<'v> {
    pub(crate) fn of(document: &'v Value, fuel: &Fuel) -> Result<Names<'v>, Spent> {
        let mut names = Names { found: Vec::new(), by_url: HashMap::new(), by_root: HashMap::new() };
        let nameless = Url::parse(NAMELESS).ok();
        let Some(nameless) = nameless else { return Ok(names) };
        let draft = Draft::of(document, Draft::Y2020);
        let url = draft.id(document).and_then(|id| nameless.join(id).ok()).unwrap_or(nameless);
        names.add(document, draft, url);
        // The walk has its own stack: a document may be as deep as it likes.
        let mut waiting: Vec<(&Value, usize)> = vec![(document, 0)];
        while let Some((schema, mut within)) = waiting.pop() {
            fuel.burn(2)?;
            if let (Some(id), Some(base)) = (schema.as_object().and(names.id(schema, within)), names.found.get(within))
                && within_itself(schema, base.root)
                && let Ok(url) = base.url.join(id)
            {
                within = names.add(schema, Draft::of(schema, base.draft), url);
            }
            names.note_anchors(schema, within);
            waiting.extend(below(schema).map(|inner| (inner, within)));
        }
        Ok(names)
    }

    fn id(&self, schema: &'v Value, within: usize) -> Option<&'v str> {
        // In drafts 4 to 7 an `$id` of a fragment alone is an anchor.
        self.found.get(within)?.draft.id(schema).filter(|id| !id.starts_with('#'))
    }

    fn add(&mut self, root: &'v Value, draft: Draft, mut url: Url) -> usize {
        url.set_fragment(None);
        let place = self.found.len();
        self.by_url.entry(url.to_string()).or_insert(place);
        self.by_root.insert(root, place);
        self.found.push(FoundResource { draft, url, root, anchors: HashMap::new(), dynamic: HashMap::new() });
        place
    }

    fn note_anchors(&mut self, schema: &'v Value, within: usize) {
        let Some(found) = self.found.get_mut(within) else { return };
        let text = |key: &str| schema.get(key).and_then(Value::as_str);
        let old = found.draft.id(schema).and_then(|id| id.strip_prefix('#')).filter(|id| !id.is_empty());
        for anchor in [text("$anchor"), old].into_iter().flatten() {
            found.anchors.entry(anchor).or_insert(schema);
        }
        if let Some(anchor) = text("$dynamicAnchor") {
            found.anchors.entry(anchor).or_insert(schema);
            found.dynamic.entry(anchor).or_insert(schema);
        }
    }

    /// The resource that a schema begins, if it begins one.
    pub(crate) fn begun_by(&self, schema: &Value) -> Option<usize> {
        self.by_root.get(&std::ptr::from_ref(schema)).copied()
    }

    /// What a reference means: the schema and its resource.
    pub(crate) fn resolve(&self, reference: &str, within: usize) -> Result<(&'v Value, usize), Elsewhere> {
        let (name, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let here = self.found.get(within).ok_or_else(|| Elsewhere(reference.to_owned()))?;
        let resource = if name.is_empty() {
            within
        } else {
            let mut url = here.url.join(name).map_err(|_| Elsewhere(reference.to_owned()))?;
            url.set_fragment(None);
            *self.by_url.get(url.as_str()).ok_or_else(|| Elsewhere(url.to_string()))?
        };
        let fragment = unescaped(fragment);
        let missing = || Elsewhere(format!("{}#{fragment}", self.found[resource].url));
        if fragment.is_empty() {
            return Ok((self.found[resource].root, resource));
        }
        if fragment.starts_with('/') {
            return self.pointed(resource, &fragment).ok_or_else(missing);
        }
        self.found[resource].anchors.get(fragment.as_str()).map(|schema| (*schema, resource)).ok_or_else(missing)
    }

    fn pointed(&self, mut resource: usize, pointer: &str) -> Option<(&'v Value, usize)> {
        let mut value = self.found[resource].root;
        for step in pointer.split('/').skip(1) {
            let step = step.replace("~1", "/").replace("~0", "~");
            value = match value {
                Value::Object(members) => members.get(&step)?,
                Value::Array(items) => items.get(step.parse::<usize>().ok()?)?,
                _ => return None,
            };
            resource = self.begun_by(value).unwrap_or(resource);
        }
        Some((value, resource))
    }
}

/// The root of a resource has been added already; all others begin a new one.
fn within_itself(schema: &Value, root: &Value) -> bool {
    !std::ptr::eq(schema, root)
}

/// `%24defs` and the like; pointers are otherwise plain.
pub fn unescaped(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let code = after.get(..2).filter(|_| *first == b'%').and_then(|code| std::str::from_utf8(code).ok());
        match code.and_then(|code| u8::from_str_radix(code, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
