//! `[audit]`, `[limits]` and `[telemetry]`.

use std::time::Duration;

use insta::assert_snapshot;
use toolfold_config::{AuditMode, Config, LoadOptions, Rate, Recorded, load};

use crate::options;

fn read(text: &str, change: impl FnOnce(LoadOptions) -> LoadOptions) -> Result<Config, String> {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("toolfold.toml"), text).unwrap();
    let options = LoadOptions { file: Some("toolfold.toml".into()), ..options(folder.path()) };
    load(&change(options)).map(|loaded| loaded.config).map_err(|problems| problems.to_string())
}

fn stored(options: LoadOptions) -> LoadOptions {
    LoadOptions { data_dir: Some("/state".into()), ..options }
}

fn forgetful(options: LoadOptions) -> LoadOptions {
    LoadOptions { data_dir: None, ..options }
}

#[test]
fn there_is_an_audit_wherever_there_is_a_store() {
    let config = read("", stored).unwrap();
    assert_eq!((config.audit.mode, config.audit.record), (AuditMode::On, Recorded::Names));
    assert_eq!(config.audit.path.unwrap().to_str(), Some("/state/toolfold.audit.db"));
    let config = read("", forgetful).unwrap();
    assert_eq!((config.audit.mode, config.audit.path), (AuditMode::Off, None));
    let config = read("[audit]\nmode = \"off\"\n", stored).unwrap();
    assert_eq!(config.audit.mode, AuditMode::Off);
    assert_eq!(Config::default().audit.mode, AuditMode::Off, "an embedding keeps none by itself");
}

#[test]
fn the_mode_alone_is_enough() {
    for (mode, meant) in [("off", AuditMode::Off), ("on", AuditMode::On), ("strict", AuditMode::Strict)] {
        let config = read(&format!("audit = \"{mode}\"\n"), stored).unwrap();
        assert_eq!((config.audit.mode, config.audit.record), (meant, Recorded::Names));
    }
    assert_snapshot!(read("audit = \"strikt\"\n", stored).unwrap_err(), @r#"
    toolfold.toml:1:1: audit: "strikt" is not a choice here
      hint: did you mean "strict"?
    "#);
    assert_snapshot!(read("audit = 3\n", stored).unwrap_err(), @"toolfold.toml:1:1: audit: expected a table, found an integer");
}

#[test]
fn everything_that_can_be_said() {
    let text = "[audit]\nmode = \"strict\"\nrecord = \"arguments\"\nkeep_days = 7\nkeep_events = 5000\n\
        keep_bytes = \"2GiB\"\npath = \"/a.db\"\n\
        [limits]\nrequests = \"20/s\"\ncalls = \"600/m\"\ncalls_per_server = \"9/h\"\nunauthenticated = \"1/s\"\n\
        per_server = 4\nfailures = 0\nmemory = \"1MiB\"\n\
        [telemetry]\notlp = \"http://127.0.0.1:4318/\"\nheaders = { Authorization = \"x\" }\n";
    let config = read(text, forgetful).unwrap();
    assert_eq!((config.audit.mode, config.audit.record), (AuditMode::Strict, Recorded::Arguments));
    assert_eq!((config.audit.keep.days, config.audit.keep.events, config.audit.keep.bytes), (7, 5000, 2 << 30));
    let rate = |count, seconds| Some(Rate { count, per: Duration::from_secs(seconds) });
    let limits = config.limits;
    assert_eq!((limits.requests, limits.calls), (rate(20, 1), rate(600, 60)));
    assert_eq!((limits.calls_per_server, limits.unauthenticated), (rate(9, 3600), rate(1, 1)));
    assert_eq!((limits.per_server, limits.failures, limits.memory), (Some(4), 0, 1 << 20));
    assert_eq!(config.telemetry.otlp.as_deref(), Some("http://127.0.0.1:4318"));
    assert_eq!(config.telemetry.headers["Authorization"].expose(), "x");
}

#[test]
fn mistakes_are_all_told() {
    let text = "[audit]\nmode = \"strikt\"\nkeep_days = 0\nkeep_bytes = 7\nretention = 3\n\
        [limits]\nrequests = 20\nper_server = 0\n[telemetry]\notlp = \"collector:4318\"\n";
    assert_snapshot!(read(text, stored).unwrap_err(), @r#"
    toolfold.toml:2:1: audit.mode: "strikt" is not a choice here
      hint: did you mean "strict"?
    toolfold.toml:3:1: audit.keep_days: must be between 1 and 36500
    toolfold.toml:4:1: audit.keep_bytes: 7 is not a usable size
      hint: it must be at least 1 MiB and at most 1 TiB
    toolfold.toml:5:1: audit.retention: unknown key
      hint: known keys: mode, record, keep_days, keep_events, keep_bytes, path
    toolfold.toml:7:1: limits.requests: 20 is not a usable rate
      hint: write how many in a second, a minute or an hour: "20/s", "600/m", "5000/h"
    toolfold.toml:8:1: limits.per_server: must be between 1 and 100000
    toolfold.toml:10:1: telemetry.otlp: "collector:4318" is not an address of HTTP
      hint: write the address of a collector: "http://127.0.0.1:4318"
    "#);
    let text = "[audit]\nmode = \"strict\"\n";
    assert_snapshot!(read(text, forgetful).unwrap_err(), @r"
    toolfold.toml:2:1: audit.mode: must not be forgotten, and there is no file to keep it in
      hint: name a file with `path` under `[audit]`, or a store
    ");
}
