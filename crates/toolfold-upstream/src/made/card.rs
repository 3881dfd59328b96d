//! An agent's card: what it is called, what it can do, and where and how it is spoken to.

use std::sync::Arc;

use hyper::http::Method;
use serde_json::{Value, json};
use toolfold_config::AuthMode;
use toolfold_core::beginning;
use url::Url;

use super::ask::{Asking, Known};
use super::{Made, Way};
use crate::call::CallError;
use crate::connection::Connection;

/// A card is a page, not a book.
const LARGEST: usize = 1 << 20;
const MOST_SKILLS: usize = 100;
const LONGEST_SKILL: usize = 500;
const LONGEST_DESCRIPTION: usize = 8_000;
/// Bindings that nobody here speaks, in the reason why a card is of no use.
const MOST_BINDINGS: usize = 10;
/// The name of the one tool that an agent is.
const NAME: &str = "ask";

/// How to speak to it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Card {
    pub(super) url: String,
    pub(super) binding: Binding,
    pub(super) version: Version,
    /// Whether the address is only the card's word.
    pub(super) distant: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Binding {
    Rpc,
    /// HTTP+JSON.
    Rest,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Version {
    /// 1.0, and what comes after it.
    One,
    /// 0.2 and 0.3.
    Old,
}

/// What a card does not say, or not in a way that is of use.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
enum BadCard {
    #[error("{0}")]
    Own(url::ParseError),
    #[error("{0:?} is not an address")]
    NoAddress(String),
    #[error("{0:?} begins with neither http:// nor https://")]
    NoHttp(String),
    #[error("it names no address of the agent")]
    NoWay,
    #[error("the agent speaks {}, and JSONRPC or HTTP+JSON is wanted", .0.join(", "))]
    Bindings(Vec<String>),
}

pub(super) async fn read(asking: &Asking, connection: &Arc<Connection>, address: &str) -> Result<Made, CallError> {
    let shown = address.split(['?', '#']).next().unwrap_or_default();
    let wrong = |why: &str| CallError::unavailable(format!("the card at {shown} cannot be used: {why}"));
    let answer = asking.fetch(connection, (Method::GET, address), Known::Yes, LARGEST).await?;
    if !(200..300).contains(&answer.status) {
        let status = answer.status;
        return Err(CallError::unavailable(format!("{shown} answered HTTP {status}: correct `card`")));
    }
    let card: Value = serde_json::from_slice(&answer.body).map_err(|_| wrong("it is not JSON"))?;
    let way = way(&card, address).map_err(|why| wrong(&why.to_string()))?;
    let config = &connection.shared.config;
    let has_key = config.auth.mode == AuthMode::OAuth || asking.has_headers();
    if way.distant && has_key {
        let url = beginning(&way.url, 200);
        return Err(wrong(&format!("it names {url}, which is elsewhere, and no key is sent there")));
    }
    let text = |key: &str| card.get(key).and_then(Value::as_str).map(|text| beginning(text, 200).into_owned());
    let definition = definition(&card);
    Ok(Made {
        title: text("name"),
        version: text("version"),
        instructions: None,
        tools: vec![(definition, Way::Agent(Arc::new(way)))],
    })
}

/// The first interface that is spoken here, the newest way before others.
fn way(card: &Value, address: &str) -> Result<Card, BadCard> {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).map(str::to_owned);
    let mut ways: Vec<(String, String, Version)> = Vec::new();
    for one in card.get("supportedInterfaces").and_then(Value::as_array).into_iter().flatten() {
        let version = text(one, "protocolVersion").unwrap_or_else(|| "1.0".to_owned());
        let version = if version.starts_with("0.") { Version::Old } else { Version::One };
        ways.extend(text(one, "url").zip(text(one, "protocolBinding")).map(|(url, binding)| (url, binding, version)));
    }
    if let Some(url) = text(card, "url") {
        ways.push((url, text(card, "preferredTransport").unwrap_or_else(|| "JSONRPC".to_owned()), Version::Old));
    }
    for one in card.get("additionalInterfaces").and_then(Value::as_array).into_iter().flatten() {
        ways.extend(text(one, "url").zip(text(one, "transport")).map(|(url, binding)| (url, binding, Version::Old)));
    }
    let own = Url::parse(address).map_err(BadCard::Own)?;
    let mut bindings: Vec<String> = Vec::new();
    for (url, binding, version) in ways {
        let read = match binding.to_ascii_uppercase().as_str() {
            "JSONRPC" => Binding::Rpc,
            "HTTP+JSON" | "REST" => Binding::Rest,
            _ => {
                let shown = beginning(&binding, 30);
                if bindings.len() < MOST_BINDINGS && !bindings.iter().any(|known| *known == shown) {
                    bindings.push(shown.into_owned());
                }
                continue;
            }
        };
        let shown = || beginning(&url, 100).into_owned();
        let place = own.join(&url).map_err(|_| BadCard::NoAddress(shown()))?;
        if !["http", "https"].contains(&place.scheme()) {
            return Err(BadCard::NoHttp(shown()));
        }
        let distant = place.origin() != own.origin();
        return Ok(Card { url: place.to_string(), binding: read, version, distant });
    }
    match bindings.is_empty() {
        true => Err(BadCard::NoWay),
        false => Err(BadCard::Bindings(bindings)),
    }
}

