//! The log, on stderr, a line for each event whatever it says: every field goes through [`shown_line`] here, so that no
//! server and no client can begin a line of its own or reach the terminal.
//!
//! A command for people has none unless it is asked for (`-v`, `TOOLFOLD_LOG`): what they need is said in messages.

use std::fmt;
use std::io::IsTerminal;

use toolfold_core::shown_line;
use tracing::field::Field;
use tracing_subscriber::field::MakeExt;
use tracing_subscriber::fmt::format::{Writer, debug_fn};
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

use super::Common;
use super::journal::Journal;
use super::output::{clean_stderr, tell};

/// `usual` is what is logged where nobody asks for more or less.
pub(crate) fn start(common: &Common, usual: &str) {
    let usual = match (common.quiet, common.verbose) {
        (true, _) => "off",
        (false, 0) => usual,
        (false, 1) => "info",
        (false, 2) => "debug",
        (false, _) => "trace",
    };
    let wanted = std::env::var("TOOLFOLD_LOG").unwrap_or_else(|_| usual.to_owned());
    let filter = EnvFilter::try_new(&wanted).unwrap_or_else(|_| {
        tell(&format!("TOOLFOLD_LOG={wanted:?} is not a filter; use error, warn, info, debug or trace."));
        EnvFilter::new(usual)
    });
    let lines = tracing_subscriber::fmt::layer()
        .fmt_fields(debug_fn(write_field).delimited(" "))
        .with_writer(clean_stderr)
        .with_ansi(std::io::stderr().is_terminal())
        .with_target(false)
        .with_filter(filter);
    let journal = common.options().data_dir.map(|state| Journal::start(&state).layer());
    // Set already: a program that embeds us logs its own way.
    let _ = tracing_subscriber::registry().with(lines).with(journal).try_init();
}

fn write_field(writer: &mut Writer<'_>, field: &Field, value: &dyn fmt::Debug) -> fmt::Result {
    let value = format!("{value:?}");
    match field.name() {
        "message" => write!(writer, "{}", shown_line(&value)),
        name => write!(writer, "{name}={}", shown_line(&value)),
    }
}
