//! What a judge found wrong with a history.

use std::fmt;

/// The rule that was broken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rule {
    /// The log is the fold of what was decided: no gap, nothing about what is not there.
    LogFolds,
    /// No two leases that exclude each other live at once.
    OneHolder,
    /// Every grant has a higher fence than all before.
    FencesRise,
    /// Nobody gets what somebody else waits for longer.
    NobodyOvertakes,
    /// Nothing ends before its time, and nobody alive is called dead.
    NothingEndsEarly,
    /// What an operation did stands in the log between its start and its end.
    RealTime,
    /// Every event was somebody's doing.
    EveryEventHasACause,
    /// What an answer says is so at its revision.
    AnswersAreTrue,
    /// A refusal has a reason that held while it was asked.
    RefusalsAreJust,
    /// What was killed happened entirely or not at all.
    KilledIsWhole,
    /// Only the current fence is accepted, and only in time.
    FencesHold,
    /// No failure but those that contention explains.
    OnlyFairFailures,
}

/// One broken rule.
#[derive(Clone, Debug)]
pub struct Breach {
    /// Which.
    pub rule: Rule,
    /// Where and how.
    pub text: String,
}

impl Breach {
    pub(super) fn new(rule: Rule, text: impl Into<String>) -> Self {
        Self { rule, text: text.into() }
    }
}

impl fmt::Display for Breach {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?}: {}", self.rule, self.text)
    }
}
