//! The one user-facing failure: the same value becomes terminal text, JSON, a hook reply or an HTTP problem.

use crate::agent::{AgentName, Liveness};
use crate::hint::Hint;
use crate::ids::{LeaseId, Seq, WaitId};
use crate::lease::Lease;
use crate::shell;
use crate::slice::AgentView;
use crate::slug::Slug;
use crate::time::Mono;
use std::fmt;

/// What went wrong, in the reader's words, and what to do now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// The stable name.
    pub slug: Slug,
    /// What happened.
    pub message: String,
    /// Commands that work when pasted, or plain advice.
    pub hints: Vec<Hint>,
    /// Whether trying again helps.
    pub retry: Retry,
    /// Data for programs.
    pub details: Details,
}

impl Failure {
    /// A failure that trying again does not mend.
    pub fn new(slug: Slug, message: impl Into<String>) -> Self {
        Self { slug, message: message.into(), hints: Vec::new(), retry: Retry::Never, details: Details::None }
    }

    /// Adds a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Hint>) -> Self {
        self.hints.push(hint.into());
        self
    }

    /// Says when to try again.
    #[must_use]
    pub fn retry(mut self, retry: Retry) -> Self {
        self.retry = retry;
        self
    }

    /// Adds data.
    #[must_use]
    pub fn details(mut self, details: Details) -> Self {
        self.details = details;
        self
    }
}

/// Whether trying again helps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Retry {
    /// It does not.
    Never,
    /// At once.
    Now,
    /// After this many milliseconds.
    AfterMs(u64),
}

/// Data that belongs to a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Details {
    /// None.
    None,
    /// Who holds what was asked for, and who waits for it longer.
    Blockers {
        /// Leases in the way.
        leases: Vec<LeaseView>,
        /// Earlier waits in the way. A slice, so that a failure stays small enough to be returned by value.
        ahead: Box<[Ahead]>,
    },
    /// The lease as it is now, and who holds the same thing if another does.
    Lease {
        /// The lease.
        lease: Box<LeaseView>,
        /// Who holds now what the lease was on.
        held_now: Vec<LeaseView>,
    },
    /// Who would wait for whom, round and round.
    Circle(Box<Circle>),
    /// Where a log first goes wrong.
    FirstBadSeq(Seq),
    /// Where a path belongs instead.
    Elsewhere(Box<Elsewhere>),
    /// Named texts and numbers.
    Fields(Vec<(&'static str, Field)>),
}

impl Details {
    /// One of them alone.
    pub fn field(name: &'static str, value: impl Into<Field>) -> Self {
        Self::Fields(vec![(name, value.into())])
    }
}

/// A value that belongs to a failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Field {
    /// A text.
    Text(String),
    /// A number.
    Number(u64),
    /// Any number of texts.
    Texts(Vec<String>),
}

impl From<String> for Field {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<Vec<String>> for Field {
    fn from(texts: Vec<String>) -> Self {
        Self::Texts(texts)
    }
}

impl From<u64> for Field {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<u32> for Field {
    fn from(number: u32) -> Self {
        Self::Number(number.into())
    }
}

impl fmt::Display for Field {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Text(text) => formatter.write_str(text),
            Self::Number(number) => write!(formatter, "{number}"),
            Self::Texts(texts) => formatter.write_str(&texts.join(", ")),
        }
    }
}

/// A path that the scope of another directory owns.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Elsewhere {
    /// The path as it was written.
    pub argument: String,
    /// The directory.
    pub directory: String,
    /// The path as it is written there.
    pub path: String,
}

impl Elsewhere {
    /// A path inside a directory, empty for the directory itself. What was written as a directory stays one.
    pub fn new(argument: &str, directory: &str, inside: &str) -> Self {
        let slash = if argument.ends_with('/') { "/" } else { "" };
        let path = if inside.is_empty() { ".".to_owned() } else { format!("{inside}{slash}") };
        Self { argument: argument.to_owned(), directory: directory.to_owned(), path }
    }

    /// A pattern whose directory this is.
    #[must_use]
    pub fn with_pattern(self, argument: &str, pattern: &str) -> Self {
        let path = match self.path.as_str() {
            "." => pattern.to_owned(),
            directory => format!("{}/{pattern}", directory.trim_end_matches('/')),
        };
        Self { argument: argument.to_owned(), path, ..self }
    }

    /// The failure of whoever named it.
    pub fn failure(self, message: String) -> Failure {
        Failure::new(Slug::OutsideScope, message)
            .hint(format!("act there: clearway -C {} …", shell::word(&self.directory)))
            .details(Details::Elsewhere(Box::new(self)))
    }
}

/// An earlier wait that stands before a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ahead {
    /// Which.
    pub wait: WaitId,
    /// Who waits.
    pub agent: AgentName,
    /// For what.
    pub target: String,
    /// Whether its turn has come and is kept for it.
    pub offered: bool,
}

/// A circle of waiting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circle {
    /// Who waits for whom; the last waits for the first.
    pub steps: Vec<CircleStep>,
    /// Who should give back which lease, on what, so that the least work is lost.
    pub yielder: Option<(AgentName, LeaseId, String)>,
}

/// One agent of a circle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CircleStep {
    /// Who waits.
    pub agent: AgentName,
    /// For what.
    pub waits_for: String,
    /// Who has it, or waits for it longer.
    pub of: AgentName,
    /// The lease, if it is one.
    pub lease: Option<LeaseId>,
    /// The process that keeps the lease, if one does.
    pub kept_by: Option<u32>,
}

/// A lease as an onlooker sees it: with its holder's name, its true deadline and how alive the holder looks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeaseView {
    /// The lease.
    pub lease: Lease,
    /// Who holds it.
    pub agent: AgentName,
    /// When it ends if the holder stays silent.
    pub deadline: Mono,
    /// How alive the holder looks.
    pub liveness: Liveness,
    /// Whether a person stopped the holder.
    pub is_halted: bool,
    /// How many agents wait for it; told to somebody who is turned away, how many others.
    pub waiters: u64,
    /// Whether a tool call of its holder is about to change it; looked up for who is turned away.
    pub in_hand: bool,
}

impl LeaseView {
    /// Puts a lease and its holder together.
    pub fn new(lease: &Lease, holder: &AgentView, liveness: Liveness) -> Self {
        Self {
            lease: lease.clone(),
            agent: holder.agent.name.clone(),
            deadline: lease.deadline_given(holder.last_seen()),
            liveness,
            is_halted: holder.agent.halted.is_some(),
            waiters: 0,
            in_hand: false,
        }
    }

    /// A lease whose holder an engine forgot.
    pub(crate) fn of_nobody(lease: &Lease) -> Self {
        Self {
            lease: lease.clone(),
            agent: AgentName::made("unknown".to_owned()),
            deadline: lease.deadline_given(None),
            liveness: Liveness::Idle,
            is_halted: false,
            waiters: 0,
            in_hand: false,
        }
    }

    /// How its holder looks, in a word for people.
    pub fn holder_word(&self) -> &'static str {
        self.liveness.word_for(self.is_halted)
    }
}
