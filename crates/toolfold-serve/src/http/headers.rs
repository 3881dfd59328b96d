//! The headers of the stateless era, checked against the body: whoever routes on them must be able to trust them.
//!
//! What a reader would get wrong: only a tool that is named directly has a say over headers. A meta-tool's name is never
//! looked up among the tools of servers, or a server could make rules for it.

use hyper::HeaderMap;
use toolfold_disclosure::is_meta;
use toolfold_gateway::Client;
use toolfold_wire::{
    METHOD_HEADER, NAME_HEADER, Object, Raw, RpcError, VERSION_HEADER, code, decode_header, meta, name_of,
    parameter_headers,
};

use crate::asking::Asking;
use crate::stateless::{Asker, Envelope};
use crate::text::shown;

/// A larger definition is not read for every call: as with arguments, what it asks for is let through.
const LARGEST_DEFINITION: usize = 1 << 20;

/// Checks all that headers and body of a request both say, and reads its envelope.
pub(crate) async fn check(asker: &Asker, headers: &HeaderMap, asking: &Asking) -> Result<Envelope, RpcError> {
    // First: a header that says something else than the body is that, whatever else is wrong with the body.
    let version = asking.about.string(meta::VERSION);
    expect(headers, VERSION_HEADER, version.as_deref())?;
    expect(headers, METHOD_HEADER, Some(&asking.method))?;
    let name = name_of(&asking.method, Some(&asking.params));
    if let Some(name) = &name {
        expect(headers, NAME_HEADER, Some(name))?;
    }
    let envelope = Envelope::read(&asking.about)?;
    if let Some(name) = name.filter(|_| asking.method == "tools/call") {
        check_tool(asker, headers, &name, asking.params.get("arguments")).await?;
    }
    Ok(envelope)
}

/// Checks the parameters that a directly named tool wants repeated.
async fn check_tool(asker: &Asker, headers: &HeaderMap, name: &str, arguments: Option<&Raw>) -> Result<(), RpcError> {
    let client = Client::request(asker.principal.clone(), asker.surface, None);
    let scope = asker.gateway.view(&client).await;
    let view = scope.view();
    if is_meta(asker.surface, &view, name) {
        return Ok(());
    }
    match view.resolve(name) {
        Ok(place) if view.entry(place).wants_headers => {
            check_parameters(headers, view.entry(place).definition.get(), arguments)
        }
        _ => Ok(()),
    }
}

fn check_parameters(headers: &HeaderMap, definition: &str, arguments: Option<&Raw>) -> Result<(), RpcError> {
    if definition.len() > LARGEST_DEFINITION {
        return Ok(());
    }
    let definition: serde_json::Value = serde_json::from_str(definition).unwrap_or_default();
    let arguments = arguments.and_then(Object::parse).unwrap_or_default();
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
        Some(value) => {
            Err(mismatch(format!("The header {name} says {:?}, the body {:?}.", shown(&value), shown(wanted))))
        }
        None => Err(mismatch(format!("The header {name} is not readable text."))),
    }
}

fn mismatch(message: String) -> RpcError {
    RpcError::new(code::HEADER_MISMATCH, message)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_definition_above_a_megabyte_makes_no_rules_for_headers() {
        let definition = |length: usize| {
            let text = json!({"type": "string", "x-mcp-header": "Region", "description": "d".repeat(length)});
            json!({"name": "t", "inputSchema": {"type": "object", "properties": {"region": text}}}).to_string()
        };
        let arguments = toolfold_wire::raw(&json!({"region": "eu"}));
        let checked = |length| check_parameters(&HeaderMap::new(), &definition(length), Some(&arguments));
        assert_eq!(checked(10).unwrap_err().code, code::HEADER_MISMATCH);
        assert!(checked(LARGEST_DEFINITION).is_ok());
    }
}
