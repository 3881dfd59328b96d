//! What was learned from use: requests that ended in a call, as marks of their words, and what that is worth to a request
//! like them.
//!
//! What a reader would get wrong: one call says nothing. A tool is lifted only where it was chosen on several occasions,
//! and as far as others were not chosen instead; somebody's slip, or one session that calls the wrong tool all day, moves
//! nothing. And a lift is bounded: it decides between tools that are near each other, never against a name. Only what was
//! called after the very same words is not held against what it does.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use toolfold_catalog::Catalog;
use toolfold_core::{ToolId, words};

use crate::ask::says_something;
use crate::index::{Index, stemmer};
use crate::names::Hash;
use crate::semantic::model;
use crate::weight;

/// The most that a tool is lifted; scores of the best are about one.
const MOST: f32 = 0.4;
/// From here on two requests are alike: the cosine of their marks.
const ALIKE: f32 = 0.5;
/// What is taken for granted against a lift, in occasions: few choices are few, however unanimous.
const DOUBT: f32 = 1.0;
/// Occasions that make a habit: of one person, and where there is more than one.
const OF_ONE: usize = 3;
const OF_SEVERAL: usize = 2;
/// Marks that are kept of one request: the words that tell most.
const MOST_MARKS: usize = 12;
/// How finely the weight of a word is kept.
const STEPS: f32 = 20.0;
/// Words that say nothing by themselves and make another request of the same words: "turn on" and "turn off". In their order.
const TURNING: [&str; 6] = ["in", "into", "let", "like", "on", "use"];

/// A word of a request that means something, as a number; and how much it tells in this catalog. What neither the catalog
/// nor the model knows (names, numbers, slips) leaves no mark. One more mark, of no weight, stands for all of them in their
/// order.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Mark {
    pub word: u32,
    pub weight: u8,
}

/// When a choice was made: by whom, and in which conversation. Numbers that mean nothing by themselves.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Occasion {
    pub who: u32,
    pub when: u32,
}

/// That a request ended in the call of a tool.
#[derive(Debug, Clone, PartialEq)]
pub struct Habit {
    pub tool: ToolId,
    /// Ascending.
    pub marks: Vec<Mark>,
    /// The latest occasions, and on how many it was in all.
    pub occasions: Vec<Occasion>,
    pub times: u32,
}

/// All habits, by the words they have.
#[derive(Debug, Default)]
pub struct Learned {
    habits: Vec<Habit>,
    by_word: HashMap<u32, Vec<u32>>,
}

/// What a tool gains by having been chosen before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Lift {
    pub score: f32,
    /// On how many occasions it was.
    pub times: u32,
    /// Whether that was after the same words, and mostly this was called.
    pub same: bool,
}

impl Mark {
    /// The marks of a request, ascending; none where it says nothing that is known here.
    pub fn all(index: &Index, text: &str) -> Vec<Mark> {
        let words = words::split(text);
        let mut marks: Vec<Mark> = words.iter().filter_map(|word| Mark::of(index, word)).collect();
        marks.sort_unstable_by(|a, b| b.weight.cmp(&a.weight).then(a.word.cmp(&b.word)));
        marks.dedup_by_key(|mark| mark.word);
        marks.truncate(MOST_MARKS);
        marks.extend(Mark::of_all(index, &words).filter(|_| !marks.is_empty()));
        marks.sort_unstable();
        marks.dedup_by_key(|mark| mark.word);
        marks
    }

    /// The mark of the words in their order, of those that leave one or make another request of the others.
    fn of_all(index: &Index, words: &[String]) -> Option<Mark> {
        let turns = |word: &str| TURNING.binary_search(&word).is_ok();
        let kept = words.iter().filter(|word| turns(word) || Mark::of(index, word).is_some());
        let hash = kept.fold(Hash::new(), |hash, word| hash.add(&stemmer().stem(word)).add(" ")).0;
        Some(Mark { word: (hash ^ (hash >> 32)) as u32, weight: 0 })
    }

    fn of(index: &Index, word: &str) -> Option<Mark> {
        if !says_something(word) || word.contains(char::is_numeric) {
            return None;
        }
        let stem = stemmer().stem(word);
        let known = index.base.vocabulary.number(&stem).or_else(|| index.base.vocabulary.number(word));
        if known.is_none() && !model().knows(word) {
            return None;
        }
        let having = known.map_or(0, |number| index.base.frequency(number));
        let weight = (weight::rarity(having, index.len()) * STEPS).clamp(1.0, 255.0) as u8;
        let hash = Hash::new().add(&stem).0;
        Some(Mark { word: (hash ^ (hash >> 32)) as u32, weight })
    }
}

