//! One entry, every rule.

use std::collections::HashSet;
use std::sync::LazyLock;

use regex::Regex;
use toolfold_catalog::ServerTools;
use toolfold_core::{Entry, Written};

use crate::characters::{self, finding};
use crate::concept::*;
use crate::context::Context;
use crate::finding::{Family, Finding, Report, Severity};
use crate::parameter::{self, spelled};
use crate::piece::{Piece, Pieces, Role, cut};
use crate::rules::{self, Rule};
use crate::sentence::{Passage, Span};
use crate::visible::excerpt;
use crate::{aside, blob, twice, voice};

/// An entry of a catalog: its whole definition, beside the other servers.
pub fn scan_entry(entry: &Entry, context: &Context) -> Report {
    scan_definition(entry.server().as_str(), &entry.definition, context)
}

/// A definition: of a tool, a prompt, a resource, an agent or a skill. As it was written, where there is a choice: a `Value` has
/// lost what is there twice.
pub fn scan_definition(server: &str, definition: impl Into<Written>, context: &Context) -> Report {
    let definition = definition.into();
    let text = |key: &str| definition.get(key).and_then(Written::as_str).unwrap_or_default();
    let pieces = Pieces::of(&definition);
    let subject = Subject::new(server, text("name"), text("title"), &pieces, context);
    let mut report = subject.scan(pieces);
    subject.imitates(text("description"), &mut report);
    contradicts(&definition, &mut report);
    twice::look(&definition, &mut report);
    report.sorted()
}

/// Texts of any origin, such as a server's instructions or the text of a resource.
pub fn scan_texts<'a>(server: &str, texts: impl IntoIterator<Item = Piece<'a>>, context: &Context) -> Report {
    let pieces = Pieces::of_texts(texts);
    Subject::new(server, "", "", &pieces, context).scan(pieces).sorted()
}

/// What a server says of itself, and each of its entries: ids with what was found, only where something was.
pub fn scan_server(server: &ServerTools, context: &Context) -> Vec<(String, Report)> {
    let name = server.name.as_str();
    let texts = [("instructions", server.instructions.as_deref()), ("title", server.title.as_deref())];
    let pieces = texts
        .into_iter()
        .filter_map(|(place, text)| Some(Piece { place: place.to_owned(), role: Role::Prose, text: text? }));
    let own = (name.to_owned(), scan_texts(name, pieces, context));
    let entries = server.entries.iter().map(|entry| (entry.id.to_string(), scan_entry(entry, context)));
    let told = |(_, report): &(String, Report)| !report.findings.is_empty() || !report.unread.is_empty();
    std::iter::once(own).chain(entries).filter(told).collect()
}

/// Whom the texts are about.
struct Subject<'a> {
    server: &'a str,
    name: &'a str,
    context: &'a Context,
    /// Names that are not those of other tools: this one, and its parameters.
    own: HashSet<String>,
    off_purpose: bool,
    talks: bool,
}

/// Words in a name that say that secrets, configurations or accounts are what the tool is for.
static PURPOSE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?-u:\b)(?:ssh|keys?|keychain|credentials?|secrets?|env|environment|config(?:uration)?s?|settings|kube(?:config)?|docker|passwords?|vaults?|tokens?|auth|login|log|wallet|cookies?|certificates?|cert|dotenv|aws|gcloud|identity|users?|account|profile|session|git|npm|scan|audit|security|leaks?|gitleaks|permissions?|deploy)(?-u:\b)").ok()
});

/// Words in a name that say that conversations are.
static TALK_PURPOSE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(r"(?-u:\b)(?:chat|messages?|conversations?|agents?|assistants?|prompts?|completions?|models?|llm|ask|dialog)(?-u:\b)").ok()
});

