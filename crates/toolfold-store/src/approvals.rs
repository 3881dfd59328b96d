//! What a person has approved, and how it looked then. Part of the record: an approval that is lost is asked for again,
//! one that comes from nowhere is a break-in, and neither may happen because a file was damaged.

use rusqlite::{OptionalExtension, params};
use toolfold_core::Fingerprint;

use crate::engine::Pending;
use crate::{Store, now};

/// Something that was approved: of which kind, what, as it looked, by whom.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Approval {
    pub kind: String,
    pub subject: String,
    pub fingerprint: Fingerprint,
    pub by: String,
}

impl Store {
    /// Keeps an approval, in place of an earlier one of the same subject. On the disk when this answers.
    pub fn approve(&self, approval: Approval) -> Pending<()> {
        self.record.run(move |connection| {
            let Approval { kind, subject, fingerprint, by } = &approval;
            let upsert = "INSERT INTO approvals (kind, subject, fingerprint, approved_at, approved_by)
                          VALUES (?1, ?2, ?3, ?4, ?5)
                          ON CONFLICT (kind, subject) DO UPDATE SET fingerprint = ?3, approved_at = ?4, approved_by = ?5";
            connection.execute(upsert, params![kind, subject, fingerprint.as_bytes(), now(), by]).map(|_| ())
        })
    }

    /// How this looked when it was approved, if it was.
    pub fn approved(&self, kind: &str, subject: &str) -> Pending<Option<Fingerprint>> {
        let (kind, subject) = (kind.to_owned(), subject.to_owned());
        self.record.look(move |connection| {
            let select = "SELECT fingerprint FROM approvals WHERE kind = ?1 AND subject = ?2";
            let bytes = connection.query_row(select, [kind, subject], |row| row.get::<_, [u8; 32]>(0)).optional()?;
            Ok(bytes.map(Fingerprint::from_bytes))
        })
    }

    /// It is not approved any longer.
    pub fn withdraw(&self, kind: &str, subject: &str) -> Pending<()> {
        let (kind, subject) = (kind.to_owned(), subject.to_owned());
        self.record.look(move |connection| {
            connection.execute("DELETE FROM approvals WHERE kind = ?1 AND subject = ?2", [kind, subject]).map(|_| ())
        })
    }
}
