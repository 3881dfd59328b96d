//! What a tool may do to what is there: from what its server says of it, and where it says nothing from its name and text.

use toolfold_core::{Entry, words};

use super::lexicon::{Acts, Effect, lexicon};
use super::tool::Done;
use crate::analyse::first_sentence;

/// From harmless to grave. An opinion for display and for ranking; a server's word and a name are no ground for
/// permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Risk {
    /// Looks at things and changes none.
    Reads,
    Writes,
    /// Shows something to everybody.
    Publishes,
    /// Takes something away that may not come back.
    Destroys,
}

/// Said of what becomes visible to everybody, in a description's first sentence.
const PUBLIC: [&str; 8] = [
    "publicly accessible",
    "make public",
    "makes public",
    "anyone with the link",
    "to everyone",
    "to the public",
    "public access",
    "sharing link",
];
/// Said of what is written over, in whatever form, and before it where nothing is.
const OVERWRITES: &str = "overwrit";
const NEVER: [&str; 8] = ["avoid", "avoids", "cannot", "instead", "never", "no", "not", "without"];
/// What is replaced where nothing of it is left, and how many words after the verb it is said.
const WHOLE: [&str; 7] = ["content", "contents", "entire", "entirely", "everything", "full", "whole"];
const WITHIN_WORDS: usize = 3;
/// A statement that deletes, where a sentence names it as such.
const STATEMENTS: [&str; 3] = ["DELETE", "DROP", "TRUNCATE"];
/// Where these are published, nobody else sees it.
const WITHIN: [&str; 9] =
    ["batch", "channel", "event", "events", "message", "messages", "subscribers", "topic", "topics"];

impl Risk {
    pub fn of(entry: &Entry) -> Risk {
        if !entry.is_tool() || entry.hints.read_only == Some(true) {
            return Risk::Reads;
        }
        let done = Done::read(entry, &entry.description, &entry.input_schema());
        let lexicon = lexicon();
        let does = done.acts();
        let looks = lexicon.all(does | done.told, Effect::Look);
        let chosen = if looks { done.commands } else { done.offered | done.mentioned };
        let destroys = destroys(does, chosen, &entry.description);
        // A server may say that everything it changes is destroyed; that a tool only makes or sends is seen from its name,
        // as long as nothing else in it destroys.
        let said = entry.hints.destructive;
        let more = [Effect::Change, Effect::Act, Effect::Public, Effect::Destroy];
        let harmless = !done.named.is_empty() && !more.iter().any(|effect| lexicon.any(done.named, *effect));
        if destroys && said != Some(false) || said == Some(true) && !harmless {
            return Risk::Destroys;
        }
        if looks && entry.hints.read_only.is_none() {
            return Risk::Reads;
        }
        if done.public { Risk::Publishes } else { Risk::Writes }
    }

    /// Whether somebody should look twice before it is called.
    pub fn is_grave(self) -> bool {
        self >= Risk::Publishes
    }
}

/// Whether something that is there may be gone afterwards: by what is done or can be chosen, or because what was there is
/// written over. What only looks says "overwrite" of something else.
fn destroys(does: Acts, offered: Acts, description: &str) -> bool {
    let lexicon = lexicon();
    let acts = lexicon.any(does, Effect::Destroy) || lexicon.any(offered, Effect::Destroy);
    acts || !lexicon.all(does, Effect::Look) && writes_over(first_sentence(description.trim()).0)
}

fn writes_over(sentence: &str) -> bool {
    if sentence.split(|letter: char| !letter.is_alphanumeric()).any(|word| STATEMENTS.contains(&word)) {
        return true;
    }
    let words = words::split(sentence);
    let over = |(place, word): (usize, &String)| {
        let before = &words[place.saturating_sub(WITHIN_WORDS)..place];
        word.starts_with(OVERWRITES) && !before.iter().any(|word| NEVER.contains(&word.as_str()))
    };
    let whole = |(place, word): (usize, &String)| {
        let after = words.iter().skip(place + 1).take(WITHIN_WORDS);
        word.starts_with("replac") && after.into_iter().any(|word| WHOLE.contains(&word.as_str()))
    };
    words.iter().enumerate().any(over) || words.iter().enumerate().any(whole)
}

