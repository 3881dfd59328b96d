//! The wheel for PyPI: a zip with the binary among its scripts, so that `uvx toolfold` and `pip install toolfold` bring it.

use std::fs;
use std::path::PathBuf;

use anyhow::Result;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use super::files::{Member, sha256, zipped};
use super::{DESCRIPTION, Release, SUMMARY};

pub(super) fn make(release: &Release) -> Result<PathBuf> {
    let (version, platform) = (&release.version, platforms(release));
    let about = format!("toolfold-{version}.dist-info");
    let tags: String = platform.split('.').map(|one| format!("Tag: py3-none-{one}\n")).collect();
    let mut members = vec![
        Member::program(format!("toolfold-{version}.data/scripts/toolfold"), fs::read(&release.binary)?),
        Member::text(format!("{about}/METADATA"), metadata(release)?),
        Member::text(
            format!("{about}/WHEEL"),
            format!("Wheel-Version: 1.0\nGenerator: toolfold-xtask\nRoot-Is-Purelib: false\n{tags}"),
        ),
        Member::text(format!("{about}/licenses/LICENSE"), fs::read_to_string(release.root.join("LICENSE"))?),
        Member::text(format!("{about}/licenses/NOTICE"), fs::read_to_string(release.root.join("NOTICE"))?),
    ];
    let listed: String = members.iter().map(recorded).collect();
    members.push(Member::text(format!("{about}/RECORD"), format!("{listed}{about}/RECORD,,\n")));
    zipped(&members, &release.out.join(format!("toolfold-{version}-py3-none-{platform}.whl")))
}

/// A static binary runs with any C library, or none.
fn platforms(release: &Release) -> String {
    let names: &[&str] =
        if release.is_static { &["manylinux_2_17", "manylinux2014", "musllinux_1_1"] } else { &["linux"] };
    names.iter().map(|name| format!("{name}_{}", std::env::consts::ARCH)).collect::<Vec<_>>().join(".")
}

fn metadata(release: &Release) -> Result<String> {
    let readme = fs::read_to_string(release.root.join("README.md"))?;
    Ok(format!(
        "Metadata-Version: 2.4\nName: toolfold\nVersion: {}\nSummary: {SUMMARY}\nLicense-Expression: Apache-2.0\n\
         License-File: LICENSE\nLicense-File: NOTICE\nRequires-Python: >=3.8\nKeywords: mcp,tools,agents,gateway\n\
         Description-Content-Type: text/markdown\n\n{DESCRIPTION}\n\n{readme}",
        release.version
    ))
}

fn recorded(member: &Member) -> String {
    let sum = URL_SAFE_NO_PAD.encode(sha256(&member.content));
    format!("{},sha256={sum},{}\n", member.name, member.content.len())
}
