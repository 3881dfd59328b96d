//! What the program needs to know, once every problem has been sorted out. Nothing here is optional that the program
//! cannot do without, and no text here still waits for a variable.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::time::Duration;

use toolfold_core::{
    AccessRule, Doors, NodeRule, Pattern, Secret, ServerName, StorePlace, Surface, SurfaceSettings, Trust,
};

use crate::access::Issuer;
use crate::api::ApiSource;
use crate::auth::{Auth, OAuthSettings};
use crate::cluster::ClusterSettings;
use crate::code::CodeSettings;
use crate::operation::{AuditSettings, Limits, TelemetrySettings};
use crate::results::ResultSettings;

#[derive(Debug, Clone, PartialEq)]
pub struct Config {
    pub surface: Surface,
    pub settings: SurfaceSettings,
    /// Spellings of the tools that are always listed.
    pub pin: Vec<String>,
    /// Whether the tools that are called most are listed too.
    pub pin_used: bool,
    /// Servers that come first among those whose tools do the same.
    pub prefer: Vec<ServerName>,
    /// Meta-tools that call only some tools.
    pub doors: Doors,
    pub learn: Learn,
    /// How many tokens one answer of a meta-tool may have.
    pub budget: usize,
    /// Whether the built-in toolbox is served. On without any configuration.
    pub toolbox: bool,
    pub servers: BTreeMap<ServerName, Server>,
    /// Servers of the file that cannot be reached as things are, and why, for people: `the variable X is not set`. They are
    /// failing from the start and never asked.
    pub unusable: BTreeMap<ServerName, String>,
    /// Files of agents, and folders of them.
    pub agents: Vec<PathBuf>,
    /// `SKILL.md` files, and folders with such files somewhere below.
    pub skills: Vec<PathBuf>,
    /// Files of scripts, and folders of them.
    pub scripts: Vec<PathBuf>,
    /// How far those files are believed.
    pub trust_agents: Trust,
    pub trust_skills: Trust,
    pub trust_scripts: Trust,
    /// What scripts may do and take.
    pub code: CodeSettings,
    /// Nodes beside the built-in ones, or in place of some of them.
    pub nodes: Vec<NodeRule>,
    pub precise: PreciseTier,
    pub http: Http,
    /// Whose tokens are accepted.
    pub issuers: Vec<Issuer>,
    /// Who may see and call what. None: everybody everything.
    pub rules: Vec<AccessRule>,
    /// Whether hidden characters and role tags in results are marked beside them.
    pub mark_results: bool,
    /// Which results are kept rather than passed on.
    pub results: ResultSettings,
    pub limits: Limits,
    pub audit: AuditSettings,
    pub telemetry: TelemetrySettings,
    pub oauth: OAuthSettings,
    /// What logins are sealed with (TOOLFOLD_KEY); `None`: a key in a file beside the store.
    pub key: Option<Secret>,
    /// Where manifests and whatever else must outlive the process are kept; `None`: in memory.
    pub store: Option<StorePlace>,
    /// Whether this is one of several that stand in for each other.
    pub cluster: Option<ClusterSettings>,
    /// The files this was read from: a change to one of them is a reason to read again.
    pub files: Vec<PathBuf>,
}

/// What is remembered of which requests ended in the call of which tool.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Learn {
    /// Nothing, and nothing that was learned before counts.
    Off,
    /// Names of tools, and the words of requests as numbers.
    #[default]
    Names,
    /// The texts of requests too.
    Queries,
}

