//! Clients that are used in a terminal.

use super::Base::{AppData, Home, Variable, Xdg};
use super::Variables::{Any, Braces, Curly, Dollar, Nothing};
use super::{
    Allow, Evidence, Extra, FilePlace, KnownClient, Passes, Proof, RuleFile, RuleForm, Spelling, Status, TimeUnit,
};
use crate::edit::Shape;
use crate::format::FileFormat;

/// `command` and `args`, or `url`.
pub(super) const PLAIN: Spelling =
    Spelling { kind: None, command: "command", args: Some("args"), url: Some("url"), nested: None, extra: &[] };
/// The same with `type` before it.
pub(super) const TYPED: Spelling = Spelling { kind: Some(("type", "stdio", "http")), ..PLAIN };
/// opencode, and what is made of it.
const OPENCODE: KnownClient = KnownClient {
    format: FileFormat::Jsonc,
    containers: &[&["mcp"], &["mcp", "servers"]],
    spelling: Spelling {
        kind: Some(("type", "local", "remote")),
        args: None,
        extra: &[("enabled", Extra::True)],
        ..PLAIN
    },
    variables: Curly,
    status: Some(Status { arguments: &["mcp", "list"], proof: Proof::Line("connected"), connects: true }),
    ..USUAL
};

/// What most rows have; each says what it has instead.
pub(super) const USUAL: KnownClient = KnownClient {
    id: "",
    name: "",
    program: None,
    signs: &[],
    user: &[],
    project: &[],
    format: FileFormat::Json,
    containers: &[&["mcpServers"]],
    shape: Shape::Map,
    spelling: PLAIN,
    variables: Braces,
    passes: Passes::Everything,
    timeout: None,
    status: None,
    allow: None,
    rules: None,
    is_written: true,
    evidence: Evidence::Tested,
    notes: &[],
};

const HIDES: &str = "It hides the tools of every server behind a search of its own, and no switch for that is known: its model \
                     finds Toolfold's two tools there.";

