//! The rules about what a text says. Each is a shape of concepts: who is told to do what to what. None is about a word.
//!
//! What a reader would get wrong: a rule that is too narrow costs little, as most attacks trip several; one that real
//! definitions trip costs a person's attention every day. `docs/trust.md` has the figures.

use crate::concept::*;
use crate::finding::{Family, Severity};
use crate::sentence::Shape::{self, Then, Together};

pub(crate) struct Rule {
    pub(crate) id: &'static str,
    pub(crate) family: Family,
    pub(crate) severity: Severity,
    /// Sentences that the shape may stretch over.
    pub(crate) sentences: usize,
    /// Any of them.
    pub(crate) shapes: &'static [Shape],
    /// Concepts in the same sentence that take its meaning away.
    pub(crate) unless: Concepts,
    /// Only where secrets are not what the tool is for.
    pub(crate) off_purpose: bool,
    /// Only where a tool and its parameters are described: whoever writes a skill, or a server's instructions, speaks to a model.
    pub(crate) of_tools: bool,
    pub(crate) reason: &'static str,
}

pub(crate) const RULE: Rule = Rule {
    id: "",
    family: Family::Override,
    severity: Severity::Review,
    sentences: 1,
    shapes: &[],
    unless: 0,
    off_purpose: false,
    of_tools: false,
    reason: "",
};

/// All of them.
pub(crate) fn all() -> impl Iterator<Item = &'static Rule> {
    TABLE.iter().chain(crate::schemes::SCHEMES)
}

/// Takes something somewhere.
const MOVE: Concepts = SEND | PUT;
const PRIVATE: Concepts = SECRET_PATH | SECRET | TALK | SYSTEM_PROMPT;
const PLACE: Concepts = ELSEWHERE | WEBHOOK | ADDRESS;
const ORDER: Concepts = MUST | MODEL | ALSO | BEFORE | WHENEVER;

