//! The built-in toolbox: about thirty small tools that work without any server, so that a first start has something to
//! find and call.
//!
//! They only read: no tool here changes anything, and the file tools see nothing above the working directory. What a
//! reader would get wrong: whoever calls is a stranger. Every loop over what came from outside burns fuel, every text
//! that grows is a `page::Page`, and nothing is made large to find out afterwards that it is too large.

mod arguments;
mod calculate;
mod diff;
mod encoding;
mod files;
mod folder;
mod json;
mod numbers;
mod page;
mod patterns;
mod private;
mod problem;
mod random;
mod search;
mod tables;
mod text;
mod time;
mod tool;
mod units;

#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::sync::Arc;

use serde_json::Value;
use toolfold_core::Fuel;
use toolfold_gateway::{Bounds, LocalTool, Output};

use self::arguments::Arguments;
use self::private::Private;
use self::problem::{LARGEST, Problem};
use self::tool::{Reply, Tool};

/// What one call may take: two megabytes of arguments, a hundred thousand values, and about a second of work.
pub const BOUNDS: Bounds = Bounds { bytes: 2 << 20, values: 100_000, fuel: 50_000_000 };

/// Every tool of the toolbox, ready to be registered. The files and folders named are never read, whatever way leads to
/// them: the program's own configuration and state.
pub fn tools(private: impl IntoIterator<Item = PathBuf>) -> Vec<LocalTool> {
    let private = Arc::new(Private::new(private));
    all().into_iter().map(|tool| local(tool, private.clone())).collect()
}

fn local(tool: Tool, private: Arc<Private>) -> LocalTool {
    let run = tool.run;
    LocalTool::bounded(tool.definition(), BOUNDS, move |arguments, fuel| answer(run, &arguments, fuel, &private))
}

fn answer(run: tool::Run, arguments: &Value, fuel: &Fuel, private: &Private) -> Output {
    let too_large = || Problem::TooLarge("Ask for less at a time.").into_output();
    match run(&Arguments::new(arguments, fuel, private)) {
        Ok(Reply::Text(text)) if text.len() > LARGEST => too_large(),
        Ok(Reply::Json(value)) if !page::fits(&value, LARGEST) => too_large(),
        Ok(Reply::Text(text)) => Output::Text(text),
        Ok(Reply::Json(value)) => Output::Json(value),
        Err(problem) => problem.into_output(),
    }
}

fn all() -> Vec<Tool> {
    let themes = [
        text::tools(),
        json::tools(),
        tables::tools(),
        time::tools(),
        encoding::tools(),
        patterns::tools(),
        numbers::tools(),
        random::tools(),
        files::tools(),
    ];
    themes.into_iter().flatten().collect()
}
