//! The command line: what it accepts, and how a command ends. Data goes to stdout, everything else to stderr.

mod access;
mod add;
mod approve;
mod arguments;
mod ask;
mod audit;
mod audit_shared;
mod behind;
mod call;
mod check;
mod completions;
mod content;
mod cost;
mod doctor;
mod eval;
mod fail;
mod forget;
mod hook;
mod import;
mod install;
mod instance;
mod journal;
mod log;
mod login;
mod logs;
mod ls;
mod notes;
mod open;
mod output;
mod own_file;
mod page;
mod permissions;
mod prompt;
mod reference;
mod remove;
mod scan;
mod search;
mod serve;
mod show;
mod status;
mod store;
mod token;
mod tokens;
mod tree;
mod trust;
mod types;
mod usage;

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Parser, Subcommand};
use toolfold_config::{LoadOptions, Loaded, Problem};
use toolfold_core::{Surface, shown};

use ask::Ask;
pub(crate) use fail::Fail;

/// One MCP server in front of all the others: it shows a model two small tools and finds the rest when they are needed.
#[derive(Parser)]
#[command(name = "toolfold", version, arg_required_else_help = true, max_term_width = 100)]
#[command(
    after_help = "Without a configuration Toolfold serves its built-in toolbox. To put your own servers behind it, take over \
those that your clients have with `toolfold import`, write a toolfold.toml, or pass a client's file with --config; `toolfold check` \
tells whether it is right. `toolfold install CLIENT` makes a client use it.

Variables:
  TOOLFOLD_CONFIG      the configuration, as --config
  TOOLFOLD_SURFACE     what a model sees, as --surface of `serve`
  TOOLFOLD_DISCLOSURE  off: every tool is listed as it is
  TOOLFOLD_LISTEN      where `serve` listens, as --listen
  TOOLFOLD_STORE       where things are kept: a path, postgres://…, or memory for nowhere
  TOOLFOLD_KEY         what logins at servers are sealed with [default: a key beside the store]
  TOOLFOLD_LOG         what is logged on stderr: off, error, warn, info, debug, trace, or a filter
  NO_COLOR             no colours

Exit codes: 0 done, 1 nothing found or a check failed, 2 usage or configuration, 3 a server failed."
)]
pub(crate) struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

#[derive(Args)]
pub(crate) struct Common {
    /// A toolfold.toml, or a client's file in JSON, TOML or YAML [default: toolfold.toml here or above, then your configuration folder]
    #[arg(long, short, global = true, value_name = "FILE")]
    config: Option<PathBuf>,
    /// Answer with JSON, for programs; errors too
    #[arg(long, global = true)]
    json: bool,
    /// Wait for every server, however long it takes
    #[arg(long, global = true)]
    wait: bool,
    /// Log what happens on stderr; twice for more of it
    #[arg(long, short, global = true, action = clap::ArgAction::Count, conflicts_with = "quiet")]
    verbose: u8,
    /// Say nothing but the answer and errors
    #[arg(long, short, global = true)]
    quiet: bool,
}

#[derive(Subcommand)]
enum Command {
    /// Serve MCP over HTTP, or on stdin and stdout
    Serve(serve::Serve),
    /// Check the configuration and report every problem
    Check(check::Check),
    /// Try everything: servers, clients, surroundings; and say what to do
    Doctor(doctor::Doctor),
    /// Take over the servers that your clients have
    Import(import::Import),
    /// Make a client use Toolfold, or take Toolfold out of it again
    Install(install::Install),
    /// Add a server to toolfold.toml
    Add(add::Add),
    /// Take a server out of toolfold.toml
    Remove(remove::Remove),
    /// Use the toolfold.toml that was found here or above
    Trust(trust::TrustCommand),
    /// Find tools by what they do
    Search(search::SearchCommand),
    /// List servers, or the tools of one
    Ls(ls::Ls),
    /// Show everything as a tree
    Tree(tree::Tree),
    /// Tell what a tool does and what it takes
    Show(show::Show),
    /// Call a tool
    Call(call::Call),
    /// Print what scripts may call, as declarations of TypeScript
    Types(types::Types),
    /// Tell how the servers are
    Status(status::Status),
    /// Tell where the page is, and its key
    Page(page::Page),
    /// Tell what the tools cost a model, directly and through Toolfold
    Tokens(tokens::Tokens),
    /// Show what a server wrote, or which tools were called
    Logs(logs::Logs),
    /// Log in to a server that wants it
    Login(login::Login),
    /// End a login at a server
    Logout(login::Logout),
    /// See what is held, and approve or refuse it
    Approve(approve::Approve),
    /// Look for what is suspicious about definitions
    Scan(scan::Scan),
    /// Show what was done here, and check that the record of it was not changed
    Audit(audit::AuditCommand),
    /// Tell what somebody may see and call, and which rule says so
    Access(access::Access),
    /// Print the rules that a host needs to let tools through that only read
    Permissions(permissions::Permissions),
    /// Answer a host that asks before a tool is called
    Hook(hook::Hook),
    /// Give out tokens by which people and programs are known, and take them back
    Token(token::TokenCommand),
    /// Copy what is kept from one store to another
    Store(store::StoreCommand),
    /// Tell which tools are used, how they were found and what that saves
    Usage(usage::UsageCommand),
    /// Print the rules that a model is told, for a system prompt
    Prompt(prompt::Prompt),
    /// Measure how well search does on a set of tools and queries
    Eval(eval::Eval),
    /// Forget what was learned from use
    Forget(forget::Forget),
    /// Print a completion script for your shell
    Completions(completions::Completions),
    /// Print a page of the reference, or write the man pages
    Reference(reference::Reference),
}

