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
        let flushing = async {
            // Where there is no room there will be: what waits is being sent.
            if self.0.send(Message::Flush(done)).await.is_ok() {
                let _ = sent.await;
            }
        };
        let _ = tokio::time::timeout(PATIENCE, flushing).await;
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

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
    use tokio::net::{TcpListener, TcpStream};
    use tokio_util::sync::CancellationToken;
    use toolfold_wire::Object;

    use super::*;
    use crate::context::Context;
    use crate::span::Role;

    /// Once in each span as it is sent.
    const SIGN: &str = "a-span-of-this-test";

    fn span() -> Span {
        Span {
            context: Context::of(&Object::new()),
            role: Role::Server,
            method: "ping".to_owned(),
            target: None,
            begun: SystemTime::now(),
            ended: SystemTime::now(),
            error: Some(SIGN.to_owned()),
            link: None,
            attributes: Vec::new(),
        }
    }

    /// What came: how many spans; `None` for figures.
    type Came = mpsc::UnboundedSender<Option<usize>>;

    /// Takes everything, and answers once it is told to.
    async fn collect(listener: TcpListener, came: Came, answers: CancellationToken) {
        while let Ok((stream, _)) = listener.accept().await {
            tokio::spawn(converse(stream, came.clone(), answers.clone()));
        }
    }

    async fn converse(stream: TcpStream, came: Came, answers: CancellationToken) -> Option<()> {
        let mut stream = BufReader::new(stream);
        loop {
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                (stream.read_line(&mut head).await.ok()? > 0).then_some(())?;
            }
            let head = head.to_ascii_lowercase();
            let length = head.split("content-length: ").nth(1)?.lines().next()?.parse().ok()?;
            let mut body = vec![0; length];
            stream.read_exact(&mut body).await.ok()?;
            let spans = body.windows(SIGN.len()).filter(|part| *part == SIGN.as_bytes()).count();
            came.send(head.starts_with("post /v1/traces").then_some(spans)).ok()?;
            answers.cancelled().await;
            stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n").await.ok()?;
        }
    }

    #[tokio::test]
    async fn for_a_collector_that_does_not_answer_4096_spans_wait_and_the_rest_is_lost() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let otlp = Some(format!("http://{}", listener.local_addr().unwrap()));
        let (tell, mut came) = mpsc::unbounded_channel();
        let answers = CancellationToken::new();
        tokio::spawn(collect(listener, tell, answers.clone()));
        let settings = TelemetrySettings { otlp, ..TelemetrySettings::default() };
        let telemetry = Telemetry::start(&settings, String::new).unwrap();
        (0..MOST_TOGETHER).for_each(|_| telemetry.send(span()));
        // Some are under way, as many as there were when a round began; the others wait already.
        assert!(matches!(came.recv().await, Some(Some(1..))));
        // Nothing else runs meanwhile: there is one thread.
        (0..10_000).for_each(|_| telemetry.send(span()));
        answers.cancel();
        telemetry.flush().await;
        let mut waited = 0;
        // Figures are sent after what was there before them.
        while let Some(Some(spans)) = came.recv().await {
            waited += spans;
        }
        assert_eq!(waited, 4096);
    }

    #[tokio::test(start_paused = true)]
    async fn what_is_left_is_sent_from_a_full_queue_too() {
        let (queue, mut waiting) = mpsc::channel(1);
        let telemetry = Telemetry(queue);
        telemetry.send(span());
        let exporter = async {
            assert!(matches!(waiting.recv().await, Some(Message::Span(_))));
            let Some(Message::Flush(done)) = waiting.recv().await else { panic!("it was not told to") };
            done.send(()).unwrap();
        };
        tokio::join!(telemetry.flush(), exporter);
    }
}
