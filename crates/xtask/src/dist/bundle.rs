//! The `.mcpb` for clients that install a server by opening a file.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use serde_json::json;

use super::files::{Member, zipped};
use super::{DESCRIPTION, Release, SUMMARY};

pub(super) fn make(release: &Release) -> Result<PathBuf> {
    let manifest = json!({
        "manifest_version": "0.3",
        "name": "toolfold",
        "display_name": "Toolfold",
        "version": release.version,
        "description": SUMMARY,
        "long_description": DESCRIPTION,
        "author": {"name": "The Toolfold contributors"},
        "license": "Apache-2.0",
        "server": {
            "type": "binary",
            "entry_point": "server/toolfold",
            "mcp_config": {"command": "${__dirname}/server/toolfold", "args": ["serve", "--stdio"], "env": {}},
        },
        "tools": [
            {"name": "find_tools", "description": "Find tools, browse them, read about them"},
            {"name": "call_tool", "description": "Call a tool that was found"},
        ],
        "compatibility": {"platforms": ["linux"]},
    });
    let text = format!("{}\n", serde_json::to_string_pretty(&manifest)?);
    let members = [
        Member::text("manifest.json", text),
        Member::program("server/toolfold", fs::read(&release.binary)?),
        Member::text("LICENSE", fs::read_to_string(release.root.join("LICENSE"))?),
    ];
    zipped(&members, &release.out.join(format!("toolfold-{}-linux-{}.mcpb", release.version, std::env::consts::ARCH)))
}