/// Parses and runs. A mistake on the command line is JSON too where JSON was asked for.
pub(crate) fn main() -> ExitCode {
    let wants_json = || std::env::args_os().any(|argument| argument == "--json");
    match Cli::try_parse() {
        Ok(cli) => run(cli),
        Err(error) if error.use_stderr() && wants_json() => {
            let text = error.render().to_string();
            Fail::usage(text.trim().trim_start_matches("error: ")).report(true)
        }
        Err(error) => error.exit(),
    }
}

fn run(cli: Cli) -> ExitCode {
    let Cli { common, command } = cli;
    let outcome = match command {
        Command::Serve(serve) => serve.run(&common),
        Command::Check(check) => check.run(&common),
        Command::Doctor(doctor) => doctor.run(&common),
        Command::Import(import) => import.run(&common),
        Command::Install(install) => install.run(&common),
        Command::Add(add) => add.run(&common),
        Command::Remove(remove) => remove.run(&common),
        Command::Trust(trust) => trust.run(&common),
        Command::Search(search) => search.check().and_then(|()| common.ask(Ask::Search(search))),
        Command::Ls(ls) => common.ask(Ask::Ls(ls)),
        Command::Tree(tree) => common.ask(Ask::Tree(tree)),
        Command::Show(show) => common.ask(Ask::Show(show)),
        Command::Call(call) => call.run(&common),
        Command::Types(types) => common.ask(Ask::Types(types)),
        Command::Status(status) => status.run(&common),
        Command::Page(page) => page.run(&common),
        Command::Tokens(tokens) => tokens.run(&common),
        Command::Logs(logs) => logs.run(&common),
        Command::Login(login) => login.run(&common),
        Command::Logout(logout) => logout.run(&common),
        Command::Approve(approve) => approve.run(&common),
        Command::Scan(scan) => scan.run(&common),
        Command::Audit(audit) => audit.run(&common),
        Command::Access(access) => common.ask(Ask::Access(access)),
        Command::Permissions(permissions) => permissions.run(&common),
        Command::Hook(hook) => hook.run(&common),
        Command::Token(token) => token.run(&common),
        Command::Store(store) => store.run(&common),
        Command::Usage(usage) => usage.run(&common),
        Command::Prompt(prompt) => prompt.run(&common),
        Command::Eval(eval) => eval.run(&common),
        Command::Forget(forget) => common.ask(Ask::Forget(forget)),
        Command::Completions(completions) => completions.run(),
        Command::Reference(reference) => reference.run(),
    };
    outcome.map_or_else(|fail| fail.report(common.json), |()| ExitCode::SUCCESS)
}

impl Common {
    fn options(&self) -> LoadOptions {
        LoadOptions { file: self.config.clone(), lenient: true, ..LoadOptions::from_process() }
    }

    fn load(&self, options: &LoadOptions) -> Result<Loaded, Fail> {
        let loaded = toolfold_config::load(options).map_err(|problems| Fail::problems(&problems))?;
        behind::stand(&loaded.origin);
        if !self.quiet {
            tell_notices(&loaded.notices);
        }
        Ok(loaded)
    }

    /// Prints what is answered, by the running instance or by a gateway of our own.
    fn ask(&self, ask: Ask) -> Result<(), Fail> {
        let answer = open::ask(self, ask)?;
        if !answer.text.is_empty() {
            output::print(&answer.text)?;
        }
        match answer.but {
            None => Ok(()),
            Some(but) if but.is_note() && self.quiet => Ok(()),
            Some(but) if answer.text.is_empty() => Err(but),
            Some(but) => Err(but.after_data()),
        }
    }
}

/// What several have in common to do is said once, after the last of them.
fn tell_notices(notices: &[Problem]) {
    for (place, notice) in notices.iter().enumerate() {
        let is_said_again = notices[place + 1..].iter().any(|later| later.hint.is_some() && later.hint == notice.hint);
        let notice = Problem { hint: notice.hint.clone().filter(|_| !is_said_again), ..notice.clone() };
        output::tell(&shown(&notice.to_string()));
    }
}

fn parse_surface(name: &str) -> Result<Surface, String> {
    let known: Vec<&str> = Surface::ALL.iter().map(|surface| surface.as_str()).collect();
    Surface::parse(name).ok_or_else(|| format!("use one of {}", known.join(", ")))
}
