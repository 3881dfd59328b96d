//! `.mcpb` bundles: a zip with a manifest that says how to run what is in it. It is unpacked below the state folder, each
//! content in a folder of its own, within bounds: a bundle is foreign, and a small zip can hold a large disk.

use std::io::Read;
use std::path::{Path, PathBuf};

use serde_json::Value;

use super::{AddError, Missing, NewServer, name_of_package};
use crate::definition::ServerDefinition;
use crate::environment::{Environment, Platform};
use crate::files;
use crate::secrets::constant;
use crate::variables::escaped;

/// Bytes of a bundle, and of what is in it.
const LARGEST: u64 = 512 << 20;
const LARGEST_UNPACKED: u64 = 2 << 30;
const LARGEST_MANIFEST: u64 = 1 << 20;
const MOST_FILES: usize = 50_000;

pub(super) fn from_file(path: &Path, environment: &Environment) -> Result<NewServer, AddError> {
    let bytes = files::read_bytes(path, LARGEST)?.unwrap_or_default();
    let digest = files::digest_bytes(&bytes);
    let mut archive = zip::ZipArchive::new(std::io::Cursor::new(bytes)).map_err(|_| unusable("it is not a zip"))?;
    let manifest = manifest(&mut archive)?;
    let state = environment.state.as_ref().ok_or_else(|| unusable("there is no folder to unpack it into"))?;
    let name = name_of_package(manifest.get("name").and_then(Value::as_str).unwrap_or("bundle"));
    let folder = state.join("bundles").join(format!("{name}-{}", &digest[..12]));
    let server = definition(&manifest, &folder, environment)?;
    unpack(&mut archive, &folder)?;
    Ok(NewServer { name, ..server })
}

type Archive = zip::ZipArchive<std::io::Cursor<Vec<u8>>>;

fn unusable(why: &str) -> AddError {
    AddError::Unusable(format!("the bundle cannot be used: {why}"))
}

fn manifest(archive: &mut Archive) -> Result<Value, AddError> {
    let file = archive.by_name("manifest.json").map_err(|_| unusable("it has no manifest.json"))?;
    let mut text = String::new();
    file.take(LARGEST_MANIFEST).read_to_string(&mut text).map_err(|_| unusable("its manifest.json cannot be read"))?;
    serde_json::from_str(&text).map_err(|_| unusable("its manifest.json is not JSON"))
}

fn unpack(archive: &mut Archive, folder: &Path) -> Result<(), AddError> {
    if archive.len() > MOST_FILES {
        return Err(unusable("it has too many files"));
    }
    let mut left = LARGEST_UNPACKED;
    for at in 0..archive.len() {
        let mut file = archive.by_index(at).map_err(|_| unusable("a file in it cannot be read"))?;
        // Nothing may land outside, by `..`, by an absolute path or through a link.
        let inside = file.enclosed_name().filter(|_| !file.is_symlink());
        let inside = inside.ok_or_else(|| unusable("a file in it would land outside of its folder"))?;
        if file.is_dir() {
            continue;
        }
        let mut bytes = Vec::new();
        let read = file.by_ref().take(left + 1).read_to_end(&mut bytes);
        read.map_err(|_| unusable("a file in it is damaged"))?;
        left = left.checked_sub(bytes.len() as u64).ok_or_else(|| unusable("it is too large unpacked"))?;
        let is_program = file.unix_mode().is_some_and(|mode| mode & 0o111 != 0);
        files::unpack(&folder.join(inside), &bytes, is_program)?;
    }
    Ok(())
}

fn definition(manifest: &Value, folder: &Path, environment: &Environment) -> Result<NewServer, AddError> {
    let server = manifest.get("server").ok_or_else(|| unusable("its manifest names no server"))?;
    let mut config = server.get("mcp_config").cloned().unwrap_or(Value::Null);
    let platform = match environment.platform {
        Platform::Linux => "linux",
        Platform::Mac => "darwin",
        Platform::Windows => "win32",
    };
    if let Some(own) =
        config.get("platform_overrides").and_then(|all| all.get(platform)).and_then(Value::as_object).cloned()
        && let Some(config) = config.as_object_mut()
    {
        config.extend(own);
    }
    let mut filling =
        Filling { folder: folder.to_owned(), environment, options: manifest.get("user_config"), missing: Vec::new() };
    let entry = server.get("entry_point").and_then(Value::as_str).unwrap_or_default();
    let words = words_of(&config, server.get("type").and_then(Value::as_str).unwrap_or_default(), entry);
    let (command, args) = words.split_first().ok_or_else(|| unusable("its manifest does not say how to run it"))?;
    let command = filling.text(command);
    let args = args.iter().flat_map(|word| filling.words(word)).collect();
    let env = config.get("env").and_then(Value::as_object).into_iter().flatten();
    let env = env.filter_map(|(name, value)| Some((name.clone(), filling.text(value.as_str()?)))).collect();
    let definition = ServerDefinition { command: Some(command), args, env, ..ServerDefinition::default() };
    let about = manifest.get("description").and_then(Value::as_str).map(str::to_owned);
    Ok(NewServer { name: String::new(), definition, missing: filling.missing, notes: about.into_iter().collect() })
}

