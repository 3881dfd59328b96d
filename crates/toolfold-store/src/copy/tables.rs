//! What there is to copy: every table of a store, and how each engine holds its columns.

/// One cell, in the words of both.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Cell {
    Nothing,
    Number(i64),
    Bytes(Vec<u8>),
}

pub(super) type Row = Vec<Cell>;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CellKind {
    /// Text here and there.
    Text,
    /// Text in a file, bytes in a database: others wrote it.
    Words,
    /// Bytes here and there.
    Bytes,
    Number,
    /// 0 and 1 in a file.
    Flag,
}

#[derive(Debug)]
pub(super) struct Table {
    pub(super) name: &'static str,
    /// In the file of the record.
    pub(super) is_record: bool,
    /// What its rows came in: in a file and in a database.
    pub(super) order: (&'static str, &'static str),
    pub(super) columns: &'static [(&'static str, CellKind)],
}

use CellKind::{Bytes, Flag, Number, Text, Words};

pub(super) static TABLES: [Table; 12] = [
    Table {
        name: "manifests",
        is_record: false,
        order: ("rowid", "seq"),
        columns: &[("server", Text), ("config_key", Bytes), ("saved_at", Number), ("json", Words)],
    },
    Table {
        name: "toolsets",
        is_record: false,
        order: ("handle", "handle"),
        columns: &[("handle", Words), ("used_at", Number), ("json", Words)],
    },
    Table { name: "usage", is_record: false, order: ("tool", "tool"), columns: &[("tool", Words), ("calls", Number)] },
    Table {
        name: "vectors",
        is_record: false,
        order: ("rowid", "seq"),
        columns: &[("encoder", Bytes), ("text", Bytes), ("vector", Bytes)],
    },
    Table {
        name: "failures",
        is_record: false,
        order: ("rowid", "seq"),
        columns: &[("server", Text), ("config_key", Bytes), ("failed_at", Number), ("why", Words)],
    },
    Table {
        name: "pinned",
        is_record: false,
        order: ("server, config_key", "server, config_key"),
        columns: &[("server", Text), ("config_key", Bytes)],
    },
    Table {
        name: "habits",
        is_record: false,
        order: ("catalog, request, tool", "catalog, request, tool"),
        columns: &[
            ("catalog", Bytes),
            ("request", Bytes),
            ("tool", Words),
            ("marks", Bytes),
            ("text", Words),
            ("times", Number),
            ("occasions", Bytes),
            ("used_at", Number),
        ],
    },
    Table {
        name: "sources",
        is_record: true,
        order: ("number", "number"),
        columns: &[
            ("number", Number),
            ("server", Text),
            ("config_key", Bytes),
            ("pinned_at", Number),
            ("strict", Flag),
            ("seal", Bytes),
        ],
    },
    Table {
        name: "pins",
        is_record: true,
        order: ("source, kind, name", "source, kind, name"),
        columns: &[
            ("source", Number),
            ("kind", Text),
            ("name", Words),
            ("accepted", Bytes),
            ("denied", Bytes),
            ("decided_at", Number),
            ("decided_by", Words),
            ("findings", Number),
            ("raised", Number),
        ],
    },
    Table {
        name: "definitions",
        is_record: true,
        order: ("fingerprint", "fingerprint"),
        columns: &[("fingerprint", Bytes), ("json", Words)],
    },
    Table {
        name: "tokens",
        is_record: true,
        order: ("hash", "hash"),
        columns: &[
            ("hash", Bytes),
            ("name", Text),
            ("groups", Text),
            ("beginning", Text),
            ("created_at", Number),
            ("expires_at", Number),
        ],
    },
    // Who renews a login now is true of the moment only.
    Table {
        name: "logins",
        is_record: true,
        order: ("server, url, principal", "server, url, principal"),
        columns: &[
            ("server", Text),
            ("url", Words),
            ("principal", Words),
            ("version", Number),
            ("issuer", Words),
            ("sealed", Bytes),
            ("saved_at", Number),
            ("leased_until", Number),
        ],
    },
];

impl Table {
    pub(super) fn names(&self) -> String {
        self.columns.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
    }
}
