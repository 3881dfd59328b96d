//! From a document to nodes. Every schema in it is read once, however often it is referred to, and references are
//! resolved here, so that checking only follows numbers.

use std::collections::{HashMap, VecDeque};

use serde_json::{Map, Value};
use toolfold_core::Fuel;

use crate::draft::Draft;
use crate::keyword::{Bound, Keyword, Node, NodeId, Properties, Size, Types};
use crate::pattern::Expression;
use crate::read::{count, list, malformed, names, number, object, text, types};
use crate::resources::{Elsewhere, Names, Resource};
use crate::{Schema, Unusable};

/// Notes that are worth reading.
const MOST_NOTES: usize = 5;

pub(crate) fn compile(root: Value, fuel: &Fuel) -> Result<Schema, Unusable> {
    let (nodes, resources, patterns, notes) = {
        let names = Names::of(&root, fuel)?;
        let mut compiler = Compiler::new(&names, fuel);
        compiler.node(&root, 0)?;
        compiler.run()?;
        let resources = compiler.resources()?;
        (compiler.nodes, resources, compiler.patterns, compiler.notes)
    };
    Ok(Schema { root, nodes, resources, patterns, notes })
}

struct Compiler<'v, 'n> {
    names: &'n Names<'v>,
    fuel: &'n Fuel,
    nodes: Vec<Node>,
    known: HashMap<*const Value, NodeId>,
    waiting: VecDeque<(&'v Value, NodeId)>,
    patterns: Vec<Expression>,
    pattern_places: HashMap<&'v str, usize>,
    notes: Vec<String>,
    /// What a reference out of the document leads to: a schema that takes anything.
    anything: Option<NodeId>,
}

type Members<'v> = &'v Map<String, Value>;

impl<'v, 'n> Compiler<'v, 'n> {
    fn new(names: &'n Names<'v>, fuel: &'n Fuel) -> Self {
        let (nodes, known, waiting) = (Vec::new(), HashMap::new(), VecDeque::new());
        let (patterns, pattern_places, notes) = (Vec::new(), HashMap::new(), Vec::new());
        Compiler { names, fuel, nodes, known, waiting, patterns, pattern_places, notes, anything: None }
    }

    /// The place of a schema among the nodes; it is read later.
    fn node(&mut self, schema: &'v Value, within: usize) -> Result<NodeId, Unusable> {
        self.fuel.burn(4)?;
        if let Some(known) = self.known.get(&std::ptr::from_ref(schema)) {
            return Ok(*known);
        }
        if !(schema.is_object() || schema.is_boolean()) {
            let shown: String = schema.to_string().chars().take(100).collect();
            return Err(Unusable::Malformed(format!("{shown} is not of types \"boolean\", \"object\"")));
        }
        let resource = self.names.begun_by(schema).unwrap_or(within);
        let address = std::ptr::from_ref(schema).addr();
        let id = self.push(Node { keywords: Vec::new(), verdict: schema.as_bool(), resource, address });
        self.known.insert(schema, id);
        self.waiting.push_back((schema, id));
        Ok(id)
    }

    fn push(&mut self, node: Node) -> NodeId {
        self.nodes.push(node);
        NodeId::try_from(self.nodes.len() - 1).unwrap_or(NodeId::MAX)
    }

    fn run(&mut self) -> Result<(), Unusable> {
        while let Some((schema, id)) = self.waiting.pop_front() {
            let Value::Object(members) = schema else { continue };
            let resource = self.nodes[id as usize].resource;
            let keywords = self.keywords(members, resource)?;
            self.nodes[id as usize].keywords = keywords;
        }
        Ok(())
    }

