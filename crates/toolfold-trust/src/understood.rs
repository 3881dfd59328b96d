//! Whether a server can still be asked what an accepted definition offers, once it says something else of the entry.
//!
//! What a reader would get wrong: it is not whether every call that was right is right. A server answers for its own arguments, and a model reads
//! that answer. What is told here is that *no* call after the old definition can be right, so that offering it only leads astray.

use serde_json::Value;
use toolfold_wire::{Object, Raw};

use crate::offer::What;

/// Members of one schema or one prompt that are looked at.
const MOST_MEMBERS: usize = 1_000;

/// Whether some call that follows `old` may be one that `new` takes. What cannot be told counts as yes.
pub fn understands(what: What, new: &Raw, old: &Raw) -> bool {
    let (Some(new), Some(old)) = (Object::parse(new), Object::parse(old)) else { return true };
    match what {
        What::Tool => Arguments::of_tool(&new).zip(Arguments::of_tool(&old)).is_none_or(|(new, old)| new.takes(&old)),
        What::Prompt => Arguments::of_prompt(&new).takes(&Arguments::of_prompt(&old)),
        // Read as a whole: there is nothing to give wrongly.
        What::Server | What::Resource | What::Template | What::Agent | What::Skill => true,
    }
}

/// What can be given.
#[derive(Default)]
struct Arguments {
    known: Object,
    required: Vec<String>,
    /// Whether only these can be.
    only: bool,
}

impl Arguments {
    /// `None` where the schema says it in another way than by its properties.
    fn of_tool(tool: &Object) -> Option<Arguments> {
        let schema = tool.object("inputSchema")?;
        if ["$ref", "allOf", "anyOf", "oneOf", "patternProperties", "$dynamicRef"]
            .iter()
            .any(|key| schema.contains(key))
        {
            return None;
        }
        let required = schema.items("required", MOST_MEMBERS).into_iter();
        Some(Arguments {
            known: schema.object("properties").unwrap_or_default(),
            required: required.filter_map(|name| serde_json::from_str(name.get()).ok()).collect(),
            only: schema.read::<bool>("additionalProperties") == Some(false),
        })
    }

    fn of_prompt(prompt: &Object) -> Arguments {
        let mut arguments = Arguments { only: true, ..Arguments::default() };
        for argument in prompt.items("arguments", MOST_MEMBERS).iter().filter_map(Object::parse) {
            let Some(name) = argument.string("name") else { continue };
            arguments.known.set(&name, &Value::Bool(true));
            if argument.read::<bool>("required") == Some(true) {
                arguments.required.push(name);
            }
        }
        arguments
    }

    fn takes(&self, old: &Arguments) -> bool {
        let asked = self.required.iter().all(|name| old.known.contains(name) && self.may_agree(old, name));
        let given = old.required.iter().all(|name| match self.known.contains(name) {
            true => self.may_agree(old, name),
            false => !self.only,
        });
        asked && given
    }

    /// Whether one value can be right for both.
    fn may_agree(&self, old: &Arguments, name: &str) -> bool {
        if let (Some(new), Some(old)) = (values(&self.known, name), values(&old.known, name))
            && !new.iter().any(|one| old.contains(one))
        {
            return false;
        }
        let (Some(new), Some(old)) = (types(&self.known, name), types(&old.known, name)) else { return true };
        let numbers = |one: &str, other: &str| one == "number" && other == "integer";
        new.iter().any(|one| old.iter().any(|other| one == other || numbers(one, other) || numbers(other, one)))
    }
}

/// The values that a property may have, where its schema names them and they are few enough to compare.
fn values(properties: &Object, name: &str) -> Option<Vec<Value>> {
    let property = properties.object(name)?;
    let listed = property.read::<Vec<Value>>("enum").filter(|listed| listed.len() <= MOST_MEMBERS);
    listed.or_else(|| Some(vec![property.read::<Value>("const")?]))
}

