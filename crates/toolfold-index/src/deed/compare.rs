//! How a wanted deed goes with what a tool does, as numbers that a ranking can weigh.

use super::lexicon::{Acts, Effect, lexicon};
use super::object::Thing;
use super::request::Wanted;
use super::tool::Done;

const FEATURES: usize = 14;

/// What is known of one tool in the light of one request, each 0 to 1.
pub(crate) type Features = [f32; FEATURES];

/// What each is worth, against a mixed score of about one for the best. `training/deeds.py` finds them; they are flat around
/// their best, so what does something else than was asked, or something grave, is held back further: there a mistake costs
/// more.
const WEIGHTS: Features = [0.08, 0.09, 0.11, 0.09, 0.03, -0.34, -0.07, -0.24, -0.18, -0.18, 0.04, 0.20, 0.06, 0.12];

impl Wanted {
    /// What a tool's deeds add to its score, and how far it does something else than is wanted, 0 to 1: the opposite, or
    /// a change where somebody wants to look, or nothing but a look, or something grave that nobody asked for.
    pub(crate) fn judge(&self, done: &Done) -> (f32, f32) {
        let features = self.features(done);
        let worth = features.iter().zip(WEIGHTS).map(|(feature, weight)| feature * weight).sum();
        let same = features[..3].iter().fold(0f32, |most, feature| most.max(*feature));
        let other = features[5..10].iter().fold(0f32, |most, feature| most.max(*feature));
        (worth, (other - same).max(0.0))
    }

    /// Whether a tool does the wanted deed to the wanted thing, and how much of what is named its description names.
    pub(crate) fn met(&self, done: &Done) -> (f32, f32) {
        let features = self.features(done);
        (features[13], features[12])
    }

    /// Whether a tool destroys or publishes what nobody asked it to.
    pub(crate) fn is_grave(&self, done: &Done) -> bool {
        let unasked = |effect| lexicon().any(done.acts(), effect) && !lexicon().any(self.acts, effect);
        unasked(Effect::Destroy) || unasked(Effect::Public) || done.public && !lexicon().any(self.acts, Effect::Public)
    }

    pub(crate) fn features(&self, done: &Done) -> Features {
        let mut features = Features::default();
        if self.clear == 0.0 {
            return features;
        }
        let acts = self.of_acts(done);
        features[..11].copy_from_slice(&acts);
        features[11] = self.share(|thing| done.server.contains(thing) && Some(*thing) != self.head);
        features[12] = self.share(|thing| done.subject.contains(thing));
        // The right deed done to the right thing is worth more than each alone.
        let right_thing = self.head.is_some() && self.head == done.head;
        features[13] = acts[0].max(acts[1]).max(acts[2]) * number(right_thing);
        features.map(|feature| feature * self.clear)
    }

    fn of_acts(&self, done: &Done) -> [f32; 11] {
        let lexicon = lexicon();
        let does = done.acts();
        let asks_public = lexicon.any(self.acts, Effect::Public);
        // To show something to everybody is not to let somebody see it.
        let meant = asks_public || !done.public;
        let [named, told, offered] = [done.named, done.told, done.offered].map(|acts| meant && acts.meets(self.acts));
        let same = named || told || offered;
        let looks = |acts: Acts| lexicon.all(acts, Effect::Look);
        let unasked = |effect: Effect| lexicon.any(does, effect) && !lexicon.any(self.acts, effect);
        let changes =
            [Effect::Change, Effect::Act, Effect::Public].iter().any(|effect| lexicon.any(self.acts, *effect));
        [
            named,
            told,
            offered && !named,
            !named && done.named.meets(self.near),
            !same && done.told.meets(self.near),
            !same && does.meets(self.opposite),
            looks(self.acts) && !does.is_empty() && !lexicon.any(does | done.told, Effect::Look),
            !lexicon.any(self.acts, Effect::Look) && looks(does),
            unasked(Effect::Destroy),
            unasked(Effect::Public) || !meant,
            // Who has nothing better for it changes the thing.
            !same && changes && done.named.meets(lexicon.general()),
        ]
        .map(number)
    }

    /// How much of what is named has something, by how much each thing tells.
    fn share(&self, has: impl Fn(&Thing) -> bool) -> f32 {
        let total: f32 = self.things.iter().map(|(_, weight)| weight).sum();
        let met: f32 = self.things.iter().filter(|(thing, _)| has(thing)).map(|(_, weight)| weight).sum();
        met / total.max(f32::MIN_POSITIVE)
    }
}

fn number(fact: bool) -> f32 {
    f32::from(u8::from(fact))
}

#[cfg(test)]
mod tests {
    use serde_json::json;
    use toolfold_core::{Entry, ServerName};
    use toolfold_wire::raw;

    use super::*;

    fn worth(request: &str, name: &str) -> f32 {
        Wanted::read(request, |_| 1.0).judge(&done(name)).0
    }

    fn done(name: &str) -> Done {
        let definition = json!({"name": name, "description": "", "inputSchema": {"type": "object"}});
        let server = ServerName::new("hub").expect("a name");
        Done::read(&Entry::tool(&server, &raw(&definition)).expect("a tool"), "", &json!({}))
    }

    #[test]
    fn the_same_deed_is_worth_more_than_another_and_the_opposite_least() {
        for (request, right, other, opposite) in [
            ("turn off the flag", "disable_flag", "list_flags", "enable_flag"),
            ("let bob read a file", "grant_access", "read_file", "revoke_access"),
            ("add a member", "add_member", "get_member", "remove_member"),
            ("stop the server", "stop_server", "list_servers", "start_server"),
            ("make the page public", "publish_page", "get_page", "unpublish_page"),
        ] {
            assert!(worth(request, right) > worth(request, other), "{request}: {right}, {other}");
            assert!(worth(request, right) > worth(request, opposite), "{request}: {right}, {opposite}");
        }
    }

    #[test]
    fn nothing_grave_is_ahead_that_nobody_asked_for() {
        assert!(worth("turn off the flag", "update_flag") > worth("turn off the flag", "delete_flag"));
        assert!(worth("close the issue", "update_issue") > worth("close the issue", "delete_issue"));
        assert!(worth("delete the flag", "delete_flag") > worth("delete the flag", "update_flag"));
        assert!(worth("share a page with bob", "share_page") > worth("share a page with bob", "publish_page"));
    }

    #[test]
    fn who_does_something_else_disagrees() {
        let disagreement = |request: &str, name: &str| Wanted::read(request, |_| 1.0).judge(&done(name)).1;
        assert_eq!(disagreement("commit the staged changes", "diff_staged"), 1.0);
        assert_eq!(disagreement("list the files", "delete_file"), 1.0);
        assert_eq!(disagreement("list the files", "list_files"), 0.0);
        assert_eq!(disagreement("weather in rome", "delete_file"), 0.0);
    }
}
