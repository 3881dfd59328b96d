//! Several sources judged at once, aside: with thousands of new entries it takes a while, because each is looked through.
//!
//! What a reader would get wrong: what was there before, accepted or held, is taken in first. Only then is what is new compared with it, in
//! the order in which sources came, so that of two that are alike it is the later one that is held.

use std::collections::VecDeque;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use toolfold_catalog::ServerTools;
use toolfold_core::{Entry, Fingerprint, Trust};
use toolfold_scan::{Accepted, Context, Family, Piece, Report, Role, Severity, scan_definition, scan_texts};
use toolfold_store::PinSource;
use toolfold_trust::{Offer, Raised, Record, Ruling, What, judge};

use super::held::Held;
use super::offers::{offers_of, own_words};
use crate::known::Listed;

/// Fewer new entries than this are looked through on one thread.
const FEW: usize = 256;
/// New entries of one source that others are not made to wait for, and bytes of them.
const MANY: usize = 1_000;
const MUCH: usize = 1 << 20;
/// Threads that look through many, while clients are answered on the others.
const THREADS: usize = 4;

/// One source that has said what it offers.
pub(crate) struct Case {
    pub(crate) source: PinSource,
    pub(crate) program: String,
    pub(crate) trust: Trust,
    /// When it first came; nothing for one that is new.
    pub(crate) number: Option<i64>,
    pub(crate) record: Record,
    pub(crate) listed: Listed,
}

impl Case {
    /// Whether so much of it is new that looking at it takes longer than others should wait.
    pub(crate) fn has_much_new(&self) -> bool {
        let pins = &self.record.pins;
        let entries = &self.listed.tools.entries;
        let is_new = |entry: &&Arc<Entry>| entry.is_tool() && pins.get(What::Tool, entry.name()).is_none();
        let (mut count, mut bytes) = (0, 0);
        for entry in entries.iter().filter(is_new) {
            (count, bytes) = (count + 1, bytes + entry.definition.get().len());
        }
        let lists = self.listed.manifest.iter().flat_map(|known| [&known.prompts, &known.resources, &known.templates]);
        let others: Vec<usize> = lists.flatten().map(|item| item.get().len()).collect();
        // Their names are in their text; where there are more of all than pins, some are new.
        if entries.len() + others.len() > pins.len() {
            (count, bytes) = (count + others.len(), bytes + others.iter().sum::<usize>());
        }
        self.record.lost.is_none() && (count > MANY || bytes > MUCH)
    }
}

pub(crate) struct Docket {
    pub(crate) cases: Vec<Case>,
    pub(crate) others: Vec<Other>,
}

/// A server that was judged before.
#[derive(Clone)]
pub(crate) struct Other {
    /// What serves of it.
    pub(crate) tools: Arc<ServerTools>,
    pub(crate) held: Vec<Arc<Held>>,
    pub(crate) program: String,
}

/// A case, and what was decided of each of its offers.
pub(crate) struct Heard {
    pub(crate) case: Case,
    pub(crate) sentences: Vec<Sentence>,
}

/// What was decided of one offer.
pub(crate) struct Sentence {
    pub(crate) offer: Offer,
    pub(crate) verdict: Ruling,
    /// How many things in it are worth a look.
    pub(crate) findings: u32,
    /// How it looked when it was accepted, if it ever was.
    pub(crate) accepted: Option<Fingerprint>,
    /// The risk it has declared since.
    pub(crate) raised: Raised,
}

impl Sentence {
    pub(crate) fn is_held(&self) -> bool {
        matches!(self.verdict, Ruling::Changed { .. } | Ruling::Hold(_))
    }
}

