//! Whether confidence means what it says: of the hits that claim eight in ten, eight in ten should be right.
//!
//! Only first hits count, because the first is what gets used. A query that nothing fits counts too: its first hit is
//! wrong, whatever it claims. One that found nothing claimed nothing.

use serde::Serialize;

const BINS: usize = 10;

#[derive(Default)]
pub struct Reliability {
    bins: [Sums; BINS],
}

#[derive(Default)]
struct Sums {
    queries: usize,
    right: usize,
    confidence: f64,
}

/// First hits of about the same confidence.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Bin {
    pub from: f64,
    pub to: f64,
    pub queries: usize,
    /// The mean of what they claim, in percent.
    pub claimed: f64,
    /// How many are right, in percent.
    pub right: f64,
}

impl Reliability {
    pub fn add(&mut self, confidence: f32, right: bool) {
        let place = (confidence * BINS as f32) as usize;
        let bin = &mut self.bins[place.min(BINS - 1)];
        bin.queries += 1;
        bin.right += usize::from(right);
        bin.confidence += f64::from(confidence);
    }

    pub fn finish(&self) -> Vec<Bin> {
        let share = |sum: f64, of: usize| if of == 0 { 0.0 } else { 100.0 * sum / of as f64 };
        let bin = |(place, sums): (usize, &Sums)| Bin {
            from: place as f64 / BINS as f64,
            to: (place + 1) as f64 / BINS as f64,
            queries: sums.queries,
            claimed: share(sums.confidence, sums.queries),
            right: share(sums.right as f64, sums.queries),
        };
        self.bins.iter().enumerate().map(bin).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hit_goes_where_its_confidence_is() {
        let mut reliability = Reliability::default();
        for (confidence, right) in [(0.0, false), (0.75, true), (0.79, false), (1.0, true), (1.5, true)] {
            reliability.add(confidence, right);
        }
        let bins = reliability.finish();
        let seen: Vec<(usize, f64)> = bins.iter().map(|bin| (bin.queries, bin.right)).collect();
        assert_eq!((seen[0], seen[7], seen[9]), ((1, 0.0), (2, 50.0), (2, 100.0)));
        assert!((bins[7].claimed - 77.0).abs() < 0.01);
        assert_eq!(seen.iter().map(|bin| bin.0).sum::<usize>(), 5);
    }
}