impl Learned {
    pub fn new(habits: Vec<Habit>) -> Learned {
        let mut by_word: HashMap<u32, Vec<u32>> = HashMap::new();
        for (place, habit) in (0u32..).zip(&habits) {
            habit.marks.iter().for_each(|mark| by_word.entry(mark.word).or_default().push(place));
        }
        Learned { habits, by_word }
    }

    pub fn is_empty(&self) -> bool {
        self.habits.is_empty()
    }

    /// By position: what entries gain for this request.
    pub(crate) fn lifts(&self, index: &Index, catalog: &Catalog, text: &str) -> BTreeMap<usize, Lift> {
        if self.is_empty() {
            return BTreeMap::new();
        }
        let chosen = self.chosen(&Mark::all(index, text));
        // What is not there counts for nothing, or it would be seen from how little the rest gains.
        let here = chosen.iter().filter(|(tool, _)| catalog.position(tool).is_some());
        let all: f32 = here.map(|(_, choice)| choice.weight).sum();
        let lift = |(tool, choice): (&ToolId, Choice)| {
            let position = catalog.position(tool).filter(|_| choice.all.is_habit())?;
            let score = MOST * choice.closest * choice.weight / (all + DOUBT);
            let same = choice.same.is_habit() && 2.0 * choice.weight > all;
            Some((position, Lift { score, times: choice.times, same }))
        };
        chosen.into_iter().filter_map(lift).collect()
    }

    /// What was chosen for requests like this one.
    fn chosen(&self, marks: &[Mark]) -> BTreeMap<&ToolId, Choice> {
        let places: BTreeSet<u32> =
            marks.iter().filter_map(|mark| self.by_word.get(&mark.word)).flatten().copied().collect();
        let mut chosen: BTreeMap<&ToolId, Choice> = BTreeMap::new();
        for habit in places.into_iter().map(|place| &self.habits[place as usize]) {
            let closeness = (likeness(marks, &habit.marks) - ALIKE) / (1.0 - ALIKE);
            if closeness > 0.0 {
                let same = whole(marks).is_some_and(|mark| whole(&habit.marks) == Some(mark));
                chosen.entry(&habit.tool).or_default().add(habit, closeness.min(1.0), same);
            }
        }
        chosen
    }
}

/// How often one tool was chosen for requests like one.
#[derive(Default)]
struct Choice {
    /// Occasions, each counted by how like the request was.
    weight: f32,
    closest: f32,
    times: u32,
    all: Occasions,
    /// Those after the very same words.
    same: Occasions,
}

/// Who made a choice, and when.
#[derive(Default)]
struct Occasions {
    who: BTreeSet<u32>,
    when: BTreeSet<u32>,
}

impl Choice {
    fn add(&mut self, habit: &Habit, closeness: f32, same: bool) {
        self.weight += closeness * habit.times as f32;
        self.closest = self.closest.max(closeness);
        self.times += habit.times;
        self.all.add(&habit.occasions);
        if same {
            self.same.add(&habit.occasions);
        }
    }
}

impl Occasions {
    fn add(&mut self, occasions: &[Occasion]) {
        self.who.extend(occasions.iter().map(|occasion| occasion.who));
        self.when.extend(occasions.iter().map(|occasion| occasion.when));
    }

    fn is_habit(&self) -> bool {
        self.when.len() >= if self.who.len() > 1 { OF_SEVERAL } else { OF_ONE }
    }
}

/// The mark of all the words of a request. Old habits have none.
fn whole(marks: &[Mark]) -> Option<u32> {
    marks.iter().find(|mark| mark.weight == 0).map(|mark| mark.word)
}

/// The cosine of two requests by their marks, both ascending. A word weighs what it weighs today.
fn likeness(asked: &[Mark], known: &[Mark]) -> f32 {
    let square = |weight: u8| f32::from(weight) * f32::from(weight);
    let length = |marks: &[Mark]| marks.iter().map(|mark| square(mark.weight)).sum::<f32>().sqrt();
    let shared = |mark: &Mark| {
        let place = known.binary_search_by_key(&mark.word, |known| known.word).ok()?;
        Some(f32::from(mark.weight) * f32::from(known[place].weight))
    };
    let product: f32 = asked.iter().filter_map(shared).sum();
    product / (length(asked) * length(known)).max(f32::MIN_POSITIVE)
}