pub(super) const ROWS: &[KnownClient] = &[
    KnownClient {
        id: "claude-code",
        name: "Claude Code",
        program: Some("claude"),
        signs: &[".claude"],
        user: &[FilePlace::main(Variable("CLAUDE_CONFIG_DIR"), ".claude.json"), FilePlace::main(Home, ".claude.json")],
        project: &[".mcp.json"],
        spelling: TYPED,
        timeout: Some(("timeout", TimeUnit::Milliseconds)),
        status: Some(Status { arguments: &["mcp", "list"], proof: Proof::Line("✔ Connected"), connects: true }),
        allow: Some(Allow::Listed {
            file: FilePlace::main(Home, ".claude/settings.json"),
            container: &["permissions", "allow"],
            item: "mcp__toolfold__find_tools",
        }),
        rules: Some(RuleFile {
            files: &[
                FilePlace::main(Variable("CLAUDE_CONFIG_DIR"), "settings.json"),
                FilePlace::main(Home, ".claude/settings.json"),
            ],
            format: FileFormat::Json,
            form: RuleForm::Lists,
        }),
        notes: &["A comment in its file stops it: none is ever written."],
        ..USUAL
    },
    KnownClient {
        id: "codex",
        name: "Codex",
        program: Some("codex"),
        signs: &[".codex"],
        user: &[FilePlace::main(Variable("CODEX_HOME"), "config.toml"), FilePlace::main(Home, ".codex/config.toml")],
        project: &[".codex/config.toml"],
        format: FileFormat::Toml,
        containers: &[&["mcp_servers"]],
        variables: Nothing,
        passes: Passes::Listed("env_vars"),
        timeout: Some(("tool_timeout_sec", TimeUnit::Seconds)),
        status: Some(Status { arguments: &["mcp", "list"], proof: Proof::Line("enabled"), connects: false }),
        allow: Some(Allow::ToolTable("tools", "approval_mode", "approve")),
        rules: Some(RuleFile {
            files: &[
                FilePlace::main(Variable("CODEX_HOME"), "config.toml"),
                FilePlace::main(Home, ".codex/config.toml"),
            ],
            format: FileFormat::Toml,
            form: RuleForm::ToolModes,
        }),
        ..USUAL
    },
    KnownClient {
        id: "gemini",
        name: "Gemini CLI",
        program: Some("gemini"),
        signs: &[".gemini"],
        user: &[
            FilePlace::main(Variable("GEMINI_CLI_HOME"), ".gemini/settings.json"),
            FilePlace::main(Home, ".gemini/settings.json"),
        ],
        project: &[".gemini/settings.json"],
        spelling: Spelling { kind: Some(("type", "", "http")), ..PLAIN },
        variables: Dollar,
        passes: Passes::Mapped("env"),
        timeout: Some(("timeout", TimeUnit::Milliseconds)),
        status: Some(Status { arguments: &["mcp", "list"], proof: Proof::Line("Connected"), connects: true }),
        rules: Some(RuleFile {
            files: &[
                FilePlace::main(Variable("GEMINI_CLI_HOME"), ".gemini/policies/toolfold.toml"),
                FilePlace::main(Home, ".gemini/policies/toolfold.toml"),
            ],
            format: FileFormat::Toml,
            form: RuleForm::Policies,
        }),
        notes: &["In a folder that it does not trust, it starts no server."],
        ..USUAL
    },
    KnownClient {
        id: "copilot",
        name: "Copilot CLI",
        program: Some("copilot"),
        signs: &[".copilot"],
        user: &[
            FilePlace::main(Variable("COPILOT_HOME"), "mcp-config.json"),
            FilePlace::main(Home, ".copilot/mcp-config.json"),
        ],
        project: &[".mcp.json", ".github/mcp.json"],
        format: FileFormat::Jsonc,
        spelling: Spelling { kind: Some(("type", "local", "http")), extra: &[("tools", Extra::Everything)], ..PLAIN },
        timeout: Some(("timeout", TimeUnit::Milliseconds)),
        ..USUAL
    },
    KnownClient {
        id: "opencode",
        name: "opencode",
        program: Some("opencode"),
        user: &[
            FilePlace::before(Variable("OPENCODE_CONFIG"), ""),
            FilePlace::before(Xdg, "opencode/opencode.jsonc"),
            FilePlace::main(Xdg, "opencode/opencode.json"),
        ],
        project: &["opencode.jsonc", "opencode.json", ".opencode/opencode.jsonc", ".opencode/opencode.json"],
        ..OPENCODE
    },
    KnownClient {
        id: "kilo",
        name: "Kilo Code",
        program: Some("kilo"),
        user: &[FilePlace::before(Xdg, "kilo/kilo.jsonc"), FilePlace::main(Xdg, "kilo/kilo.json")],
        project: &["kilo.jsonc", "kilo.json", ".kilo/kilo.jsonc", ".kilo/kilo.json"],
        ..OPENCODE
    },
    KnownClient {
        id: "goose",
        name: "Goose",
        program: Some("goose"),
        user: &[
            FilePlace::main(Variable("GOOSE_PATH_ROOT"), "config/config.yaml"),
            FilePlace::main(AppData, "Block/goose/config/config.yaml"),
            FilePlace::main(Xdg, "goose/config.yaml"),
        ],
        format: FileFormat::Yaml,
        containers: &[&["extensions"]],
        spelling: Spelling {
            kind: Some(("type", "stdio", "streamable_http")),
            command: "cmd",
            url: Some("uri"),
            extra: &[("name", Extra::Name), ("enabled", Extra::True), ("timeout", Extra::Number(300))],
            ..PLAIN
        },
        variables: Nothing,
        timeout: Some(("timeout", TimeUnit::Seconds)),
        ..USUAL
    },
    KnownClient {
        id: "qwen",
        name: "Qwen Code",
        program: Some("qwen"),
        signs: &[".qwen"],
        user: &[FilePlace::main(Variable("QWEN_HOME"), "settings.json"), FilePlace::main(Home, ".qwen/settings.json")],
        project: &[".qwen/settings.json"],
        spelling: Spelling { url: Some("httpUrl"), extra: &[("alwaysLoadTools", Extra::True)], ..PLAIN },
        variables: Braces,
        timeout: Some(("timeout", TimeUnit::Milliseconds)),
        status: Some(Status { arguments: &["mcp", "list"], proof: Proof::Line("Connected"), connects: true }),
        notes: &["Without `alwaysLoadTools` its model never sees a server's tools."],
        ..USUAL
    },
    KnownClient {
        id: "kimi",
        name: "Kimi Code",
        program: Some("kimi"),
        signs: &[".kimi-code"],
        user: &[FilePlace::main(Variable("KIMI_CODE_HOME"), "mcp.json"), FilePlace::main(Home, ".kimi-code/mcp.json")],
        project: &[".kimi-code/mcp.json", ".mcp.json"],
        spelling: Spelling { kind: Some(("transport", "", "http")), ..PLAIN },
        timeout: Some(("toolTimeoutMs", TimeUnit::Milliseconds)),
        notes: &["A file that is not strict JSON is ignored without a word."],
        ..USUAL
    },
    KnownClient {
        id: "droid",
        name: "Factory Droid",
        program: Some("droid"),
        signs: &[".factory"],
        user: &[FilePlace::main(Home, ".factory/mcp.json")],
        project: &[".factory/mcp.json"],
        spelling: TYPED,
        status: Some(Status { arguments: &["mcp", "list"], proof: Proof::Line("connected"), connects: true }),
        ..USUAL
    },
    KnownClient {
        id: "grok",
        name: "Grok Build",
        program: Some("grok"),
        signs: &[".grok"],
        user: &[FilePlace::main(Variable("GROK_HOME"), "config.toml"), FilePlace::main(Home, ".grok/config.toml")],
        project: &[".grok/config.toml"],
        format: FileFormat::Toml,
        containers: &[&["mcp_servers"]],
        timeout: Some(("tool_timeout_sec", TimeUnit::Seconds)),
        status: Some(Status { arguments: &["mcp", "doctor", "toolfold"], proof: Proof::ExitCode, connects: true }),
        notes: &[HIDES],
        ..USUAL
    },
    KnownClient {
        id: "vibe",
        name: "Mistral Vibe",
        program: Some("vibe"),
        signs: &[".vibe"],
        user: &[FilePlace::main(Home, ".vibe/config.toml")],
        format: FileFormat::Toml,
        containers: &[&["mcp_servers"]],
        shape: Shape::List,
        spelling: Spelling {
            kind: Some(("transport", "stdio", "streamable-http")),
            extra: &[("name", Extra::Name)],
            ..PLAIN
        },
        variables: Nothing,
        timeout: Some(("tool_timeout_sec", TimeUnit::Seconds)),
        notes: &[HIDES],
        ..USUAL
    },
    KnownClient {
        id: "amp",
        name: "Amp",
        program: Some("amp"),
        user: &[FilePlace::main(AppData, "amp/settings.json"), FilePlace::main(Xdg, "amp/settings.json")],
        project: &[".amp/settings.json"],
        format: FileFormat::Jsonc,
        containers: &[&["amp.mcpServers"]],
        ..USUAL
    },
    KnownClient {
        id: "auggie",
        name: "Auggie",
        program: Some("auggie"),
        signs: &[".augment"],
        user: &[FilePlace::main(Home, ".augment/settings.json")],
        spelling: Spelling { kind: Some(("type", "", "http")), ..PLAIN },
        ..USUAL
    },
    KnownClient {
        id: "crush",
        name: "Crush",
        program: Some("crush"),
        user: &[FilePlace::main(Xdg, "crush/crush.json")],
        project: &[".crush.json", "crush.json"],
        containers: &[&["mcp"]],
        spelling: TYPED,
        variables: Dollar,
        timeout: Some(("timeout", TimeUnit::Seconds)),
        evidence: Evidence::Documented,
        ..USUAL
    },
    KnownClient {
        id: "hermes",
        name: "Hermes",
        program: Some("hermes"),
        signs: &[".hermes"],
        user: &[FilePlace::main(Home, ".hermes/config.yaml")],
        format: FileFormat::Yaml,
        containers: &[&["mcp_servers"]],
        timeout: Some(("timeout", TimeUnit::Seconds)),
        evidence: Evidence::Documented,
        ..USUAL
    },
    KnownClient {
        id: "mcp",
        name: "a shared mcp.json",
        user: &[FilePlace::main(Xdg, "mcp/mcp.json")],
        variables: Any,
        is_written: false,
        evidence: Evidence::Documented,
        notes: &["No program's own: home-manager and others write it for several to read."],
        ..USUAL
    },
];
