//! One connection. A batch of statements goes out together and comes back together: one round trip.

use crate::errors::Trouble;
use futures_util::future::{join_all, poll_fn};
use std::path::Path;
use std::time::Duration;
use tokio::runtime::Runtime;
use tokio::sync::mpsc::{UnboundedReceiver, UnboundedSender, unbounded_channel};
use tokio_postgres::types::{ToSql, Type};
use tokio_postgres::{AsyncMessage, Client, Config, Connection, NoTls, Row, Socket};

/// The channel on which commits are announced. One for every scope: the payload names it.
pub(crate) const CHANNEL: &str = "clearway";

/// A connection and the thread of work that drives it.
pub struct Link {
    runtime: Runtime,
    client: Client,
    heard: UnboundedReceiver<()>,
    trips: u64,
}

impl std::fmt::Debug for Link {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Link").field("trips", &self.trips).finish_non_exhaustive()
    }
}

/// A value of a statement.
#[derive(Clone, Debug)]
pub(crate) enum Value {
    Text(Option<String>),
    Number(Option<i64>),
    Bytes(Vec<u8>),
    Texts(Vec<String>),
}

impl Value {
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self::Text(Some(text.into()))
    }

    /// Instants and counters are far from the end of a signed number; one that is not is held at it.
    pub(crate) fn number(number: u64) -> Self {
        Self::Number(Some(i64::try_from(number).unwrap_or(i64::MAX)))
    }

    fn parameter(&self) -> (&(dyn ToSql + Sync), Type) {
        match self {
            Self::Text(text) => (text, Type::TEXT),
            Self::Number(number) => (number, Type::INT8),
            Self::Bytes(bytes) => (bytes, Type::BYTEA),
            Self::Texts(texts) => (texts, Type::TEXT_ARRAY),
        }
    }
}

/// One statement with its values.
#[derive(Clone, Debug)]
pub(crate) struct Statement {
    pub(crate) text: String,
    pub(crate) values: Vec<Value>,
}

impl Statement {
    pub(crate) fn new(text: impl Into<String>, values: Vec<Value>) -> Self {
        Self { text: text.into(), values }
    }

    pub(crate) fn plain(text: &str) -> Self {
        Self::new(text, Vec::new())
    }
}

impl Link {
    /// Connects to the server whose socket lies in this directory.
    pub fn open(directory: &Path) -> Result<Self, String> {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(|error| error.to_string())?;
        let mut config = Config::new();
        config.host_path(directory).user("clearway").dbname("postgres").application_name(name());
        let (client, connection) = runtime.block_on(config.connect(NoTls)).map_err(|error| told(&error))?;
        let (ring, heard) = unbounded_channel();
        runtime.spawn(drive(connection, ring));
        Ok(Self { runtime, client, heard, trips: 0 })
    }

    /// Runs statements without values, for tests that prepare or disturb a server.
    pub fn batch(&mut self, text: &str) -> Result<(), String> {
        self.runtime.block_on(self.client.batch_execute(text)).map_err(|error| told(&error))
    }

    /// How often a question was asked and an answer awaited.
    pub(crate) fn trips(&self) -> u64 {
        self.trips
    }

    pub(crate) fn is_closed(&self) -> bool {
        self.client.is_closed()
    }

    /// Sends every statement, then waits for every answer. The first failure is the failure of all: within a
    /// transaction the server refuses whatever follows it.
    pub(crate) fn run(&mut self, statements: &[Statement]) -> Result<Vec<Vec<Row>>, Trouble> {
        self.trips += 1;
        let client = &self.client;
        let answers = statements.iter().map(|statement| async move {
            let values: Vec<_> = statement.values.iter().map(Value::parameter).collect();
            client.query_typed(&statement.text, &values).await
        });
        let answers = self.runtime.block_on(join_all(answers));
        let of = |(index, answer): (usize, Result<_, _>)| {
            answer.map_err(|error| Trouble::of(&error, index + 1 == statements.len()))
        };
        answers.into_iter().enumerate().map(of).collect()
    }

    /// Waits for an announcement, at most so long. Anything may be announced: the caller looks for itself.
    pub(crate) fn listen(&mut self, wait: Duration) {
        let heard = &mut self.heard;
        let _ = self.runtime.block_on(async { tokio::time::timeout(wait, heard.recv()).await });
    }
}

/// Makes the tables in an empty database. An operator's act: an engine never does it by itself.
pub fn install(directory: &Path) -> Result<(), String> {
    Link::open(directory)?.batch(&format!("BEGIN; {}; COMMIT", include_str!("schema.sql")))
}

/// Where a link leads, for messages.
pub(crate) fn place(directory: &Path) -> String {
    directory.display().to_string()
}

/// By what name a holder of a lock is told to whoever waits for it.
fn name() -> String {
    format!("clearway pid {}", std::process::id())
}

/// The driver says "db error" and hides the server's own words behind it.
fn told(error: &tokio_postgres::Error) -> String {
    let cause = std::error::Error::source(error).map(|cause| format!(": {cause}"));
    format!("{error}{}", cause.unwrap_or_default())
}

async fn drive(
    mut connection: Connection<Socket, tokio_postgres::tls::NoTlsStream>,
    ring: UnboundedSender<()>,
) {
    while let Some(Ok(message)) = poll_fn(|context| connection.poll_message(context)).await {
        if matches!(message, AsyncMessage::Notification(_)) && ring.send(()).is_err() {
            break;
        }
    }
}
