//! Answers about clients, health and the demonstration.

use schemars::JsonSchema;
use serde::Serialize;

/// `init`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct InitReply {
    /// The scope of this repository, in which hooks act once it has begun.
    pub scope: String,
    /// The clients that are on this machine, or that were named; with `--uninstall` those that had hooks of ours.
    pub clients: Vec<ClientJson>,
    /// The files that were looked at.
    pub files: Vec<ClientFileJson>,
}

/// A client as it stands.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Client")]
pub struct ClientJson {
    /// Its name, as in `--client`.
    pub client: String,
    /// `active`, `one-step-left` or `not-enforceable`.
    pub standing: String,
    /// Why it is not active.
    pub why: Option<String>,
    /// What to do about it.
    pub step: Option<String>,
    /// What else was noticed.
    pub notes: Vec<String>,
}

/// A file that is changed for a client.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "ClientFile")]
pub struct ClientFileJson {
    /// The client; null for the repository's page for agents.
    pub client: Option<String>,
    /// The file.
    pub path: String,
    /// `written`, `removed`, `unchanged`, `planned` or `refused`.
    pub change: String,
    /// The changed lines.
    pub diff: String,
    /// What is worth knowing about it.
    pub note: Option<String>,
    /// Why it was refused: the name of the error, what it says and what to do.
    pub problem: Option<ProblemJson>,
}

/// Why something was not done.
#[derive(Clone, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub struct ProblemJson {
    /// The name of the error.
    pub slug: String,
    /// What it says.
    pub message: String,
    /// What to do.
    pub hints: Vec<String>,
}

/// `doctor`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DoctorReply {
    /// Whether nothing is wrong.
    pub healthy: bool,
    /// With `--repair`: what was done.
    pub repaired: Option<RepairedJson>,
    /// What was looked at.
    pub checks: Vec<CheckedThing>,
}

/// What a repair did.
#[derive(Clone, Copy, Debug, Serialize, JsonSchema)]
#[schemars(rename = "Repaired")]
pub struct RepairedJson {
    /// Rows made anew from the log.
    pub rows: u64,
    /// Events that are gone for good.
    pub lost_events: u64,
    /// Temporary files of killed processes that were removed.
    pub leftovers: u64,
}

/// One thing a doctor looked at.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct CheckedThing {
    /// What.
    pub about: String,
    /// `ok`, `note` or `wrong`.
    pub status: String,
    /// In words.
    pub text: String,
    /// What to do about it.
    pub hint: Option<String>,
}

/// `demo`
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DemoReply {
    /// What was done, in order.
    pub steps: Vec<DemoStep>,
    /// How long the agent that waited took to have what it waited for, from the moment somebody began to give it up.
    pub wake_up_ms: u64,
    /// How long the commands took together.
    pub duration_ms: u64,
}

/// One step of a demonstration. It went as expected: a demonstration ends with the first step that does not.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub struct DemoStep {
    /// What it is to show.
    pub scene: String,
    /// Who acted.
    pub who: String,
    /// What was typed.
    pub command: String,
    /// How it ended; null if it goes on in the background.
    pub exit_code: Option<i32>,
    /// How long it took.
    pub duration_ms: u64,
    /// What it said.
    pub output: String,
}
