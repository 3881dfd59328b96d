//! What can be asked of a gateway, ours or that of the running instance: both run this code, so that both answer alike.

use std::time::Duration;

use serde::{Deserialize, Serialize};
use toolfold_core::shown_line;
use toolfold_disclosure::View;
use toolfold_gateway::Gateway;

use super::output::Style;
use super::{
    Fail, access, approve, call, forget, hook, login, ls, page, permissions, scan, search, show, status, tokens, tree,
    types, usage,
};

/// How long one command waits for the encoder to be ready.
pub(crate) const ENCODER: Duration = Duration::from_secs(3);

#[derive(Debug, Serialize, Deserialize)]
pub(crate) enum Ask {
    Search(search::SearchCommand),
    Ls(ls::Ls),
    Tree(tree::Tree),
    Types(types::Types),
    Show(show::Show),
    Call(call::Wanted),
    Status(status::Status),
    Page(page::Page),
    Scan(scan::Scan),
    Approve(approve::Approve),
    Usage(usage::UsageCommand),
    Tokens(tokens::Tokens),
    Forget(forget::Forget),
    Access(access::Access),
    Permissions(permissions::RuleQuestion),
    Hook(hook::Question),
    Login(login::LoginChanged),
}

/// What goes to stdout, and why the command fails although there is something to print.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Answer {
    pub(crate) text: String,
    pub(crate) but: Option<Fail>,
}

/// Whom an answer depends on.
pub(crate) enum Needs {
    Server(String),
    All,
    /// All of them, for longer.
    Status,
    Nobody,
}

impl Answer {
    pub(crate) fn new(text: impl Into<String>) -> Answer {
        Answer { text: text.into(), but: None }
    }

    /// With what is missing said beside it, as a model is told it, where nothing else is to be said.
    pub(crate) fn of_what_is_there(mut self, view: &View<'_>) -> Answer {
        let missing: Vec<String> = view.missing_lines().iter().map(|line| shown_line(line).into_owned()).collect();
        if self.but.is_none() && !missing.is_empty() {
            self.but = Some(Fail::note(missing.join("\n")));
        }
        self
    }
}

impl Ask {
    pub(crate) fn needs(&self) -> Needs {
        match self {
            Ask::Search(search) => search.needs(),
            Ask::Ls(ls) => ls.needs(),
            Ask::Tree(_) => Needs::All,
            Ask::Types(types) => types.needs(),
            Ask::Show(show) => server_of(&show.tool),
            Ask::Call(call) => server_of(&call.tool),
            Ask::Status(_) => Needs::Status,
            Ask::Page(_) => Needs::All,
            Ask::Scan(scan) => scan.needs(),
            Ask::Approve(approve) => approve.needs(),
            Ask::Usage(_) | Ask::Permissions(_) => Needs::All,
            Ask::Tokens(tokens) => tokens.needs(),
            Ask::Forget(_) | Ask::Login(_) | Ask::Hook(_) => Needs::Nobody,
            Ask::Access(access) => access.needs(),
        }
    }

    pub(crate) async fn answer(&self, gateway: &Gateway, style: Style) -> Result<Answer, Fail> {
        if let Ask::Search(_) = self {
            // Its encoder is part of the agent's search; an agent would not wait for one that has much to read yet.
            let _ = tokio::time::timeout(ENCODER, gateway.is_precise()).await;
        }
        let scope = gateway.latest(&super::open::asker());
        let view = scope.view();
        match self {
            Ask::Search(search) => search.answer(&view, scope.config(), style),
            Ask::Ls(ls) => ls.answer(&view, style),
            Ask::Tree(tree) => tree.answer(&view, style),
            Ask::Types(types) => types.answer(&view, style),
            Ask::Show(show) => show.answer(&view, style),
            Ask::Call(call) => call.answer(gateway, &view).await,
            Ask::Forget(forget) => forget.answer(gateway, &view, style).await,
            Ask::Login(changed) => changed.answer(gateway).await,
            Ask::Status(_) => status::answer(gateway, style).await,
            Ask::Page(page) => page.answer(gateway, style),
            Ask::Scan(scan) => scan.answer(gateway, &view, style).await,
            Ask::Approve(approve) => approve.answer(gateway, style).await,
            Ask::Usage(usage) => usage.answer(gateway, &view, style).await,
            Ask::Tokens(tokens) => tokens.answer(gateway).await,
            Ask::Access(access) => access.answer(gateway, style).await,
            Ask::Permissions(permissions) => permissions.answer(gateway, &view),
            Ask::Hook(question) => question.answer(gateway).await,
        }
    }
}

/// The server that a spelling of a tool names; where it names none, the tool may be anybody's.
pub(crate) fn server_of(tool: &str) -> Needs {
    let server = tool.split_once('.').or_else(|| tool.split_once("__")).map(|(server, _)| server);
    server.map_or(Needs::All, |server| Needs::Server(server.to_owned()))
}
