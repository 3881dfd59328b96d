//! Reading a table key by key. The keys that were asked for are the keys that exist: there is no second list of them
//! to forget, and what is left over at the end is unknown.

use toolfold_core::words;

use crate::node::{Member, Node, Value};
use crate::report::{Place, Report, shown_key};

/// A value with its place.
#[derive(Debug, Clone)]
pub(crate) struct Typed<T> {
    pub(crate) value: T,
    pub(crate) place: Place,
}

/// What became of a key. `Wrong` has been reported: it must not be reported again as missing.
#[derive(Debug, Clone, Default)]
pub(crate) enum Field<T> {
    #[default]
    Absent,
    Wrong,
    Given(Typed<T>),
}

impl<T> Field<T> {
    pub(crate) fn given(&self) -> Option<&Typed<T>> {
        match self {
            Field::Given(typed) => Some(typed),
            _ => None,
        }
    }

    pub(crate) fn is_absent(&self) -> bool {
        matches!(self, Field::Absent)
    }

    pub(crate) fn or(self, other: Field<T>) -> Field<T> {
        if self.is_absent() { other } else { self }
    }
}

/// A number, or text that stands for one: `30`, `"90s"`.
#[derive(Debug, Clone)]
pub(crate) enum Amount {
    Number(f64),
    Text(String),
}

pub(crate) type Texts = Vec<Typed<String>>;
/// Names and values, each name once.
pub(crate) type Pairs = Vec<(String, Typed<String>)>;

pub(crate) struct Table<'n> {
    pub(crate) place: Place,
    left: Vec<&'n Member>,
    asked: Vec<&'static str>,
}

impl<'n> Table<'n> {
    /// `None`, reported, where the node is not a table.
    pub(crate) fn open(node: &'n Node, place: Place, report: &mut Report) -> Option<Self> {
        let Value::Table(members) = &node.value else {
            let wanted = if report.speaks_json { "an object" } else { "a table" };
            return wrong(wanted, node, &place, report);
        };
        let mut left: Vec<&Member> = Vec::new();
        let mut seen = std::collections::HashSet::new();
        for member in members {
            if seen.insert(member.name.as_str()) {
                left.push(member);
            } else {
                report.error(&place.child(&member.name, member.offset), "is given twice", None);
            }
        }
        Some(Table { place, left, asked: Vec::new() })
    }

    pub(crate) fn take(&mut self, key: &'static str) -> Option<(&'n Node, Place)> {
        self.asked.push(key);
        let at = self.left.iter().position(|member| member.name == key)?;
        let member = self.left.remove(at);
        Some((&member.node, self.place.child(key, member.offset)))
    }

    pub(crate) fn text(&mut self, key: &'static str, report: &mut Report) -> Field<String> {
        self.field(key, report, text)
    }

    pub(crate) fn integer(&mut self, key: &'static str, report: &mut Report) -> Field<i64> {
        self.field(key, report, |node, place, report| match node.value {
            Value::Integer(number) => Some(number),
            _ => wrong("an integer", node, place, report),
        })
    }

    pub(crate) fn flag(&mut self, key: &'static str, report: &mut Report) -> Field<bool> {
        self.field(key, report, |node, place, report| match node.value {
            Value::Bool(flag) => Some(flag),
            _ => wrong("true or false", node, place, report),
        })
    }

    pub(crate) fn amount(&mut self, key: &'static str, report: &mut Report) -> Field<Amount> {
        self.field(key, report, amount)
    }

    /// Every key with its amount: what is to be a table of amounts.
    pub(crate) fn amounts(self, report: &mut Report) -> Vec<(String, Typed<Amount>)> {
        let mut read = Vec::new();
        for (member, place) in self.rest() {
            if let Some(value) = amount(&member.node, &place, report) {
                read.push((member.name.clone(), Typed { value, place }));
            }
        }
        read
    }

    pub(crate) fn texts(&mut self, key: &'static str, report: &mut Report) -> Field<Texts> {
        self.field(key, report, |node, place, report| {
            let Value::List(items) = &node.value else {
                return wrong("a list of strings", node, place, report);
            };
            let items = items.iter().enumerate().map(|(i, item)| {
                let place = place.item(i, item.offset);
                text(item, &place, report).map(|value| Typed { value, place })
            });
            // All are looked at, so that all that are wrong are reported.
            items.collect::<Vec<_>>().into_iter().collect()
        })
    }

    /// Whether one string is there, rather than a list of them.
    pub(crate) fn is_text(&self, key: &str) -> bool {
        self.left.iter().any(|member| member.name == key && matches!(member.node.value, Value::Text(_)))
    }

    /// A list of strings, or one string that stands for a list of itself.
    pub(crate) fn one_or_more(&mut self, key: &'static str, report: &mut Report) -> Field<Texts> {
        if self.is_text(key) {
            return match self.text(key, report) {
                Field::Given(typed) => Field::Given(Typed { place: typed.place.clone(), value: vec![typed] }),
                _ => Field::Wrong,
            };
        }
        self.texts(key, report)
    }

    /// The items of a list, each with its place: what is to be a list of tables.
    pub(crate) fn tables(&mut self, key: &'static str, report: &mut Report) -> Vec<(&'n Node, Place)> {
        let Some((node, place)) = self.take(key) else { return Vec::new() };
        let Value::List(items) = &node.value else {
            wrong::<()>("a list of tables", node, &place, report);
            return Vec::new();
        };
        items.iter().enumerate().map(|(i, item)| (item, place.item(i, item.offset))).collect()
    }

