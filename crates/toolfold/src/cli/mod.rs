//! The command line: what it accepts, and how a command ends. Data goes to stdout, everything else to stderr.

mod call;
mod check;
mod completions;
mod eval;
mod fail;
mod ls;
mod open;
mod output;
mod prompt;
mod search;
mod serve;
mod show;
mod status;
mod tree;
mod trust;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use toolfold_config::{LoadOptions, Loaded};
use toolfold_core::Surface;

pub(crate) use fail::Fail;

/// One MCP server in front of all the others: it shows a model two small tools and finds the rest when they are needed.
#[derive(Parser)]
#[command(name = "toolfold", version, arg_required_else_help = true, max_term_width = 100)]
#[command(
    after_help = "Without a configuration Toolfold serves its built-in toolbox. To put your own servers behind it, write \
a toolfold.toml or pass an mcpServers file with --config; `toolfold check` tells whether it is right."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

#[derive(Args)]
pub(crate) struct Common {
    /// A toolfold.toml, or any JSON file with mcpServers [default: toolfold.toml here or above, then your configuration folder]
    #[arg(long, short, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Answer with JSON, for programs
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Serve MCP over HTTP, or on stdin and stdout
    Serve(serve::Serve),
    /// Check the configuration and report every problem
    Check(check::Check),
    /// Use the toolfold.toml that was found here or above
    Trust(trust::Trust),
    /// Find tools by what they do
    Search(search::Search),
    /// List servers, or the tools of one
    Ls(ls::Ls),
    /// Show everything as a tree
    Tree(tree::Tree),
    /// Tell what a tool does and what it takes
    Show(show::Show),
    /// Call a tool
    Call(call::Call),
    /// Tell how the servers are
    Status(status::Status),
    /// Print the rules that a model is told, for a system prompt
    Prompt(prompt::Prompt),
    /// Measure how well search does on a set of tools and queries
    Eval(eval::Eval),
    /// Print a completion script for your shell
    Completions(completions::Completions),
}

pub(crate) fn run(cli: Cli) -> ExitCode {
    let Cli { common, command } = cli;
    let outcome = match command {
        Command::Serve(serve) => serve.run(&common),
        Command::Check(check) => check.run(&common),
        Command::Trust(trust) => trust.run(&common),
        Command::Search(search) => search.run(&common),
        Command::Ls(ls) => ls.run(&common),
        Command::Tree(tree) => tree.run(&common),
        Command::Show(show) => show.run(&common),
        Command::Call(call) => call.run(&common),
        Command::Status(status) => status.run(&common),
        Command::Prompt(prompt) => prompt.run(&common),
        Command::Eval(eval) => eval.run(&common),
        Command::Completions(completions) => completions.run(),
    };
    outcome.map_or_else(Fail::report, |()| ExitCode::SUCCESS)
}

impl Common {
    fn options(&self) -> LoadOptions {
        LoadOptions { file: self.config.clone(), lenient: true, ..LoadOptions::from_process() }
    }

    fn load(&self, options: &LoadOptions) -> Result<Loaded, Fail> {
        let loaded = toolfold_config::load(options).map_err(|problems| Fail::usage(problems.to_string()))?;
        for notice in &loaded.notices {
            output::tell(&notice.to_string());
        }
        Ok(loaded)
    }
}

fn parse_surface(name: &str) -> Result<Surface, String> {
    let known: Vec<&str> = Surface::ALL.iter().map(|surface| surface.as_str()).collect();
    Surface::parse(name).ok_or_else(|| format!("use one of {}", known.join(", ")))
}
