//! Time per query and per tool, on one core: `cargo bench -p toolfold-encoder -- path/to/precise.bin`.
//!
//! Figures are the fastest of many runs: what the work takes when nobody else uses the machine.

#![allow(clippy::print_stdout, reason = "a benchmark tells its figures")]

use std::path::Path;
use std::time::Instant;

use toolfold_encoder::Encoder;

const QUERY: &str = "create an issue in a github repository for the broken build";
const TOOL: &str = "github create pull request: Create a new pull request in a GitHub repository. The head branch must exist and be \
    ahead of the base branch; set draft to open it for early feedback, and maintainers can modify to let others push to the branch. \
    Returns the number and address of the new request.";

fn main() {
    let path = std::env::args().nth(1).filter(|argument| !argument.starts_with("--"));
    let Some(path) = path else {
        println!("skipped: name an encoder, `cargo bench -p toolfold-encoder -- path/to/precise.bin`");
        return;
    };
    let start = Instant::now();
    let encoder = match Encoder::open(Path::new(&path)) {
        Ok(encoder) => encoder,
        Err(error) => return println!("{error}"),
    };
    println!("open   {:7.2} ms", milliseconds(start));
    let long = TOOL.repeat(5);
    for (name, text) in [("query", QUERY), ("tool", TOOL), ("long", &long)] {
        let fastest = (0..30).map(|_| time(&encoder, text)).fold(f64::INFINITY, f64::min);
        println!("{name:6} {fastest:7.2} ms ({} pieces)", encoder.pieces(text).len());
    }
}

fn time(encoder: &Encoder, text: &str) -> f64 {
    let start = Instant::now();
    std::hint::black_box(encoder.encode(std::hint::black_box(text)));
    milliseconds(start)
}

fn milliseconds(since: Instant) -> f64 {
    since.elapsed().as_secs_f64() * 1000.0
}