fn words_of(config: &Value, kind: &str, entry: &str) -> Vec<String> {
    let args = config.get("args").and_then(Value::as_array).into_iter().flatten();
    let args = args.filter_map(Value::as_str).map(str::to_owned);
    let inside = format!("${{__dirname}}/{entry}");
    match (config.get("command").and_then(Value::as_str), kind) {
        (Some(command), _) => std::iter::once(command.to_owned()).chain(args).collect(),
        (None, "node") if !entry.is_empty() => vec!["node".to_owned(), inside],
        (None, "python") if !entry.is_empty() => vec!["python3".to_owned(), inside],
        (None, "uv") if !entry.is_empty() => {
            ["uv", "run", "--directory", "${__dirname}", entry].map(str::to_owned).to_vec()
        }
        (None, "binary") if !entry.is_empty() => vec![inside],
        _ => Vec::new(),
    }
}

/// `${__dirname}` and `${user_config.…}`.
///
/// What a reader would get wrong: the default of an option is filled in too, with folders and never with options. They could name
/// each other without end.
struct Filling<'a> {
    folder: PathBuf,
    environment: &'a Environment,
    options: Option<&'a Value>,
    missing: Vec<Missing>,
}

impl Filling<'_> {
    /// A word that is a list of values becomes several.
    fn words(&mut self, word: &str) -> Vec<String> {
        let name = word.strip_prefix("${user_config.").and_then(|rest| rest.strip_suffix('}'));
        let default = name.and_then(|name| self.options?.get(name)?.get("default")?.as_array()).cloned();
        match default {
            Some(items) => items.iter().filter_map(Value::as_str).map(|item| self.filled(item, true)).collect(),
            None => vec![self.text(word)],
        }
    }

    fn text(&mut self, text: &str) -> String {
        self.filled(text, false)
    }

    fn filled(&mut self, text: &str, is_default: bool) -> String {
        let mut out = String::new();
        let mut rest = text;
        while let Some(at) = rest.find("${") {
            let Some(end) = rest[at..].find('}') else { break };
            out.push_str(&escaped(&rest[..at]));
            out.push_str(&self.value(&rest[at + 2..at + end], is_default));
            rest = &rest[at + end + 1..];
        }
        out + &escaped(rest)
    }

    fn value(&mut self, name: &str, is_default: bool) -> String {
        let home = || self.environment.home.as_ref().map(|home| home.display().to_string()).unwrap_or_default();
        match name {
            "__dirname" => escaped(&self.folder.display().to_string()),
            "HOME" => escaped(&home()),
            "DESKTOP" | "DOCUMENTS" | "DOWNLOADS" => {
                let folder = format!("{}{}", &name[..1], name[1..].to_lowercase());
                escaped(&Path::new(&home()).join(folder).display().to_string())
            }
            "/" | "pathSeparator" => "/".to_owned(),
            _ => match name.strip_prefix("user_config.") {
                Some(_) if is_default => escaped(&format!("${{{name}}}")),
                Some(option) => self.option(option),
                None => format!("${{{}}}", constant(name)),
            },
        }
    }

    fn option(&mut self, name: &str) -> String {
        let empty = Value::Null;
        let option = self.options.and_then(|options| options.get(name)).unwrap_or(&empty).clone();
        match option.get("default") {
            Some(Value::String(default)) => return self.filled(default, true),
            Some(default @ (Value::Bool(_) | Value::Number(_))) => return default.to_string(),
            _ => {}
        }
        let variable = constant(name);
        if option.get("required").and_then(Value::as_bool) == Some(false) {
            return format!("${{{variable}:-}}");
        }
        let about =
            ["description", "title"].iter().find_map(|key| option.get(*key)?.as_str()).unwrap_or_default().to_owned();
        let is_secret = option.get("sensitive").and_then(Value::as_bool).unwrap_or(false);
        let spelled = format!("${{{variable}}}");
        if !self.missing.iter().any(|missing| missing.name == variable) {
            self.missing.push(Missing { name: variable, about, is_secret, choices: Vec::new() });
        }
        spelled
    }
}