impl Docket {
    /// Judges them all.
    pub(crate) fn hear(mut self) -> Vec<Heard> {
        self.cases.sort_by_key(|case| (case.number.is_none(), case.number, case.source.server.clone()));
        let offers: Vec<Vec<Offer>> = self.cases.iter().map(|case| offers_of(&case.listed)).collect();
        // Whatever is no news needs no look.
        let is_new = |case: &Case, offer: &Offer| judge(case.trust, &case.record, offer, 0, || None) == Ruling::Accept;
        let new: Vec<(usize, &Offer)> = (self.cases.iter().zip(&offers).enumerate())
            .flat_map(|(place, (case, offers))| {
                offers.iter().filter(move |offer| is_new(case, offer)).map(move |offer| (place, offer))
            })
            .collect();
        let mut looked: Vec<VecDeque<Look>> = self.cases.iter().map(|_| VecDeque::new()).collect();
        let looks = if new.is_empty() { Vec::new() } else { self.look(&new) };
        new.iter().zip(looks).for_each(|((place, _), look)| looked[*place].push_back(look));
        let comparing = !new.is_empty();
        let mut seen = if comparing { self.seen_before(&offers) } else { Accepted::new() };
        let mut heard = Vec::new();
        for ((case, offers), mut looked) in self.cases.into_iter().zip(offers).zip(looked) {
            let mut count = 0;
            let sentences = offers.into_iter().map(|offer| {
                let (mut findings, mut copies) = (0, false);
                let verdict = judge(case.trust, &case.record, &offer, count, || {
                    let look = looked.pop_front().unwrap_or_default();
                    findings = look.review;
                    look.hard.or_else(|| imitated(&seen, &case, &offer).inspect(|_| copies = true))
                });
                count += usize::from(verdict == Ruling::Accept);
                let pin = case.record.pins.get(offer.what, &offer.name);
                // One that imitates nobody can be imitated from now on, held or not.
                if comparing && pin.is_none() && !copies {
                    add(&mut seen, &case, &offer);
                }
                let (accepted, raised) = pin.map(|pin| (pin.accepted, pin.raised)).unwrap_or_default();
                let accepted = match verdict {
                    Ruling::Changed { was } => Some(was),
                    _ => accepted,
                };
                Sentence { offer, verdict, findings, accepted, raised }
            });
            let sentences = sentences.collect();
            heard.push(Heard { case, sentences });
        }
        heard
    }

    /// Looks through everything that is new, in its order.
    fn look(&self, new: &[(usize, &Offer)]) -> Vec<Look> {
        let listed = self.cases.iter().map(|case| &case.listed.tools);
        let context = names_of(self.others.iter().map(|other| &other.tools).chain(listed));
        let server = |place: usize| self.cases[place].source.server.as_str();
        let look = |part: &[(usize, &Offer)]| -> Vec<Look> {
            part.iter().map(|(place, offer)| Look::at(server(*place), offer, &context)).collect()
        };
        if new.len() < FEW {
            return look(new);
        }
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let size = new.len().div_ceil(cores.min(THREADS));
        std::thread::scope(|scope| {
            let threads: Vec<_> = new.chunks(size).map(|part| scope.spawn(|| look(part))).collect();
            threads.into_iter().flat_map(|thread| thread.join().unwrap_or_default()).collect()
        })
    }

    /// Every tool that was there before, of whatever server. What is held counts too: who waits for approval is still the first.
    fn seen_before(&self, offers: &[Vec<Offer>]) -> Accepted {
        let mut seen = Accepted::new();
        for Other { tools, held, program } in &self.others {
            for entry in tools.entries.iter().filter(|entry| entry.is_tool()) {
                seen.add(tools.name.as_str(), program, entry.name(), &entry.description);
            }
            for Held { offer, .. } in held.iter().map(AsRef::as_ref).filter(|held| held.offer.what == What::Tool) {
                seen.add(tools.name.as_str(), program, &offer.name, &description(offer));
            }
        }
        for (case, offers) in self.cases.iter().zip(offers) {
            let is_known = |offer: &&Offer| case.record.pins.get(offer.what, &offer.name).is_some();
            offers.iter().filter(is_known).for_each(|offer| add(&mut seen, case, offer));
        }
        seen
    }
}

fn add(seen: &mut Accepted, case: &Case, offer: &Offer) {
    if offer.what == What::Tool {
        seen.add(case.source.server.as_str(), &case.program, &offer.name, &description(offer));
    }
}

/// What a new tool imitates.
fn imitated(seen: &Accepted, case: &Case, offer: &Offer) -> Option<String> {
    let of =
        |offer: &Offer| seen.imitated(case.source.server.as_str(), &case.program, &offer.name, &description(offer));
    Some(offer).filter(|offer| offer.what == What::Tool).and_then(of)
}

