//! Byte-pair merging of one piece: the neighbours with the lowest rank become one, until none have a rank.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::rank;

/// Up to this length looking at all neighbours each time is faster than keeping them in order.
const SHORT: usize = 96;
const NONE: u32 = u32::MAX;

pub(super) fn count(piece: &[u8]) -> usize {
    if piece.len() < 2 || rank(piece).is_some() {
        return piece.len().min(1);
    }
    if piece.len() <= SHORT { count_short(piece) } else { count_long(piece) }
}

fn count_short(piece: &[u8]) -> usize {
    let rank_at = |ends: &[usize], i: usize| match ends.get(i + 2) {
        Some(end) => rank(&piece[ends[i]..*end]).unwrap_or(NONE),
        None => NONE,
    };
    // Boundaries between parts, and the rank of each part joined with the next.
    let mut ends: Vec<usize> = (0..=piece.len()).collect();
    let mut ranks: Vec<u32> = (0..ends.len()).map(|i| rank_at(&ends, i)).collect();
    loop {
        let lowest = (0..ranks.len()).min_by_key(|&i| ranks[i]).filter(|&i| ranks[i] != NONE);
        let Some(i) = lowest else { return ends.len() - 1 };
        ends.remove(i + 1);
        ranks.remove(i + 1);
        ranks[i] = rank_at(&ends, i);
        if i > 0 {
            ranks[i - 1] = rank_at(&ends, i - 1);
        }
    }
}

/// The same with a heap: a megabyte without a space must not cost a megabyte squared.
fn count_long(piece: &[u8]) -> usize {
    // A part starts at i and reaches to next[i]; before[i] is where the part before it starts.
    let mut next: Vec<usize> = (1..=piece.len()).collect();
    let mut before: Vec<usize> = (0..piece.len()).map(|i| i.wrapping_sub(1)).collect();
    let mut alive = vec![true; piece.len()];
    let mut heap = BinaryHeap::new();
    let mut parts = piece.len();
    for i in 0..piece.len() - 1 {
        push(&mut heap, piece, i, i + 2);
    }
    while let Some(Reverse((_, start, end))) = heap.pop() {
        // What was pushed may be out of date: the part is gone, or has grown.
        if !alive[start] || next[start] >= piece.len() || next[next[start]] != end || next[start] == end {
            continue;
        }
        alive[next[start]] = false;
        next[start] = end;
        parts -= 1;
        if end < piece.len() {
            before[end] = start;
            push(&mut heap, piece, start, next[end]);
        }
        if start > 0 {
            push(&mut heap, piece, before[start], end);
        }
    }
    parts
}

type Pairs = BinaryHeap<Reverse<(u32, usize, usize)>>;

fn push(heap: &mut Pairs, piece: &[u8], start: usize, end: usize) {
    if let Some(rank) = rank(&piece[start..end]) {
        heap.push(Reverse((rank, start, end)));
    }
}