    fn resources(&mut self) -> Result<Vec<Resource>, Unusable> {
        let mut resources = Vec::new();
        for (place, found) in self.names.found.iter().enumerate() {
            let mut resource = Resource::default();
            for (name, schema) in &found.dynamic {
                resource.dynamic.insert((*name).to_owned(), self.node(schema, place)?);
            }
            if found.root.get("$recursiveAnchor") == Some(&Value::Bool(true)) {
                resource.recursive = Some(self.node(found.root, place)?);
            }
            resources.push(resource);
        }
        self.run()?;
        Ok(resources)
    }

    /// In an order that reads well when several are broken: what it is, what is in it, what is missing.
    fn keywords(&mut self, members: Members<'v>, within: usize) -> Result<Vec<Keyword>, Unusable> {
        let draft = self.names.found[within].draft;
        let mut keywords = Vec::new();
        self.references(members, within, draft, &mut keywords)?;
        if draft <= Draft::Seven && members.contains_key("$ref") {
            return Ok(keywords);
        }
        self.plain(members, draft, &mut keywords)?;
        self.items(members, within, draft, &mut keywords)?;
        self.properties(members, within, draft, &mut keywords)?;
        self.choices(members, within, draft, &mut keywords)?;
        if let Some(required) = members.get("required") {
            keywords.push(Keyword::Required(names("required", required)?));
        }
        if draft >= Draft::Y2019 {
            if let Some(schema) = members.get("unevaluatedItems") {
                keywords.push(Keyword::UnevaluatedItems(self.node(schema, within)?));
            }
            if let Some(schema) = members.get("unevaluatedProperties") {
                keywords.push(Keyword::UnevaluatedProperties(self.node(schema, within)?));
            }
        }
        Ok(keywords)
    }

    fn references(
        &mut self,
        members: Members<'v>,
        within: usize,
        draft: Draft,
        keywords: &mut Vec<Keyword>,
    ) -> Result<(), Unusable> {
        if let Some(reference) = members.get("$ref") {
            keywords.push(Keyword::Ref(self.target(text("$ref", reference)?, within)?));
        }
        if let Some(reference) = members.get("$dynamicRef").filter(|_| draft == Draft::Y2020) {
            let reference = text("$dynamicRef", reference)?;
            let target = self.target(reference, within)?;
            let name = reference.split_once('#').map(|(_, name)| name).filter(|name| self.is_dynamic(target, name));
            keywords.push(Keyword::DynamicRef(target, name.map(str::to_owned)));
        }
        if draft == Draft::Y2019 && members.contains_key("$recursiveRef") {
            keywords.push(Keyword::RecursiveRef(self.target("#", within)?));
        }
        Ok(())
    }

    /// Whether the target of a dynamic reference is a dynamic anchor of that name itself.
    fn is_dynamic(&self, target: NodeId, name: &str) -> bool {
        let resource = self.nodes[target as usize].resource;
        let anchor = self.names.found.get(resource).and_then(|found| found.dynamic.get(name));
        anchor.is_some_and(|schema| self.known.get(&std::ptr::from_ref(*schema)) == Some(&target))
    }

    fn target(&mut self, reference: &str, within: usize) -> Result<NodeId, Unusable> {
        self.fuel.burn_for(reference.len(), 8)?;
        let missing = match self.names.resolve(reference, within) {
            Ok((schema, resource)) => return self.node(schema, resource),
            Err(Elsewhere(missing)) => missing,
        };
        let there: String = missing.chars().take(200).collect();
        self.note(match there.starts_with("json-schema:") {
            true => format!("There is nothing in it that {reference:?} could refer to"),
            false => format!(
                "Resource '{there}' is not present in a registry and retrieving it failed: Retrieval is disabled, \
                 cannot fetch {there}"
            ),
        });
        if let Some(known) = self.anything {
            return Ok(known);
        }
        let anything = self.push(Node { keywords: Vec::new(), verdict: Some(true), resource: within, address: 0 });
        Ok(*self.anything.insert(anything))
    }

