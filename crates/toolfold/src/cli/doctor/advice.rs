//! What to do about a server that fails, in the words of the cause.
//!
//! What a reader would get wrong: the cause is a sentence that the connection was given up with, and is recognised by its
//! words. A sentence that no row here knows is not lost: it is shown as it is, with where to read more.

use toolfold_config::{Server, Transport};

use super::super::cost::grouped;

/// For a program that is not there.
pub(crate) fn install(command: &str) -> String {
    let program = command.rsplit(['/', '\\']).next().unwrap_or(command);
    match program {
        "npx" | "npm" | "node" => {
            "install Node.js, which brings npx: https://nodejs.org, or `apt install npm`, `brew install node`"
        }
        "uvx" | "uv" => {
            "install uv, which brings uvx: https://docs.astral.sh/uv, or `pip install uv`, `brew install uv`"
        }
        "pipx" => "install pipx: `apt install pipx`, `brew install pipx`",
        "python" | "python3" => "install Python 3, or write `python3` instead of `python`",
        "docker" => "install Docker: https://docs.docker.com/get-docker",
        "bunx" | "bun" => "install Bun: https://bun.sh",
        "deno" => "install Deno: https://deno.com",
        "go" => "install Go: https://go.dev",
        "cargo" => "install Rust: https://rustup.rs",
        _ if command.contains('/') => return format!("correct `command`: there is no program {command}"),
        _ => {
            return format!(
                "install {program}, or write its whole path as `command`: `which {program}` tells it where it works"
            );
        }
    }
    .to_owned()
}

/// For variables that are not set, named in a sentence.
pub(crate) fn set(why: &str, server: &str) -> String {
    let is_name =
        |word: &&str| word.chars().all(|c| c.is_ascii_uppercase() || c.is_ascii_digit() || c == '_') && word.len() > 1;
    let name = why.split([' ', ',']).find(is_name).unwrap_or("it");
    format!(
        "set {name} where Toolfold is started: `export {name}=…` in your shell, or in the `env` of Toolfold's entry in your \
         client's file; a default is written `${{{name}:-…}}` in [servers.{server}]"
    )
}

/// For a sentence that a connection was given up with.
pub(crate) fn after(why: &str, words: Option<&str>, server: &Server, patience: u64) -> String {
    let (lower, said) = (why.to_lowercase(), words.unwrap_or_default().to_lowercase());
    let name = &server.name;
    let has = |part: &str| lower.contains(part);
    let says = |parts: &[&str]| parts.iter().any(|part| said.contains(part));
    match &server.transport {
        Transport::Http { url, headers } => {
            let place = url.split(['?', '#']).next().unwrap_or_default();
            if has("credentials") && headers.keys().any(|header| header.eq_ignore_ascii_case("authorization")) {
                format!(
                    "its token is not accepted: look whether it has expired, then change the variable that `headers` of [servers.{name}] names"
                )
            } else if has("credentials") {
                format!(
                    "it wants a token: make one where you have your account, then write headers = {{ Authorization = \"Bearer ${{{}_TOKEN}}\" }} below [servers.{name}]",
                    constant(name.as_str())
                )
            } else if has("certificate") {
                format!(
                    "its certificate is not trusted here: add its authority to the system's (update-ca-certificates), or name it in SSL_CERT_FILE; {place}"
                )
            } else if has("did not answer") {
                format!(
                    "{place} takes connections and does not answer: is it an MCP server? A slow one is given more time with connect_timeout = \"120s\""
                )
            } else if has("invalidcontenttype") {
                // Plain HTTP, where the first bytes of TLS were expected.
                format!(
                    "what listens there speaks no TLS: write http:// in `url` of [servers.{name}], or turn TLS on there"
                )
            } else if has("http 404") || has("http 405") || has("without a response") {
                format!("there is no MCP server at {place}: the path of most is /mcp, of older ones /sse")
            } else if has("redirects") {
                format!("it has moved: open {place} in a browser, and write where that leads as `url`")
            } else if has("http 5") {
                "the server itself fails: look at its log, or try again later".to_owned()
            } else {
                format!("check `url` of [servers.{name}]: {place}")
            }
        }
        Transport::Api(source) => match &source.document {
            _ if has("certificate") => {
                "its certificate is not trusted here: name its authority in SSL_CERT_FILE".to_owned()
            }
            _ if has("base_url") => format!("write where the API is: base_url = \"https://…\" below [servers.{name}]"),
            Some(_) => format!("check `openapi` of [servers.{name}]: {}", source.shown()),
            None => format!("check `base_url` of [servers.{name}]: {}", source.shown()),
        },
        Transport::Agent { card, .. } => {
            let place = card.split(['?', '#']).next().unwrap_or_default();
            format!("check `card` of [agents.{name}]: {place}")
        }
        Transport::Stdio { command, args, .. } => {
            let by_hand = by_hand(command, args);
            let fetches = ["npx", "uvx", "docker", "pipx", "bunx"].iter().any(|runner| command.ends_with(runner));
            if has("working directory") {
                format!("correct `cwd` of [servers.{name}], or make the folder")
            } else if has("may not be executed") {
                format!("make it a program: chmod +x {command}")
            } else if has("did not answer") && fetches {
                format!(
                    "a first start may have to fetch a package: run {by_hand} once by hand, or set connect_timeout = \"{}s\"",
                    grouped((patience * 4) as usize)
                )
            } else if has("did not answer") {
                format!(
                    "it runs and does not answer on stdout: does it need an argument to speak MCP over stdio? Try {by_hand} by hand"
                )
            } else if says(&[
                "cannot find module",
                "modulenotfounderror",
                "no module named",
                "e404",
                "could not determine executable",
                "not found in the npm registry",
                "no solution found",
            ]) {
                format!("its package is not there or is spelled otherwise: check `args` of [servers.{name}]")
            } else if says(&[
                "api key",
                "api_key",
                "apikey",
                "token",
                "credential",
                "environment variable",
                "env var",
                "unauthorized",
                "password",
            ]) {
                format!(
                    "it wants something it was not given: set it below [servers.{name}], env = {{ NAME = \"${{NAME}}\" }}"
                )
            } else if says(&[
                "enotfound",
                "eai_again",
                "getaddrinfo",
                "network is unreachable",
                "connection refused",
                "etimedout",
            ]) {
                "it cannot reach the network, or what it connects to is not running".to_owned()
            } else if says(&[
                "usage:",
                "unrecognized argument",
                "unknown option",
                "required argument",
                "missing required",
            ]) {
                format!("it does not understand its arguments: check `args` of [servers.{name}]")
            } else if has("version") || has("protocol") {
                "it speaks another version of MCP: a newer release of it may help".to_owned()
            } else {
                format!("`toolfold logs {name}` has everything it said; {by_hand} shows it by hand")
            }
        }
    }
}

