//! Clients with a window, and extensions of editors.

use super::Base::AppData;
use super::Base::{Home, LocalAppData, System, Variable, Xdg};
use super::Variables::{Editor, Nothing};
use super::rows::{PLAIN, TYPED, USUAL};
use super::{Allow, Evidence, Extra, FilePlace, KnownClient, RuleFile, RuleForm, Spelling, TimeUnit};
use crate::edit::Shape;
use crate::format::FileFormat;

const CLINE_OLD: &str = "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json";
const ROO: &str = "Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json";
const DESKTOP: &str = "Claude/claude_desktop_config.json";

pub(super) const ROWS: &[KnownClient] = &[
    KnownClient {
        id: "claude-desktop",
        name: "Claude Desktop",
        user: &[
            FilePlace::before(LocalAppData, "Packages/Claude_*/LocalCache/Roaming/Claude/claude_desktop_config.json"),
            FilePlace::main(System, DESKTOP),
        ],
        spelling: Spelling { url: None, ..PLAIN },
        variables: Nothing,
        evidence: Evidence::Documented,
        notes: &[
            "It starts servers without your shell's variables: set those that your servers need where it is started.",
        ],
        ..USUAL
    },
    KnownClient {
        id: "cursor",
        name: "Cursor",
        program: Some("cursor"),
        signs: &[".cursor"],
        user: &[FilePlace::main(Home, ".cursor/mcp.json")],
        project: &[".cursor/mcp.json"],
        rules: Some(RuleFile {
            files: &[FilePlace::main(Home, ".cursor/permissions.json")],
            format: FileFormat::Jsonc,
            form: RuleForm::AllowList,
        }),
        variables: Editor,
        evidence: Evidence::Documented,
        ..USUAL
    },
    KnownClient {
        id: "vscode",
        name: "VS Code",
        program: Some("code"),
        user: &[
            FilePlace::main(System, "Code/User/mcp.json"),
            FilePlace::also(System, "Code/User/profiles/*/mcp.json"),
            FilePlace::also(System, "Code - Insiders/User/mcp.json"),
            FilePlace::also(Home, ".vscode-server/data/User/mcp.json"),
        ],
        project: &[".vscode/mcp.json"],
        rules: Some(RuleFile {
            files: &[FilePlace::main(System, "Code/User/settings.json")],
            format: FileFormat::Jsonc,
            form: RuleForm::Flags,
        }),
        format: FileFormat::Jsonc,
        containers: &[&["servers"]],
        spelling: TYPED,
        variables: Editor,
        evidence: Evidence::Documented,
        ..USUAL
    },
    KnownClient {
        id: "windsurf",
        name: "Windsurf",
        program: Some("windsurf"),
        user: &[
            FilePlace::main(Home, ".codeium/windsurf/mcp_config.json"),
            FilePlace::also(Home, ".codeium/mcp_config.json"),
        ],
        spelling: Spelling { url: Some("serverUrl"), ..PLAIN },
        variables: Editor,
        evidence: Evidence::Documented,
        ..USUAL
    },
    KnownClient {
        id: "antigravity",
        name: "Antigravity",
        program: Some("agy"),
        user: &[FilePlace::main(Home, ".gemini/config/mcp_config.json")],
        project: &[".agents/mcp_config.json"],
        spelling: Spelling { url: Some("serverUrl"), ..PLAIN },
        variables: Nothing,
        evidence: Evidence::Documented,
        notes: &["An entry that it does not like is dropped without a word."],
        ..USUAL
    },
    KnownClient {
        id: "zed",
        name: "Zed",
        program: Some("zed"),
        user: &[FilePlace::main(AppData, "Zed/settings.json"), FilePlace::main(Xdg, "zed/settings.json")],
        project: &[".zed/settings.json"],
        format: FileFormat::Jsonc,
        containers: &[&["context_servers"]],
        variables: Nothing,
        evidence: Evidence::Documented,
        ..USUAL
    },
    KnownClient {
        id: "cline",
        name: "Cline",
        program: Some("cline"),
        signs: &[".cline"],
        user: &[
            FilePlace::main(Variable("CLINE_DATA_DIR"), "settings/cline_mcp_settings.json"),
            FilePlace::main(Variable("CLINE_DIR"), "data/settings/cline_mcp_settings.json"),
            FilePlace::main(Home, ".cline/data/settings/cline_mcp_settings.json"),
            FilePlace::also(System, CLINE_OLD),
        ],
        spelling: Spelling { kind: Some(("type", "stdio", "streamableHttp")), nested: Some("transport"), ..PLAIN },
        variables: Nothing,
        timeout: Some(("timeout", TimeUnit::Seconds)),
        allow: Some(Allow::ToolList("autoApprove")),
        notes: &["It gives its model a result twice, as text and as structured content: results cost twice there."],
        ..USUAL
    },
    KnownClient {
        id: "continue",
        name: "Continue",
        program: Some("cn"),
        signs: &[".continue"],
        user: &[FilePlace::main(Home, ".continue/config.yaml")],
        project: &[".continue/mcpServers/*.yaml"],
        format: FileFormat::Yaml,
        containers: &[&["mcpServers"]],
        shape: Shape::List,
        spelling: Spelling { kind: Some(("type", "", "streamable-http")), extra: &[("name", Extra::Name)], ..PLAIN },
        variables: Nothing,
        notes: &["It puts no server's name before a tool's: another server with a `find_tools` would be in the way."],
        ..USUAL
    },
    KnownClient {
        id: "lmstudio",
        name: "LM Studio",
        program: Some("lms"),
        signs: &[".lmstudio"],
        user: &[FilePlace::main(Home, ".lmstudio/mcp.json"), FilePlace::also(Home, ".cache/lm-studio/mcp.json")],
        variables: Editor,
        evidence: Evidence::Documented,
        ..USUAL
    },
    KnownClient {
        id: "kiro",
        name: "Kiro",
        program: Some("kiro"),
        signs: &[".kiro"],
        user: &[FilePlace::main(Home, ".kiro/settings/mcp.json")],
        project: &[".kiro/settings/mcp.json"],
        allow: Some(Allow::ToolList("autoApprove")),
        evidence: Evidence::Documented,
        ..USUAL
    },
    KnownClient {
        id: "junie",
        name: "Junie",
        program: Some("junie"),
        signs: &[".junie"],
        user: &[FilePlace::main(Home, ".junie/mcp/mcp.json")],
        project: &[".junie/mcp/mcp.json"],
        evidence: Evidence::Documented,
        ..USUAL
    },
    KnownClient {
        id: "trae",
        name: "Trae",
        program: Some("trae"),
        user: &[FilePlace::main(System, "Trae/User/mcp.json")],
        project: &[".trae/mcp.json"],
        variables: Editor,
        evidence: Evidence::Documented,
        ..USUAL
    },
    KnownClient {
        id: "roo",
        name: "Roo Code",
        user: &[FilePlace::main(System, ROO)],
        project: &[".roo/mcp.json"],
        variables: Editor,
        timeout: Some(("timeout", TimeUnit::Seconds)),
        is_written: false,
        evidence: Evidence::Documented,
        notes: &["It is no longer made: its servers can be taken over."],
        ..USUAL
    },
];
