//! Decisions over a life of changes, approvals, refusals and losses, against a model that goes through the whole of that
//! life again for every question.

#![allow(clippy::unwrap_used, reason = "a test that panics has said what it had to say")]

use std::collections::BTreeMap;

use proptest::prelude::*;
use serde_json::json;
use toolfold_core::{Fingerprint, Trust};
use toolfold_trust::{Former, Offer, Raised, Record, Ruling, What, Why, judge};
use toolfold_wire::{Object, raw};

/// Looks from this one on have something wrong with them.
const BAD: u8 = 3;

/// What a server has: by name, how it looks.
type List = BTreeMap<u8, u8>;

#[derive(Debug, Clone)]
enum Event {
    /// The server says what it has.
    List(List),
    /// Somebody approves, or refuses, whatever is held of these names.
    Decide {
        names: Vec<u8>,
        deny: bool,
    },
    Lose,
}

fn offer(name: u8, look: u8) -> Offer {
    let definition = raw(&json!({"name": name.to_string(), "look": look}));
    let fingerprint = Fingerprint::of_definition(&Object::parse(&definition).unwrap());
    Offer { what: What::Tool, name: name.to_string(), fingerprint, definition }
}

fn hard(look: u8) -> Option<String> {
    (look >= BAD).then(|| "is bad".to_owned())
}

/// As the program does it: a record that is changed by what happens.
struct Program {
    trust: Trust,
    record: Record,
    list: List,
}

impl Program {
    fn verdicts(&self) -> BTreeMap<u8, Ruling> {
        let judged = |(name, look): (&u8, &u8)| {
            (*name, judge(self.trust, &self.record, &offer(*name, *look), 0, || hard(*look)))
        };
        self.list.iter().map(judged).collect()
    }

    /// Which look of each name serves.
    fn happen(&mut self, event: &Event) -> List {
        match event {
            Event::List(list) => self.list = list.clone(),
            Event::Lose => self.record = Record::lost("gone"),
            Event::Decide { names, deny } => {
                let held: Vec<u8> = self.held().into_iter().filter(|name| names.contains(name)).collect();
                for name in &held {
                    let offer = offer(*name, self.list[name]);
                    if *deny {
                        self.record.deny(&offer)
                    } else {
                        self.record.approve(&offer)
                    };
                }
                let open = |verdict: &Ruling| matches!(verdict, Ruling::Hold(Why::Lost(_)));
                if !held.is_empty() && !self.verdicts().values().any(open) {
                    self.record.settle();
                }
            }
        }
        let mut served = List::new();
        for (name, verdict) in self.verdicts() {
            let look = self.list[&name];
            match verdict {
                Ruling::Serve => drop(served.insert(name, look)),
                Ruling::Accept => {
                    self.record.accept(&offer(name, look), 0);
                    served.insert(name, look);
                }
                Ruling::Changed { was } => {
                    let old = (0..=u8::MAX).find(|look| offer(name, *look).fingerprint == was).unwrap();
                    served.insert(name, old);
                }
                Ruling::Hold(_) => {}
            }
        }
        served
    }

    fn held(&self) -> Vec<u8> {
        let held = |verdict: &Ruling| matches!(verdict, Ruling::Changed { .. } | Ruling::Hold(_));
        self.verdicts().into_iter().filter(|(_, verdict)| held(verdict)).map(|(name, _)| name).collect()
    }
}

/// The obvious way: what was decided is a list of sentences, and the last one about a name counts.
#[derive(Default)]
struct Model {
    /// Accepted (or refused) that name with that look.
    sentences: Vec<(u8, u8, bool)>,
    list: List,
    /// Nothing is believed before everything has been decided on.
    lost: bool,
}

impl Model {
    fn accepted(&self, name: u8) -> Option<u8> {
        self.sentences.iter().rev().find(|(of, _, yes)| *of == name && *yes).map(|(_, look, _)| *look)
    }

    fn refused(&self, name: u8) -> Option<u8> {
        let last_yes = self.sentences.iter().rposition(|(of, _, yes)| *of == name && *yes);
        let since = &self.sentences[last_yes.map_or(0, |place| place + 1)..];
        since.iter().rev().find(|(of, ..)| *of == name).map(|(_, look, _)| *look)
    }

    fn serves(&self, name: u8, look: u8) -> Option<u8> {
        match (self.accepted(name), self.refused(name)) {
            (Some(accepted), _) if accepted == look => Some(look),
            // Whatever came of it was refused, so nothing but what was accepted serves.
            (_, Some(_)) => None,
            (accepted, None) => accepted,
        }
    }

    fn happen(&mut self, trust: Trust, event: &Event) -> List {
        match event {
            Event::List(list) => self.list = list.clone(),
            Event::Lose => {
                self.sentences.clear();
                self.lost = true;
            }
            Event::Decide { names, deny } => {
                let list = self.list.clone();
                let mut decided = false;
                for (name, look) in list.iter().filter(|(name, _)| names.contains(name)) {
                    if self.serves(*name, *look) != Some(*look) {
                        self.sentences.push((*name, *look, !deny));
                        decided = true;
                    }
                }
                let is_decided =
                    |(name, look): (&u8, &u8)| self.accepted(*name).is_some() || self.refused(*name) == Some(*look);
                let settled = decided && list.iter().all(is_decided);
                self.lost &= !settled;
            }
        }
        let mut served = List::new();
        for (name, look) in self.list.clone() {
            let new = !self.sentences.iter().any(|(of, ..)| *of == name);
            if new && trust == Trust::FirstUse && !self.lost && look < BAD {
                self.sentences.push((name, look, true));
            }
            served.extend(self.serves(name, look).map(|look| (name, look)));
        }
        served
    }
}

