//! `toolfold reference`: what the program knows about itself, as pages for people. Every page is made from the table that the
//! program works with, so none can say something else; `cargo xtask docs` writes them into `docs/`.

mod commands;
mod configuration;
mod errors;
mod rest;
mod surfaces;

use std::fs;
use std::path::PathBuf;

use clap::{Args, CommandFactory, ValueEnum};

use super::output::{print, tell};
use super::{Cli, Fail};

#[derive(Args)]
pub(crate) struct Reference {
    /// The page
    #[arg(required_unless_present = "man")]
    page: Option<Page>,
    /// Write a man page for every command into this folder
    #[arg(long, value_name = "FOLDER", conflicts_with = "page")]
    man: Option<PathBuf>,
}

#[derive(Clone, Copy, ValueEnum)]
enum Page {
    /// Files of clients: where they are, what is in them
    Clients,
    /// Every command with its options
    Commands,
    /// Every key of toolfold.toml
    Configuration,
    /// Codes of refusals
    Errors,
    /// The HTTP API
    Rest,
    /// What a model is shown
    Surfaces,
}

impl Reference {
    pub(crate) fn run(self) -> Result<(), Fail> {
        let Some(page) = self.page else { return man(self.man.unwrap_or_default()) };
        print(&match page {
            Page::Clients => toolfold_clients::document(),
            Page::Commands => commands::page(),
            Page::Configuration => configuration::page(),
            Page::Errors => errors::page(),
            Page::Rest => rest::page().ok_or_else(|| Fail::machine("the description of the HTTP API is damaged"))?,
            Page::Surfaces => surfaces::page(),
        })
    }
}

fn man(folder: PathBuf) -> Result<(), Fail> {
    fs::create_dir_all(&folder)?;
    clap_mangen::generate_to(Cli::command().disable_help_subcommand(true), &folder)?;
    tell(&format!("Wrote the man pages into {}.", folder.display()));
    Ok(())
}