fn description(offer: &Offer) -> String {
    toolfold_wire::Object::parse(&offer.definition).and_then(|object| object.string("description")).unwrap_or_default()
}

/// What there is to say of one new entry.
#[derive(Default)]
struct Look {
    hard: Option<String>,
    review: u32,
}

impl Look {
    fn at(server: &str, offer: &Offer, context: &Context) -> Look {
        // A definition that the scanner cannot bear is not one to be trusted with.
        let Ok(report) = catch_unwind(AssertUnwindSafe(|| report(server, offer, context))) else {
            return Look { hard: Some("could not be looked through".to_owned()), review: 0 };
        };
        // Who imitates whom is asked elsewhere, where it is known who came first.
        let mut findings = report.findings.into_iter().filter(|finding| finding.family != Family::Clone);
        let review = findings.clone().filter(|finding| finding.severity == Severity::Review).count();
        let hard = findings.find(|finding| finding.severity == Severity::Hard);
        Look { hard: hard.map(|finding| format!("{} ({})", finding.reason, finding.rule)), review: review as u32 }
    }
}

/// Whose tools there are, for whoever names another's. What they say of themselves is left out: who imitates whom is asked
/// elsewhere.
pub(super) fn names_of<'a>(servers: impl Iterator<Item = &'a Arc<ServerTools>>) -> Context {
    let mut context = Context::new();
    for tools in servers {
        let names = tools.entries.iter().filter(|entry| entry.is_tool()).map(|entry| (entry.name(), ""));
        context.add(tools.name.as_str(), names);
    }
    context
}

/// What the scanner says of an offer.
pub(super) fn report(server: &str, offer: &Offer, context: &Context) -> Report {
    if offer.what == What::Server {
        let (title, instructions) = own_words(Some(&offer.definition));
        let texts = [("title", &title), ("instructions", &instructions)];
        let pieces = texts.into_iter().filter_map(|(place, text)| {
            Some(Piece { place: place.to_owned(), role: Role::Prose, text: text.as_deref()? })
        });
        return scan_texts(server, pieces, context);
    }
    scan_definition(server, &offer.definition, context)
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolfold_catalog::ServerSource;
    use toolfold_core::ServerName;
    use toolfold_trust::Pin;
    use toolfold_wire::{Object, raw, raw_of};

    use super::*;

    fn case(count: usize, length: usize) -> Case {
        let name = ServerName::new("s").unwrap();
        let tool = |n: usize| {
            raw(&json!({"name": format!("t{n}"), "description": "x".repeat(length), "inputSchema": {"type": "object"}}))
        };
        let source = ServerSource {
            name: name.clone(),
            prefix: true,
            title: None,
            instructions: None,
            tools: (0..count).map(tool).collect(),
        };
        let listed = Listed { tools: Arc::new(ServerTools::read(source).0), manifest: None };
        let source = PinSource { server: name, key: Fingerprint::of_definition(&Object::new()) };
        Case { source, program: String::new(), trust: Trust::FirstUse, number: None, record: Record::default(), listed }
    }

    #[test]
    fn others_wait_neither_for_a_thousand_new_entries_nor_for_a_megabyte_of_them() {
        assert!(!case(MANY, 10).has_much_new() && case(MANY + 1, 10).has_much_new());
        assert!(!case(10, MUCH / 11).has_much_new() && case(10, MUCH / 10).has_much_new());
        // What is known by its name is not looked through, however much there is of it.
        let mut known = case(10, MUCH);
        (0..10).for_each(|n| known.record.pins.set(What::Tool, format!("t{n}"), Pin::default()));
        assert!(!known.has_much_new());
    }

    #[test]
    fn what_a_definition_says_twice_is_a_reason_to_hold_it() {
        let print = |definition: &str| {
            let offer = Offer::of_item(What::Tool, "name", &raw_of(definition).unwrap()).unwrap();
            report("s", &offer, &Context::new()).findings.iter().map(|finding| finding.rule).collect::<Vec<_>>()
        };
        assert_eq!(print(r#"{"name":"t","inputSchema":{"description":"A city."}}"#), [""; 0]);
        assert_eq!(
            print(r#"{"name":"t","inputSchema":{"description":"A town.","description":"A city."}}"#),
            ["repeated-member"]
        );
    }
}
