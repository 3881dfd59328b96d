//! Tools for numbers. They calculate in double precision and say so: large whole numbers may be rounded.

use serde_json::{Value, json};

use crate::arguments::Arguments;
use crate::calculate::calculate;
use crate::problem::told;
use crate::tool::{Replied, Reply, Tool, integer, number, text};
use crate::units;

pub(crate) fn tools() -> Vec<Tool> {
    let value = json!({"type": "number"});
    vec![
        Tool::new(
            "calculate",
            "Calculate",
            "Calculate an arithmetic expression: + - * / % ^, parentheses, pi, e, and functions such as sqrt, round, \
             ln, sin (radians), min and max. Double precision.",
            expression,
        )
        .needs("expression", text("Such as (3 + 4) * 2^10 / sqrt(2)"))
        .gives(json!({"result": value})),
        Tool::new(
            "unit_convert",
            "Convert units",
            "Convert a value between units of length, mass, temperature, volume, area, speed, time, data, energy, \
             pressure or angle.",
            convert,
        )
        .needs("value", number("The value to convert"))
        .needs("from", text("Its unit, such as km, lb, °F, MB"))
        .needs("to", text("The unit to convert to"))
        .gives(json!({"value": value, "unit": {"type": "string"}})),
        Tool::new(
            "number_base",
            "Convert number base",
            "Write a whole number in another base, from 2 (binary) to 36.",
            change_base,
        )
        .needs("number", text("The number, such as 255, ff, 0xff or -1010"))
        .takes("from", integer("The base it is written in; told by 0x, 0b or 0o, else 10", 10, 2, 36))
        .needs("to", integer("The base to write it in", 10, 2, 36)),
        Tool::new(
            "statistics",
            "Describe numbers",
            "Describe a list of numbers: sum, mean, median, smallest, largest, quartiles and standard deviation.",
            statistics,
        )
        .needs("numbers", json!({"type": "array", "items": value, "minItems": 1, "description": "The numbers"}))
        .gives(json!({
            "count": {"type": "integer"}, "sum": value, "mean": value, "median": value, "min": value, "max": value,
            "quartile1": value, "quartile3": value,
            "standard_deviation": {"type": "number", "description": "Of the numbers as a whole population"},
        })),
    ]
}

/// A float as the number a person would write: whole where it is whole.
pub(crate) fn tidy(value: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if value.fract() == 0.0 && value.abs() < EXACT {
        #[expect(clippy::cast_possible_truncation, reason = "whole and within 53 bits")]
        return (value as i64).into();
    }
    value.into()
}

fn expression(arguments: &Arguments<'_>) -> Replied {
    let result = calculate(arguments.text("expression")?, arguments.fuel)?;
    Ok(Reply::Json(json!({"result": tidy(result)})))
}

fn convert(arguments: &Arguments<'_>) -> Replied {
    let (from, to) = (units::find("from", arguments.word("from")?)?, units::find("to", arguments.word("to")?)?);
    if from.kind != to.kind {
        return Err(told!(
            "{} is a unit of {} and {} one of {}: they cannot be converted. Units of {}: {}.",
            from.name,
            from.kind,
            to.name,
            to.kind,
            from.kind,
            units::of(from.kind),
        ));
    }
    let value = from.convert(arguments.number("value")?, to);
    if !value.is_finite() {
        return Err(told!("The result is too large to be written. Use a larger unit."));
    }
    Ok(Reply::Json(json!({"value": tidy(value), "unit": to.name})))
}

fn change_base(arguments: &Arguments<'_>) -> Replied {
    let given = arguments.word("number")?.trim().replace(['_', ' '], "").to_lowercase();
    let (sign, digits) = match given.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", given.as_str()),
    };
    let told = [("0x", 16), ("0b", 2), ("0o", 8)].into_iter().find(|(prefix, _)| digits.starts_with(prefix));
    let base = match (arguments.get("from"), told) {
        (None, Some((_, base))) => base,
        _ => arguments.integer("from", 10, (2, 36))?,
    };
    // 0b is also a fine pair of hexadecimal digits: the prefix counts only in its own base.
    let digits = told.filter(|(_, own)| *own == base).map_or(digits, |(prefix, _)| &digits[prefix.len()..]);
    let base = u32::try_from(base).unwrap_or(10);
    let value = u128::from_str_radix(digits, base)
        .map_err(|_| told!("`number` {given:?} is not a whole number in base {base}, or is too large."))?;
    let to = u32::try_from(arguments.any("to").and(arguments.integer("to", 10, (2, 36)))?).unwrap_or(10);
    Ok(Reply::Text(format!("{}{}", if value == 0 { "" } else { sign }, write_in(value, to))))
}

fn write_in(mut value: u128, base: u32) -> String {
    let mut digits = Vec::new();
    loop {
        let digit = u32::try_from(value % u128::from(base)).unwrap_or(0);
        digits.push(char::from_digit(digit, base).unwrap_or('0'));
        value /= u128::from(base);
        if value == 0 {
            return digits.into_iter().rev().collect();
        }
    }
}

fn statistics(arguments: &Arguments<'_>) -> Replied {
    let given = arguments.list("numbers")?;
    // Sorted, and gone through a few times.
    arguments.fuel.burn(40 * given.len() as u64)?;
    let numbers: Option<Vec<f64>> = given.iter().map(Value::as_f64).collect();
    let mut numbers = numbers.ok_or_else(|| told!("`numbers` has something other than numbers in it."))?;
    if numbers.is_empty() {
        return Err(told!("`numbers` is empty. Give at least one number."));
    }
    numbers.sort_by(f64::total_cmp);
    #[expect(clippy::cast_precision_loss, reason = "no list has more than 2^52 numbers")]
    let count = numbers.len() as f64;
    let sum: f64 = numbers.iter().sum();
    let mean = sum / count;
    let variance = numbers.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / count;
    if !(sum.is_finite() && variance.is_finite()) {
        return Err(told!("The numbers are too large to be added up."));
    }
    Ok(Reply::Json(json!({
        "count": numbers.len(), "sum": tidy(sum), "mean": tidy(mean), "median": tidy(quantile(&numbers, 0.5)),
        "min": tidy(quantile(&numbers, 0.0)), "max": tidy(quantile(&numbers, 1.0)),
        "quartile1": tidy(quantile(&numbers, 0.25)), "quartile3": tidy(quantile(&numbers, 0.75)),
        "standard_deviation": tidy(variance.sqrt()),
    })))
}

/// Between two numbers, in proportion; `numbers` is sorted and not empty.
#[expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "an index into a list in memory"
)]
fn quantile(numbers: &[f64], part: f64) -> f64 {
    let place = part * (numbers.len() - 1) as f64;
    let (low, high) = (place.floor() as usize, place.ceil() as usize);
    numbers[low] + (numbers[high] - numbers[low]) * place.fract()
}
