//! What it takes to run each client without its model: its package, a file of its own with something foreign in it, and where it
//! is told that the model is on loopback.

/// The port of the fake model, in a network of the client's own.
pub(super) const PORT: u16 = 7997;

/// What is in every file that is not Toolfold's, and must never be printed.
pub(super) const SECRET: &str = "hunter2hunter2";

pub(super) struct Recipe {
    /// As `toolfold install` calls it.
    pub(super) client: &'static str,
    pub(super) package: (&'static str, &'static str),
    /// Below `node_modules`.
    pub(super) program: &'static str,
    /// Below the home.
    pub(super) file: &'static str,
    /// With a server of its own in it, whose script is `CLOCK`.
    pub(super) before: &'static str,
    /// Other files that it needs, below the home; `HOME` in them is the home.
    pub(super) beside: &'static [(&'static str, &'static str)],
    pub(super) variables: &'static [(&'static str, &'static str)],
    pub(super) arguments: &'static [&'static str],
    /// Whether its own status command connects.
    pub(super) connects: bool,
}

const ASK: &str = "what time is it";

pub(super) const RECIPES: [Recipe; 8] = [
    Recipe {
        client: "claude-code",
        package: ("@anthropic-ai/claude-code", "2.1.325"),
        program: ".bin/claude",
        file: ".claude.json",
        before: "{\n  \"mcpServers\": {\n    \"other\": {\"type\": \"stdio\", \"command\": \"python3\", \"args\": [\"CLOCK\"], \"env\": {\"API_KEY\": \"hunter2hunter2\"}}\n  }\n}\n",
        beside: &[],
        variables: &[
            ("ANTHROPIC_BASE_URL", "http://127.0.0.1:7997"),
            ("ANTHROPIC_API_KEY", "x"),
            ("CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC", "1"),
        ],
        arguments: &["-p", ASK, "--allowedTools", "mcp__toolfold"],
        connects: true,
    },
    Recipe {
        client: "codex",
        package: ("@openai/codex", "0.166.0"),
        program: ".bin/codex",
        file: ".codex/config.toml",
        before: "# mine\nmodel = \"gpt-5.4\"\nmodel_provider = \"fake\"\napproval_policy = \"never\"\nsandbox_mode = \"danger-full-access\"\n\n\
                 [model_providers.fake]\nname = \"fake\"\nbase_url = \"http://127.0.0.1:7997/v1\"\nwire_api = \"responses\"\n\n\
                 [mcp_servers.other]   # foreign\ncommand = \"python3\"\nargs = [\"CLOCK\"]\nenv = { API_KEY = \"hunter2hunter2\" }\n",
        beside: &[],
        variables: &[],
        arguments: &["exec", "--skip-git-repo-check", ASK],
        connects: true,
    },
    Recipe {
        client: "gemini",
        package: ("@google/gemini-cli", "0.61.0"),
        program: ".bin/gemini",
        file: ".gemini/settings.json",
        before: "{\n  // mine\n  \"security\": {\"auth\": {\"selectedType\": \"gemini-api-key\"}},\n  \"mcpServers\": {\n    \"other\": {\"command\": \"python3\", \"args\": [\"CLOCK\"], \"env\": {\"API_KEY\": \"hunter2hunter2\"}}\n  }\n}\n",
        beside: &[(".gemini/trustedFolders.json", "{\"HOME/project\": \"TRUST_FOLDER\"}")],
        variables: &[("GEMINI_API_KEY", "x"), ("GOOGLE_GEMINI_BASE_URL", "http://127.0.0.1:7997")],
        arguments: &["-p", ASK, "-m", "gemini-2.5-pro", "--approval-mode", "yolo"],
        connects: true,
    },
    Recipe {
        client: "copilot",
        package: ("@github/copilot", "1.0.102"),
        program: ".bin/copilot",
        file: ".copilot/mcp-config.json",
        before: "{\n  // mine\n  \"mcpServers\": {\n    \"other\": {\"type\": \"local\", \"command\": \"python3\", \"args\": [\"CLOCK\"], \"tools\": [\"*\"], \"env\": {\"API_KEY\": \"hunter2hunter2\"}},\n  },\n}\n",
        beside: &[],
        variables: &[
            ("COPILOT_PROVIDER_BASE_URL", "http://127.0.0.1:7997/v1"),
            ("COPILOT_PROVIDER_API_KEY", "x"),
            ("COPILOT_MODEL", "fake"),
            ("COPILOT_OFFLINE", "true"),
        ],
        arguments: &["-p", ASK, "--allow-all-tools", "--disable-builtin-mcps"],
        connects: false,
    },
    Recipe {
        client: "goose",
        package: ("@aaif/goose-binary-linux-x64", "1.52.0"),
        program: "@aaif/goose-binary-linux-x64/bin/goose",
        file: ".config/goose/config.yaml",
        before: "# mine\nGOOSE_PROVIDER: openai\nGOOSE_MODEL: fake\nGOOSE_MODE: auto\nextensions:\n    other: # foreign\n        enabled: true\n        type: stdio\n        name: other\n        cmd: python3\n        args: [CLOCK]\n        envs: {API_KEY: hunter2hunter2}\n        timeout: 300\n",
        beside: &[],
        variables: &[("OPENAI_HOST", "http://127.0.0.1:7997"), ("OPENAI_API_KEY", "x"), ("GOOSE_DISABLE_KEYRING", "1")],
        arguments: &["run", "--no-session", "-t", ASK],
        connects: false,
    },
    Recipe {
        client: "opencode",
        package: ("opencode-ai", "1.18.33"),
        // The package's own launcher is made by a script after installing, which npm may not run.
        program: "opencode-linux-x64/bin/opencode",
        file: ".config/opencode/opencode.json",
        before: "{\n\t// mine\n\t\"model\": \"fake/fake\", \"small_model\": \"fake/fake\", \"autoupdate\": false,\n\t\"provider\": {\"fake\": {\"npm\": \"@ai-sdk/openai-compatible\", \"options\": {\"baseURL\": \"http://127.0.0.1:7997/v1\", \"apiKey\": \"x\"}, \"models\": {\"fake\": {\"tool_call\": true}}}},\n\t\"mcp\": {\n\t\t\"other\": {\"type\": \"local\", \"command\": [\"python3\", \"CLOCK\"], \"enabled\": true, \"environment\": {\"API_KEY\": \"hunter2hunter2\"}}, // foreign\n\t},\n}\n",
        beside: &[],
        variables: &[],
        arguments: &["run", ASK],
        connects: true,
    },
    Recipe {
        client: "qwen",
        package: ("@qwen-code/qwen-code", "0.24.4"),
        program: ".bin/qwen",
        file: ".qwen/settings.json",
        before: "{\n  // mine\n  \"$version\": 4,\n  \"security\": {\"auth\": {\"selectedType\": \"openai\"}},\n  \"mcpServers\": {\"other\": {\"command\": \"python3\", \"args\": [\"CLOCK\"], \"env\": {\"API_KEY\": \"hunter2hunter2\"}}}\n}\n",
        beside: &[],
        variables: &[
            ("OPENAI_API_KEY", "x"),
            ("OPENAI_BASE_URL", "http://127.0.0.1:7997/v1"),
            ("OPENAI_MODEL", "fake"),
        ],
        arguments: &["-p", ASK, "--approval-mode", "yolo"],
        connects: true,
    },
    Recipe {
        client: "kimi",
        package: ("@moonshot-ai/kimi-code", "2.1.0"),
        program: ".bin/kimi",
        file: ".kimi-code/mcp.json",
        before: "{\n    \"mcpServers\": {\n        \"other\": {\"command\": \"python3\", \"args\": [\"CLOCK\"], \"env\": {\"API_KEY\": \"hunter2hunter2\"}}\n    }\n}",
        beside: &[(
            ".kimi-code/config.toml",
            "default_model = \"fake\"\n[providers.fake]\ntype = \"openai\"\nbase_url = \"http://127.0.0.1:7997/v1\"\napi_key = \"x\"\n\
             [models.fake]\nprovider = \"fake\"\nmodel = \"fake\"\nmax_context_size = 100000\n",
        )],
        variables: &[],
        arguments: &["-p", ASK],
        connects: false,
    },
];