/// The command for a person to type. An argument may be a secret: from the first that could be one, none is said.
fn by_hand(command: &str, args: &[String]) -> String {
    let shown: Vec<&str> = args.iter().map(String::as_str).take_while(|text| is_harmless(text)).take(4).collect();
    let rest = if shown.len() < args.len() { " …" } else { "" };
    let words: Vec<&str> = std::iter::once(command).chain(shown).collect();
    format!("`{}{rest}`", words.join(" "))
}

/// A switch, a package or a path: nothing that was given to one person.
fn is_harmless(text: &str) -> bool {
    let lower = text.to_lowercase();
    let names_secret = ["key", "token", "secret", "pass", "auth", "://", "="].iter().any(|part| lower.contains(part));
    let is_word = text.len() < 20 || text.starts_with(['-', '@', '/', '.', '~']) || text.contains("server");
    !names_secret && is_word
}

/// As the name of a variable.
fn constant(name: &str) -> String {
    name.to_uppercase().replace('-', "_")
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use toolfold_core::{Secret, ServerName};

    use super::*;

    fn stdio(command: &str, args: &[&str]) -> Server {
        let (command, args) = (command.to_owned(), args.iter().map(|text| (*text).to_owned()).collect());
        Server::new(ServerName::new("it").unwrap(), Transport::Stdio { command, args, env: BTreeMap::new(), cwd: None })
    }

    #[test]
    fn a_secret_among_the_arguments_is_not_said() {
        let server = stdio("npx", &["-y", "server", "--token", "sk-0123"]);
        let advice = after("the server exited (status 1)", None, &server, 30);
        assert!(advice.contains("`npx -y server …`"), "{advice}");
        let server = stdio("npx", &["postgres://me:secret@host/db"]);
        assert!(!after("the server exited (status 1)", None, &server, 30).contains("secret"));
    }

    #[test]
    fn each_cause_has_its_own_words() {
        let server = stdio("server", &[]);
        let told = |why: &str, words: &str| after(why, Some(words), &server, 30);
        assert!(told("the server exited (status 1)", "Error: Cannot find module 'x'").contains("package"));
        assert!(told("the server exited (status 1)", "Error: API key is required").contains("env = {"));
        assert!(told("the server did not answer the greeting within 24s", "").contains("stdout"));
        let headers = BTreeMap::from([("authorization".to_owned(), Secret::new("Bearer x"))]);
        let url = |headers| Transport::Http { url: "https://h/mcp?key=secret".to_owned(), headers };
        let refused = "the server refused our credentials (HTTP 401): check the token in its `headers`";
        let with = Server::new(ServerName::new("it").unwrap(), url(headers));
        assert!(after(refused, None, &with, 30).contains("expired"));
        let without = Server::new(ServerName::new("my-it").unwrap(), url(BTreeMap::new()));
        assert!(after(refused, None, &without, 30).contains("${MY_IT_TOKEN}"));
        assert!(!after("the server answered HTTP 404: check its `url`", None, &without, 30).contains("secret"));
        let page = "the server answered HTTP 200 without a response";
        assert!(after(page, None, &without, 30).starts_with("there is no MCP server at https://h/mcp:"));
        let plain = "the server cannot be reached (received corrupt message of type InvalidContentType)";
        assert!(after(plain, None, &without, 30).contains("write http:// in `url` of [servers.my-it]"));
    }

    #[test]
    fn a_variable_is_named_with_where_it_can_be_set() {
        let advice = set("the variables GITHUB_TOKEN, OTHER are not set", "github");
        assert!(advice.starts_with("set GITHUB_TOKEN where Toolfold is started"), "{advice}");
    }
}
