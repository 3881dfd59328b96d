//! What a tool may do to what is there: from what its server says of it, and where it says nothing from its name and text.

use toolfold_core::{Entry, words};

use super::lexicon::{Effect, lexicon};
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
        let destroys = lexicon.any(does, Effect::Destroy) || lexicon.any(done.offered, Effect::Destroy);
        // A server may say that everything it changes is destroyed; that a tool only makes or sends is seen from its name.
        let said = entry.hints.destructive;
        let more = [Effect::Change, Effect::Act, Effect::Public, Effect::Destroy];
        let harmless = !done.named.is_empty() && !more.iter().any(|effect| lexicon.any(done.named, *effect));
        if said == Some(true) && !harmless || said.is_none() && destroys {
            return Risk::Destroys;
        }
        let looks = lexicon.all(does | done.told, Effect::Look);
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
    fn what_can_be_chosen_counts() {
        let schema = json!({"type": "object", "properties": {"action": {"enum": ["create", "delete"]}}});
        let definition = json!({"name": "manage_event", "description": "Manage an event.", "inputSchema": schema});
        let tool = Entry::tool(&ServerName::new("hub").expect("a name"), &raw(&definition)).expect("a tool");
        assert_eq!(Risk::of(&tool), Risk::Destroys);
    }
}
