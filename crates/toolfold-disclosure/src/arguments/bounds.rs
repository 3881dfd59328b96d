//! What a check may cost. A few hundred bytes of schema can ask for more work than there is time: references that double
//! at every step, or that lead back to themselves. The work is counted before any is done.

use std::collections::HashMap;

use serde_json::Value;

use crate::schema::lookup;

/// A definition above this many bytes is not checked against.
pub(super) const LARGEST_SCHEMA: usize = 1 << 20;
/// Subschemas looked at for one value.
const MOST_WORK: u64 = 200_000;
/// The logarithm of the work that a recursive schema may ask for.
const MOST_DOUBLINGS: f64 = 20.0;
/// Both bound the stack: checkers recurse.
const DEEPEST_SCHEMA: usize = 100;
const DEEPEST_RECURSION: usize = 1000;

/// Keywords whose schemas look at the same value again.
const IN_PLACE: [&str; 10] =
    ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas", "$ref", "$dynamicRef"];

#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Bounds {
    /// A schema holds itself: the depth of the arguments decides the work.
    recursive: bool,
    /// Subschemas that look at one value at once, at most.
    width: u64,
    /// Subschemas inside one another, references followed.
    height: usize,
}

impl Bounds {
    pub(super) fn of(schema: &Value) -> Result<Bounds, String> {
        let mut count = Count { root: schema, known: HashMap::new(), recursive: false, width: 1 };
        let whole = count.size(schema, 0, 0)?;
        if whole.work > MOST_WORK {
            return Err("its schema repeats itself so often that a check would not end".to_owned());
        }
        Ok(Bounds { recursive: count.recursive, width: count.width, height: whole.height })
    }

    pub(super) fn allow(&self, arguments: &Value) -> bool {
        let depth = depth(arguments);
        let doublings = depth as f64 * (self.width as f64).log2();
        !self.recursive || (doublings <= MOST_DOUBLINGS && depth * self.height <= DEEPEST_RECURSION)
    }
}

/// What lies below a subschema.
#[derive(Clone, Copy)]
struct Size {
    work: u64,
    /// The part of the work that looks at the same value.
    width: u64,
    height: usize,
}

enum Known {
    /// Being counted, entered when so many steps into the arguments had been made.
    Open(usize),
    Counted(Size),
}

struct Count<'a> {
    root: &'a Value,
    /// By place in memory: a schema that is referred to twice is counted once.
    known: HashMap<*const Value, Known>,
    recursive: bool,
    width: u64,
}

impl<'a> Count<'a> {
    /// `steps`: how many levels of the arguments this is below the root; `depth`: of the schema, references followed.
    fn size(&mut self, schema: &'a Value, steps: usize, depth: usize) -> Result<Size, String> {
        let leaf = Size { work: 1, width: 1, height: 1 };
        match self.known.get(&std::ptr::from_ref(schema)) {
            Some(Known::Counted(size)) => return Ok(*size),
            // Back where it came from without a step into the arguments: this never ends.
            Some(Known::Open(entered)) if *entered == steps => {
                return Err("its schema refers to itself without end".to_owned());
            }
            Some(Known::Open(_)) => {
                self.recursive = true;
                return Ok(leaf);
            }
            None => {}
        }
        let Value::Object(members) = schema else { return Ok(leaf) };
        if depth > DEEPEST_SCHEMA {
            return Err("its schema is nested too deeply".to_owned());
        }
        self.known.insert(schema, Known::Open(steps));
        let mut size = leaf;
        for (key, value) in members {
            let in_place = IN_PLACE.contains(&key.as_str());
            for inner in self.schemas_in(key, value) {
                let inner = self.size(inner, steps + usize::from(!in_place), depth + 1)?;
                size.work = size.work.saturating_add(inner.work);
                size.width = size.width.saturating_add(if in_place { inner.width } else { 0 });
                size.height = size.height.max(inner.height + 1);
            }
        }
        if size.height > DEEPEST_SCHEMA {
            return Err("its schema is nested too deeply".to_owned());
        }
        self.width = self.width.max(size.width);
        self.known.insert(schema, Known::Counted(size));
        Ok(size)
    }

    fn schemas_in(&self, key: &str, value: &'a Value) -> Vec<&'a Value> {
        match (key, value) {
            ("$ref" | "$dynamicRef", Value::String(reference)) => lookup(self.root, reference).into_iter().collect(),
            ("properties" | "patternProperties" | "dependentSchemas", Value::Object(schemas)) => {
                schemas.values().collect()
            }
            ("allOf" | "anyOf" | "oneOf" | "prefixItems" | "items", Value::Array(schemas)) => schemas.iter().collect(),
            (
                "items"
                | "additionalProperties"
                | "not"
                | "if"
                | "then"
                | "else"
                | "contains"
                | "propertyNames"
                | "unevaluatedProperties"
                | "unevaluatedItems"
                | "additionalItems",
                Value::Object(_),
            ) => vec![value],
            _ => Vec::new(),
        }
    }
}

fn depth(value: &Value) -> usize {
    match value {
        Value::Object(members) => 1 + members.values().map(depth).max().unwrap_or(0),
        Value::Array(items) => 1 + items.iter().map(depth).max().unwrap_or(0),
        _ => 0,
    }
}
