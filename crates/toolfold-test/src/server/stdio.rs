//! One message per line on stdin and stdout. Every request runs in a task of its own, so that one that hangs does not
//! keep the others from their answers.

use std::collections::HashMap;
use std::future::pending;
use std::sync::{Arc, Mutex, PoisonError};

use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader};
use tokio::sync::mpsc;
use tokio::task::AbortHandle;
use toolfold_wire::{Id, Message, Object, Peer, Raw};

use super::link::{Link, Questions};
use super::{Caller, Fake};

pub(super) async fn serve(fake: &'static Fake) -> Result<(), String> {
    let (out, messages) = mpsc::unbounded_channel();
    tokio::spawn(write_all(fake, messages));
    let connection =
        Connection { fake, link: Link { out, questions: Arc::new(Questions::default()) }, running: Arc::default() };
    connection.read_all().await;
    if fake.script.ignore_eof {
        pending::<()>().await;
    }
    fake.journal.exit("end of input", 0)
}

struct Connection {
    fake: &'static Fake,
    link: Link,
    running: Arc<Mutex<HashMap<Id, AbortHandle>>>,
}

impl Connection {
    async fn read_all(&self) {
        let mut lines = BufReader::new(tokio::io::stdin()).lines();
        let mut initialized = false;
        while let Ok(Some(line)) = lines.next_line().await {
            self.fake.journal.message(serde_json::from_str(&line).unwrap_or_else(|_| line.as_str().into()), None);
            match Message::parse(line.clone()) {
                Ok(Message::Request { id, method, params }) => {
                    let known = initialized;
                    initialized |= method == "initialize";
                    self.start(id, method, params, known);
                }
                Ok(Message::Notification { method, params }) => self.notified(&method, params),
                Ok(Message::Response { id, outcome }) => self.link.questions.answer(&id, outcome),
                Err(bad) => {
                    if let Some(id) = bad.id {
                        self.link.send(Message::response(id, Err(bad.error)));
                    }
                }
            }
        }
    }

    fn start(&self, id: Id, method: String, params: Option<Raw>, initialized: bool) {
        let (fake, link, running) = (self.fake, self.link.clone(), self.running.clone());
        fake.arrived(&method);
        let key = id.clone();
        let mut table = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        let task = tokio::spawn(async move {
            let params = Object::parse_optional(params.as_ref()).unwrap_or_default();
            let outcome = match fake.admit(&method, &params, initialized).await {
                Ok(era) => {
                    let caller = Caller { era, id: id.clone(), link: link.clone() };
                    fake.answer(&caller, &method, &params).await
                }
                Err(error) => Err(error),
            };
            link.send(Message::response(id.clone(), outcome));
            running.lock().unwrap_or_else(PoisonError::into_inner).remove(&id);
        });
        table.insert(key, task.abort_handle());
    }

    fn notified(&self, method: &str, params: Option<Raw>) {
        match method {
            "notifications/initialized" => self.follow_changes(),
            "notifications/cancelled" => {
                let id = params.and_then(|params| Id::from_raw(Object::parse(&params)?.get("requestId")?));
                let mut running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
                if let Some(task) = id.and_then(|id| running.remove(&id)) {
                    task.abort();
                }
            }
            _ => {}
        }
    }

    fn follow_changes(&self) {
        let (fake, link) = (self.fake, self.link.clone());
        let mut changes = fake.changes.subscribe();
        tokio::spawn(async move {
            while let Ok(change) = changes.recv().await {
                if fake.told_to_all(&change) {
                    link.notify(change.method, change.params);
                }
            }
        });
    }
}

async fn write_all(fake: &Fake, mut messages: mpsc::UnboundedReceiver<Message>) {
    let mut stdout = tokio::io::stdout();
    let garbage = &fake.script.garbage;
    for line in garbage {
        let _ = stdout.write_all(format!("{line}\n").as_bytes()).await;
    }
    let _ = stdout.flush().await;
    let mut between = garbage.iter().cycle();
    while let Some(message) = messages.recv().await {
        let noise = between.next().map(|line| format!("{line}\n")).unwrap_or_default();
        let _ = stdout.write_all(format!("{noise}{}\n", message.to_line()).as_bytes()).await;
        let _ = stdout.flush().await;
    }
}
