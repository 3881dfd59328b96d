//! `toolfold call`: one call, as a client would make it.

use std::sync::Arc;

use clap::Args;
use serde_json::{Map, Value};
use toolfold_core::{Code, Principal, Refusal, Surface};
use toolfold_gateway::{Client, Request};
use toolfold_wire::{Object, Silent};

use super::open::with_gateway;
use super::output::{plain, print};
use super::show::text_of;
use super::{Common, Fail};

#[derive(Args)]
pub(crate) struct Call {
    /// The tool: its id, its bare name, or any spelling that is clear
    tool: String,
    /// A JSON object, or `name=value` for each argument (`name:=json` for what is not text)
    arguments: Vec<String>,
}

impl Call {
    pub(crate) fn run(self, common: &Common) -> Result<(), Fail> {
        let arguments = read_arguments(&self.arguments)?;
        with_gateway(common, async |gateway, _| {
            let client = Arc::new(Client::inside(Principal::local(), Surface::Direct));
            let params = Object::new().with("name", &self.tool).with("arguments", &arguments);
            let request = Request::new(client, Arc::new(Silent), "tools/call", params);
            let result = gateway.handle(request).await.map_err(|error| Fail::server(format!("error: {error}")))?;
            let about = Object::parse(&result).unwrap_or_default();
            if let Some(refusal) = refused(&about) {
                return Err(Fail::refused(&refusal));
            }
            print(&if common.json { result.get().to_owned() } else { plain(&text_of(&result)) })?;
            if about.read("isError") == Some(true) { Err(Fail::nothing("")) } else { Ok(()) }
        })
    }
}

/// Our own refusal, if the result is one.
fn refused(result: &Object) -> Option<Refusal> {
    let error = result.object("structuredContent")?.object("error")?;
    let codes = [
        Code::ToolNotFound,
        Code::NotAuthorized,
        Code::InvalidArguments,
        Code::InvalidRequest,
        Code::ServerUnavailable,
        Code::ServerTimeout,
        Code::Quarantined,
        Code::RateLimited,
        Code::TooLarge,
    ];
    let code = error.string("code")?;
    let code = codes.into_iter().find(|known| known.as_str() == code)?;
    Some(Refusal::new(code, error.string("message")?).hints(error.read::<Vec<String>>("hints").unwrap_or_default()))
}

fn read_arguments(given: &[String]) -> Result<Value, Fail> {
    if let [only] = given
        && only.trim_start().starts_with('{')
    {
        return serde_json::from_str(only)
            .map_err(|error| Fail::usage(format!("error: the arguments are not JSON: {error}")));
    }
    let mut arguments = Map::new();
    for argument in given {
        let (name, value) = match (argument.split_once(":="), argument.split_once('=')) {
            (Some((name, text)), _) if !name.contains('=') => {
                let value = serde_json::from_str(text);
                (name, value.map_err(|error| Fail::usage(format!("error: {name} is not JSON: {error}")))?)
            }
            (_, Some((name, text))) => (name, Value::from(text)),
            _ => {
                return Err(Fail::usage(format!(
                    "error: {argument:?} is neither a JSON object nor name=value\n\nhint: use name:=json for numbers, lists and objects"
                )));
            }
        };
        arguments.insert(name.to_owned(), value);
    }
    Ok(Value::Object(arguments))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn read(given: &[&str]) -> Result<Value, Fail> {
        read_arguments(&given.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>())
    }

    #[test]
    fn arguments_are_an_object_or_pairs() {
        assert_eq!(read(&[]).unwrap(), json!({}));
        assert_eq!(read(&[r#"{"a": 1}"#]).unwrap(), json!({"a": 1}));
        assert_eq!(read(&["a=1", "b:=2", "c=x=y", "d:=[1]"]).unwrap(), json!({"a": "1", "b": 2, "c": "x=y", "d": [1]}));
        assert_eq!(read(&["url=http://x:=y"]).unwrap(), json!({"url": "http://x:=y"}));
        assert!(read(&["alone"]).is_err());
        assert!(read(&["{"]).is_err());
        assert!(read(&["n:=x"]).is_err());
    }
}
