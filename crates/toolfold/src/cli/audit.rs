//! `toolfold audit`: what was written down, and whether it is as it was written.

use std::path::PathBuf;
use std::time::Duration;

use clap::{Args, Subcommand, ValueEnum};
use serde_json::{Value, json};
use toolfold_audit::{AuditEvent, Moment, Reader, Stored, Verified, cef, json_line, shown_time};
use toolfold_core::{shown_line, to_hex};
use toolfold_store::StoreError;

use super::output::{print, print_json, table, tell};
use super::{Common, Fail, usage};

/// How often a person who follows is told of what is new.
pub(super) const LOOK: Duration = Duration::from_millis(500);
pub(super) const TOGETHER: usize = 1000;

#[derive(Args)]
#[command(
    after_help = "What is recorded, and for how long, is said under [audit] in the configuration. Every event has a hash over \
the one before it, so `verify` finds whatever was changed; what it cannot find is that the end was cut off, so keep what `head` \
prints somewhere else. Exit codes: 0 done, 1 nothing there or the chain is broken, 2 usage or configuration, 3 the file cannot \
be read."
)]
pub(crate) struct AuditCommand {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
pub(super) enum What {
    /// Show the last events
    Tail {
        /// How many
        #[arg(long, short = 'n', default_value_t = 20)]
        lines: usize,
        /// Go on showing what comes
        #[arg(long, short)]
        follow: bool,
    },
    /// Show all there is about an event
    Show {
        /// Its number; where replicas share a database, CHAIN/NUMBER
        number: String,
    },
    /// Show what was done with a tool, and what led to it
    Trace {
        /// The tool's id
        tool: String,
        /// How many of its last events
        #[arg(long, short = 'n', default_value_t = 50)]
        lines: usize,
    },
    /// Check that every event is as it was written
    Verify,
    /// Print the number and the hash of the last event, to be kept elsewhere
    Head,
    /// Print every event for another program
    Export {
        /// How: each line a JSON object, or the Common Event Format
        #[arg(long, value_enum, default_value_t = ExportFormat::Jsonl)]
        format: ExportFormat,
    },
    /// Tell which tools are used, by whom, and how they were found
    Usage(usage::Since),
}

#[derive(Clone, Copy, ValueEnum)]
pub(super) enum ExportFormat {
    Jsonl,
    Cef,
}

impl AuditCommand {
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        if let What::Usage(since) = self.what {
            return usage::UsageCommand::of(since).run(common);
        }
        if let Some(url) = common.load(&common.options())?.config.audit.database {
            return self.what.shared(common, &url);
        }
        let (path, reader) = open(common)?;
        match self.what {
            What::Tail { lines, follow } => {
                let last = reader.tail(lines).map_err(failed)?;
                show_all(common, &last)?;
                if follow { go_on(common, &reader, last.last().map_or(0, |last| last.number)) } else { Ok(()) }
            }
            What::Show { number } => match reader.show(parsed(&number)?).map_err(failed)? {
                Some(stored) => print_json(&whole(&stored)),
                None => Err(Fail::nothing(format!("There is no event {number}."))),
            },
            What::Trace { tool, lines } => show_traced(common, &tool, &reader.trace(&tool, lines).map_err(failed)?),
            What::Verify => verify(common, &path, &reader),
            What::Head => {
                let head = reader.head().map_err(failed)?;
                match common.json {
                    true => print_json(&json!({"number": head.number, "hash": head.to_string().split(' ').nth(1)})),
                    false => print(&head.to_string()),
                }
            }
            What::Export { format } => export(&reader, format),
            What::Usage(_) => Ok(()),
        }
    }
}

/// The number of an event, as it is typed.
pub(super) fn parsed(text: &str) -> Result<u64, Fail> {
    text.parse().map_err(|_| Fail::usage(format!("{:?} is not the number of an event", shown_line(text))))
}

/// The file of the audit, and somebody who reads it.
pub(crate) fn open(common: &Common) -> Result<(PathBuf, Reader), Fail> {
    let config = common.load(&common.options())?.config;
    let Some(path) = config.audit.path else {
        return Err(Fail::nothing("Nothing is written down: there is neither a store nor a `path` under [audit]."));
    };
    match Reader::open(&path).map_err(failed)? {
        Some(reader) => Ok((path, reader)),
        None => {
            let told = format!("Nothing is written down yet: there is no {}.", shown_line(&path.display().to_string()));
            Err(Fail::nothing(told))
        }
    }
}

pub(crate) fn failed(error: StoreError) -> Fail {
    Fail::machine(shown_line(&error.to_string())).hint(error.hint())
}

