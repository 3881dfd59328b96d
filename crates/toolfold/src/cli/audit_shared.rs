//! `toolfold audit` where replicas share a database: the same questions about all of their chains.

use serde_json::{Value, json};
use toolfold_audit::{Moment, SharedReader, Verified};
use toolfold_core::{DatabaseUrl, shown_line};

use super::audit::{LOOK, TOGETHER, What, exported, failed, parsed, show_all, show_traced, whole};
use super::output::{print, print_json};
use super::{Common, Fail};

impl What {
    pub(super) fn shared(self, common: &Common, url: &DatabaseUrl) -> Result<(), Fail> {
        let reader = SharedReader::open(url).map_err(failed)?;
        match self {
            What::Tail { lines, follow } => {
                let (last, mut seen) = reader.tail(lines).map_err(failed)?;
                show_all(common, &last)?;
                if !follow {
                    return Ok(());
                }
                loop {
                    let new = reader.after(&mut seen, TOGETHER).map_err(failed)?;
                    match new.is_empty() {
                        true => std::thread::sleep(LOOK),
                        false => show_all(common, &new)?,
                    }
                }
            }
            What::Show { number } => show(&reader, &number),
            What::Trace { tool, lines } => show_traced(common, &tool, &reader.trace(&tool, lines).map_err(failed)?),
            What::Verify => verify(common, url, &reader),
            What::Head => {
                let heads = reader.heads().map_err(failed)?;
                if common.json {
                    let all: Vec<Value> = heads
                        .iter()
                        .map(|(chain, head)| json!({"chain": chain, "number": head.number, "hash": head.to_string().split(' ').nth(1)}))
                        .collect();
                    return print_json(&all);
                }
                let lines: Vec<String> = heads.iter().map(|(chain, head)| format!("{chain} {head}")).collect();
                print(&lines.join("\n"))
            }
            What::Export { format } => exported(format, |each| reader.each(Moment::default(), each)),
            What::Usage(_) => Ok(()),
        }
    }
}

fn show(reader: &SharedReader, text: &str) -> Result<(), Fail> {
    let (chain, number) = match text.rsplit_once('/') {
        Some((chain, number)) => (Some(chain), parsed(number)?),
        None => (None, parsed(text)?),
    };
    let found = reader.show(chain, number).map_err(failed)?;
    match found.as_slice() {
        [] => Err(Fail::nothing(format!("There is no event {}.", shown_line(text)))),
        [only] => print_json(&whole(only)),
        several => print_json(&several.iter().map(whole).collect::<Vec<_>>()),
    }
}

fn verify(common: &Common, url: &DatabaseUrl, reader: &SharedReader) -> Result<(), Fail> {
    let verdicts = reader.verify().map_err(failed)?;
    let mut sound = true;
    let (mut lines, mut all) = (Vec::new(), Vec::new());
    for (chain, verdict) in &verdicts {
        match verdict {
            Verified::Sound { events, cut, head } => {
                all.push(
                    json!({"chain": chain, "sound": true, "events": events, "cut": cut, "head": head.to_string()}),
                );
                lines.push(format!("{chain}: {events} events are as they were written, head {head}"));
            }
            Verified::Broken(broken) => {
                sound = false;
                let why = shown_line(&broken.why);
                all.push(json!({"chain": chain, "sound": false, "number": broken.number, "why": why}));
                let from = broken.number.map_or_else(String::new, |number| format!(" from event {number} on"));
                lines.push(format!("{chain}: is not as it was written{from}: {why}"));
            }
        }
    }
    if common.json {
        print_json(&all)?;
        return if sound { Ok(()) } else { Err(Fail::silent(1)) };
    }
    if sound {
        return print(&lines.join("\n"));
    }
    Err(Fail::nothing(format!("The audit in {url} is not as it was written.\n{}", lines.join("\n"))))
}
