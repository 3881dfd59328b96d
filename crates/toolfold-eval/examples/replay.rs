//! What learning from use gives on sets: `replay PLACE…`, places as those of `measure`. Every second request is made in four
//! conversations; NDCG@10 of these and of the others, before and after, with none, a tenth and three tenths of the choices
//! wrong.
#![allow(clippy::print_stdout, reason = "a program for people")]

#[path = "measure/places.rs"]
mod places;

use toolfold_eval::{BadSet, replay};
use toolfold_index::Index;

fn main() -> Result<(), BadSet> {
    println!("{:<40} wrong  again: before after   others: before after   lifted", "set");
    for place in std::env::args().skip(1).flat_map(|place| places::sets(&place)) {
        let set = places::read(&place)?;
        let index = Index::build(&set.catalog);
        for wrong in [0.0, 0.1, 0.3] {
            let played = replay(&set, &index, wrong);
            let ((again, learned), (others, spoiled)) = (&played.again, &played.others);
            let name = place.rsplit('/').next().unwrap_or(&place);
            println!(
                "{name:<40} {:>4.0}% {:>14.1} {:>5.1} {:>15.1} {:>5.1} {:>8}",
                100.0 * wrong,
                again.ndcg_10,
                learned.ndcg_10,
                others.ndcg_10,
                spoiled.ndcg_10,
                played.lifted
            );
        }
    }
    Ok(())
}
