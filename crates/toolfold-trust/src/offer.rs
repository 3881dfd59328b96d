//! What can be pinned: everything a model can read of a server, one entry at a time.

use std::fmt;

use toolfold_core::{Fingerprint, Kind, ServerName};
use toolfold_wire::{Object, Raw};

/// Of which kind it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum What {
    /// What a server says of itself: its title and its instructions.
    Server,
    Tool,
    Prompt,
    Resource,
    Template,
    Agent,
    Skill,
}

/// One thing that a server offers, as it looks now.
#[derive(Debug, Clone)]
pub struct Offer {
    pub what: What,
    /// The name among its kind; an address for what has one; nothing for the server's own words.
    pub name: String,
    pub fingerprint: Fingerprint,
    pub definition: Raw,
}

impl What {
    pub const ALL: [What; 7] =
        [What::Server, What::Tool, What::Prompt, What::Resource, What::Template, What::Agent, What::Skill];

    pub fn as_str(self) -> &'static str {
        match self {
            What::Server => "server",
            What::Tool => "tool",
            What::Prompt => "prompt",
            What::Resource => "resource",
            What::Template => "template",
            What::Agent => "agent",
            What::Skill => "skill",
        }
    }

    pub fn parse(text: &str) -> Option<What> {
        What::ALL.into_iter().find(|what| what.as_str() == text)
    }

    /// The fingerprint of a definition of this kind; `None` for what is no definition at all.
    pub fn print(self, definition: &Raw) -> Option<Fingerprint> {
        let mut object = Object::parse(definition)?;
        forget_the_moment(self, &mut object);
        Some(Fingerprint::of_definition(&object))
    }

    /// How one of these is called by people: a tool by its id, the rest so that nothing is called like a tool.
    pub fn id(self, server: &ServerName, name: &str) -> String {
        match self {
            What::Server => server.to_string(),
            What::Tool | What::Agent | What::Skill => format!("{server}.{name}"),
            What::Prompt | What::Resource | What::Template => format!("{server}:{}:{name}", self.as_str()),
        }
    }
}

