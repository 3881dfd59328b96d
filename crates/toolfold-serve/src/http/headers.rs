//! The headers of the stateless era, checked against the body: whoever routes on them must be able to trust them.

use axum::http::HeaderMap;
use toolfold_wire::{
    METHOD_HEADER, NAME_HEADER, Object, Raw, RpcError, VERSION_HEADER, code, decode_header, meta, name_of,
    parameter_headers,
};

use crate::era::request_meta;

/// Checks the version, method and name that the headers repeat.
pub(crate) fn check(headers: &HeaderMap, method: &str, params: Option<&Raw>) -> Result<(), RpcError> {
    let version = request_meta(params).string(meta::VERSION);
    expect(headers, VERSION_HEADER, version.as_deref())?;
    expect(headers, METHOD_HEADER, Some(method))?;
    let params = params.and_then(|raw| Object::parse(raw));
    match name_of(method, params.as_ref()) {
        Some(name) => expect(headers, NAME_HEADER, Some(&name)),
        None => Ok(()),
    }
}

/// Checks the parameters that a tool's schema wants repeated.
pub(crate) fn check_parameters(headers: &HeaderMap, definition: &str, arguments: Option<Raw>) -> Result<(), RpcError> {
    // Nearly no tool has them: the word is looked for before anything is parsed.
    if !definition.contains("x-mcp-header") {
        return Ok(());
    }
    let definition: serde_json::Value = serde_json::from_str(definition).unwrap_or_default();
    let arguments = arguments.and_then(|raw| serde_json::from_str(raw.get()).ok()).unwrap_or_default();
    for wanted in parameter_headers(&definition["inputSchema"]).unwrap_or_default() {
        match wanted.value(&arguments) {
            Some(value) => expect(headers, &wanted.header, Some(&value))?,
            None if headers.contains_key(&wanted.header) => {
                return Err(mismatch(format!("{} is sent, but the parameter is not.", wanted.header)));
            }
            None => {}
        }
    }
    Ok(())
}

/// The one value of a header, which must be what the body says; a body that says nothing is judged elsewhere.
fn expect(headers: &HeaderMap, name: &str, wanted: Option<&str>) -> Result<(), RpcError> {
    let mut values = headers.get_all(name).iter();
    let (first, second) = (values.next(), values.next());
    if second.is_some() {
        return Err(mismatch(format!("The header {name} is sent twice.")));
    }
    let Some(wanted) = wanted else { return Ok(()) };
    let Some(value) = first else { return Err(mismatch(format!("The header {name} is missing."))) };
    let value = value.to_str().ok().and_then(decode_header);
    match value {
        Some(value) if value == wanted => Ok(()),
        Some(value) => Err(mismatch(format!("The header {name} says {value:?}, the body {wanted:?}."))),
        None => Err(mismatch(format!("The header {name} is not readable text."))),
    }
}

fn mismatch(message: String) -> RpcError {
    RpcError::new(code::HEADER_MISMATCH, message)
}
