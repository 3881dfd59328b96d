//! A Toolfold that is behind itself says so and starts nothing.

use toolfold_config::Origin;
use toolfold_upstream::{is_behind, stand_for};

use super::Fail;

/// Says what this process serves, to whatever its servers start.
pub(crate) fn stand(origin: &Origin) {
    if let Origin::File(path) = origin {
        stand_for(path);
    }
}

/// Before servers are started. Who started us shows the first line as the reason why its server failed.
pub(crate) fn refuse_itself() -> Result<(), Fail> {
    is_behind().map_err(|why| {
        Fail::usage(why.to_string())
            .hint("take the server that runs Toolfold out of that configuration, or give it a file of its own with --config")
            .hint("in a shell that a server has opened: unset TOOLFOLD_BEHIND")
    })
}