impl<'a> Subject<'a> {
    fn new(server: &'a str, name: &'a str, title: &str, pieces: &Pieces<'_>, context: &'a Context) -> Subject<'a> {
        let keys = pieces.list.iter().filter(|piece| piece.role == Role::Key).map(|piece| piece.text.to_lowercase());
        // Values that are one word are operations and kinds of this tool, whoever else has a tool of that name.
        let values =
            pieces.list.iter().filter(|piece| piece.text.len() <= 64 && !piece.text.contains(char::is_whitespace));
        let own = keys.chain(values.map(|piece| piece.text.to_lowercase())).chain([name.to_lowercase()]).collect();
        let about = spelled(&format!("{} {}", cut(name, 200), cut(title, 200)));
        let off_purpose = PURPOSE.as_ref().is_none_or(|purpose| !purpose.is_match(&about));
        let talks = TALK_PURPOSE.as_ref().is_some_and(|purpose| purpose.is_match(&about));
        Subject { server, name, context, own, off_purpose, talks }
    }

    fn scan(&self, pieces: Pieces<'_>) -> Report {
        let mut report = Report { unread: pieces.unread, ..Report::default() };
        for piece in &pieces.list {
            characters::look(piece, &mut report);
            let passage = self.read(piece.text, &mut report.work);
            parameter::look(piece, &passage, self.off_purpose, self.talks, &mut report);
            if matches!(piece.role, Role::Prose | Role::About) {
                self.says(piece, &passage, &mut report);
                self.names_others(piece, &passage, &mut report);
                voice::look(piece, &passage, &mut report);
                if piece.place == "/description" {
                    aside::look(self.name, piece, &passage, &mut report);
                }
                self.encoded(piece, &mut report);
                embedded(piece, &mut report);
            }
        }
        report
    }

    fn read(&self, text: &str, work: &mut u64) -> Passage {
        Passage::read(
            text,
            |hit, text| {
                let said = &text[hit.start..hit.end];
                match hit.concept {
                    NAMED_TOOL => self.is_foreign(said),
                    // The public half of a key is meant to be given away.
                    SECRET_PATH => !said.ends_with(".pub"),
                    OBLIGED => is_order(&text[..hit.start], said),
                    _ => true,
                }
            },
            work,
        )
    }

    /// Whether a tool that is named may be somebody else's.
    fn is_foreign(&self, named: &str) -> bool {
        let name = named.split([' ', '\'', '"']).find(|word| word.contains(['_', '-', '.']));
        name.is_some_and(|name| !self.own.contains(name) && !self.context.is_own(self.server, name))
    }

    fn says(&self, piece: &Piece<'_>, passage: &Passage, report: &mut Report) {
        let of_tool = ["/description", "/inputSchema/"].iter().any(|place| piece.place.starts_with(place));
        let applies = |rule: &&Rule| (!rule.off_purpose || self.off_purpose) && (!rule.of_tools || of_tool);
        for rule in rules::all().filter(applies) {
            for span in passage.spans(rule.sentences) {
                report.work += span.work();
                if let Some((start, end)) = speaks(rule, &span) {
                    let text = passage.folded.original(
                        piece.text,
                        span.start.max(start.saturating_sub(80)),
                        span.end.min(end + 80),
                    );
                    report.add(Finding {
                        family: rule.family,
                        rule: rule.id,
                        severity: rule.severity,
                        place: piece.place.clone(),
                        excerpt: excerpt(text),
                        reason: rule.reason.to_owned(),
                    });
                    break;
                }
            }
        }
    }

    /// Another server's tool, by a name that can mean no other, in a sentence that says what to do with it.
    fn names_others(&self, piece: &Piece<'_>, passage: &Passage, report: &mut Report) {
        const DOING: Concepts = CALL | MUST | BEFORE | WHENEVER | ALTER | DROP | INSTEAD | BROKEN | SEND;
        for span in passage.spans(1).filter(|span| span.concepts() & DOING != 0) {
            let words =
                passage.folded.text[span.start..span.end].split(|c: char| !c.is_alphanumeric() && !"_-.".contains(c));
            report.work += (span.end - span.start) as u64;
            let words = words.map(|word| word.trim_matches(['.', '-'])).filter(|word| !self.own.contains(*word));
            if let Some((word, owner)) =
                words.filter_map(|word| Some((word, self.context.owner(self.server, word)?))).next()
            {
                let text = passage.folded.original(piece.text, span.start, span.end);
                let reason = format!("says what to do with {word}, a tool of the server {owner}");
                report.add(finding(
                    piece,
                    Family::OtherTools,
                    "names-other-server",
                    Severity::Review,
                    excerpt(text),
                    reason,
                ));
            }
        }
    }

    /// Blobs, by what they say.
    fn encoded(&self, piece: &Piece<'_>, report: &mut Report) {
        for (place, text) in blob::decoded(piece.text, &mut report.work) {
            let passage = self.read(&text, &mut report.work);
            let says = passage.concepts();
            let command = says & (SHELL | SECRET_PATH | RULES) != 0 || (says & SEND != 0 && says & ADDRESS != 0);
            if command {
                let reason = format!("has an encoded text that says {:?}", excerpt(&text));
                report.add(finding(
                    piece,
                    Family::EncodedPayload,
                    "decoded-command",
                    Severity::Hard,
                    excerpt(&piece.text[place]),
                    reason,
                ));
            }
        }
    }

    fn imitates(&self, description: &str, report: &mut Report) {
        let Some(like) = self.context.likeness(self.server, self.name, description) else { return };
        let severity = if like.same || like.disguised { Severity::Hard } else { Severity::Review };
        let how =
            if like.disguised { "has a name that looks like" } else { "has the name and nearly the description of" };
        report.add(Finding {
            family: Family::Clone,
            rule: if like.disguised { "look-alike-of" } else { "clone-of" },
            severity,
            place: "/name".to_owned(),
            excerpt: excerpt(self.name),
            reason: format!("{how} {}.{}, which was there before", like.server, excerpt(like.tool)),
        });
    }
}

