//! How alive an agent looks.

use super::Agent;
use crate::facts::{Facts, ProcessLife};
use crate::limits::{ACTIVE_MS, SEEN_AHEAD_MS_MAX};
use crate::time::Mono;

/// How alive an agent looks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Liveness {
    /// Gave a sign of life within five minutes.
    Active,
    /// Silent for longer.
    Idle,
    /// Ended, or its process is proven dead.
    Gone,
}

impl Liveness {
    /// The word used in output.
    pub fn word(self) -> &'static str {
        match self {
            Self::Active => "active",
            Self::Idle => "idle",
            Self::Gone => "gone",
        }
    }

    /// How an agent looks, in a word for people: whoever was stopped does nothing, however alive it is.
    pub fn word_for(self, is_halted: bool) -> &'static str {
        if is_halted { "halted" } else { self.word() }
    }
}

/// What a stored sign of life is worth. The store may hold what a broken clock or somebody else wrote there.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignOfLife {
    /// The agent was seen then.
    Seen(Mono),
    /// It is later than the clock, by so much that nobody saw it.
    Ahead {
        /// How much.
        ms: u64,
    },
}

impl SignOfLife {
    /// Judges what is stored. Whoever waited for its turn meets signs a little later than its own reading of the clock:
    /// they are taken for now.
    pub fn judged(stored: Mono, now: Mono) -> Self {
        match stored <= Self::latest(now) {
            true => Self::Seen(stored.min(now)),
            false => Self::Ahead { ms: stored.since(now) },
        }
    }

    /// The latest instant that a sign of life may bear to be believed.
    pub fn latest(now: Mono) -> Mono {
        now.plus_ms(SEEN_AHEAD_MS_MAX)
    }

    /// When the agent was seen.
    pub fn seen(self) -> Option<Mono> {
        match self {
            Self::Seen(at) => Some(at),
            Self::Ahead { .. } => None,
        }
    }
}

/// Judges an agent by its last sign of life and what is known of its process.
pub fn liveness(agent: &Agent, last_seen: Option<Mono>, facts: &Facts, now: Mono) -> Liveness {
    let dead =
        agent.process.as_ref().is_some_and(|process| facts.process(process) == Some(ProcessLife::Dead));
    if agent.ended_at.is_some() || dead {
        Liveness::Gone
    } else if last_seen.is_some_and(|seen| now.since(seen) <= ACTIVE_MS) {
        Liveness::Active
    } else {
        Liveness::Idle
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_of_life_is_believed_up_to_a_little_later_than_the_clock() {
        let now = Mono(1_000_000);
        for (ahead_ms, expect) in [
            (0, SignOfLife::Seen(now)),
            (SEEN_AHEAD_MS_MAX, SignOfLife::Seen(now)),
            (SEEN_AHEAD_MS_MAX + 1, SignOfLife::Ahead { ms: SEEN_AHEAD_MS_MAX + 1 }),
        ] {
            assert_eq!(SignOfLife::judged(now.plus_ms(ahead_ms), now), expect);
        }
        assert_eq!(SignOfLife::judged(Mono(7), now).seen(), Some(Mono(7)));
        assert_eq!(SignOfLife::judged(Mono(u64::MAX), now).seen(), None);
    }
}
