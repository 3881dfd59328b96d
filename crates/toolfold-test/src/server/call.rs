//! A tool call, played from its script.

use std::future::pending;
use std::sync::PoisonError;
use std::time::Duration;

use serde_json::{Value, json};
use toolfold_wire::{Era, Object, Peer, Raw, RpcError, meta, raw};

use super::answer::finish;
use super::script::{Call, expand, simple_tool};
use super::{Caller, Change, Fake, write_stderr};

impl Fake {
    pub(super) async fn call(&self, caller: &Caller, params: &Object) -> Result<Raw, RpcError> {
        let name = params.string("name").ok_or_else(|| RpcError::invalid_params("name is missing"))?;
        let listed =
            self.tools().iter().any(|tool| Object::parse(tool).and_then(|t| t.string("name")).as_ref() == Some(&name));
        if !listed {
            return Err(RpcError::invalid_params(format!("Unknown tool: {name}")));
        }
        let echo = Call::default();
        let call = self.script.calls.get(&name).unwrap_or(&echo);
        write_stderr(call.stderr);
        tokio::time::sleep(Duration::from_millis(call.delay_ms)).await;
        self.tell(caller, call, params);
        let answers = match call.questions() {
            questions if questions.is_empty() => None,
            questions => match ask(caller, &name, questions, params).await? {
                Asked::Answers(answers) => Some(answers),
                Asked::Later(result) => return Ok(result),
            },
        };
        self.end(caller.era, call, params, answers).await
    }

    /// The question, where the caller is to come back with the answer.
    pub(super) async fn ask_first(
        &self,
        caller: &Caller,
        method: &str,
        params: &Object,
    ) -> Result<Option<Raw>, RpcError> {
        let asking = Call { elicit: Some(raw(&true)), ..Call::default() };
        Ok(match ask(caller, method, asking.questions(), params).await? {
            Asked::Answers(_) => None,
            Asked::Later(question) => Some(question),
        })
    }

    fn tell(&self, caller: &Caller, call: &Call, params: &Object) {
        let request_meta = params.object("_meta").unwrap_or_default();
        if let Some(token) = request_meta.get("progressToken") {
            for step in 1..=call.progress {
                let progress = Object::new().with("progressToken", token).with("progress", &step);
                let message = format!("step {step} of {}", call.progress);
                let progress = progress.with("total", &call.progress).with("message", &message);
                caller.link.notify("notifications/progress", Some(progress.to_raw()));
            }
        }
        if caller.era == Era::Legacy || request_meta.contains(meta::LOG_LEVEL) {
            for n in 1..=call.log {
                let message =
                    json!({"level": "info", "logger": "fake", "data": format!("message {n} of {}", call.log)});
                caller.link.notify("notifications/message", Some(raw(&message)));
            }
        }
        for (method, params) in &call.notify {
            caller.link.notify(method, Some(params.clone()));
        }
        if let Some(name) = &call.list_changed {
            self.tools.lock().unwrap_or_else(PoisonError::into_inner).push(simple_tool(name));
            let _ = self.changes.send(Change { method: "notifications/tools/list_changed", params: None });
        }
        if let Some(tools) = &call.list_becomes {
            *self.tools.lock().unwrap_or_else(PoisonError::into_inner) = tools.iter().map(expand).collect();
            let _ = self.changes.send(Change { method: "notifications/tools/list_changed", params: None });
        }
        if let Some(uri) = &call.resource_updated {
            let params = Some(raw(&json!({"uri": uri})));
            let _ = self.changes.send(Change { method: "notifications/resources/updated", params });
        }
    }

    async fn end(&self, era: Era, call: &Call, params: &Object, answers: Option<Value>) -> Result<Raw, RpcError> {
        if let Some(code) = call.exit {
            self.journal.exit("told to exit by a call", code);
        }
        if call.hang {
            pending::<()>().await;
        }
        if let Some(error) = &call.error {
            return Err(error.clone());
        }
        if let Some(result) = &call.result {
            return Ok(result.clone());
        }
        if let Some(bytes) = call.big {
            return Ok(finish(era, json!({"content": [{"type": "text", "text": "x".repeat(bytes)}]})));
        }
        let arguments: Value = params.read("arguments").unwrap_or_else(|| json!({}));
        let echo = match answers {
            Some(answers) => json!({"arguments": arguments, "answers": answers}),
            None => arguments,
        };
        let content = json!([{"type": "text", "text": echo.to_string()}]);
        Ok(finish(era, json!({"content": content, "structuredContent": echo})))
    }
}

impl Call {
    /// What the call asks the client: key, method, parameters.
    fn questions(&self) -> Vec<(&'static str, &'static str, Value)> {
        let given = |params: &Raw, usual: Value| match serde_json::from_str(params.get()) {
            Ok(Value::Bool(_)) | Err(_) => usual,
            Ok(params) => params,
        };
        let mut questions = Vec::new();
        if let Some(params) = &self.elicit {
            let schema = json!({"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]});
            let usual = json!({"mode": "form", "message": "What is your name?", "requestedSchema": schema});
            questions.push(("elicit", "elicitation/create", given(params, usual)));
        }
        if let Some(params) = &self.sample {
            let message = json!({"role": "user", "content": {"type": "text", "text": "Say something."}});
            let usual = json!({"messages": [message], "maxTokens": 100});
            questions.push(("sample", "sampling/createMessage", given(params, usual)));
        }
        if self.roots {
            questions.push(("roots", "roots/list", json!({})));
        }
        questions
    }
}

enum Asked {
    Answers(Value),
    /// The client is to come back with the answers.
    Later(Raw),
}

async fn ask(
    caller: &Caller,
    tool: &str,
    questions: Vec<(&'static str, &'static str, Value)>,
    params: &Object,
) -> Result<Asked, RpcError> {
    if caller.era == Era::Modern {
        return ask_by_answering(tool, &questions, params);
    }
    let mut answers = json!({});
    for (key, method, params) in questions {
        answers[key] = match caller.link.ask(method, Some(raw(&params))).await {
            Ok(answer) => serde_json::from_str(answer.get()).unwrap_or_default(),
            Err(error) => json!({"error": error}),
        };
    }
    Ok(Asked::Answers(answers))
}

/// The stateless way: the answer is the question, and the next request brings the answers.
fn ask_by_answering(
    tool: &str,
    questions: &[(&'static str, &'static str, Value)],
    params: &Object,
) -> Result<Asked, RpcError> {
    // Not a safe alphabet: a client that does not hand the state back as it came is found out.
    let state = format!("state of {tool} — \"as it is\" \\ 1.0e2");
    let Some(answers) = params.read::<Value>("inputResponses") else {
        let requests: serde_json::Map<String, Value> = questions
            .iter()
            .map(|(key, method, params)| ((*key).to_owned(), json!({"method": method, "params": params})))
            .collect();
        let result = json!({"resultType": "input_required", "inputRequests": requests, "requestState": state});
        return Ok(Asked::Later(raw(&result)));
    };
    if params.string("requestState").as_ref() != Some(&state) {
        return Err(RpcError::invalid_params("requestState is not the one that was sent"));
    }
    match questions.iter().find(|(key, _, _)| answers.get(*key).is_none()) {
        Some((key, _, _)) => Err(RpcError::invalid_params(format!("inputResponses lacks {key}"))),
        None => Ok(Asked::Answers(answers)),
    }
}
