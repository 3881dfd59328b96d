//! The functions of a transformer that are no matrix products, written so that the compiler can do eight numbers at once:
//! no branches, no calls, and no fused multiply-add, which some machines have and some emulate.

/// Over a row of numbers, in place: mean 0, variance 1, then each its own gain and shift.
#[inline(always)]
pub(crate) fn normalise(row: &mut [f32], gain: &[f32], shift: &[f32]) {
    let count = row.len() as f32;
    let mean = sum(row, |number| number) / count;
    row.iter_mut().for_each(|number| *number -= mean);
    let variance = sum(row, |number| number * number) / count;
    let factor = 1.0 / (variance + 1e-12).sqrt();
    for ((number, gain), shift) in row.iter_mut().zip(gain).zip(shift) {
        *number = *number * factor * gain + shift;
    }
}

/// Gauss' error function decides how much of a number passes.
#[inline(always)]
pub(crate) fn gelu(number: f32) -> f32 {
    0.5 * number * (1.0 + error_function(number * std::f32::consts::FRAC_1_SQRT_2))
}

/// Numbers to shares that sum up to 1, in place.
#[inline(always)]
pub(crate) fn softmax(row: &mut [f32]) {
    let largest =
        row.iter().copied().fold(f32::NEG_INFINITY, |largest, number| if number > largest { number } else { largest });
    row.iter_mut().for_each(|number| *number = exponential(*number - largest));
    let factor = 1.0 / sum(row, |number| number);
    row.iter_mut().for_each(|number| *number *= factor);
}

/// Eight sums side by side: the order of additions is the same with and without vector instructions.
#[inline(always)]
pub(crate) fn sum(numbers: &[f32], of: impl Fn(f32) -> f32) -> f32 {
    let mut sums = [0.0; 8];
    let (eights, rest) = numbers.as_chunks::<8>();
    for eight in eights {
        for (sum, number) in sums.iter_mut().zip(eight) {
            *sum += of(*number);
        }
    }
    for (sum, number) in sums.iter_mut().zip(rest) {
        *sum += of(*number);
    }
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + e) + (c + g)) + ((b + f) + (d + h))
}

/// Formula 7.1.26 of Abramowitz and Stegun: right to 1.5e-7.
#[inline(always)]
fn error_function(number: f32) -> f32 {
    const TERMS: [f32; 5] = [1.061_405_4, -1.453_152, 1.421_413_7, -0.284_496_74, 0.254_829_6];
    let size = number.abs();
    let t = 1.0 / (1.0 + 0.327_591_1 * size);
    let polynomial = TERMS.iter().fold(0.0, |sum, term| (sum + term) * t);
    (1.0 - polynomial * exponential(-size * size)).copysign(number)
}

/// e to a number: a power of two for the whole part of the exponent, a polynomial for what remains. What would be too
/// small or too large for an f32 stays at its edge.
#[inline(always)]
fn exponential(number: f32) -> f32 {
    const TERMS: [f32; 6] = [0.001_388_889, 0.008_333_334, 0.041_666_668, 0.166_666_67, 0.5, 1.0];
    // Added and taken away again it leaves the nearest whole number.
    const ROUND: f32 = 12_582_912.0;
    let number = if number < -87.0 { -87.0 } else { number };
    let number = if number > 88.0 { 88.0 } else { number };
    let whole = (number * std::f32::consts::LOG2_E + ROUND) - ROUND;
    let rest = (number - whole * 0.693_359_4) + whole * 2.121_944_4e-4;
    let polynomial = TERMS.iter().fold(0.0, |sum, term| (sum + term) * rest) + 1.0;
    polynomial * f32::from_bits(((whole as i32 + 127) as u32) << 23)
}

#[cfg(test)]
mod tests {
    use super::{error_function, exponential, softmax};

    #[test]
    fn exponential_is_right_to_the_last_digits() {
        for step in -8600..8700 {
            let number = step as f32 / 100.0;
            let (ours, theirs) = (f64::from(exponential(number)), f64::from(number).exp());
            assert!((ours / theirs - 1.0).abs() < 3e-7, "{number}: {ours} {theirs}");
        }
    }

    #[test]
    fn extremes_stay_finite() {
        for number in [f32::MIN, -1e9, 1e9, f32::MAX, f32::NEG_INFINITY, f32::INFINITY] {
            assert!(exponential(number).is_finite());
            assert!(error_function(number).is_finite());
        }
        let mut row = [f32::MIN, 0.0, f32::MAX];
        softmax(&mut row);
        assert_eq!(row[2], 1.0);
    }

    #[test]
    fn error_function_at_known_places() {
        for (number, expected) in [(0.0, 0.0), (0.5, 0.520_499_9), (-1.0, -0.842_700_8), (2.0, 0.995_322_3), (9.0, 1.0)]
        {
            assert!((error_function(number) - expected).abs() < 4e-7, "{number}");
        }
    }
}