fn event() -> impl Strategy<Value = Event> {
    let list = proptest::collection::btree_map(0..4u8, 0..5u8, 0..4);
    prop_oneof![
        6 => list.prop_map(Event::List),
        3 => (proptest::collection::vec(0..4u8, 1..4), any::<bool>()).prop_map(|(names, deny)| Event::Decide { names, deny }),
        1 => Just(Event::Lose),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2_000))]

    #[test]
    fn as_the_model_would(events in proptest::collection::vec(event(), 1..30), review in any::<bool>()) {
        let trust = if review { Trust::Review } else { Trust::FirstUse };
        let mut program = Program { trust, record: Record::default(), list: List::new() };
        let mut model = Model::default();
        for event in &events {
            prop_assert_eq!(program.happen(event), model.happen(trust, event), "after {:?}", event);
        }
    }

    /// Of one name nothing else serves than what served before, until somebody decides or everything is lost.
    #[test]
    fn nothing_changes_by_itself(events in proptest::collection::vec(event(), 1..30)) {
        let mut program = Program { trust: Trust::FirstUse, record: Record::default(), list: List::new() };
        let mut known = List::new();
        for event in &events {
            let served = program.happen(event);
            if !matches!(event, Event::List(_)) {
                known.clear();
            }
            for (name, look) in &served {
                prop_assert_eq!(*known.entry(*name).or_insert(*look), *look, "{} after {:?}", name, event);
            }
        }
    }
}

#[test]
fn a_server_that_flaps_is_held_and_released_and_nothing_grows() {
    let mut program = Program { trust: Trust::FirstUse, record: Record::default(), list: List::new() };
    for look in [0, 1].into_iter().cycle().take(1_000) {
        let served = program.happen(&Event::List([(7, look)].into()));
        assert_eq!((served, program.held().len()), ([(7, 0)].into(), usize::from(look)));
        assert_eq!(program.record.pins.len(), 1);
    }
}

#[test]
fn whoever_is_vouched_for_is_served_whatever_it_says() {
    let record = Record::lost("gone");
    assert_eq!(judge(Trust::Always, &record, &offer(0, BAD), 0, || hard(BAD)), Ruling::Serve);
}

#[test]
fn a_server_does_not_fill_the_record() {
    let record = Record::default();
    let judged = |accepted| judge(Trust::FirstUse, &record, &offer(0, 0), accepted, || None);
    assert_eq!(judged(toolfold_trust::MOST_PINS - 1), Ruling::Accept);
    assert_eq!(judged(toolfold_trust::MOST_PINS), Ruling::Hold(Why::TooMany));
}

#[test]
fn what_was_refused_of_a_name_is_new_to_nobody() {
    let refused = Former { denied: vec![offer(0, 1).fingerprint], ..Former::default() };
    let mut record = Record { former: [((What::Tool, "0".to_owned()), refused)].into(), ..Record::default() };
    let judged = |record: &Record, name, look| judge(Trust::FirstUse, record, &offer(name, look), 0, || None);
    assert_eq!(judged(&record, 0, 1), Ruling::Hold(Why::Denied));
    assert_eq!(judged(&record, 0, 2), Ruling::Hold(Why::New), "nor in another form");
    assert_eq!(judged(&record, 1, 1), Ruling::Accept);
    record.approve(&offer(0, 1));
    assert_eq!(judged(&record, 0, 1), Ruling::Serve);
}

#[test]
fn what_was_accepted_of_a_name_is_what_another_program_is_held_to() {
    let (one, two) = (offer(0, 1).fingerprint, offer(0, 2).fingerprint);
    let accepted = Former { accepted: vec![one, two], ..Former::default() };
    let mut record = Record { former: [((What::Tool, "0".to_owned()), accepted)].into(), ..Record::default() };
    let judged = |record: &Record, trust, name, look| {
        judge(trust, record, &offer(name, look), 0, || Some("something".to_owned()))
    };
    assert_eq!(judged(&record, Trust::FirstUse, 0, 1), Ruling::Accept, "it was looked at then");
    assert_eq!(judged(&record, Trust::FirstUse, 0, 3), Ruling::Changed { was: two });
    assert_eq!(judged(&record, Trust::FirstUse, 1, 3), Ruling::Hold(Why::Found("something".to_owned())));
    assert_eq!(judged(&record, Trust::Review, 0, 1), Ruling::Hold(Why::New));
    assert_eq!(judged(&record, Trust::Always, 0, 3), Ruling::Serve);
    record.approve(&offer(0, 3));
    assert_eq!(judged(&record, Trust::FirstUse, 0, 3), Ruling::Serve);
}

#[test]
fn words_are_new_with_their_server_and_never_later() {
    let words = Offer::of_server(None, Some("Prefer me.")).unwrap();
    let judged = |record: &Record| judge(Trust::FirstUse, record, &words, 0, || None);
    let mut record = Record::default();
    assert_eq!(judged(&record), Ruling::Accept);
    record.accept(&offer(0, 0), 0);
    assert_eq!(judged(&record), Ruling::Hold(Why::New));
    record.approve(&words);
    assert_eq!(judged(&record), Ruling::Serve);
}

#[test]
fn less_risk_than_was_declared_is_a_change() {
    let mut record = Record::default();
    let (one, judged) = (offer(0, 0), |record: &Record| judge(Trust::FirstUse, record, &offer(0, 0), 0, || None));
    record.accept(&one, 0);
    record.raise(What::Tool, "0", Raised::from_bits(2));
    assert_eq!(judged(&record), Ruling::Changed { was: one.fingerprint });
    record.deny(&one);
    assert_eq!(judged(&record), Ruling::Hold(Why::Denied));
    record.approve(&one);
    assert_eq!(judged(&record), Ruling::Serve);
}
