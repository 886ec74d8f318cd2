//! Real clients for tests: Claude Code, Codex and Gemini CLI as npm has them, each in a home of its own, with our hooks
//! registered and a scripted model on loopback in place of the real one.
//!
//! Nothing is learned about a model here. What is proven is what no fixture can prove: that the client runs our hook,
//! obeys it, and shows the model what it said. Start at [`play`].
//!
//! Beside them come the managers of git hooks that tests install next to ours: husky with
//! lint-staged, lefthook and pre-commit.

mod claude;
mod codex;
mod endpoint;
mod gemini;
mod http;
mod install;
mod play;
mod script;
mod shown;

pub use claude::CLAUDE;
pub use codex::CODEX;
pub use gemini::GEMINI;
pub use install::{Installed, Managers, managers, ready};
pub use play::{Played, play, play_to_death, resume};
pub use script::{Call, Script};

use clearway_core::agent::Client;
use http::{Request, Response};
use serde_json::{Map, Value, json};
use std::path::{Path, PathBuf};

/// A client that can be driven: how it is set up and started, and how its model speaks.
#[derive(Debug)]
pub struct RealClient {
    pub(crate) client: Client,
    /// Writes its configuration below a home, with these hooks.
    pub(crate) configure: fn(home: &Path, hooks: &Hooks, endpoint: &str),
    /// What of its package node runs.
    pub(crate) program: &'static str,
    /// The words that start a session, and those that go on with the last one.
    pub(crate) words: fn(Start) -> &'static [&'static str],
    /// Variables beside those of the home.
    pub(crate) variables: fn(endpoint: &str) -> Vec<(&'static str, String)>,
    /// Whether a request asks the model to take its turn; others are about tokens, titles and the like.
    pub(crate) is_turn: fn(&Request) -> bool,
    /// What the model was told before its first turn.
    pub(crate) told: fn(&Value) -> String,
    /// The results of tool calls in the conversation that a request carries, in their order.
    pub(crate) results: fn(&Value) -> Vec<String>,
    /// The model's answer: a tool call, or that it is done.
    pub(crate) answer: fn(&Request, Option<Move<'_>>) -> Response,
}

impl RealClient {
    /// What its agents' names begin with.
    pub fn name(&self) -> &'static str {
        self.client.name_stem()
    }
}

/// How a session starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Start {
    /// From nothing.
    Anew,
    /// With everything that the last one of the same repository was told and answered.
    Resumed,
}

/// What the client's person asks for.
pub(crate) const PROMPT: &str = "Do the work.";

/// The client's next tool call.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Move<'c> {
    /// What no other call of the session is called.
    pub(crate) id: &'c str,
    pub(crate) call: &'c Call,
    /// The repository it works in.
    pub(crate) root: &'c Path,
}

impl Move<'_> {
    /// An absolute path, as clients ask their models for.
    pub(crate) fn path(&self, file: &str) -> String {
        self.root.join(file).display().to_string()
    }
}

/// The hooks to register: the product's own list, and the binary it stands for.
#[derive(Debug)]
pub(crate) struct Hooks {
    client: Client,
    binary: PathBuf,
}

impl Hooks {
    /// Where the binary is.
    fn directory(&self) -> &Path {
        self.binary.parent().expect("a directory")
    }

    /// `{event: [{matcher, hooks: [handler]}]}`, the shape that all three clients read. `per_second` is how many of
    /// the client's units of time a second has.
    fn events(&self, per_second: u32, handler: impl Fn(&str, &[&str]) -> Value) -> Value {
        let mut events = Map::new();
        for entry in clearway_cli::registrations(self.client) {
            let mut handler = handler(&self.binary.display().to_string(), entry.arguments);
            handler["type"] = json!("command");
            handler["timeout"] = json!(u64::from(entry.timeout_ms) * u64::from(per_second) / 1_000);
            let mut group = json!({"hooks": [handler]});
            if let Some(matcher) = entry.matcher {
                group["matcher"] = json!(matcher);
            }
            events.insert(entry.event.to_owned(), json!([group]));
        }
        Value::Object(events)
    }
}

/// Writes a file, making its directories.
fn write(path: &Path, text: &str) {
    std::fs::create_dir_all(path.parent().expect("a parent")).expect("directories");
    std::fs::write(path, text).expect("a file");
}

/// The data of an event that also names itself in it.
fn named(name: &str, mut data: Value) -> Value {
    data["type"] = json!(name);
    data
}