const TABLE: &[Rule] = &[
    Rule {
        id: "override-rules",
        family: Family::Override,
        severity: Severity::Hard,
        shapes: &[Then(&[DROP, RULES], 30)],
        reason: "tells the model to set aside the instructions it has",
        ..RULE
    },
    Rule {
        id: "override-some-rules",
        family: Family::Override,
        shapes: &[Then(&[DROP | DISABLE, SOME_RULES], 12), Then(&[MUST | MODEL, DISABLE | DROP, SAFEGUARD], 40)],
        reason: "tells the model to set aside rules or safeguards",
        ..RULE
    },
    Rule {
        id: "override-user",
        family: Family::Override,
        shapes: &[Then(&[DROP, WISH], 25)],
        reason: "tells the model to set aside what its user asked for",
        ..RULE
    },
    Rule {
        id: "reveal-prompt",
        family: Family::Override,
        severity: Severity::Hard,
        shapes: &[Then(&[REVEAL, SYSTEM_PROMPT], 25)],
        reason: "asks the model for its own instructions",
        ..RULE
    },
    Rule {
        id: "from-now-on",
        family: Family::Override,
        shapes: &[Then(&[PERSIST, MOVE | CALL | SAY | ALTER | HARM | MUST | TARGET | TALK], 90)],
        reason: "lays down how the model is to behave beyond this tool",
        ..RULE
    },
    Rule {
        id: "hidden-order",
        family: Family::Override,
        shapes: &[Then(&[HIDDEN_ORDER, MUST | MOVE | READ | CALL | NOT | WHENEVER], 90)],
        reason: "speaks to the model behind the user's back",
        ..RULE
    },
    Rule {
        id: "do-not-tell",
        family: Family::Secrecy,
        shapes: &[Then(&[NOT, TELL, USER], 28), Then(&[NOT, TELL, ITSELF | ANSWER], 20)],
        reason: "tells the model to keep something from its user",
        ..RULE
    },
    Rule {
        id: "conceal",
        family: Family::Secrecy,
        shapes: &[Together(&[CONCEAL])],
        reason: "tells the model to keep something from its user",
        ..RULE
    },
    Rule {
        id: "quietly",
        family: Family::Secrecy,
        shapes: &[
            Together(&[QUIETLY, SEND | HARM | ALTER | READ, PRIVATE | PLACE | USER]),
            Then(&[ORDER, QUIETLY, SEND | PUT | READ | CALL | ALTER | HARM], 40),
        ],
        reason: "does something to the user's things that nobody is to notice",
        ..RULE
    },
    Rule {
        id: "secret-taking",
        family: Family::Secrecy,
        severity: Severity::Hard,
        sentences: 2,
        shapes: &[Together(&[CONCEAL, MOVE | READ, PRIVATE]), Together(&[CONCEAL, SEND, PLACE])],
        reason: "takes something private and tells the model to keep it from its user",
        ..RULE
    },
    Rule {
        id: "before-any-tool",
        family: Family::OrderCoercion,
        shapes: &[
            Then(&[CALL | MUST, BEFORE, ANY_TOOL], 45),
            Then(&[BEFORE | WHENEVER, ANY_TOOL, CALL | MUST | MODEL], 45),
            Then(&[ANY_TOOL, BEFORE, MUST, CALL], 20),
            Then(&[WHENEVER, MUST, CALL, NAMED_TOOL | THIS_TOOL | WHOLE], 30),
        ],
        reason: "puts itself before every other tool",
        ..RULE
    },
    Rule {
        id: "before-this-tool",
        family: Family::OrderCoercion,
        sentences: 1,
        shapes: &[Together(&[BEFORE | WHENEVER, THIS_TOOL, READ, FILE | PRIVATE, MOVE | MUST])],
        reason: "has the model read something as a condition of using the tool",
        ..RULE
    },
    Rule {
        id: "changes-other-tool",
        family: Family::OtherTools,
        shapes: &[
            Then(&[ALTER | DROP, BEHAVIOUR, NAMED_TOOL | ANY_TOOL], 12),
            Then(&[NAMED_TOOL, MUST | BEFORE | ALSO | WHENEVER, ALTER | SEND, TARGET | PLACE | PRIVATE], 60),
            Then(&[WHEN, NAMED_TOOL, MUST | BEFORE | ALSO | WHENEVER, ALTER | SEND | PUT | CALL], 60),
            Then(&[WHEN, NAMED_TOOL | ANY_TOOL, ALTER | SEND, TARGET | PLACE | PRIVATE], 50),
            Then(&[OTHER_ONE, MUST, PUT | SEND | ALTER | CALL | READ], 30),
            Together(&[ADDRESSED, MOVE | READ | CALL | ALTER | MUST]),
        ],
        reason: "changes how another tool is to be used",
        ..RULE
    },
    Rule {
        id: "replaces-result",
        family: Family::OtherTools,
        shapes: &[
            Then(&[NAMED_TOOL | ANY_TOOL, BROKEN, ALTER | INSTEAD | CHOOSE], 80),
            Then(&[ALTER | DROP, TARGET, NAMED_TOOL | ANY_TOOL], 25),
            Then(&[OTHER_ONE, BROKEN], 25),
        ],
        reason: "has the results of another tool set aside",
        ..RULE
    },
    Rule {
        id: "takes-secret-path",
        family: Family::SensitivePath,
        severity: Severity::Hard,
        shapes: &[
            Then(&[READ, SECRET_PATH, SEND | PUT], 60),
            Then(&[SEND, SECRET_PATH], 45),
            Then(&[SECRET_PATH, SEND], 60),
            Then(&[MUST | ALSO | BEFORE, READ | MOVE, SECRET_PATH], 50),
        ],
        unless: RETURNED,
        off_purpose: true,
        reason: "has the model fetch keys, password files or configurations that are not what the tool is for",
        ..RULE
    },
    Rule {
        id: "reads-secret-path",
        family: Family::SensitivePath,
        sentences: 1,
        shapes: &[Then(&[READ | MOVE, SECRET_PATH], 45)],
        unless: RETURNED,
        off_purpose: true,
        reason: "reads keys, password files or configurations that are not what the tool is for",
        ..RULE
    },
    Rule {
        id: "takes-secret",
        family: Family::SensitivePath,
        shapes: &[
            Then(&[ORDER, READ | MOVE, SECRET], 40),
            Then(&[READ, SECRET, MOVE], 50),
            Then(&[WHOLE, SECRET, MOVE], 50),
        ],
        unless: RETURNED | NOT | DESCRIBED,
        off_purpose: true,
        reason: "has the model fetch passwords, tokens or the like",
        ..RULE
    },
    Rule {
        id: "sends-private",
        family: Family::SendingElsewhere,
        severity: Severity::Hard,
        shapes: &[
            Then(&[SEND, PRIVATE, PLACE], 70),
            Then(&[PRIVATE, SEND, PLACE], 70),
            Then(&[MOVE, SECRET_PATH | TALK | SYSTEM_PROMPT, PLACE], 70),
        ],
        unless: RETURNED,
        reason: "sends something private to an address of its own",
        ..RULE
    },
    Rule {
        id: "also-sends",
        family: Family::SendingElsewhere,
        shapes: &[
            Then(&[ALSO | WHENEVER | QUIETLY, SEND, PLACE], 60),
            Then(&[WHENEVER, PLACE, SEND], 60),
            Then(&[MUST, SEND, WHOLE, PLACE], 50),
        ],
        unless: RETURNED,
        reason: "sends something elsewhere beside what the tool is for",
        ..RULE
    },
    Rule {
        id: "sends-talk",
        family: Family::SendingElsewhere,
        shapes: &[
            Then(&[ORDER | NOT, MOVE | READ, TALK], 40),
            Then(&[SEND, WHOLE, TALK], 20),
            Then(&[SEND, TALK, USER], 20),
        ],
        reason: "has the model pass on what its user said",
        ..RULE
    },
    Rule {
        id: "gives-shell",
        family: Family::Command,
        shapes: &[Then(&[EXECUTE | MUST | BEFORE | ALSO | CALL | MODEL, SHELL], 60), Then(&[SHELL, BEFORE | ALSO], 60)],
        unless: DESCRIBED,
        reason: "has the model run a command of a shell",
        ..RULE
    },
    Rule {
        id: "orders-command",
        family: Family::Command,
        shapes: &[
            Then(&[MUST | BEFORE | ALSO | WHENEVER | MODEL, EXECUTE], 40),
            Together(&[EXECUTE, LATER | UNASKED | QUIETLY | CONCEAL]),
        ],
        unless: DESCRIBED,
        reason: "has the model run a command",
        ..RULE
    },
    Rule {
        id: "orders-install",
        family: Family::Command,
        shapes: &[Then(&[MUST | BEFORE | ALSO | MODEL | PRETEXT, INSTALL], 50), Then(&[INSTALL, BEFORE | MUST], 50)],
        unless: DESCRIBED,
        reason: "has the model install something",
        ..RULE
    },
    Rule {
        id: "pretext",
        family: Family::Pretext,
        shapes: &[
            Then(&[PRETEXT, MUST | MODEL | ALSO, MOVE | READ, PRIVATE | PLACE], 70),
            Then(&[PRETEXT, MOVE | READ, PRIVATE | PLACE], 50),
            Then(&[MOVE | READ, PRIVATE, PRETEXT], 60),
            Then(&[PRETEXT, MUST | CHOOSE | ALSO, ANY_TOOL | NAMED_TOOL], 70),
            Then(&[PRETEXT, ANY_TOOL | NAMED_TOOL, BROKEN | MUST | CHOOSE], 60),
        ],
        off_purpose: true,
        reason: "gives authority or danger as the reason for something that the tool does not need",
        ..RULE
    },
    Rule {
        id: "prefer-this",
        family: Family::Preference,
        shapes: &[
            Then(&[CHOOSE, THIS_TOOL, INSTEAD | ANY_TOOL], 50),
            Then(&[THIS_TOOL, CHOOSE, INSTEAD | ANY_TOOL], 60),
            Together(&[BEST, CHOOSE, ANY_TOOL | THIS_TOOL | INSTEAD]),
            Then(&[THIS_TOOL | BEST, INSTEAD, ANY_TOOL | NAMED_TOOL], 50),
            Then(&[CHOOSE, INSTEAD, ANY_TOOL | NAMED_TOOL], 40),
            Then(&[SHUN, ANY_TOOL | NAMED_TOOL], 12),
            Then(&[INSTEAD, ANY_TOOL | NAMED_TOOL, CHOOSE], 40),
        ],
        reason: "recommends itself over other tools",
        ..RULE
    },
    Rule {
        id: "others-are-bad",
        family: Family::Preference,
        shapes: &[
            Then(&[ANY_TOOL | NAMED_TOOL, BROKEN], 35),
            Then(&[SHUN | NOT, ANY_TOOL, BROKEN], 60),
            Then(&[BROKEN, CHOOSE | CALL | INSTEAD, NAMED_TOOL], 40),
        ],
        reason: "tells the model that other tools are not to be used",
        ..RULE
    },
    Rule {
        id: "regardless",
        family: Family::Tampering,
        shapes: &[Together(&[REGARDLESS, MUST | ALTER | CALL | MOVE | SAY | CHOOSE | READ])],
        reason: "has something else done than the user asked for",
        ..RULE
    },
    Rule {
        id: "redirects",
        family: Family::Tampering,
        shapes: &[
            Then(&[ALTER, TARGET, ADDRESS], 50),
            Then(&[QUIETLY | WHENEVER | BEFORE, ALTER, TARGET | WISH], 35),
            Then(&[ALTER, WISH], 25),
        ],
        reason: "changes whom or what the user's request is about",
        ..RULE
    },
    Rule {
        id: "unasked",
        family: Family::Tampering,
        shapes: &[
            Together(&[UNASKED, MUST | MODEL | CALL, HARM | SEND | ALTER]),
            Then(&[HARM | SEND | ALTER | EXECUTE, UNASKED], 40),
        ],
        reason: "has something done without asking the user",
        ..RULE
    },
    Rule {
        id: "fixed-value",
        family: Family::Tampering,
        shapes: &[
            Then(&[FIXED, TARGET, ADDRESS | SECRET_PATH], 50),
            Then(&[FIXED, ADDRESS | SECRET_PATH | STAKE], 30),
            Then(&[FIXED, WISH], 40),
        ],
        reason: "fixes a value that is the user's to choose",
        ..RULE
    },
    Rule {
        id: "privilege",
        family: Family::Tampering,
        shapes: &[Together(&[PRIVILEGE, UNASKED | QUIETLY | CONCEAL | REGARDLESS | FIXED | PERSIST])],
        reason: "takes more rights than it was given",
        ..RULE
    },
    Rule {
        id: "asks-for-secret",
        family: Family::SensitivePath,
        shapes: &[Then(&[ASK | SAY, USER, SECRET | SECRET_PATH], 40)],
        off_purpose: true,
        reason: "has the model ask its user for a password, a token or the like",
        ..RULE
    },
    Rule {
        id: "loop",
        family: Family::OrderCoercion,
        shapes: &[Then(&[MUST, CALL, LOOP], 40)],
        unless: INSTEAD,
        reason: "has the model call it again and again",
        ..RULE
    },
    Rule {
        id: "obey-results",
        family: Family::Override,
        shapes: &[Together(&[OBEY])],
        unless: NOT,
        reason: "has the model take what it returns for instructions",
        ..RULE
    },
    Rule {
        id: "malware",
        family: Family::Command,
        shapes: &[Together(&[MALWARE])],
        unless: DESCRIBED,
        reason: "says of itself that it does harm",
        ..RULE
    },
    Rule {
        id: "later",
        family: Family::LaterChange,
        shapes: &[Then(&[LATER, BECOME, EXECUTE | SEND | ALTER | QUIETLY | PRIVATE | READ | HARM], 60)],
        reason: "announces that it will do something else later",
        ..RULE
    },
];