/// Whether something becomes visible to everybody.
pub(super) fn publishes(entry: &Entry, description: &str, done: &Done) -> bool {
    let sentence = first_sentence(description.trim()).0.to_lowercase();
    let says = PUBLIC.iter().any(|phrase| sentence.contains(phrase));
    let within =
        words::split(&sentence).iter().chain(&words::split(entry.name())).any(|word| WITHIN.contains(&word.as_str()));
    says || lexicon().any(done.acts(), Effect::Public) && !within
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolfold_core::ServerName;
    use toolfold_wire::raw;

    use super::*;

    fn risk(name: &str, description: &str, annotations: serde_json::Value) -> Risk {
        let definition = json!({"name": name, "description": description, "inputSchema": {"type": "object"}, "annotations": annotations});
        Risk::of(&Entry::tool(&ServerName::new("hub").expect("a name"), &raw(&definition)).expect("a tool"))
    }

    #[test]
    fn what_a_server_says_comes_first() {
        assert_eq!(risk("delete_cache", "Deletes it.", json!({"readOnlyHint": true})), Risk::Reads);
        assert_eq!(risk("do_it", "", json!({"destructiveHint": true})), Risk::Destroys);
        assert_eq!(risk("delete_draft", "", json!({"destructiveHint": false})), Risk::Writes);
        assert_eq!(risk("create_note", "Creates it.", json!({"destructiveHint": true})), Risk::Writes);
    }

    #[test]
    fn without_a_word_from_the_server_name_and_text_tell() {
        let risk = |name, description| risk(name, description, json!({}));
        assert_eq!(risk("list_files", "List files."), Risk::Reads);
        assert_eq!(risk("files-list", ""), Risk::Reads);
        assert_eq!(risk("update_file", "Change a file."), Risk::Writes);
        assert_eq!(risk("drop_table", ""), Risk::Destroys);
        assert_eq!(risk("tables", "Permanently remove a table."), Risk::Destroys);
        assert_eq!(risk("publish_site", "Put the site online."), Risk::Publishes);
        assert_eq!(risk("publish_message", "Publish a message to a topic."), Risk::Writes);
        assert_eq!(risk("set_permissions", "Make a file available to anyone with the link."), Risk::Publishes);
        assert_eq!(risk("frobnicate", ""), Risk::Writes);
        assert!(Risk::Destroys.is_grave() && !Risk::Writes.is_grave());
    }

    #[test]
    fn who_says_that_it_destroys_is_believed_where_something_else_says_so_too() {
        let said = |name, description| risk(name, description, json!({"destructiveHint": true}));
        assert_eq!(said("compute_vm_delete", "Delete a virtual machine."), Risk::Destroys);
        assert_eq!(said("alert-policy-delete", "Delete an Alert Policy permanently"), Risk::Destroys);
        assert_eq!(said("compute_vm_create", "Create a virtual machine."), Risk::Writes);
        assert_eq!(said("write_file", "Create a new file or completely overwrite an existing one."), Risk::Destroys);
        assert_eq!(said("create_file", "Creates a file without overwriting one."), Risk::Writes);
    }

    #[test]
    fn what_is_written_over_is_gone() {
        let risk = |name, description| risk(name, description, json!({}));
        assert_eq!(risk("put_content", "Creates a file, or OVERWRITES an existing one."), Risk::Destroys);
        assert_eq!(risk("put", "Replace a resource (full update)."), Risk::Destroys);
        assert_eq!(risk("edit_file", "Replaces the third line."), Risk::Writes);
        assert_eq!(risk("write_query", "Execute an INSERT, UPDATE, or DELETE query"), Risk::Destroys);
        assert_eq!(risk("list_changes", "List the files that would be overwritten."), Risk::Reads);
    }

    fn choosing(name: &str, description: &str, parameters: serde_json::Value) -> Risk {
        let schema = json!({"type": "object", "properties": parameters});
        let definition = json!({"name": name, "description": description, "inputSchema": schema});
        Risk::of(&Entry::tool(&ServerName::new("hub").expect("a name"), &raw(&definition)).expect("a tool"))
    }

    #[test]
    fn which_things_are_looked_for_is_nothing_that_is_done_to_them() {
        let states = json!(["open", "closed", "deleted", "purging", "all"]);
        let looks = |parameters| choosing("list_orders", "List the orders of a shop.", parameters);
        assert_eq!(looks(json!({"state": {"enum": states}})), Risk::Reads);
        assert_eq!(looks(json!({"operationFilter": {"enum": ["create", "delete"]}})), Risk::Reads);
        assert_eq!(looks(json!({"mode": {"enum": states}})), Risk::Reads);
        let told = json!({"action": {"description": "Filter by what was done: \"create\", \"delete\""}});
        assert_eq!(looks(told), Risk::Reads);
        // What a tool that changes something makes of it, and what one can be told to do.
        assert_eq!(choosing("update_order", "Update an order.", json!({"state": {"enum": states}})), Risk::Destroys);
        assert_eq!(looks(json!({"action": {"enum": ["list", "delete"]}})), Risk::Destroys);
        assert_eq!(looks(json!({"state_action": {"enum": ["list", "delete"]}})), Risk::Destroys);
        let said = json!({"action": {"enum": ["get", "delete"], "description": "Filter what is done"}});
        assert_eq!(looks(said), Risk::Destroys);
        assert_eq!(choosing("orders", "Work with orders.", json!({"state": {"enum": states}})), Risk::Destroys);
    }

    #[test]
    fn what_can_be_chosen_counts() {
        let schema = json!({"type": "object", "properties": {"action": {"enum": ["create", "delete"]}}});
        let definition = json!({"name": "manage_event", "description": "Manage an event.", "inputSchema": schema});
        let tool = Entry::tool(&ServerName::new("hub").expect("a name"), &raw(&definition)).expect("a tool");
        assert_eq!(Risk::of(&tool), Risk::Destroys);
        for told in [
            "Operation to perform: create-table, delete-table, get-table, or list-tables.",
            "Valid values:\n - create: Create a table\n - delete: Delete it",
        ] {
            let schema = json!({"type": "object", "properties": {"operation": {"description": told}}});
            let definition = json!({"name": "manage_tables", "description": "Manage tables.", "inputSchema": schema});
            let tool = Entry::tool(&ServerName::new("hub").expect("a name"), &raw(&definition)).expect("a tool");
            assert_eq!(Risk::of(&tool), Risk::Destroys, "{told}");
        }
    }
}