fn speaks(rule: &Rule, span: &Span<'_>) -> Option<(usize, usize)> {
    if span.concepts() & rule.unless != 0 {
        return None;
    }
    let found = rule.shapes.iter().find_map(|shape| span.find(*shape))?;
    (!span.is_described(found.0, found.1)).then_some(found)
}

/// Whether what is to be done is asked of somebody: "the folder that a message is to be copied to" only says what is meant.
fn is_order(before: &str, said: &str) -> bool {
    const RELATIVE: [&str; 10] = ["which", "that", "whom", "whose", "what", "how", "if", "whether", "where", "when"];
    const GIVEN: [&str; 5] = ["returned", "shown", "displayed", "performed", "provided"];
    let relative = before.rsplit(' ').skip(1).take(4).any(|word| RELATIVE.contains(&word));
    !relative && said.rsplit(' ').next().is_none_or(|done| !GIVEN.contains(&done))
}

static LIVE: LazyLock<Option<Regex>> = LazyLock::new(|| {
    Regex::new(concat!(
        r"(?-u:\b)(?:gh[pousr]_[A-Za-z0-9]{36}|github_pat_[A-Za-z0-9_]{50,90}|sk-(?:proj-|ant-)?[A-Za-z0-9_-]{40,120}",
        r"|AKIA[0-9A-Z]{16}|xox[abprs]-[0-9A-Za-z-]{20,80}|AIza[0-9A-Za-z_-]{35}|glpat-[0-9A-Za-z_-]{20})(?-u:\b)",
        r"|-----BEGIN (?:[A-Z]{2,10} ){0,2}PRIVATE KEY-----\s{0,4}[A-Za-z0-9+/\s]{200}"
    ))
    .ok()
});

/// A key that somebody left in a definition, or that a model is to use as its own.
fn embedded(piece: &Piece<'_>, report: &mut Report) {
    report.work += piece.text.len() as u64;
    let found = LIVE.as_ref().and_then(|live| live.find(piece.text)).map(|found| found.as_str());
    if let Some(key) = found.filter(|key| !key.to_lowercase().contains("example") && !is_filler(key)) {
        let reason = "has what looks like a live key in it".to_owned();
        let shown = format!("{}…", cut(key, 8));
        report.add(finding(piece, Family::EmbeddedSecret, "live-key", Severity::Review, shown, reason));
    }
}

/// `xxxx…` and the like stand for a key in an example.
fn is_filler(key: &str) -> bool {
    let letters: HashSet<char> = key.chars().collect();
    letters.len() < 12 && !key.starts_with('-')
}

/// A tool that says it only reads and is called after what it destroys.
fn contradicts(definition: &Written, report: &mut Report) {
    let hint = definition.get("annotations").and_then(|hints| hints.get("readOnlyHint")).and_then(Written::as_bool);
    let name = definition.get("name").and_then(Written::as_str).unwrap_or_default();
    let spelled = spelled(cut(name, 200));
    let destroys = |word: &str| ["delete", "drop", "destroy", "purge", "wipe", "truncate", "erase"].contains(&word);
    if hint == Some(true) && spelled.split(' ').next().is_some_and(destroys) {
        report.add(Finding {
            family: Family::Contradiction,
            rule: "read-only-destroyer",
            severity: Severity::Review,
            place: "/annotations/readOnlyHint".to_owned(),
            excerpt: excerpt(name),
            reason: "says that it only reads, and is called after something that destroys".to_owned(),
        });
    }
}