/// The types that a property may have, where its schema names them.
fn types(properties: &Object, name: &str) -> Option<Vec<String>> {
    match properties.object(name)?.read::<Value>("type")? {
        Value::String(one) => Some(vec![one]),
        Value::Array(several) => several.into_iter().map(|one| one.as_str().map(str::to_owned)).collect(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolfold_wire::raw;

    use super::*;

    fn tool(schema: Value) -> Raw {
        raw(&json!({"name": "t", "inputSchema": schema}))
    }

    fn takes(old: Value, new: Value) -> bool {
        understands(What::Tool, &tool(new), &tool(old))
    }

    fn needs(name: &str) -> Value {
        json!({"type": "object", "properties": {(name): {"type": "string"}}, "required": [name]})
    }

    #[test]
    fn another_text_or_one_more_choice_is_still_understood() {
        let wider = json!({
            "type": "object",
            "properties": {"path": {"type": ["string", "null"], "description": "New."}, "depth": {"type": "integer"}},
            "required": ["path"],
            "additionalProperties": false,
        });
        assert!(takes(needs("path"), wider.clone()));
        assert!(takes(wider, needs("path")));
        assert!(takes(json!({"type": "object"}), json!({"type": "object"})));
    }

    #[test]
    fn what_nobody_could_give_before_is_not_understood() {
        assert!(!takes(needs("path"), needs("uri")));
        assert!(!takes(json!({"type": "object"}), needs("uri")));
        // Known before and not asked for: somebody who gives it is right.
        let optional = json!({"type": "object", "properties": {"uri": {"type": "string"}}});
        assert!(takes(optional, needs("uri")));
    }

    #[test]
    fn what_is_no_longer_taken_is_not_understood_where_the_schema_is_closed() {
        assert!(takes(needs("path"), json!({"type": "object"})));
        assert!(!takes(needs("path"), json!({"type": "object", "additionalProperties": false})));
    }

    #[test]
    fn two_types_that_share_no_value_do_not_agree() {
        let of = |kind: Value| json!({"properties": {"n": {"type": kind}}, "required": ["n"]});
        assert!(!takes(of(json!("string")), of(json!("integer"))));
        assert!(takes(of(json!("integer")), of(json!("number"))));
        assert!(takes(of(json!(["string", "integer"])), of(json!("integer"))));
        assert!(takes(of(json!(7)), of(json!("integer"))));
    }

    #[test]
    fn two_lists_of_values_that_share_none_do_not_agree() {
        let of = |unit: Value| json!({"properties": {"unit": unit}, "required": ["unit"]});
        let (old, new) = (json!({"enum": ["c", "f"]}), json!({"enum": ["celsius", "kelvin"]}));
        assert!(!takes(of(old.clone()), of(new)));
        assert!(takes(of(old.clone()), of(json!({"enum": ["f", "k"]}))));
        assert!(!takes(of(old.clone()), of(json!({"const": "k"}))));
        assert!(takes(of(json!({"const": "c"})), of(old.clone())));
        assert!(takes(of(old), of(json!({"type": "string"}))));
    }

    #[test]
    fn what_cannot_be_told_counts_as_understood() {
        assert!(takes(needs("path"), json!({"$ref": "#/$defs/a"})));
        assert!(takes(json!({"oneOf": [needs("a"), needs("b")]}), needs("c")));
        assert!(takes(json!(true), needs("c")));
        assert!(understands(What::Tool, &raw(&json!(1)), &tool(needs("a"))));
    }

    #[test]
    fn prompts_are_asked_with_their_arguments() {
        let prompt = |arguments: Value| raw(&json!({"name": "p", "arguments": arguments}));
        let (one, other) =
            (prompt(json!([{"name": "a", "required": true}])), prompt(json!([{"name": "b", "required": true}])));
        assert!(understands(What::Prompt, &one, &one));
        assert!(!understands(What::Prompt, &other, &one));
        assert!(!understands(What::Prompt, &raw(&json!({"name": "p"})), &one));
        assert!(understands(What::Prompt, &prompt(json!([{"name": "a"}, {"name": "b"}])), &one));
    }
}