    fn note(&mut self, note: String) {
        if self.notes.len() < MOST_NOTES && !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    /// Keywords without schemas in them.
    fn plain(&mut self, members: Members<'v>, draft: Draft, keywords: &mut Vec<Keyword>) -> Result<(), Unusable> {
        for (key, value) in members {
            self.fuel.burn(1)?;
            keywords.push(match key.as_str() {
                "type" => Keyword::Type(Types { names: types(value)?, fractions_count: draft > Draft::Four }),
                "enum" => {
                    let values = list(key, value)?;
                    self.fuel.burn_for(values.len(), 1)?;
                    Keyword::Enum(values.to_vec())
                }
                "const" if draft > Draft::Four => Keyword::Const(value.clone()),
                "minimum" if draft == Draft::Four && members.get("exclusiveMinimum") == Some(&Value::Bool(true)) => {
                    Keyword::Bound(Bound::ExclusiveMinimum, number(key, value)?.clone())
                }
                "maximum" if draft == Draft::Four && members.get("exclusiveMaximum") == Some(&Value::Bool(true)) => {
                    Keyword::Bound(Bound::ExclusiveMaximum, number(key, value)?.clone())
                }
                "minimum" => Keyword::Bound(Bound::Minimum, number(key, value)?.clone()),
                "maximum" => Keyword::Bound(Bound::Maximum, number(key, value)?.clone()),
                "exclusiveMinimum" if draft > Draft::Four => {
                    Keyword::Bound(Bound::ExclusiveMinimum, number(key, value)?.clone())
                }
                "exclusiveMaximum" if draft > Draft::Four => {
                    Keyword::Bound(Bound::ExclusiveMaximum, number(key, value)?.clone())
                }
                "multipleOf" => match number(key, value)? {
                    divisor if divisor.as_f64().is_some_and(|divisor| divisor > 0.0) => {
                        Keyword::MultipleOf(divisor.clone())
                    }
                    _ => return Err(malformed(key, "a number above 0")),
                },
                "minLength" => Keyword::Length(Size::Least, count(key, value)?),
                "maxLength" => Keyword::Length(Size::Most, count(key, value)?),
                "pattern" => Keyword::Pattern(self.pattern(text(key, value)?)?),
                "minItems" => Keyword::ItemCount(Size::Least, count(key, value)?),
                "maxItems" => Keyword::ItemCount(Size::Most, count(key, value)?),
                "uniqueItems" if value == &Value::Bool(true) => Keyword::UniqueItems,
                "minProperties" => Keyword::PropertyCount(Size::Least, count(key, value)?),
                "maxProperties" => Keyword::PropertyCount(Size::Most, count(key, value)?),
                _ => continue,
            });
        }
        Ok(())
    }

    fn pattern(&mut self, pattern: &'v str) -> Result<usize, Unusable> {
        self.fuel.burn_for(pattern.len(), 1)?;
        if let Some(place) = self.pattern_places.get(pattern) {
            return Ok(*place);
        }
        if !Expression::is_pattern(pattern) {
            let shown: String = pattern.chars().take(100).collect();
            self.note(format!("{shown:?} is not a \"regex\""));
        }
        let place = self.patterns.len();
        self.patterns.push(Expression::new(pattern, place));
        self.pattern_places.insert(pattern, place);
        Ok(place)
    }

    fn items(
        &mut self,
        members: Members<'v>,
        within: usize,
        draft: Draft,
        keywords: &mut Vec<Keyword>,
    ) -> Result<(), Unusable> {
        let (before, rest) = match (members.get("prefixItems"), members.get("items")) {
            (Some(first), rest) if draft == Draft::Y2020 => (Some(first), rest),
            (_, Some(first @ Value::Array(_))) if draft < Draft::Y2020 => (Some(first), members.get("additionalItems")),
            (_, rest) => (None, rest),
        };
        if before.is_some() || rest.is_some() {
            let before = match before {
                Some(before) => self.nodes_of("prefixItems", before, within)?,
                None => Vec::new(),
            };
            let rest = rest.map(|rest| self.node(rest, within)).transpose()?;
            keywords.push(Keyword::Items { before, rest });
        }
        if let Some(item) = members.get("contains").filter(|_| draft > Draft::Four) {
            let size = |key: &str| members.get(key).filter(|_| draft >= Draft::Y2019).map(|value| count(key, value));
            let (least, most) = (size("minContains").transpose()?, size("maxContains").transpose()?);
            keywords.push(Keyword::Contains { item: self.node(item, within)?, least: least.unwrap_or(1), most });
        }
        Ok(())
    }

    fn properties(
        &mut self,
        members: Members<'v>,
        within: usize,
        draft: Draft,
        keywords: &mut Vec<Keyword>,
    ) -> Result<(), Unusable> {
        let mut properties = Properties::default();
        let mut any = false;
        if let Some(named) = members.get("properties") {
            any = true;
            for (name, schema) in object("properties", named)? {
                properties.named.insert(name.clone(), self.node(schema, within)?);
            }
        }
        if let Some(patterns) = members.get("patternProperties") {
            any = true;
            for (pattern, schema) in object("patternProperties", patterns)? {
                let place = self.pattern(pattern)?;
                properties.patterns.push((place, self.node(schema, within)?));
            }
        }
        if let Some(schema) = members.get("additionalProperties") {
            any = true;
            properties.additional = Some(self.node(schema, within)?);
        }
        if any {
            keywords.push(Keyword::Properties(properties));
        }
        if let Some(schema) = members.get("propertyNames").filter(|_| draft > Draft::Four) {
            keywords.push(Keyword::PropertyNames(self.node(schema, within)?));
        }
        Ok(())
    }

    fn choices(
        &mut self,
        members: Members<'v>,
        within: usize,
        draft: Draft,
        keywords: &mut Vec<Keyword>,
    ) -> Result<(), Unusable> {
        for (key, value) in members {
            match key.as_str() {
                "allOf" => keywords.push(Keyword::AllOf(self.nodes_of(key, value, within)?)),
                "anyOf" => keywords.push(Keyword::AnyOf(self.nodes_of(key, value, within)?)),
                "oneOf" => keywords.push(Keyword::OneOf(self.nodes_of(key, value, within)?)),
                "not" => keywords.push(Keyword::Not(self.node(value, within)?)),
                "if" if draft >= Draft::Seven => {
                    let condition = self.node(value, within)?;
                    let then = members.get("then").map(|schema| self.node(schema, within)).transpose()?;
                    let otherwise = members.get("else").map(|schema| self.node(schema, within)).transpose()?;
                    keywords.push(Keyword::If { condition, then, otherwise });
                }
                "dependencies" => self.dependencies(key, value, within, keywords)?,
                "dependentRequired" | "dependentSchemas" if draft >= Draft::Y2019 => {
                    self.dependencies(key, value, within, keywords)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn dependencies(
        &mut self,
        key: &str,
        value: &'v Value,
        within: usize,
        keywords: &mut Vec<Keyword>,
    ) -> Result<(), Unusable> {
        let (mut required, mut schemas) = (Vec::new(), Vec::new());
        for (name, dependency) in object(key, value)? {
            match dependency {
                Value::Array(_) if key != "dependentSchemas" => {
                    required.push((name.clone(), names(key, dependency)?));
                }
                Value::String(other) if key == "dependencies" => required.push((name.clone(), vec![other.clone()])),
                schema => schemas.push((name.clone(), self.node(schema, within)?)),
            }
        }
        if !required.is_empty() {
            keywords.push(Keyword::DependentRequired(required));
        }
        if !schemas.is_empty() {
            keywords.push(Keyword::DependentSchemas(schemas));
        }
        Ok(())
    }

    fn nodes_of(&mut self, key: &str, value: &'v Value, within: usize) -> Result<Vec<NodeId>, Unusable> {
        list(key, value)?.iter().map(|schema| self.node(schema, within)).collect()
    }
}
