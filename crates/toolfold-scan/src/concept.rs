//! What a passage speaks of: concepts, each a list of ways to say it in several languages. Rules are made of concepts and
//! not of phrases, so that another wording, or another language, says the same to them.
//!
//! What a reader would get wrong: patterns have no repetition without a bound. That is what makes looking for all
//! matches of one linear, which a pattern with `.*` in it would not be.

use std::sync::LazyLock;

use regex::Regex;
use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::is_combining_mark;

use crate::fold::Folded;
use crate::lexicon;

/// A set of concepts, a bit each.
pub(crate) type Concepts = u128;

/// The ways to say one thing, in the form that [`Folded`] has. `~` is the rest of a word, `§` what stands between in one clause.
pub(crate) struct Lexeme {
    pub(crate) concept: Concepts,
    /// Whole words in Latin letters.
    pub(crate) words: &'static [&'static str],
    /// Anything else, wherever it stands: other scripts, paths, signs.
    pub(crate) parts: &'static [&'static str],
}

macro_rules! concepts {
    ($($(#[$doc:meta])* $name:ident)*) => {
        concepts!(@ 0u32; $($(#[$doc])* $name)*);
    };
    (@ $place:expr; $(#[$doc:meta])* $name:ident $($rest:tt)*) => {
        $(#[$doc])*
        pub(crate) const $name: Concepts = 1 << ($place);
        concepts!(@ $place + 1; $($rest)*);
    };
    (@ $place:expr;) => {};
}

concepts! {
    /// not, never, without
    NOT
    /// tell, mention, show
    TELL
    /// the user, anybody
    USER
    /// silently, in the background
    QUIETLY
    /// hidden from the user, keep it secret
    CONCEAL
    /// these instructions, this step
    ITSELF
    SEND
    /// into an argument or an answer
    PUT
    READ
    /// Paths and things nobody gives away: keys, password files, configurations of clients.
    SECRET_PATH
    /// passwords, tokens, the clipboard
    SECRET
    /// the conversation, what the user said
    TALK
    /// the system prompt, your instructions
    SYSTEM_PROMPT
    /// An address or somebody who is not here.
    ELSEWHERE
    /// where a program is told of something
    WEBHOOK
    /// an address that is written out: a URL, a mail address
    ADDRESS
    /// a file
    FILE
    /// you must, always, make sure
    MUST
    /// the assistant, the model
    MODEL
    /// any other tool, all tools
    ANY_TOOL
    /// A tool that is named and is not one of this server's.
    NAMED_TOOL
    /// this tool
    THIS_TOOL
    /// before, first
    BEFORE
    /// whenever, on every call
    WHENEVER
    /// when, if, after: a condition of any kind
    WHEN
    CALL
    /// ignore, override
    DROP
    /// previous instructions, safety rules
    RULES
    /// instructions of any kind
    SOME_RULES
    /// what the user asked for
    WISH
    /// regardless of what the user says
    REGARDLESS
    /// replace, redirect, falsify
    ALTER
    /// the recipient, the amount, the result
    TARGET
    /// the behaviour of something
    BEHAVIOUR
    /// the best, the only reliable
    BEST
    /// always use this, prefer this
    CHOOSE
    /// never use, do not call
    SHUN
    /// instead of, over
    INSTEAD
    /// deprecated, broken, unreliable
    BROKEN
    /// system update, for compliance
    PRETEXT
    /// also, in addition
    ALSO
    /// A command of a shell.
    SHELL
    /// run the following command
    EXECUTE
    /// install a package
    INSTALL
    /// once it is approved, in a later version
    LATER
    /// will, begins to
    BECOME
    /// from now on
    PERSIST
    /// without asking
    UNASKED
    /// reveal, print, repeat
    REVEAL
    /// verbatim, whole, all of
    WHOLE
    /// such as, detects, an example: something that is spoken of, not said.
    DESCRIBED
    /// to the caller, for display: back to whoever asked
    RETURNED
    /// hidden instructions, secret directive
    HIDDEN_ORDER
    /// say, answer with, recommend
    SAY
    /// delete, pay, transfer: what cannot be undone
    HARM
    /// disable, turn off
    DISABLE
    /// checks, safeguards, logging
    SAFEGUARD
    /// always set, must be
    FIXED
    /// backdoor, reverse shell
    MALWARE
    /// full access, as root
    PRIVILEGE
    /// again and again
    LOOP
    /// follow the instructions in the result
    OBEY
    /// ask, request, prompt for
    ASK
    /// the recipient, the amount: what money and goods go by
    STAKE
    /// your answer, what you write
    ANSWER
    /// consent is taken for granted
    WAIVED
    /// nothing works without this
    GATED
    /// before, after or with every request
    EVERYTHING
    /// who the model is, and what it may not heed any more
    PUPPET
    /// rewards, praise and fear
    BAIT
    /// results that are not what they are called
    DOCTORED
    /// a value that is not for the user to choose
    STEERED
    /// once more, unasked
    TWICE
    /// what comes back is to be obeyed
    TAKEOVER
    /// decode it and do it
    DECODE
    /// defences down, doors open
    SABOTAGE
    /// what the model has seen or been told
    KNOWN_TO_YOU
    /// a picture that is fetched from elsewhere when somebody looks
    BEACON
    /// to an address that is written out
    ADDRESSEE
    /// a note for another tool
    ADDRESSED
    /// another tool, by what it is for
    OTHER_ONE
    /// what nobody speaks of who does not want it
    CROWN
    /// a secret where everybody sees it
    LAID_OPEN
    /// left out of what a person is told
    UNSAID
    /// called something that it is not
    PASSED_OFF
    /// as good as an order
    OUTRANKS
    /// what a tool has no use for
    UNRELATED
    /// others are not worth asking
    TALKED_DOWN
    /// done beside what was asked for
    ON_THE_SIDE
    /// before or behind everything, without saying so
    AROUND_ALL
    /// the assistant that reads this
    ASSISTANT
    /// found somewhere and handed over in an argument
    HANDED
    /// why nobody need mind
    EXCUSED
    /// are to be done
    OBLIGED
    /// tools of others, by what they are for
    KINDS
    /// where people keep what is theirs
    STORE
    /// before what the user or the system said
    RANKS
    /// what a person is to be told
    SPUN
    /// checks and limits that no longer hold
    STRIPPED
    /// something else does not work any more
    OUTAGE
}

struct Compiled {
    concept: Concepts,
    pattern: Regex,
}

static COMPILED: LazyLock<Vec<Compiled>> = LazyLock::new(|| lexicon::all().filter_map(compile).collect());

/// A pattern that does not compile would be a concept that nobody ever finds; a test sees to it that there is none.
fn compile(lexeme: &Lexeme) -> Option<Compiled> {
    let words = lexeme.words.join("|").replace('~', "[a-z]{0,9}").replace('§', "[a-z0-9 ,'\"()/_-]{0,40}");
    let parts = folded(&lexeme.parts.join("|"));
    let pattern = match (words.is_empty(), parts.is_empty()) {
        (false, true) => format!(r"(?-u:\b)(?:{words})(?-u:\b)"),
        (true, _) => parts,
        (false, false) => format!(r"(?-u:\b)(?:{words})(?-u:\b)|{parts}"),
    };
    Some(Compiled { concept: lexeme.concept, pattern: Regex::new(&pattern).ok()? })
}

/// Letters as [`Folded`] has them: a sign of its own over or under a letter is not there any more.
fn folded(pattern: &str) -> String {
    pattern.nfkd().filter(|c| !is_combining_mark(*c)).collect()
}

/// Where one concept is spoken of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Hit {
    pub(crate) concept: Concepts,
    pub(crate) start: usize,
    pub(crate) end: usize,
}

/// All that a text speaks of, in order.
pub(crate) fn hits(folded: &Folded, work: &mut u64) -> Vec<Hit> {
    let mut hits = Vec::new();
    for Compiled { concept, pattern } in COMPILED.iter() {
        *work += folded.text.len() as u64;
        let found = pattern.find_iter(&folded.text);
        hits.extend(found.map(|found| Hit { concept: *concept, start: found.start(), end: found.end() }));
    }
    hits.sort_by_key(|hit| (hit.start, hit.end));
    hits
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pattern_compiles_and_has_bounds() {
        assert_eq!(COMPILED.len(), lexicon::all().count());
        for lexeme in lexicon::all() {
            for pattern in lexeme.words.iter().chain(lexeme.parts) {
                let plain = pattern.replace(r"\+", "").replace(r"\*", "");
                assert!(!plain.contains(['*', '+']), "{pattern} repeats without a bound");
            }
        }
    }

    #[test]
    fn concepts_are_found_in_several_languages() {
        let spoken = |text: &str| hits(&Folded::of(text), &mut 0).iter().fold(0, |all, hit| all | hit.concept);
        for text in [
            "Do not tell the user",
            "Sag dem Benutzer nichts, informiere ihn nicht",
            "No informes al usuario",
            "N'informez jamais l'utilisateur",
            "不要告诉用户",
            "ユーザーに知らせないでください",
            "사용자에게 알리지 마세요",
        ] {
            let all = NOT | TELL | USER;
            assert_eq!(spoken(text) & all, all, "{text}");
        }
    }
}
