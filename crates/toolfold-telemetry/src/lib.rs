//! Figures for other people's instruments: counters that are read (`/metrics`), and traces and metrics that are sent to a
//! collector (OTLP over HTTP).
//!
//! What a reader would get wrong: there is one set of counters. What is sent is what would be read, with the names that
//! OpenTelemetry has for it. And a request never waits for any of this: spans go into a queue with a bound, and are dropped
//! where it is full.

mod context;
mod exporter;
mod figures;
mod labels;
mod meter;
mod protobuf;
mod span;

pub use context::Context;
pub use exporter::Telemetry;
pub use labels::Carriage;
pub use meter::{Measured, Meter, Readings};
pub use span::{Role, Span};
