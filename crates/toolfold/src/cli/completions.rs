//! `toolfold completions`: a script for the shell.

use clap::{Args, CommandFactory};
use clap_complete::Shell;

use super::output::print;
use super::{Cli, Fail};

#[derive(Args)]
pub(crate) struct Completions {
    /// bash, zsh, fish, elvish or powershell
    shell: Shell,
}

impl Completions {
    pub(crate) fn run(self) -> Result<(), Fail> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Cli::command(), "toolfold", &mut script);
        print(&String::from_utf8_lossy(&script))
    }
}
