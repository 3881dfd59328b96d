//! A fake MCP server that does what its script says: see `toolfold_test::server` for the script.

use std::io::Write;
use std::process::ExitCode;

#[tokio::main]
async fn main() -> ExitCode {
    match toolfold_test::server::run(std::env::args().skip(1)).await {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            let _ = writeln!(std::io::stderr(), "fake-server: {problem}");
            ExitCode::from(2)
        }
    }
}