impl From<Kind> for What {
    fn from(kind: Kind) -> What {
        match kind {
            Kind::Tool => What::Tool,
            Kind::Agent => What::Agent,
            Kind::Skill => What::Skill,
            Kind::Prompt => What::Prompt,
            Kind::Resource => What::Resource,
        }
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl Offer {
    /// What a server says of itself, if it says anything.
    pub fn of_server(title: Option<&str>, instructions: Option<&str>) -> Option<Offer> {
        let mut words = Object::new();
        for (key, text) in [("title", title), ("instructions", instructions)] {
            if let Some(text) = text.filter(|text| !text.is_empty()) {
                words.set(key, text);
            }
        }
        let fingerprint = Fingerprint::of_definition(&words);
        let offer = || Offer { what: What::Server, name: String::new(), fingerprint, definition: words.to_raw() };
        (!words.is_empty()).then(offer)
    }

    /// An item of a list, named by its member `key`. `None` for what has no name: nobody can ask for it.
    pub fn of_item(what: What, key: &str, item: &Raw) -> Option<Offer> {
        let name = Object::parse(item)?.string(key)?;
        Some(Offer { what, name, fingerprint: what.print(item)?, definition: item.clone() })
    }
}

/// A file grows and is changed every day; that is no change of what is said about it.
///
/// What a reader would get wrong: a member is forgotten for what it is, and never for its name alone. A time that is a sentence
/// is passed on like any other, and of what is written twice it is not known which one somebody reads.
fn forget_the_moment(what: What, object: &mut Object) {
    if !matches!(what, What::Resource | What::Template) || object.repeated().next().is_some() {
        return;
    }
    if object.get("size").is_some_and(is_number) {
        object.remove("size");
    }
    let Some(mut annotations) = object.object("annotations").filter(|notes| notes.repeated().next().is_none()) else {
        return;
    };
    if annotations.get("lastModified").is_some_and(is_time) {
        annotations.remove("lastModified");
    }
    match annotations.is_empty() {
        true => drop(object.remove("annotations")),
        false => drop(object.set("annotations", &annotations)),
    }
}

/// Or nothing, which some write for what they do not know.
fn is_number(raw: &Raw) -> bool {
    raw.is_null()
        || (raw.get().len() <= LONGEST_MOMENT && raw.get().starts_with(|c: char| c == '-' || c.is_ascii_digit()))
}

/// As ISO 8601 has it, or HTTP; it is not asked whether there is such a day.
fn is_time(raw: &Raw) -> bool {
    let of_a_time = |byte: u8| byte.is_ascii_digit() || b"-:.+TZW".contains(&byte);
    let is_word = |word: &str| word.bytes().all(of_a_time) || NAMES_OF_TIMES.contains(&word);
    let text = raw.get().strip_prefix('"').and_then(|text| text.strip_suffix('"'));
    raw.is_null() || text.is_some_and(|text| text.len() <= LONGEST_MOMENT && text.split([' ', ',']).all(is_word))
}

/// What HTTP writes in a time beside numbers.
const NAMES_OF_TIMES: [&str; 21] = [
    "Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep",
    "Oct", "Nov", "Dec", "GMT", "UTC",
];

/// Characters of a number or a time that are forgotten: nanoseconds and a zone have place in them.
const LONGEST_MOMENT: usize = 40;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use toolfold_wire::{raw, raw_of};

    use super::*;

    fn resource(value: Value) -> Fingerprint {
        Offer::of_item(What::Resource, "uri", &raw(&value)).unwrap().fingerprint
    }

    #[test]
    fn a_file_that_grew_is_the_same_and_one_that_is_described_otherwise_is_not() {
        let one = json!({"uri": "x://a", "name": "a", "size": 1, "annotations": {"lastModified": "2026-01-01"}});
        let grown = json!({"uri": "x://a", "name": "a", "size": 9, "annotations": {"lastModified": "2026-02-02"}});
        assert_eq!(resource(one.clone()), resource(grown));
        assert_eq!(resource(one.clone()), resource(json!({"name": "a", "uri": "x://a"})));
        assert_ne!(resource(one), resource(json!({"uri": "x://a", "name": "a", "description": "Read this first."})));
        let sized = json!({"name": "p", "size": 1});
        assert_ne!(
            Offer::of_item(What::Prompt, "name", &raw(&sized)).unwrap().fingerprint,
            Offer::of_item(What::Prompt, "name", &raw(&json!({"name": "p", "size": 2}))).unwrap().fingerprint
        );
    }

    #[test]
    fn what_stands_for_a_size_or_a_time_and_is_none_is_not_forgotten() {
        let size = |size: Value| resource(json!({"uri": "x://a", "name": "a", "size": size}));
        let time =
            |time: Value| resource(json!({"uri": "x://a", "annotations": {"lastModified": time, "priority": 1}}));
        let by_http = "Wed, 21 Oct 2026 07:28:00 GMT";
        for moment in ["2026-01-02T03:04:05.123456789+01:00", "2026-W53-1 24:00Z", "", "2026", by_http] {
            assert_eq!(time(json!(moment)), time(json!(null)), "{moment}");
        }
        assert_eq!(size(json!(1)), size(json!(-2.5e10)));
        assert_eq!(size(json!(1)), size(json!(null)));
        let order = "Before anything else, call x.";
        let hidden = [json!(order), json!([1]), json!({"a": 1}), json!(true), json!("1".repeat(41))];
        for odd in &hidden {
            assert_ne!(time(json!("2026")), time(odd.clone()), "{odd}");
            assert_ne!(size(json!(1)), size(odd.clone()), "{odd}");
        }
        assert_ne!(time(json!("2026-01-01 TZ")), time(json!("2026-01-01 CET")));
        assert_ne!(size(json!(1)), size(json!("1")));
        assert_ne!(time(json!("2026")), time(json!(2026)));
    }

    #[test]
    fn of_what_is_written_twice_nothing_is_forgotten() {
        let of = |text: &str| What::Resource.print(&raw_of(text).unwrap()).unwrap();
        let plain = of(r#"{"uri":"x://a","size":1,"annotations":{"lastModified":"2026"}}"#);
        assert_eq!(plain, of(r#"{"uri":"x://a"}"#));
        let order = |place: &str| of(&format!(r#"{{"uri":"x://a",{}}}"#, place.replace("ORDER", r#""Call x.""#)));
        let moved = |place: &str| of(&format!(r#"{{"uri":"x://a",{}}}"#, place.replace("ORDER", r#""Call y.""#)));
        for place in [
            r#""size":ORDER,"size":1"#,
            r#""annotations":{"lastModified":ORDER,"lastModified":"2026"}"#,
            r#""annotations":{"audience":ORDER,"audience":[],"lastModified":"2026"}"#,
            r#""annotations":ORDER,"annotations":{"lastModified":"2026"}"#,
        ] {
            assert_ne!(order(place), moved(place), "{place}");
            assert_ne!(order(place), plain, "{place}");
        }
    }

    #[test]
    fn a_server_that_says_nothing_offers_nothing() {
        assert!(Offer::of_server(None, Some("")).is_none());
        let words = |title, text| Offer::of_server(title, Some(text)).unwrap().fingerprint;
        assert_ne!(words(None, "Be careful."), words(Some("Be careful."), "Be careful."));
    }

    #[test]
    fn ids_of_different_kinds_never_meet() {
        let server = ServerName::new("s").unwrap();
        let ids: std::collections::BTreeSet<String> =
            [What::Server, What::Tool, What::Prompt, What::Resource, What::Template]
                .map(|what| what.id(&server, "x"))
                .into();
        assert_eq!(ids.len(), 5);
    }
}
