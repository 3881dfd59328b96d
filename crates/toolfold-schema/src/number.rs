//! Numbers as JSON has them: `1` and `1.0` are one number, and `0.0075` is a multiple of `0.0001`.

use std::cmp::Ordering;

use serde_json::Number;

/// Exact, across whole numbers and fractions.
pub(crate) fn compare(a: &Number, b: &Number) -> Ordering {
    match (whole(a), whole(b)) {
        (Some(a), Some(b)) => a.cmp(&b),
        (Some(a), None) => against(a, b.as_f64().unwrap_or(f64::NAN)),
        (None, Some(b)) => against(b, a.as_f64().unwrap_or(f64::NAN)).reverse(),
        (None, None) => {
            let (a, b) = (a.as_f64().unwrap_or(f64::NAN), b.as_f64().unwrap_or(f64::NAN));
            a.partial_cmp(&b).unwrap_or(Ordering::Equal)
        }
    }
}

/// The number, if it is written without a fraction or an exponent.
fn whole(number: &Number) -> Option<i128> {
    number.as_i64().map(i128::from).or_else(|| number.as_u64().map(i128::from))
}

fn against(a: i128, b: f64) -> Ordering {
    if b.is_infinite() || b.abs() >= 1e30 {
        return if b > 0.0 { Ordering::Less } else { Ordering::Greater };
    }
    #[expect(clippy::cast_possible_truncation, reason = "below 1e30, which is far within 127 bits")]
    let floor = b.floor() as i128;
    a.cmp(&floor).then(if b.fract() == 0.0 { Ordering::Equal } else { Ordering::Less })
}

/// Whether it is an integer to a draft: from draft 6 on `1.0` is one.
pub(crate) fn is_integer(number: &Number, fractions_count: bool) -> bool {
    whole(number).is_some() || (fractions_count && number.as_f64().is_some_and(|value| value.fract() == 0.0))
}

/// Exact in decimal, as the numbers are written: binary fractions would call 0.3 no multiple of 0.1.
pub(crate) fn is_multiple(number: &Number, of: &Number) -> bool {
    let (Some(value), Some(divisor)) = (Decimal::of(number), Decimal::of(of)) else { return true };
    if value.digits == 0 || divisor.digits == 0 {
        return true;
    }
    if value.exponent >= divisor.exponent {
        let power = power_of_ten(value.exponent.abs_diff(divisor.exponent), divisor.digits);
        return ((value.digits % divisor.digits) * power).is_multiple_of(divisor.digits);
    }
    let scale = 10u128.checked_pow(value.exponent.abs_diff(divisor.exponent));
    let divisor = scale.and_then(|scale| scale.checked_mul(divisor.digits));
    // A divisor that does not fit is larger than any value that does.
    divisor.is_some_and(|divisor| value.digits.is_multiple_of(divisor))
}

/// `digits × 10^exponent`, without a sign: that says nothing about multiples. The digits are at most twenty.
struct Decimal {
    digits: u128,
    exponent: i32,
}

impl Decimal {
    fn of(number: &Number) -> Option<Decimal> {
        let text = number.to_string();
        let text = text.trim_start_matches('-');
        let (digits, exponent) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
        let (before, after) = digits.split_once('.').unwrap_or((digits, ""));
        let mut exponent = exponent.parse::<i32>().ok()?.checked_sub(i32::try_from(after.len()).ok()?)?;
        let mut digits = before
            .chars()
            .chain(after.chars())
            .try_fold(0u128, |sum, digit| sum.checked_mul(10)?.checked_add(u128::from(digit.to_digit(10)?)))?;
        while digits != 0 && digits.is_multiple_of(10) {
            digits /= 10;
            exponent += 1;
        }
        // Beyond this the products of `is_multiple` would not fit.
        (digits < 1 << 63).then_some(Decimal { digits, exponent })
    }
}

/// 10^exponent modulo something below 2^63.
fn power_of_ten(exponent: u32, modulus: u128) -> u128 {
    let (mut result, mut base, mut exponent) = (1 % modulus, 10 % modulus, exponent);
    while exponent > 0 {
        if exponent % 2 == 1 {
            result = result * base % modulus;
        }
        base = base * base % modulus;
        exponent /= 2;
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    fn number(text: &str) -> Number {
        serde_json::from_str(text).unwrap()
    }

    #[test]
    fn multiples_are_exact() {
        let yes =
            [("0.3", "0.1"), ("0.0075", "0.0001"), ("1e308", "0.5"), ("-4.5", "1.5"), ("0", "7"), ("1e22", "1e-5")];
        let no = [("0.00751", "0.0001"), ("7", "2"), ("35", "1.5"), ("1e-9", "1"), ("1", "1e300"), ("1e308", "0.7")];
        for (value, of) in yes {
            assert!(is_multiple(&number(value), &number(of)), "{value} of {of}");
        }
        for (value, of) in no {
            assert!(!is_multiple(&number(value), &number(of)), "{value} of {of}");
        }
    }

    #[test]
    fn whole_numbers_and_fractions_are_one_line() {
        let order = [
            "-1e300",
            "-9223372036854775808",
            "-1.5",
            "-1",
            "0",
            "0.5",
            "1",
            "9007199254740993",
            "18446744073709551615",
            "1e20",
        ];
        for pair in order.windows(2) {
            assert_eq!(compare(&number(pair[0]), &number(pair[1])), Ordering::Less, "{pair:?}");
            assert_eq!(compare(&number(pair[1]), &number(pair[0])), Ordering::Greater, "{pair:?}");
        }
        assert_eq!(compare(&number("1"), &number("1.0")), Ordering::Equal);
    }
}
