//! The built-in toolbox: about thirty small tools that work without any server, so that a first start has something to
//! find and call.
//!
//! They only read: no tool here changes anything, and the file tools see nothing above the working directory.

mod arguments;
mod calculate;
mod diff;
mod encoding;
mod files;
mod folder;
mod json;
mod numbers;
mod patterns;
mod random;
mod search;
mod tables;
mod text;
mod time;
mod tool;
mod units;

#[cfg(test)]
mod tests;

use toolfold_gateway::{LocalTool, Output};

use self::tool::{Reply, Tool};

/// Every tool of the toolbox, ready to be registered.
pub fn tools() -> Vec<LocalTool> {
    all().into_iter().map(local).collect()
}

fn local(tool: Tool) -> LocalTool {
    let run = tool.run;
    LocalTool::blocking(tool.definition(), move |arguments| match run(&arguments::Arguments(&arguments)) {
        Ok(Reply::Text(text)) => Output::Text(text),
        Ok(Reply::Json(value)) => Output::Json(value),
        Err(problem) => Output::Failure(problem),
    })
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