fn definition(card: &Value) -> Value {
    let text = |value: &Value, key: &str| value.get(key).and_then(Value::as_str).unwrap_or_default().trim().to_owned();
    let skills = || card.get("skills").and_then(Value::as_array).into_iter().flatten().take(MOST_SKILLS);
    let mut words = text(card, "description");
    for skill in skills() {
        let (name, about) = (text(skill, "name"), text(skill, "description"));
        words.push_str(&format!("\n- {}: {}", beginning(&name, 100), beginning(&about, LONGEST_SKILL)));
    }
    let mut tags: Vec<String> = Vec::new();
    for skill in skills() {
        let own = skill.get("tags").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str);
        tags.extend(own.take(20).map(|tag| beginning(tag, 50).into_owned()));
    }
    tags.dedup();
    json!({
        "name": NAME,
        "title": beginning(&text(card, "name"), 120),
        "description": beginning(&words, LONGEST_DESCRIPTION),
        "inputSchema": {
            "type": "object",
            "properties": {
                "message": {"type": "string", "description": "What the agent is to do or to know, in words."},
                "context_id": {"type": "string", "description": "Goes on with a conversation: as an earlier answer has it."},
                "task_id": {"type": "string", "description": "Goes on with a task that waits for something: as an earlier answer has it."},
            },
            "required": ["message"],
            "additionalProperties": false,
        },
        "annotations": {"readOnlyHint": false, "openWorldHint": true},
        "_meta": {"tags": tags, "toolfold/kind": "agent"},
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::Map;
    use toolfold_core::{Entry, ServerName};
    use toolfold_wire::raw;

    use super::*;

    fn found(card: Value) -> Result<(String, Binding, Version, bool), String> {
        let card = way(&card, "https://a.example/.well-known/agent-card.json").map_err(|why| why.to_string())?;
        Ok((card.url, card.binding, card.version, card.distant))
    }

    #[test]
    fn the_first_way_that_is_spoken_here() {
        let interface =
            |binding: &str, url: &str| json!({"url": url, "protocolBinding": binding, "protocolVersion": "1.0"});
        let several =
            json!({"supportedInterfaces": [interface("GRPC", "a.example:1"), interface("HTTP+JSON", "/rest")]});
        assert_eq!(found(several), Ok(("https://a.example/rest".into(), Binding::Rest, Version::One, false)));
        let old = json!({"url": "https://b.example/rpc", "protocolVersion": "0.3.0"});
        assert_eq!(found(old), Ok(("https://b.example/rpc".into(), Binding::Rpc, Version::Old, true)));
        let grpc = json!({"supportedInterfaces": [interface("GRPC", "x")]});
        assert_eq!(found(grpc), Err("the agent speaks GRPC, and JSONRPC or HTTP+JSON is wanted".into()));
        assert!(found(json!({})).is_err() && found(json!({"url": "file:///etc/passwd"})).is_err());
    }

    #[test]
    fn of_very_many_bindings_that_nobody_speaks_some_are_told() {
        let one =
            |number: usize| json!({"url": "x", "protocolBinding": format!("{}{}", number % 100, "b".repeat(100))});
        let told = found(json!({"supportedInterfaces": (0..1_000).map(one).collect::<Vec<_>>()})).unwrap_err();
        assert_eq!((told.matches("b…").count(), told.chars().count()), (MOST_BINDINGS, 381), "{told}");
    }

    fn text() -> impl Strategy<Value = String> {
        let likely = [
            "JSONRPC",
            "http+json",
            "REST",
            "GRPC",
            "1.0",
            "0.3.0",
            "https://a.example/rpc",
            "https://b.example",
            "/rest",
            "//x",
            "?",
            "http://me:pw@[::1]:1/",
            "file:///etc/passwd",
            "javascript:x",
            "https://",
            "https://a b",
            "\u{202e}\n",
        ];
        prop_oneof![
            6 => prop::sample::select(likely.to_vec()).prop_map(str::to_owned),
            1 => any::<String>(),
            1 => ("[a/é\n]", 1..9_000_usize).prop_map(|(text, times)| text.repeat(times)),
        ]
    }

    fn members(keys: &'static [&'static str], value: impl Strategy<Value = Value>) -> impl Strategy<Value = Value> {
        let some = prop::collection::vec((prop::sample::select(keys), value), 0..keys.len() + 2);
        some.prop_map(|some| some.into_iter().map(|(key, value)| (key.to_owned(), value)).collect::<Map<_, _>>().into())
    }

    fn card() -> impl Strategy<Value = Value> {
        let leaf = || prop_oneof![6 => text().prop_map(Value::from), 1 => any::<i64>().prop_map(Value::from), 1 => Just(Value::Null)];
        let list = |item: BoxedStrategy<Value>| {
            prop_oneof![
                8 => (prop::collection::vec(item, 0..4), 0..3_u32).prop_map(|(items, more)| Value::from(vec![items; 10_usize.pow(more)].concat())),
                1 => leaf(),
            ]
        };
        let skill =
            members(&["name", "description", "tags", "id"], prop_oneof![2 => leaf(), 1 => list(leaf().boxed())]);
        let interface = members(&["url", "protocolBinding", "transport", "protocolVersion"], leaf());
        let own = members(&["name", "description", "version", "url", "preferredTransport"], leaf());
        let ways = members(&["supportedInterfaces", "additionalInterfaces"], list(interface.boxed()));
        (own, ways, list(skill.boxed())).prop_map(|(mut card, ways, skills)| {
            card["skills"] = skills;
            card.as_object_mut()
                .into_iter()
                .for_each(|card| card.extend(ways.as_object().cloned().unwrap_or_default()));
            card
        })
    }

    proptest! {
        #[test]
        fn any_card_is_one_tool_at_an_address_or_says_why_not(card in card(), odd in any::<String>()) {
            let odd: Value = serde_json::from_str(&odd).unwrap_or_default();
            for card in [card, odd] {
                let definition = definition(&card);
                let entry = Entry::tool(&ServerName::new("agent").unwrap(), &raw(&definition));
                prop_assert_eq!(entry.map(|entry| entry.id.tool), Ok(NAME.to_owned()));
                prop_assert!(definition.to_string().chars().count() <= 4 * LONGEST_DESCRIPTION + MOST_SKILLS * 20 * 60);
                match way(&card, "https://a.example/card.json") {
                    Ok(card) => {
                        let url = Url::parse(&card.url).unwrap();
                        prop_assert!(matches!(url.scheme(), "http" | "https") && url.host().is_some());
                        prop_assert_eq!(card.distant, url.origin().ascii_serialization() != "https://a.example");
                    }
                    Err(why) => prop_assert!(why.to_string().chars().count() < 1_000, "{}", why),
                }
            }
        }
    }
}
