//! What limits, the audit and the figures that are sent come to.

use url::Url;

use crate::operation::{AuditMode, AuditSettings, Keep, Limits, Rate, Recorded, TelemetrySettings};
use crate::raw_operation::{RawAudit, RawLimits, RawTelemetry};
use crate::report::{Place, quoted};
use crate::resolve::Resolver;
use crate::table::{Amount, Field};
use crate::units;

impl Resolver<'_> {
    pub(crate) fn limits(&mut self, raw: &RawLimits) -> Limits {
        let usual = Limits::default();
        let mut rate = |field: &Field<Amount>| -> Option<Rate> { self.amount(field, "rate", units::rate) };
        let (requests, calls) = (rate(&raw.requests), rate(&raw.calls));
        let (calls_per_server, unauthenticated) = (rate(&raw.calls_per_server), rate(&raw.unauthenticated));
        Limits {
            memory: self.amount(&raw.memory, "size", units::size).unwrap_or(usual.memory),
            requests,
            calls,
            calls_per_server,
            unauthenticated,
            per_server: self.number(&raw.per_server, 1, 100_000).map(|most| most as usize),
            failures: self.number(&raw.failures, 0, 1_000_000).map_or(usual.failures, |number| number as u32),
        }
    }

    /// The audit, and where the file says whether there is one.
    pub(crate) fn audit(&mut self, raw: &RawAudit) -> (AuditSettings, Option<Place>) {
        let modes = [("off", AuditMode::Off), ("on", AuditMode::On), ("strict", AuditMode::Strict)];
        let ladder = [
            ("names", Recorded::Names),
            ("queries", Recorded::Queries),
            ("arguments", Recorded::Arguments),
            ("results", Recorded::Results),
        ];
        let usual = Keep::default();
        let audit = AuditSettings {
            mode: self.choice(&raw.mode, &modes, AuditMode::On),
            record: self.choice(&raw.record, &ladder, Recorded::Names),
            keep: Keep {
                days: self.number(&raw.keep_days, 1, 36_500).unwrap_or(usual.days),
                events: self.number(&raw.keep_events, 1_000, 1_000_000_000_000).unwrap_or(usual.events),
                bytes: self.amount(&raw.keep_bytes, "size", units::room).unwrap_or(usual.bytes),
            },
            path: self.text(&raw.path).map(|text| self.path(&text.value)),
            database: None,
        };
        (audit, raw.mode.given().map(|typed| typed.place.clone()))
    }

    pub(crate) fn telemetry(&mut self, raw: &RawTelemetry) -> TelemetrySettings {
        let mut otlp = None;
        if let Some(text) = self.text(&raw.otlp) {
            let address = Url::parse(&text.value).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
            if address.is_none_or(|url| url.host().is_none()) {
                let hint = "write the address of a collector: \"http://127.0.0.1:4318\"".to_owned();
                let message = format!("{} is not an address of HTTP", quoted(&text.typed.value));
                self.report.error(&text.typed.place, message, hint);
            }
            otlp = Some(text.value.trim_end_matches('/').to_owned());
        }
        let headers = self.secrets(&raw.headers, |name| !name.is_empty() && name.is_ascii(), "a header");
        TelemetrySettings { otlp, headers }
    }

    pub(crate) fn number(&mut self, field: &Field<i64>, least: u64, most: u64) -> Option<u64> {
        let typed = field.given()?;
        let number = u64::try_from(typed.value).ok().filter(|number| (least..=most).contains(number));
        if number.is_none() {
            self.report.error(&typed.place, format!("must be between {least} and {most}"), None);
        }
        number
    }
}
