//! What variables and flags change: a flag beats a variable, a variable beats the file. What the file says is checked
//! all the same, so that taking the variable away later brings no surprise.

use toolfold_core::{Secret, StorePlace, Surface};

use crate::config::PreciseTier;
use crate::operation::AuditMode;
use crate::options::LoadOptions;
use crate::report::{Place, Report, quoted};
use crate::resolve::{Draft, LISTEN_HINT, listen, store_place, unknown_surface, whole_path};

pub(crate) fn apply(draft: &mut Draft, options: &LoadOptions, report: &mut Report) {
    surface(draft, options, report);
    store(draft, options);
    precise(draft, options);
    draft.config.key = options.variable("TOOLFOLD_KEY").map(Secret::new);
    audit(draft, options, report);
    if let Some(place) = listen_outside(draft, options, report) {
        draft.listen = Some(place);
    }
}

fn surface(draft: &mut Draft, options: &LoadOptions, report: &mut Report) {
    let config = &mut draft.config;
    if let Some(name) = options.variable("TOOLFOLD_SURFACE") {
        match Surface::parse(name) {
            Some(surface) => config.surface = surface,
            None => {
                let (message, hint) = unknown_surface(name);
                report.error(&Place::outside("TOOLFOLD_SURFACE"), message, hint);
            }
        }
    }
    // The way back for somebody in trouble: it wins over whatever else the environment says.
    match options.variable("TOOLFOLD_DISCLOSURE") {
        Some("off") => config.surface = Surface::Direct,
        None | Some("on") => {}
        Some(other) => {
            let message = format!("{} is neither `on` nor `off`", quoted(other));
            report.error(&Place::outside("TOOLFOLD_DISCLOSURE"), message, None);
        }
    }
    if let Some(surface) = options.surface {
        config.surface = surface;
    }
}

fn store(draft: &mut Draft, options: &LoadOptions) {
    let store = &mut draft.config.store;
    match options.variable("TOOLFOLD_STORE") {
        Some("memory") => *store = None,
        Some(text) => {
            let path = |path: &str| whole_path(path, &options.directory, &options.environment);
            *store = Some(store_place(text, path));
        }
        None if draft.store_typed => {}
        None => *store = options.data_dir.as_ref().map(|folder| StorePlace::File(folder.join("toolfold.db"))),
    }
}

/// It is kept beside the store, and there is one wherever there is a store, unless somebody wants none. Where the store is a
/// database, what is beside it is where this machine keeps its own things.
fn audit(draft: &mut Draft, options: &LoadOptions, report: &mut Report) {
    let (audit, store) = (&mut draft.config.audit, &draft.config.store);
    let beside = store.as_ref().and_then(|store| match store {
        StorePlace::File(path) => Some(path.with_extension("audit.db")),
        StorePlace::Database(_) => options.data_dir.as_ref().map(|folder| folder.join("toolfold.audit.db")),
    });
    // Who names a file wants it there.
    let shared = store.as_ref().and_then(StorePlace::database).filter(|_| audit.path.is_none());
    audit.database = shared.cloned();
    audit.path = audit.path.take().or(beside);
    match (&audit.path, &draft.audit) {
        (Some(_), None) => audit.mode = AuditMode::On,
        (None, Some(place)) if audit.mode == AuditMode::Strict => {
            let hint = "name a file with `path` under `[audit]`, or a store".to_owned();
            report.error(place, "must not be forgotten, and there is no file to keep it in", hint);
        }
        (None, _) => audit.mode = AuditMode::Off,
        _ => {}
    }
}

fn precise(draft: &mut Draft, options: &LoadOptions) {
    let folders = options.program_dir.iter().chain(&options.data_dir);
    let files: Vec<_> = folders.map(|folder| folder.join("precise.bin")).collect();
    let anywhere = if files.is_empty() { PreciseTier::Off } else { PreciseTier::Auto(files) };
    draft.config.precise = draft.precise.take().unwrap_or(anywhere);
}

/// Where the address comes from, if not from the file.
fn listen_outside(draft: &mut Draft, options: &LoadOptions, report: &mut Report) -> Option<Place> {
    let mut place = None;
    if let Some(text) = options.variable("TOOLFOLD_LISTEN") {
        let variable = Place::outside("TOOLFOLD_LISTEN");
        match listen(text) {
            Some(address) => {
                draft.config.http.listen = address;
                place = Some(variable);
            }
            None => {
                let message = format!("{} is not an address to listen on", quoted(text));
                report.error(&variable, message, LISTEN_HINT.to_owned());
            }
        }
    }
    if let Some(address) = options.listen {
        draft.config.http.listen = address;
        place = Some(Place::outside("--listen"));
    }
    place
}
