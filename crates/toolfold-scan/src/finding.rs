//! What is found, and why somebody should look at it. A finding is a reason, never a verdict: no finding does not mean
//! that a definition is safe.

use serde::Serialize;

/// Whether a finding holds an entry even when it is first seen, or is only shown to whoever looks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    Review,
    Hard,
}

/// What a definition tries to do to whoever reads it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Family {
    HiddenCharacters,
    ControlCharacters,
    LookAlikes,
    RoleTags,
    Override,
    Secrecy,
    OrderCoercion,
    OtherTools,
    Clone,
    ExfiltrationParameter,
    SensitivePath,
    EncodedPayload,
    Command,
    SendingElsewhere,
    Pretext,
    Preference,
    Tampering,
    LaterChange,
    EmbeddedSecret,
    Contradiction,
    OutOfSight,
}

impl Family {
    pub const ALL: [Family; 21] = [
        Family::HiddenCharacters,
        Family::ControlCharacters,
        Family::LookAlikes,
        Family::RoleTags,
        Family::Override,
        Family::Secrecy,
        Family::OrderCoercion,
        Family::OtherTools,
        Family::Clone,
        Family::ExfiltrationParameter,
        Family::SensitivePath,
        Family::EncodedPayload,
        Family::Command,
        Family::SendingElsewhere,
        Family::Pretext,
        Family::Preference,
        Family::Tampering,
        Family::LaterChange,
        Family::EmbeddedSecret,
        Family::Contradiction,
        Family::OutOfSight,
    ];

    pub fn as_str(self) -> &'static str {
        match self {
            Family::HiddenCharacters => "hidden-characters",
            Family::ControlCharacters => "control-characters",
            Family::LookAlikes => "look-alikes",
            Family::RoleTags => "role-tags",
            Family::Override => "override",
            Family::Secrecy => "secrecy",
            Family::OrderCoercion => "order-coercion",
            Family::OtherTools => "other-tools",
            Family::Clone => "clone",
            Family::ExfiltrationParameter => "exfiltration-parameter",
            Family::SensitivePath => "sensitive-path",
            Family::EncodedPayload => "encoded-payload",
            Family::Command => "command",
            Family::SendingElsewhere => "sending-elsewhere",
            Family::Pretext => "pretext",
            Family::Preference => "preference",
            Family::Tampering => "tampering",
            Family::LaterChange => "later-change",
            Family::EmbeddedSecret => "embedded-secret",
            Family::Contradiction => "contradiction",
            Family::OutOfSight => "out-of-sight",
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Finding {
    pub family: Family,
    pub rule: &'static str,
    pub severity: Severity,
    /// A JSON pointer into the definition, or the name of a field.
    pub place: String,
    /// The text that it is about, with every character visible.
    pub excerpt: String,
    pub reason: String,
}

/// Everything found in one entry, and what was not looked at.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    pub findings: Vec<Finding>,
    /// Places whose text was longer than is read, each with what was left out of it.
    pub unread: Vec<Unread>,
    /// Bytes that were looked at, each as often as it was: what the scan cost.
    #[serde(skip)]
    pub work: u64,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Unread {
    pub place: String,
    pub bytes: usize,
}

impl Report {
    pub fn severity(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }

    pub fn is_hard(&self) -> bool {
        self.severity() == Some(Severity::Hard)
    }

    /// A rule speaks once of a place: the second time tells nobody more.
    pub(crate) fn add(&mut self, finding: Finding) {
        let known = |other: &Finding| other.rule == finding.rule && other.place == finding.place;
        if self.findings.iter().any(known) {
            return;
        }
        if self.findings.len() < MOST {
            self.findings.push(finding);
        } else if finding.severity == Severity::Hard {
            // A flood of little ones must not hide a big one.
            if let Some(other) = self.findings.iter_mut().find(|other| other.severity == Severity::Review) {
                *other = finding;
            }
        }
    }

    /// The worst first.
    pub(crate) fn sorted(mut self) -> Report {
        self.findings.sort_by(|a, b| {
            b.severity.cmp(&a.severity).then_with(|| a.family.cmp(&b.family)).then_with(|| a.place.cmp(&b.place))
        });
        self
    }
}

/// Findings kept of one entry. Nobody reads more, and comparing with those before must not take long.
const MOST: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_little_findings_do_not_hide_a_hard_one() {
        let mut report = Report::default();
        let finding = |place: usize, severity| Finding {
            family: Family::Secrecy,
            rule: "r",
            severity,
            place: place.to_string(),
            excerpt: String::new(),
            reason: String::new(),
        };
        (0..2 * MOST).for_each(|place| report.add(finding(place, Severity::Review)));
        report.add(finding(1_000, Severity::Hard));
        report.add(finding(1_000, Severity::Hard));
        assert_eq!(report.findings.len(), MOST);
        assert!(report.is_hard());
        assert_eq!(report.sorted().findings[0].place, "1000");
    }

    #[test]
    fn families_have_the_names_that_are_written() {
        for family in Family::ALL {
            assert_eq!(serde_json::to_value(family).unwrap(), family.as_str());
        }
    }
}