fn verify(common: &Common, path: &std::path::Path, reader: &Reader) -> Result<(), Fail> {
    match reader.verify() {
        Verified::Sound { events, cut, head } => {
            if common.json {
                let head = head.to_string();
                return print_json(&json!({"sound": true, "events": events, "cut": cut, "head": head}));
            }
            let before =
                cut.map_or_else(String::new, |cut| format!(" Those up to {cut} were taken away when they were old."));
            print(&format!("{events} events are as they were written.{before}\nhead {head}"))
        }
        Verified::Broken(broken) => {
            let why = shown_line(&broken.why).into_owned();
            let place = shown_line(&path.display().to_string()).into_owned();
            let told = match broken.number {
                Some(number) => format!("{place} is not as it was written from event {number} on: {why}."),
                None => format!("{place} is not as it was written: {why}."),
            };
            if common.json {
                print_json(&json!({"sound": false, "number": broken.number, "why": why}))?;
                return Err(Fail::silent(1));
            }
            Err(Fail::nothing(told))
        }
    }
}

fn export(reader: &Reader, format: ExportFormat) -> Result<(), Fail> {
    exported(format, |each| reader.each(Moment::default(), each))
}

/// Prints every event that somebody goes through.
pub(super) fn exported(
    format: ExportFormat,
    go_through: impl FnOnce(&mut dyn FnMut(&Stored) -> bool) -> Result<(), StoreError>,
) -> Result<(), Fail> {
    let (mut text, mut outcome) = (String::new(), Ok(()));
    let mut each = |stored: &Stored| {
        let line = match format {
            ExportFormat::Jsonl => Some(json_line(stored)),
            ExportFormat::Cef => stored.event().map(|event| cef(&event, env!("CARGO_PKG_VERSION"))),
        };
        line.into_iter().for_each(|line| text.extend([&line, "\n"]));
        if text.len() > 1 << 20 {
            outcome = print(&std::mem::take(&mut text));
        }
        outcome.is_ok()
    };
    go_through(&mut each).map_err(failed)?;
    outcome?;
    if text.is_empty() { Ok(()) } else { print(&text) }
}

fn go_on(common: &Common, reader: &Reader, mut last: u64) -> Result<(), Fail> {
    loop {
        let new = reader.after(last, TOGETHER).map_err(failed)?;
        if let Some(newest) = new.last() {
            last = newest.number;
            show_all(common, &new)?;
        } else {
            std::thread::sleep(LOOK);
        }
    }
}

/// What was done with a tool.
pub(super) fn show_traced(common: &Common, tool: &str, found: &[Stored]) -> Result<(), Fail> {
    if found.is_empty() {
        let told = format!("Nothing is written down about {:?}.", shown_line(tool));
        return Err(Fail::nothing(told).hint("`toolfold audit usage` lists the tools that were used"));
    }
    show_all(common, found)
}

pub(super) fn show_all(common: &Common, all: &[Stored]) -> Result<(), Fail> {
    if common.json {
        let events: Vec<Value> = all.iter().map(whole).collect();
        return print_json(&events);
    }
    let named = |stored: &Stored| stored.event().map(|event| row(stored.chain.as_deref(), &event));
    let rows: Vec<Vec<String>> = all.iter().filter_map(named).collect();
    if rows.is_empty() {
        tell("Nothing is written down yet.");
        return Ok(());
    }
    print(&table(&rows))
}

pub(super) fn whole(stored: &Stored) -> Value {
    let event = serde_json::from_slice(&stored.body).unwrap_or(Value::Null);
    if let Some(chain) = &stored.chain {
        return json!({"chain": chain, "event": event, "hash": to_hex(&stored.hash)});
    }
    json!({"event": event, "hash": to_hex(&stored.hash)})
}

/// One event for a person: when, who, what, how, and what came of it.
fn row(chain: Option<&str>, event: &AuditEvent) -> Vec<String> {
    let line = |text: &str| shown_line(text).into_owned();
    let what = event.tool.clone().or_else(|| event.target.clone()).or_else(|| match event.shown.len() {
        0 => event.server.clone().or_else(|| event.method.clone()),
        1 => event.shown.first().cloned(),
        many => Some(format!("{many} tools")),
    });
    let via = event.via.as_ref().map(|via| {
        let rank = event.rank.map_or_else(String::new, |rank| format!(" #{rank}"));
        let follows = event.follows.map_or_else(String::new, |number| format!(" ({number})"));
        format!("via {via}{rank}{follows}")
    });
    let of = event.of.map(|number| format!("of {number}"));
    let outcome = match (&event.outcome, &event.code) {
        (Some(outcome), Some(code)) => format!("{outcome} {code}"),
        (Some(only), None) | (None, Some(only)) => only.clone(),
        (None, None) => String::new(),
    };
    let took = event.duration.map_or_else(String::new, |micros| format!("{:.1} ms", micros as f64 / 1000.0));
    let more = event.query.as_ref().map(|query| format!("{query:?}")).or_else(|| event.about.clone());
    let time = shown_time(event.time).get(..19).unwrap_or_default().replace('T', " ");
    vec![
        chain.map_or_else(|| event.number.to_string(), |chain| format!("{chain}/{}", event.number)),
        time,
        line(event.principal.as_deref().unwrap_or("-")),
        event.kind.as_str().to_owned(),
        line(what.as_deref().unwrap_or("-")),
        line(&via.or(of).unwrap_or_default()),
        line(&outcome),
        took,
        line(more.as_deref().unwrap_or_default()),
    ]
}
