//! Why there is not even a connection: no process could be started, or the configuration names no place to go. Every one
//! of these says what to do, because only whoever wrote the configuration can do it.

use std::path::PathBuf;

use toolfold_http::{BadHeader, BadTarget, NoClient};

#[derive(Debug, thiserror::Error)]
pub(crate) enum Unopened {
    #[error("the server has no command")]
    NoCommand,
    #[error("the server has no url")]
    NoUrl,
    #[error("its working directory {} does not exist: correct `cwd` or create it", .0.display())]
    NoDirectory(PathBuf),
    #[error("`{0}` does not exist: correct `command`")]
    NoFile(String),
    #[error("`{0}` was not found: is the program installed, and is it on Toolfold's PATH?")]
    NotOnPath(String),
    #[error("`{0}` may not be executed: check its permissions")]
    Forbidden(String),
    #[error("`{command}` could not be started: {error}")]
    NotStarted { command: String, error: std::io::Error },
    #[error("the server ended before it began")]
    Stillborn,
    #[error("its url is not valid ({0}): correct `url`")]
    Url(#[from] BadTarget),
    #[error("{0}")]
    Header(#[from] BadHeader),
    #[error("{0}")]
    Client(#[from] NoClient),
}

impl Unopened {
    pub(crate) fn program(command: &str, error: std::io::Error) -> Self {
        let command = command.to_owned();
        match error.kind() {
            std::io::ErrorKind::NotFound if command.contains('/') => Unopened::NoFile(command),
            std::io::ErrorKind::NotFound => Unopened::NotOnPath(command),
            std::io::ErrorKind::PermissionDenied => Unopened::Forbidden(command),
            _ => Unopened::NotStarted { command, error },
        }
    }
}