    /// A list of strings, or one certain word that stands for a list of itself.
    pub(crate) fn texts_or_word(&mut self, key: &'static str, word: &str, report: &mut Report) -> Field<Texts> {
        let says =
            |member: &&&Member| member.name == key && matches!(&member.node.value, Value::Text(text) if text == word);
        if self.left.iter().any(|member| says(&member)) {
            return match self.text(key, report) {
                Field::Given(typed) => Field::Given(Typed { place: typed.place.clone(), value: vec![typed] }),
                _ => Field::Wrong,
            };
        }
        self.texts(key, report)
    }

    pub(crate) fn pairs(&mut self, key: &'static str, report: &mut Report) -> Field<Pairs> {
        self.field(key, report, |node, place, report| {
            let table = Table::open(node, place.clone(), report)?;
            let pairs = table.left.iter().map(|member| {
                let place = place.child(&member.name, member.offset);
                text(&member.node, &place, report).map(|value| (member.name.clone(), Typed { value, place }))
            });
            pairs.collect::<Vec<_>>().into_iter().collect()
        })
    }

    /// What is left and is a table itself, taken out.
    pub(crate) fn take_tables(&mut self) -> Vec<(&'n Member, Place)> {
        let (tables, left) =
            std::mem::take(&mut self.left).into_iter().partition(|member| matches!(member.node.value, Value::Table(_)));
        self.left = left;
        let placed = |member: &'n Member| (member, self.place.child(&member.name, member.offset));
        Vec::into_iter(tables).map(placed).collect()
    }

    /// What nobody asked for.
    pub(crate) fn rest(&self) -> impl Iterator<Item = (&'n Member, Place)> + '_ {
        self.left.iter().map(|member| (*member, self.place.child(&member.name, member.offset)))
    }

    /// Reports what nobody asked for; the keys that were probably meant.
    pub(crate) fn refuse_rest(self, report: &mut Report) -> Vec<&'static str> {
        let mut meant = Vec::new();
        for (member, place) in self.rest() {
            let near = meant_key(&member.name, &self.asked);
            let hint = match near {
                Some(near) => format!("did you mean `{near}`?"),
                None => format!("known keys: {}", self.asked.join(", ")),
            };
            report.error(&place, "unknown key", hint);
            meant.extend(near);
        }
        meant
    }

    fn field<T>(
        &mut self,
        key: &'static str,
        report: &mut Report,
        read: impl FnOnce(&Node, &Place, &mut Report) -> Option<T>,
    ) -> Field<T> {
        let Some((node, place)) = self.take(key) else { return Field::Absent };
        match read(node, &place, report) {
            Some(value) => Field::Given(Typed { value, place }),
            None => Field::Wrong,
        }
    }
}

fn amount(node: &Node, place: &Place, report: &mut Report) -> Option<Amount> {
    match &node.value {
        Value::Integer(number) => Some(Amount::Number(*number as f64)),
        Value::Float(number) => Some(Amount::Number(*number)),
        Value::Text(text) => Some(Amount::Text(text.clone())),
        _ => wrong("a number or a string", node, place, report),
    }
}

fn text(node: &Node, place: &Place, report: &mut Report) -> Option<String> {
    match &node.value {
        Value::Text(text) => Some(text.clone()),
        _ => wrong("a string", node, place, report),
    }
}

fn wrong<T>(wanted: &str, node: &Node, place: &Place, report: &mut Report) -> Option<T> {
    let scalar = matches!(node.value, Value::Integer(_) | Value::Float(_) | Value::Bool(_));
    let found = match node.value {
        Value::Table(_) if report.speaks_json => "an object",
        _ => node.value.describe(),
    };
    let hint = match wanted {
        "a string" if scalar => Some("put it in quotes".to_owned()),
        "a list of tables" if matches!(node.value, Value::Table(_)) && !report.speaks_json => {
            Some(format!("write `[[{}]]` with two brackets", place.key))
        }
        "a list of strings" if matches!(node.value, Value::Text(_)) => Some("write it as `[\"…\", \"…\"]`".to_owned()),
        _ => None,
    };
    report.error(place, format!("expected {wanted}, found {found}"), hint);
    None
}

/// Spellings that other programs use, too far from ours for a count of letters.
const ELSEWHERE: [(&str, &str); 8] = [
    ("arguments", "args"),
    ("bearer", "token"),
    ("cmd", "command"),
    ("disabled", "enabled"),
    ("environment", "env"),
    ("mcpServers", "servers"),
    ("mcp_servers", "servers"),
    ("serverUrl", "url"),
];

fn meant_key(typed: &str, known: &[&'static str]) -> Option<&'static str> {
    let elsewhere = ELSEWHERE.iter().find(|(other, _)| *other == typed).map(|(_, ours)| *ours);
    elsewhere.filter(|ours| known.contains(ours)).or_else(|| words::nearest(typed, known.iter().copied()))
}

/// A list of keys for a sentence, cut where it would fill the screen.
pub(crate) fn enumerate(names: &[&str]) -> String {
    let shown: Vec<String> = names.iter().take(5).map(|name| shown_key(name)).collect();
    let more = names.len().saturating_sub(5);
    if more == 0 { shown.join(", ") } else { format!("{} and {more} more", shown.join(", ")) }
}
