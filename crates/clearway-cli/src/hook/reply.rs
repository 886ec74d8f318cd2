//! What a hook answers, and how it leaves the process: one JSON document or nothing, an exit code, a line for people.

use serde_json::Value;

/// What is to be said to a client.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// No opinion.
    #[default]
    Silent,
    /// The tool call is not to happen.
    Deny(String),
    /// It may, and there is something to know.
    Tell(Told),
    /// The turn is not to end yet.
    Hold(String),
    /// The tool call is not to happen, and the turn is to end.
    Stop(String),
}

/// What there is to know, for whom.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Told {
    /// For the model.
    pub(crate) model: Option<String>,
    /// For the person in front of it.
    pub(crate) person: Option<String>,
}

/// The bytes of an answer.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Reply {
    pub(crate) stdout: String,
    pub(crate) stderr: String,
    pub(crate) code: u8,
}

/// What every client takes for a denial.
const DENIED: u8 = 2;

impl Reply {
    /// No opinion, and a line for whoever looks for the reason.
    pub(crate) fn aside(text: &str) -> Self {
        Self { stderr: format!("clearway: {text}\n"), ..Self::default() }
    }

    /// A denial, said in every way a client may listen to: the document, the same text as an error, the exit code.
    pub(crate) fn deny(document: &Value, reason: &str) -> Self {
        Self { stdout: format!("{document}\n"), stderr: format!("{reason}\n"), code: DENIED }
    }

    /// The end of a turn. The exit code of a denial would keep clients from reading the document.
    pub(crate) fn stop(document: &Value, reason: &str) -> Self {
        Self { stderr: format!("{reason}\n"), ..Self::document(document) }
    }

    /// One document.
    pub(crate) fn document(document: &Value) -> Self {
        Self { stdout: format!("{document}\n"), ..Self::default() }
    }
}
