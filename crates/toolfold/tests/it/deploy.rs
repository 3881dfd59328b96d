//! `deploy/`: what it promises to whoever copies it.

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::peers;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../deploy")
}

#[test]
fn kubernetes_takes_every_manifest() {
    let mut validate = Command::new(peers::venv("kubernetes-validate"));
    let output = validate.arg("--strict").arg(folder().join("kubernetes/toolfold.yaml")).output().unwrap();
    let said = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    assert!(output.status.success(), "{said}");
    for kind in ["configmap", "deployment", "service", "networkpolicy", "poddisruptionbudget"] {
        assert!(said.contains(&format!("passed for resource {kind}/toolfold")), "{kind} was not looked at:\n{said}");
    }
}

/// The image that is built is the one that Kubernetes runs, and both listen where the other expects it.
#[test]
fn the_image_is_what_kubernetes_runs() {
    let read = |name: &str| std::fs::read_to_string(folder().join(name)).unwrap();
    let (image, manifest) = (read("Containerfile"), read("kubernetes/toolfold.yaml"));
    let name = format!("toolfold:{}", env!("CARGO_PKG_VERSION"));
    assert!(image.contains(&format!("-t {name} ")) && manifest.contains(&format!("image: {name}\n")));
    let exposed = image.lines().find_map(|line| line.strip_prefix("EXPOSE ")).unwrap();
    for port in exposed.split(' ') {
        assert!(manifest.contains(&format!("containerPort: {port}")), "{port}");
    }
    let run = image.lines().filter(|line| !line.starts_with('#') && !line.is_empty());
    for line in run {
        let word = line.split(' ').next().unwrap();
        assert!(["FROM", "COPY", "ENV", "USER", "EXPOSE", "ENTRYPOINT", "CMD"].contains(&word), "{line}");
    }
}

#[test]
fn every_file_is_in_the_readme_and_every_one_it_names_is_there() {
    let readme = std::fs::read_to_string(folder().join("README.md")).unwrap();
    let rows = readme.lines().filter_map(|line| line.strip_prefix("| `")).map(|row| row.split(" |").next().unwrap());
    let named: Vec<String> =
        rows.flat_map(|row| row.split(", ")).map(|name| name.trim_matches('`').to_owned()).collect();
    for name in &named {
        assert!(folder().join(name).is_file(), "deploy/{name} is not there");
    }
    let entries = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    for file in entries.filter(|path| path.is_file() && !path.ends_with("README.md")) {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        assert!(named.contains(&name), "deploy/README.md does not name {name}");
    }
}
