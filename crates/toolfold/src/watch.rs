//! Looks after the configuration files, and the files of agents and skills: a changed one is read again, a bad one
//! changes nothing.
//!
//! It asks once a second instead of subscribing to the file system: that works on every file system and through the
//! rename that editors save with, and costs a few system calls.

use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use toolfold_config::{Config, LoadOptions, load};
use toolfold_gateway::{Gateway, document_files};
use tracing::{error, warn};

const EVERY: Duration = Duration::from_secs(1);
/// A file that is being written is read when it has not changed for this long, and in the end as it is.
const SETTLED: Duration = Duration::from_millis(100);
const MOST_LOOKS: usize = 20;

type Seen = Vec<(PathBuf, Option<(SystemTime, u64)>)>;

/// How the files looked. To be taken before a gateway starts to read them: a change that falls between would never be
/// seen as one.
#[derive(Debug)]
pub struct Look {
    files: Vec<PathBuf>,
    seen: Seen,
    documents: Seen,
}

impl Look {
    pub fn at(config: &Config) -> Look {
        Look { files: config.files.clone(), seen: look(&config.files), documents: look(&document_files(config)) }
    }
}

/// Runs until the program ends.
pub async fn reload(gateway: Gateway, options: LoadOptions, before: Look) {
    let Look { mut files, mut seen, mut documents } = before;
    loop {
        tokio::time::sleep(EVERY).await;
        let found = look_at_documents(&gateway).await;
        if found != documents {
            documents = found;
            gateway.reread_documents();
        }
        if look(&files) == seen {
            continue;
        }
        seen = settled(&files).await;
        // A pipe would be waited for, perhaps for ever. What the start was given may be one.
        if let Some(odd) = files.iter().find(|path| std::fs::metadata(path).is_ok_and(|about| !about.is_file())) {
            error!("the configuration {} is no file any more; nothing was changed", odd.display());
            continue;
        }
        // Where blocking is fine: it may be long.
        let wanted = options.clone();
        let Ok(loaded) = tokio::task::spawn_blocking(move || load(&wanted)).await else { continue };
        match loaded {
            Ok(loaded) if loaded.untrusted.iter().any(|file| files.contains(file)) => {
                warn!("the configuration changed; nothing is changed here before it is trusted: run `toolfold trust`");
            }
            Ok(loaded) => {
                for notice in loaded.notices {
                    warn!("{notice}");
                }
                let before = gateway.config();
                let issuers = loaded.config.issuers != before.issuers;
                if loaded.config.http != before.http || loaded.config.store != before.store || issuers {
                    warn!(
                        "[http], [[issuers]] and `store` are read at the start only: restart for those changes to take effect"
                    );
                }
                let (new, old) = (&loaded.config, &before);
                if new.telemetry != old.telemetry || new.audit.path != old.audit.path {
                    warn!("[telemetry] and where the audit is are read at the start only: restart for those changes");
                }
                if loaded.config.files != files {
                    files = loaded.config.files.clone();
                    seen = look(&files);
                }
                gateway.reconfigure(loaded.config);
            }
            Err(problems) => {
                error!("the configuration changed and cannot be used; nothing was changed");
                problems.0.iter().for_each(|problem| error!("{problem}"));
            }
        }
    }
}

/// Where none are configured this costs nothing; folders are walked where blocking is fine.
async fn look_at_documents(gateway: &Gateway) -> Seen {
    let config = gateway.config();
    if config.agents.is_empty() && config.skills.is_empty() && config.scripts.is_empty() {
        return Seen::new();
    }
    tokio::task::spawn_blocking(move || look(&document_files(&config))).await.unwrap_or_default()
}

/// How the files look once nobody writes to them. One that is empty or gone is most often about to be written: read as it
/// is, it would mean that there are no servers at all.
async fn settled(files: &[PathBuf]) -> Seen {
    let mut seen = look(files);
    for _ in 0..MOST_LOOKS {
        tokio::time::sleep(SETTLED).await;
        let before = std::mem::replace(&mut seen, look(files));
        if seen == before && seen.iter().all(|(_, stamp)| stamp.is_some_and(|(_, length)| length > 0)) {
            break;
        }
    }
    seen
}

fn look(files: &[PathBuf]) -> Seen {
    let stamp = |path: &PathBuf| {
        let about = std::fs::metadata(path).ok()?;
        Some((about.modified().ok()?, about.len()))
    };
    files.iter().map(|path| (path.clone(), stamp(path))).collect()
}