/// Where the encoder is that search by meaning is at its best with.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PreciseTier {
    Off,
    /// The first of these files that is there. None is fine.
    Auto(Vec<PathBuf>),
    /// Named by somebody, who is told if it cannot be used.
    File(PathBuf),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Http {
    pub listen: SocketAddr,
    /// Host names accepted beside loopback ones.
    pub hosts: Vec<String>,
    /// Origins accepted beside loopback ones.
    pub origins: Vec<String>,
    /// What a client must present as `Authorization: Bearer …`.
    pub token: Option<Secret>,
    /// Whether whoever comes from this machine without credentials is `local`. Unsaid: where nothing else says who somebody is.
    pub local: Option<bool>,
    /// Where clients find us, without a slash at the end: what addresses in answers begin with.
    pub public_url: Option<String>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Server {
    pub name: ServerName,
    pub transport: Transport,
    pub start: Start,
    /// Which of several replicas run it.
    pub run: Run,
    pub era: EraChoice,
    /// Whether a model sees `server__tool` (the default) or the bare `tool`.
    pub prefix: bool,
    /// How far its definitions are believed.
    pub trust: Trust,
    /// Names of tools that are shown and not called.
    pub forbid: Vec<Pattern>,
    /// Other names for its tools, and the names of those.
    pub aliases: BTreeMap<String, String>,
    pub timeouts: Timeouts,
    /// The largest message accepted from the server, in bytes.
    pub max_message: usize,
    /// How it is known to the server who asks, beside `headers`.
    pub auth: Auth,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Transport {
    Stdio {
        command: String,
        args: Vec<String>,
        env: BTreeMap<String, Secret>,
        cwd: Option<PathBuf>,
    },
    Http {
        url: String,
        headers: BTreeMap<String, Secret>,
    },
    /// An API that a document describes, endpoints and commands described by hand.
    Api(Box<ApiSource>),
    /// An agent that speaks A2A.
    Agent {
        card: String,
        headers: BTreeMap<String, Secret>,
    },
}

/// When a server is started.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Start {
    /// When one of its tools is first called. The default over stdio.
    Lazy,
    /// At once, and kept running. The default over HTTP, where there is nothing to start.
    Eager,
}

/// Which of several replicas run a server that is a program. Alone it is the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Run {
    /// Each has a process of its own.
    Each,
    /// One at a time, and the others send on to it what is for the server.
    One,
}

/// Which era of the protocol to speak with a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EraChoice {
    /// Find out once, without harm, and remember.
    Auto,
    Legacy,
    Modern,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// From start to the end of the handshake (60 s: `npx` may have to fetch a package first).
    pub connect: Duration,
    /// One request (60 s). Progress does not extend it.
    pub call: Duration,
    /// How long a lazily started server may be idle before it is stopped (300 s).
    pub idle: Duration,
    /// From SIGTERM to SIGKILL (3 s).
    pub stop: Duration,
}

/// Larger than any tool list seen in the wild, and small enough to hold a few of.
pub const DEFAULT_MAX_MESSAGE: usize = 32 * 1024 * 1024;

/// What is served without any configuration: the toolbox alone, remembered nowhere.
impl Default for Config {
    fn default() -> Self {
        Config {
            surface: Surface::default(),
            settings: SurfaceSettings::default(),
            pin: Vec::new(),
            pin_used: false,
            prefer: Vec::new(),
            doors: Doors::NONE,
            learn: Learn::default(),
            budget: 700,
            toolbox: true,
            servers: BTreeMap::new(),
            unusable: BTreeMap::new(),
            agents: Vec::new(),
            skills: Vec::new(),
            scripts: Vec::new(),
            trust_agents: Trust::default(),
            trust_skills: Trust::default(),
            trust_scripts: Trust::default(),
            code: CodeSettings::default(),
            nodes: Vec::new(),
            precise: PreciseTier::Off,
            http: Http::default(),
            issuers: Vec::new(),
            rules: Vec::new(),
            mark_results: false,
            results: ResultSettings::default(),
            limits: Limits::default(),
            audit: AuditSettings::default(),
            telemetry: TelemetrySettings::default(),
            oauth: OAuthSettings::default(),
            key: None,
            store: None,
            cluster: None,
            files: Vec::new(),
        }
    }
}

impl Config {
    /// Whether whoever comes from this machine and shows nothing is let in, as whoever runs the program.
    pub fn is_open(&self) -> bool {
        let unsaid = self.http.token.is_none() && self.issuers.is_empty() && self.rules.is_empty();
        self.http.local.unwrap_or(unsaid)
    }
}

impl Default for Http {
    fn default() -> Self {
        let listen = SocketAddr::from(([127, 0, 0, 1], 7420));
        Http { listen, hosts: Vec::new(), origins: Vec::new(), token: None, local: None, public_url: None }
    }
}

impl Default for Timeouts {
    fn default() -> Self {
        Timeouts {
            connect: Duration::from_secs(60),
            call: Duration::from_secs(60),
            idle: Duration::from_secs(300),
            stop: Duration::from_secs(3),
        }
    }
}

impl Server {
    /// A server with nothing but a way to reach it: everything else as if the file did not say.
    pub fn new(name: ServerName, transport: Transport) -> Self {
        let start = match transport {
            Transport::Stdio { .. } => Start::Lazy,
            Transport::Http { .. } | Transport::Api(_) | Transport::Agent { .. } => Start::Eager,
        };
        Server {
            name,
            transport,
            start,
            run: Run::Each,
            era: EraChoice::Auto,
            prefix: true,
            trust: Trust::default(),
            forbid: Vec::new(),
            aliases: BTreeMap::new(),
            timeouts: Timeouts::default(),
            max_message: DEFAULT_MAX_MESSAGE,
            auth: Auth::default(),
        }
    }
}
