//! The rules about whole schemes: most of them are one concept that says it all (`lexicon/schemes.rs`).

use crate::concept::*;
use crate::finding::Family;
use crate::rules::{RULE, Rule};
use crate::sentence::Shape::{Then, Together};

pub(crate) const SCHEMES: &[Rule] = &[
    Rule {
        id: "left-unsaid",
        family: Family::Secrecy,
        shapes: &[Together(&[UNSAID])],
        unless: RETURNED,
        reason: "has something left out of what a person is told",
        ..RULE
    },
    Rule {
        id: "passed-off",
        family: Family::Tampering,
        shapes: &[Together(&[PASSED_OFF])],
        unless: DESCRIBED,
        reason: "has something shown as what it is not, or in somebody's favour",
        ..RULE
    },
    Rule {
        id: "outranks",
        family: Family::Override,
        shapes: &[Together(&[OUTRANKS])],
        unless: DESCRIBED | NOT,
        reason: "gives what comes back the rank of an order",
        ..RULE
    },
    Rule {
        id: "unrelated-data",
        family: Family::ExfiltrationParameter,
        shapes: &[Together(&[UNRELATED])],
        unless: RETURNED,
        reason: "asks for what a tool of its kind has no use for",
        ..RULE
    },
    Rule {
        id: "talks-down",
        family: Family::Preference,
        shapes: &[Together(&[TALKED_DOWN])],
        reason: "talks others down, or takes their work",
        ..RULE
    },
    Rule {
        id: "on-the-side",
        family: Family::Tampering,
        shapes: &[Together(&[ON_THE_SIDE])],
        unless: DESCRIBED,
        reason: "does something on the side that nobody asked for",
        ..RULE
    },
    Rule {
        id: "part-of-everything",
        family: Family::OrderCoercion,
        shapes: &[Together(&[AROUND_ALL])],
        unless: DESCRIBED,
        reason: "makes itself a part of everything that is done",
        ..RULE
    },
    Rule {
        id: "consent-waived",
        family: Family::Pretext,
        shapes: &[Together(&[WAIVED])],
        unless: RETURNED,
        reason: "takes consent for granted that nobody gave",
        ..RULE
    },
    Rule {
        id: "around-everything",
        family: Family::OrderCoercion,
        shapes: &[
            Together(&[GATED]),
            Together(&[EVERYTHING, CALL | MUST | MODEL | SEND | PUT | THIS_TOOL]),
            Then(&[THIS_TOOL, CHOOSE, EVERYTHING], 30),
        ],
        unless: DESCRIBED,
        reason: "puts itself before, behind or around everything else that is done",
        ..RULE
    },
    Rule {
        id: "puppet",
        family: Family::Override,
        shapes: &[Together(&[PUPPET])],
        unless: DESCRIBED,
        reason: "tells the model who it is, or what no longer holds for it",
        ..RULE
    },
    Rule {
        id: "bait",
        family: Family::Preference,
        shapes: &[Together(&[BAIT])],
        reason: "wants to be chosen for praise, rewards or fear, and not for what it does",
        ..RULE
    },
    Rule {
        id: "doctored",
        family: Family::Tampering,
        shapes: &[
            Together(&[DOCTORED]),
            Then(&[ALTER, TARGET, ANSWER], 40),
            Then(&[ANSWER, PUT | ALTER, ADDRESS | SHELL | SECRET_PATH | TALK], 60),
        ],
        reason: "has something shown that is not what it is said to be",
        ..RULE
    },
    Rule {
        id: "steered",
        family: Family::Tampering,
        shapes: &[Together(&[STEERED])],
        reason: "fixes a value that is the user's to choose",
        ..RULE
    },
    Rule {
        id: "once-more",
        family: Family::Tampering,
        shapes: &[Together(&[TWICE])],
        unless: DESCRIBED | NOT,
        reason: "has something done again that was done",
        ..RULE
    },
    Rule {
        id: "takeover",
        family: Family::Override,
        shapes: &[Together(&[TAKEOVER])],
        unless: NOT,
        reason: "has the model take what comes back for instructions",
        ..RULE
    },
    Rule {
        id: "decode-and-do",
        family: Family::EncodedPayload,
        shapes: &[Together(&[DECODE])],
        unless: DESCRIBED,
        reason: "has the model do what an encoded text says",
        ..RULE
    },
    Rule {
        id: "sabotage",
        family: Family::Command,
        shapes: &[Together(&[SABOTAGE])],
        unless: DESCRIBED,
        reason: "takes defences down or opens doors that are not what the tool is for",
        ..RULE
    },
    Rule {
        id: "asks-what-you-know",
        family: Family::ExfiltrationParameter,
        shapes: &[Together(&[KNOWN_TO_YOU, SECRET | SECRET_PATH | TALK | SYSTEM_PROMPT | WHOLE])],
        unless: NOT,
        reason: "asks for what the model has seen or been told elsewhere",
        ..RULE
    },
    Rule {
        id: "picture-from-elsewhere",
        family: Family::SendingElsewhere,
        shapes: &[Together(&[BEACON])],
        reason: "has a picture shown that is fetched from elsewhere, which tells that place what its address holds",
        ..RULE
    },
    Rule {
        id: "mentions-secret-path",
        family: Family::SensitivePath,
        shapes: &[Together(&[CROWN]), Together(&[LAID_OPEN, MUST | PUT | SEND | BROKEN])],
        unless: DESCRIBED | RETURNED | NOT,
        off_purpose: true,
        reason: "speaks of keys, password files or configurations that are not what the tool is for",
        ..RULE
    },
    Rule {
        id: "sends-to-address",
        family: Family::SendingElsewhere,
        shapes: &[Then(&[SEND, ADDRESSEE], 45), Then(&[SEND, ELSEWHERE], 40)],
        unless: DESCRIBED | RETURNED,
        reason: "sends something to an address that is written down in it",
        ..RULE
    },
    Rule {
        id: "speaks-of-assistant",
        family: Family::Override,
        shapes: &[Together(&[ASSISTANT])],
        unless: DESCRIBED,
        of_tools: true,
        reason: "speaks of the assistant that reads it, and not of the tool",
        ..RULE
    },
    Rule {
        id: "handed-over",
        family: Family::ExfiltrationParameter,
        shapes: &[Together(&[HANDED])],
        unless: DESCRIBED,
        reason: "has the model find something and hand it over",
        ..RULE
    },
    Rule {
        id: "excuses",
        family: Family::Pretext,
        shapes: &[Together(&[EXCUSED])],
        unless: DESCRIBED,
        of_tools: true,
        reason: "says why nobody need mind or be asked",
        ..RULE
    },
    Rule {
        id: "to-be-done",
        family: Family::Tampering,
        shapes: &[Together(&[OBLIGED])],
        unless: DESCRIBED,
        of_tools: true,
        reason: "lays down what is to be done, and not what it does",
        ..RULE
    },
    Rule {
        id: "speaks-of-other-tools",
        family: Family::OtherTools,
        shapes: &[Together(&[KINDS])],
        unless: DESCRIBED,
        of_tools: true,
        reason: "speaks of tools that others have for other things",
        ..RULE
    },
    Rule {
        id: "private-store",
        family: Family::SensitivePath,
        shapes: &[Together(&[STORE])],
        unless: DESCRIBED | RETURNED | NOT,
        off_purpose: true,
        reason: "speaks of where people keep what is theirs, which is not what the tool is for",
        ..RULE
    },
    Rule {
        id: "ranks-above",
        family: Family::Override,
        shapes: &[Together(&[RANKS])],
        unless: DESCRIBED,
        reason: "puts what it says or returns above what others have said",
        ..RULE
    },
    Rule {
        id: "spins",
        family: Family::Secrecy,
        shapes: &[Together(&[SPUN])],
        unless: DESCRIBED | NOT,
        reason: "lays down what a person is told",
        ..RULE
    },
    Rule {
        id: "checks-are-off",
        family: Family::Override,
        shapes: &[Together(&[STRIPPED])],
        unless: DESCRIBED,
        reason: "says that checks or limits do not hold",
        ..RULE
    },
    Rule {
        id: "out-of-service",
        family: Family::Pretext,
        shapes: &[Together(&[OUTAGE])],
        unless: DESCRIBED,
        of_tools: true,
        reason: "gives as a reason that something does not work any more",
        ..RULE
    },
];
