//! Other programs' configuration files: one table of clients, and what follows from it. Their servers are read ([`survey`],
//! [`plan_import`]), Toolfold is written into them and taken out ([`plan_install`], [`plan_undo`]), and a server is made from
//! what people have in hand ([`from_target`]).
//!
//! Nothing here prints, waits for a network or knows the real home: the surroundings are an [`Environment`], and the disk
//! is touched in `files` alone.

mod environment;
mod files;
mod format;

mod edit;
mod table;
mod variables;

mod definition;
mod hidden;
mod own;
mod read;
mod secrets;

mod survey;

mod add;
mod entry;
mod import;
mod install;
mod recognise;
mod rules;
mod verify;

pub use add::{AddError, Missing, NewServer, from_command, from_target, from_text};
pub use definition::ServerDefinition;
pub use edit::{EditError, Edited, Shape, Slot, Splice, Traces, get, remove, set};
pub use entry::{gone, points_here, withheld};
pub use environment::{Environment, Platform};
pub use files::{FileError, NoFile, open_file, read as read_file, replace as replace_file};
pub use format::{Broken, FileFormat};
pub use import::{
    FoundIn, ImportOptions, ImportPlan, LeftOut, PlannedServer, plan_import, remove_server, server_names, write_server,
};
pub use install::{FileChange, InstallError, InstallPlan, apply_install, apply_undo, plan_install, plan_undo};
pub use own::{USUAL_PORT, is_own};
pub use read::{ForeignServer, NoServer};
pub use recognise::{Recognised, recognise};
pub use rules::{HostRules, HostVerdict, plan_rules, plan_rules_undo, rules_text};
pub use secrets::MovedSecret;
pub use survey::{Scope, SeenFile, Unreadable, seen, survey};
pub use table::{
    Allow, Base, ENTRY_NAME, Evidence, Extra, FilePlace, KnownClient, Passes, Proof, Rank, RuleFile, RuleForm,
    Spelling, Status, TimeUnit, Variables, Way, client, clients, document, snippets,
};
pub use variables::named_in as variables_in;
pub use verify::{Verified, verify};
