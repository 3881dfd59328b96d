//! Tools for dates and times. A time without a zone is read in the zone that is given, or in UTC: never silently in the
//! zone of the machine, because the model that asks does not know it.

use jiff::civil::DateTime;
use jiff::tz::TimeZone;
use jiff::{Span, Timestamp, Unit, Zoned, ZonedDifference};
use serde_json::{Value, json};

use crate::arguments::{Arguments, one_of};
use crate::page::cut;
use crate::problem::{Problem, told};
use crate::tool::{Replied, Reply, Tool, choice, text};

const UNITS: [&str; 7] = ["years", "months", "weeks", "days", "hours", "minutes", "seconds"];
const ZONE: &str = "An IANA time zone such as Europe/Berlin, or UTC";
const TIME: &str = "A time: 2025-03-30T10:00:00+02:00, 2025-03-30 10:00, 2025-03-30, or Unix seconds";

pub(crate) fn tools() -> Vec<Tool> {
    let moment = json!({"time": {"type": "string"}, "zone": {"type": "string"}, "weekday": {"type": "string"},
        "unix": {"type": "integer"}});
    vec![
        Tool::new("time_now", "Current time", "Tell the current date and time in a time zone.", now)
            .takes("zone", text("An IANA time zone such as Europe/Berlin; this machine's zone if left out"))
            .gives(moment.clone())
            .varies(),
        Tool::new("time_convert", "Convert time zone", "Convert a time from one time zone to another.", convert)
            .needs("time", text(TIME))
            .needs("to", text(ZONE))
            .takes("from", text("The zone of a time that does not name one; UTC if left out"))
            .gives(moment.clone()),
        Tool::new(
            "time_add",
            "Add to a time",
            "Add a duration to a time or subtract one, with calendar rules: a day is a day across clock changes.",
            add,
        )
        .needs("time", text(TIME))
        .needs("duration", text("Such as 3 days, -2 hours 30 minutes, 1 month, or ISO 8601: P1DT2H"))
        .takes("zone", text("The zone to calculate in; UTC if left out"))
        .gives(moment),
        Tool::new(
            "time_difference",
            "Time between",
            "Tell how much time lies between two times, in words, as an ISO 8601 duration and in seconds.",
            difference,
        )
        .needs("from", text(TIME))
        .needs("to", text(TIME))
        .takes("zone", text("The zone to calculate in; UTC if left out"))
        .takes("largest", choice("The largest unit to use; years if left out", &UNITS))
        .gives(json!({"words": {"type": "string"}, "iso": {"type": "string"}, "seconds": {"type": "number"}})),
    ]
}

fn now(arguments: &Arguments<'_>) -> Replied {
    let zone = match arguments.get("zone") {
        Some(_) => zone(arguments.word("zone")?)?,
        None => TimeZone::system(),
    };
    // To the second: nobody who asks for the time wants nanoseconds.
    let now = Zoned::now().with_time_zone(zone).round(Unit::Second).map_err(beyond)?;
    Ok(moment(&now))
}

fn convert(arguments: &Arguments<'_>) -> Replied {
    let time = time(arguments, "time", &zone(arguments.word_or("from", "UTC")?)?)?;
    Ok(moment(&time.with_time_zone(zone(arguments.word("to")?)?)))
}

fn add(arguments: &Arguments<'_>) -> Replied {
    let zone = zone(arguments.word_or("zone", "UTC")?)?;
    let time = time(arguments, "time", &zone)?.with_time_zone(zone);
    let text = arguments.word("duration")?;
    let duration: Span = text.trim().parse().map_err(|_| {
        told!("`duration` {text:?} cannot be read. Write it like 3 days, -2 hours 30 minutes, or P1DT2H.")
    })?;
    Ok(moment(&time.checked_add(duration).map_err(beyond)?))
}

fn difference(arguments: &Arguments<'_>) -> Replied {
    let zone = zone(arguments.word_or("zone", "UTC")?)?;
    let from = time(arguments, "from", &zone)?.with_time_zone(zone.clone());
    let to = time(arguments, "to", &zone)?.with_time_zone(zone);
    let largest = match arguments.word_or("largest", "years")? {
        "years" => Unit::Year,
        "months" => Unit::Month,
        "weeks" => Unit::Week,
        "days" => Unit::Day,
        "hours" => Unit::Hour,
        "minutes" => Unit::Minute,
        "seconds" => Unit::Second,
        other => return Err(one_of("largest", other, &UNITS)),
    };
    let span = from.until(ZonedDifference::new(&to).largest(largest)).map_err(beyond)?;
    let seconds = to.timestamp().duration_since(from.timestamp()).as_secs_f64();
    Ok(Reply::Json(json!({"words": words(&span), "iso": span.to_string(), "seconds": crate::numbers::tidy(seconds)})))
}

fn words(span: &Span) -> String {
    let parts = [
        (i64::from(span.get_years()), "year"),
        (i64::from(span.get_months()), "month"),
        (i64::from(span.get_weeks()), "week"),
        (i64::from(span.get_days()), "day"),
        (i64::from(span.get_hours()), "hour"),
        (span.get_minutes(), "minute"),
        (span.get_seconds(), "second"),
    ];
    let said = parts.into_iter().filter(|(n, _)| *n != 0).map(|(n, unit)| {
        let n = n.unsigned_abs();
        format!("{n} {unit}{}", if n == 1 { "" } else { "s" })
    });
    let said = said.collect::<Vec<_>>().join(", ");
    match (said.is_empty(), span.is_negative()) {
        (true, _) => "no time at all".to_owned(),
        (false, true) => format!("{said} earlier"),
        (false, false) => said,
    }
}

fn moment(time: &Zoned) -> Reply {
    let zone = time.time_zone().iana_name().map_or_else(|| time.offset().to_string(), str::to_owned);
    Reply::Json(json!({
        "time": time.strftime("%Y-%m-%dT%H:%M:%S%.f%:z").to_string(), "zone": zone,
        "weekday": time.strftime("%A").to_string(), "unix": time.timestamp().as_second(),
    }))
}

fn zone(name: &str) -> Result<TimeZone, Problem> {
    TimeZone::get(name.trim())
        .map_err(|_| told!("There is no time zone {name:?}. Use an IANA name such as Europe/Berlin, or UTC."))
}

fn time(arguments: &Arguments<'_>, key: &str, zone: &TimeZone) -> Result<Zoned, Problem> {
    let value = match arguments.any(key)? {
        Value::String(_) => &Value::from(arguments.word(key)?),
        other => other,
    };
    let unreadable = || {
        told!(
            "The time {} cannot be read. Write it like 2025-03-30T10:00:00+02:00, 2025-03-30 10:00 or 2025-03-30.",
            cut(value, 200)
        )
    };
    let text = match value {
        Value::String(text) => text.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return Err(unreadable()),
    };
    // A bare number could be read as a date (20250330) too: eight digits are one, anything else is seconds.
    if let Ok(seconds) = text.parse::<i64>()
        && text.len() != 8
    {
        return Timestamp::from_second(seconds).map(|time| time.to_zoned(zone.clone())).map_err(beyond);
    }
    if let Ok(time) = text.parse::<Zoned>() {
        return Ok(time);
    }
    if let Ok(time) = text.parse::<Timestamp>() {
        return Ok(time.to_zoned(zone.clone()));
    }
    let civil: DateTime = text.parse().map_err(|_| unreadable())?;
    civil.to_zoned(zone.clone()).map_err(beyond)
}

fn beyond(error: jiff::Error) -> Problem {
    told!("That time cannot be calculated: {error}.")
}
