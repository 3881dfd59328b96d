//! Which of several replicas this is: a name of its own for each start, and the secret that all of them share.

use std::sync::Arc;

use toolfold_access::{ReplicaId, Standing};
use toolfold_config::Config;
use tracing::error;

/// The standing of this process, where the configuration makes it one of several.
pub(crate) fn standing(config: &Config) -> Option<Arc<Standing>> {
    let settings = config.cluster.as_ref()?;
    let mut name = [0; 8];
    if let Err(error) = getrandom::fill(&mut name) {
        error!("no name for this replica could be made: {error}");
        return None;
    }
    Some(Arc::new(Standing::new(ReplicaId::new(name), settings.secret.expose())))
}
