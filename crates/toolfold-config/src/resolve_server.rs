//! One server, from what was typed to what it takes to reach it.

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use toolfold_core::{Pattern, Secret, ServerName, Trust, words};
use url::Url;

use crate::config::{DEFAULT_MAX_MESSAGE, EraChoice, Run, Server, Start, Timeouts, Transport};
use crate::program;
use crate::raw::RawServer;
use crate::report::{Place, quoted};
use crate::resolve::Resolver;
use crate::table::{Amount, Field, Pairs};
use crate::units;

impl Resolver<'_> {
    /// `None` where no way to reach it is left; then something was reported.
    pub(crate) fn server(&mut self, name: ServerName, raw: &RawServer) -> Option<Server> {
        let transport = self.transport(raw);
        let usual = match transport {
            Some(Transport::Http { .. } | Transport::Api(_) | Transport::Agent { .. }) => Start::Eager,
            _ => Start::Lazy,
        };
        let starts = [("lazy", Start::Lazy), ("eager", Start::Eager)];
        let eras = [("auto", EraChoice::Auto), ("legacy", EraChoice::Legacy), ("modern", EraChoice::Modern)];
        // Everything is looked at before anything is given up, so that every problem is found.
        let start = self.choice(&raw.start, &starts, usual);
        let run = self.which_run(raw);
        let era = self.choice(&raw.era, &eras, EraChoice::Auto);
        let trust = self.trust(&raw.trust);
        let timeouts = self.timeouts(raw);
        let max_message = self.amount(&raw.max_message, "size", units::size).unwrap_or(DEFAULT_MAX_MESSAGE);
        let prefix = raw.prefix.given().is_none_or(|prefix| prefix.value);
        let forbid = self.texts(&raw.forbid).iter().map(|pattern| Pattern::new(pattern)).collect();
        let aliases = self.pairs(&raw.aliases, |alias| alias.contains(char::is_alphanumeric), "a tool");
        let auth = self.auth(raw);
        let transport = transport?;
        Some(Server { name, transport, start, run, era, prefix, trust, forbid, aliases, timeouts, max_message, auth })
    }

    /// What has no process here is nobody's to run.
    fn which_run(&mut self, raw: &RawServer) -> Run {
        let run = self.choice(&raw.run, &[("each", Run::Each), ("one", Run::One)], Run::Each);
        if let (Some(typed), true) = (raw.run.given(), raw.command.is_absent()) {
            let hint = "it says which replicas start the program of `command`: there is none here, so take it out";
            self.report.error(&typed.place, "goes with `command`", hint.to_owned());
        }
        run
    }

    fn transport(&mut self, raw: &RawServer) -> Option<Transport> {
        if !raw.api.card.is_absent() {
            return self.agent(raw);
        }
        if raw.api.is_meant() {
            return self.api_alone(raw);
        }
        let keys = [&raw.api.include, &raw.api.exclude].map(|field| field.given().map(|typed| &typed.place));
        let places = raw.api.base_url.given().map(|typed| &typed.place).into_iter().chain(keys.into_iter().flatten());
        for place in places {
            let hint = "it is for an API: `openapi` names its document, `[[servers.….tools]]` describe it by hand";
            self.report.error(place, "goes with `openapi` or `tools`", hint.to_owned());
        }
        match (raw.command.is_absent(), raw.url.is_absent()) {
            (false, true) => self.stdio(raw),
            (true, false) => self.over_http(raw),
            (false, false) => {
                let hint = "keep `command` to start a program, or `url` to reach one that runs elsewhere";
                self.report.error(&raw.place, "has both `command` and `url`", hint.to_owned());
                None
            }
            (true, true) if raw.misspelled => None,
            (true, true) => {
                let hint = "`command` names a program to start, `url` a server that runs elsewhere";
                self.report.error(&raw.place, "has neither `command` nor `url`", hint.to_owned());
                None
            }
        }
    }

    /// An API has neither a program nor an MCP server behind it.
    fn api_alone(&mut self, raw: &RawServer) -> Option<Transport> {
        let others = [
            ("command", raw.command.given().map(|typed| &typed.place)),
            ("url", raw.url.given().map(|typed| &typed.place)),
            ("args", raw.args.given().map(|typed| &typed.place)),
        ];
        for (key, place) in others {
            if let Some(place) = place {
                let hint = format!("`{key}` is for an MCP server; where an API is, is said by `base_url`");
                self.report.error(place, "does not go with `openapi` or `tools`", hint);
            }
        }
        self.api(raw)
    }

    fn stdio(&mut self, raw: &RawServer) -> Option<Transport> {
        if let Some(headers) = raw.headers.given() {
            let hint = "headers need a `url`; a program is given secrets in `env`";
            self.report.error(&headers.place, "does not go with `command`", hint.to_owned());
        }
        let command = self.command(raw);
        let args = self.texts(&raw.args);
        let env = self.secrets(&raw.env, |name| !name.is_empty() && !name.contains(['=', '\0']), "a variable");
        let cwd = self.text(&raw.cwd).map(|text| self.path(&text.value));
        let command = command?;
        self.look_for(&command, &env, cwd.as_deref(), raw);
        Some(Transport::Stdio { command, args, env, cwd })
    }

    /// A bare name is looked up in `PATH` when it is started; `./server` is meant from the file's folder, wherever
    /// Toolfold happens to run.
    fn command(&mut self, raw: &RawServer) -> Option<String> {
        let text = self.text(&raw.command)?;
        if text.value.trim().is_empty() {
            self.report.error(&text.typed.place, "is empty", "name the program to start".to_owned());
            return None;
        }
        if text.value.contains(' ') && !text.value.contains(['/', '\\']) && raw.args.is_absent() {
            let hint = "no shell reads this: put the arguments into `args`";
            self.report.warn(
                &text.typed.place,
                "is taken as the name of one program, spaces included",
                hint.to_owned(),
            );
        }
        let beside = ["./", "../", "~/"].iter().any(|start| text.value.starts_with(start));
        let whole = beside.then(|| self.path(&text.value)).and_then(|path| path.to_str().map(str::to_owned));
        Some(whole.unwrap_or(text.value))
    }

    fn look_for(&mut self, command: &str, env: &BTreeMap<String, Secret>, cwd: Option<&Path>, raw: &RawServer) {
        let (Some(typed), options) = (raw.command.given(), self.surroundings.options) else { return };
        if !options.look_for_commands {
            return;
        }
        let paths = env.get("PATH").map(Secret::expose).or(options.environment.get("PATH").map(String::as_str));
        if program::find(command, paths.unwrap_or_default(), cwd.unwrap_or(&options.directory)).is_none() {
            let (message, hint) = program::not_found(&typed.value, command.contains('/'));
            self.report.error(&typed.place, message, hint);
        }
    }

    fn over_http(&mut self, raw: &RawServer) -> Option<Transport> {
        let strangers = [
            ("args", raw.args.given().map(|typed| &typed.place)),
            ("env", raw.env.given().map(|typed| &typed.place)),
            ("cwd", raw.cwd.given().map(|typed| &typed.place)),
        ];
        for place in strangers.into_iter().filter_map(|(_, place)| place) {
            let hint = "there is no program to start: a server with a `url` takes `headers`";
            self.report.error(place, "does not go with `url`", hint.to_owned());
        }
        let url = self.url(&raw.url);
        let headers = self.request_headers(raw);
        Some(Transport::Http { url: url?, headers })
    }

    /// Headers of every request, whose values are secrets.
    pub(crate) fn request_headers(&mut self, raw: &RawServer) -> BTreeMap<String, Secret> {
        let headers = self.secrets(&raw.headers, is_token, "an HTTP header");
        self.check_header_values(&raw.headers, &headers);
        headers
    }

    pub(crate) fn url(&mut self, field: &Field<String>) -> Option<String> {
        let text = self.text(field)?;
        let wrong = match Url::parse(&text.value) {
            Ok(url) if !["http", "https"].contains(&url.scheme()) => {
                "begins with neither http:// nor https://".to_owned()
            }
            Ok(url) if !url.username().is_empty() || url.password().is_some() => {
                let hint = "send them as a header: headers = { Authorization = \"Basic ${…}\" }";
                self.report.error(&text.typed.place, "has a user name or password in it", hint.to_owned());
                return None;
            }
            Ok(_) => return Some(text.value),
            // The reason alone: the text itself may carry a key.
            Err(reason) => format!("is not a URL: {reason}"),
        };
        self.report.error(&text.typed.place, wrong, "write it whole: \"https://example.com/mcp\"".to_owned());
        None
    }

    pub(crate) fn secrets(
        &mut self,
        field: &Field<Pairs>,
        fits: fn(&str) -> bool,
        what: &str,
    ) -> BTreeMap<String, Secret> {
        self.pairs(field, fits, what).into_iter().map(|(name, value)| (name, Secret::new(value))).collect()
    }

    fn pairs(&mut self, field: &Field<Pairs>, fits: fn(&str) -> bool, what: &str) -> BTreeMap<String, String> {
        let mut pairs = BTreeMap::new();
        for (name, value) in field.given().map_or(&[][..], |typed| &typed.value) {
            if !fits(name) {
                self.report.error(&value.place, format!("cannot be the name of {what}"), None);
            } else if let Some(text) = self.expanded(value) {
                pairs.insert(name.clone(), text.value);
            }
        }
        pairs
    }

    fn check_header_values(&mut self, field: &Field<Pairs>, headers: &BTreeMap<String, Secret>) {
        for (name, typed) in field.given().map_or(&[][..], |typed| &typed.value) {
            let Some(secret) = headers.get(name) else { continue };
            if secret.expose().chars().any(|c| c.is_control() && c != '\t') {
                let hint = "a line break at the end of a variable is a common cause";
                self.report.error(&typed.place, "has a value that HTTP does not allow", hint.to_owned());
            }
        }
    }

    pub(crate) fn trust(&mut self, field: &Field<String>) -> Trust {
        self.choice(field, &Trust::ALL.map(|trust| (trust.as_str(), trust)), Trust::default())
    }

    pub(crate) fn choice<T: Copy>(&mut self, field: &Field<String>, choices: &[(&'static str, T)], usual: T) -> T {
        let Some(text) = self.text(field) else { return usual };
        if let Some((_, choice)) = choices.iter().find(|(name, _)| *name == text.value) {
            return *choice;
        }
        let names: Vec<&str> = choices.iter().map(|(name, _)| *name).collect();
        let hint = match words::nearest(&text.typed.value, names.iter().copied()) {
            Some(near) => format!("did you mean \"{near}\"?"),
            None => format!("choose from: {}", names.join(", ")),
        };
        self.report.error(&text.typed.place, format!("{} is not a choice here", quoted(&text.typed.value)), hint);
        usual
    }

    fn timeouts(&mut self, raw: &RawServer) -> Timeouts {
        let usual = Timeouts::default();
        let mut read =
            |field: &Field<Amount>, usual: Duration| self.amount(field, "duration", units::duration).unwrap_or(usual);
        Timeouts {
            connect: read(&raw.connect_timeout, usual.connect),
            call: read(&raw.timeout, usual.call),
            idle: read(&raw.idle_timeout, usual.idle),
            stop: read(&raw.stop_timeout, usual.stop),
        }
    }

    pub(crate) fn amount<T>(
        &mut self,
        field: &Field<Amount>,
        what: &str,
        read: fn(&Amount) -> Result<T, &'static str>,
    ) -> Option<T> {
        let typed = field.given()?;
        let (amount, shown) = match &typed.value {
            Amount::Number(number) => (Amount::Number(*number), number.to_string()),
            Amount::Text(text) => {
                let expanded =
                    self.expanded(&crate::table::Typed { value: text.clone(), place: typed.place.clone() })?.value;
                (Amount::Text(expanded), quoted(text))
            }
        };
        read(&amount).map_err(|hint| self.refuse(&typed.place, format!("{shown} is not a usable {what}"), hint)).ok()
    }

    fn refuse(&mut self, place: &Place, message: String, hint: &str) {
        self.report.error(place, message, hint.to_owned());
    }
}

/// What HTTP allows in the name of a header.
fn is_token(name: &str) -> bool {
    !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte))
}
