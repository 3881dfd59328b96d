//! Which era a request speaks. The stateless one says so in every request; whatever does not is of the old one.

use toolfold_wire::{Object, Raw, meta};

pub(crate) fn is_modern(method: &str, params: Option<&Raw>) -> bool {
    method == "server/discover" || method == "subscriptions/listen" || request_meta(params).contains(meta::VERSION)
}

pub(crate) fn request_meta(params: Option<&Raw>) -> Object {
    // Most requests of the old era have no `_meta` at all: do not parse ten megabytes of arguments to learn that.
    let Some(params) = params.filter(|params| params.get().contains("\"_meta\"")) else { return Object::new() };
    Object::parse(params).and_then(|params| params.object("_meta")).unwrap_or_default()
}
