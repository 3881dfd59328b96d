//! Sending: spans as they come, together, and the counters now and then.

use std::sync::Arc;
use std::time::{Duration, SystemTime};

use tokio::sync::{mpsc, oneshot};
use tokio::time::{Instant, MissedTickBehavior};
use toolfold_config::TelemetrySettings;
use toolfold_http::{BadHeader, BadTarget, FixedHeaders, HttpClient, NoClient, SendError, Target};
use tracing::{debug, warn};

use crate::figures;
use crate::span::{self, Span};

/// Spans that wait to be sent; further ones are dropped.
const MOST_WAITING: usize = 4096;
const MOST_TOGETHER: usize = 512;
const SPANS_EVERY: Duration = Duration::from_secs(2);
const FIGURES_EVERY: Duration = Duration::from_secs(30);
/// How long a collector may take.
const PATIENCE: Duration = Duration::from_secs(5);
const PROTOBUF: &str = "application/x-protobuf";

/// What the counters say now, in the text of Prometheus.
pub(crate) type Read = Arc<dyn Fn() -> String + Send + Sync>;

#[derive(Clone)]
pub struct Telemetry(mpsc::Sender<Message>);

enum Message {
    Span(Box<Span>),
    /// Answered when everything before it was sent, or could not be.
    Flush(oneshot::Sender<()>),
}

/// Why nothing can be sent at all.
#[derive(Debug, thiserror::Error)]
enum Unsendable {
    #[error(transparent)]
    Client(#[from] NoClient),
    #[error(transparent)]
    Headers(#[from] BadHeader),
    #[error(transparent)]
    Address(#[from] BadTarget),
}

/// Why a collector did not take what it was sent.
#[derive(Debug, thiserror::Error)]
enum NotTaken {
    #[error("it answered with status {0}")]
    Status(u16),
    #[error(transparent)]
    Unsent(#[from] SendError),
    #[error("it did not answer within {PATIENCE:?}")]
    Late,
}

struct Exporter {
    client: HttpClient,
    headers: FixedHeaders,
    traces: Target,
    metrics: Target,
    read: Read,
    since: SystemTime,
    /// The last try failed, which was said.
    failing: bool,
}

impl Telemetry {
    /// Starts to send on the current runtime; `None` where nobody is to be sent anything, or it cannot be done.
    pub fn start(
        configured: &TelemetrySettings,
        read: impl Fn() -> String + Send + Sync + 'static,
    ) -> Option<Telemetry> {
        let address = configured.otlp.as_deref()?;
        let exporter = Exporter::new(address, configured, Arc::new(read))
            .inspect_err(|why| warn!("no figures are sent to the collector: {why}"))
            .ok()?;
        let (queue, spans) = mpsc::channel(MOST_WAITING);
        tokio::spawn(exporter.run(spans));
        Some(Telemetry(queue))
    }

    /// Hands a span over; where there is no room it is lost.
    pub fn send(&self, span: Span) {
        if span.context.sampled {
            let _ = self.0.try_send(Message::Span(Box::new(span)));
        }
    }

    /// Sends what is left.
    pub async fn flush(&self) {
        let (done, sent) = oneshot::channel();
        if self.0.try_send(Message::Flush(done)).is_ok() {
            let _ = tokio::time::timeout(PATIENCE, sent).await;
        }
    }
}

impl Exporter {
    fn new(address: &str, configured: &TelemetrySettings, read: Read) -> Result<Self, Unsendable> {
        let target = |path: &str| Target::parse(&format!("{address}{path}"));
        Ok(Exporter {
            client: HttpClient::shared()?,
            headers: FixedHeaders::new(&configured.headers)?,
            traces: target("/v1/traces")?,
            metrics: target("/v1/metrics")?,
            read,
            since: SystemTime::now(),
            failing: false,
        })
    }

    async fn run(mut self, mut queue: mpsc::Receiver<Message>) {
        let mut spans: Vec<Span> = Vec::new();
        let mut figures = tokio::time::interval_at(Instant::now() + FIGURES_EVERY, FIGURES_EVERY);
        figures.set_missed_tick_behavior(MissedTickBehavior::Delay);
        let mut rounds = tokio::time::interval(SPANS_EVERY);
        rounds.set_missed_tick_behavior(MissedTickBehavior::Delay);
        loop {
            tokio::select! {
                message = queue.recv() => match message {
                    Some(Message::Span(span)) => {
                        spans.push(*span);
                        if spans.len() >= MOST_TOGETHER {
                            self.send_spans(&mut spans).await;
                        }
                    }
                    Some(Message::Flush(done)) => {
                        self.send_spans(&mut spans).await;
                        self.send_figures().await;
                        let _ = done.send(());
                    }
                    None => return,
                },
                _ = rounds.tick() => self.send_spans(&mut spans).await,
                _ = figures.tick() => self.send_figures().await,
            }
        }
    }

    async fn send_spans(&mut self, spans: &mut Vec<Span>) {
        if !spans.is_empty() {
            let body = span::encode(&std::mem::take(spans));
            let sent = self.post(&self.traces, body).await;
            self.tell(sent);
        }
    }

    async fn send_figures(&mut self) {
        let body = figures::encode(&(self.read)(), self.since, SystemTime::now());
        let sent = self.post(&self.metrics, body).await;
        self.tell(sent);
    }

    async fn post(&self, target: &Target, body: Vec<u8>) -> Result<(), NotTaken> {
        let sent = self.client.post(target, PROTOBUF, body, &self.headers);
        match tokio::time::timeout(PATIENCE, sent).await {
            Ok(Ok(200..=299)) => Ok(()),
            Ok(Ok(status)) => Err(NotTaken::Status(status)),
            Ok(Err(error)) => Err(error.into()),
            Err(_) => Err(NotTaken::Late),
        }
    }

    /// Once when it begins to fail, and once when it works again.
    fn tell(&mut self, sent: Result<(), NotTaken>) {
        match &sent {
            Err(why) if self.failing => debug!("the collector takes nothing: {why}"),
            Err(why) => warn!("the collector takes nothing, and what would be sent is dropped: {why}"),
            Ok(()) if self.failing => warn!("the collector takes figures again"),
            Ok(()) => {}
        }
        self.failing = sent.is_err();
    }
}
