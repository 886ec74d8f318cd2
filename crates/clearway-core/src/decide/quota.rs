//! How much may be held: one way to count and one set of limits, for whatever makes somebody hold more.

use super::draft::Draft;
use crate::failure::Failure;
use crate::ids::AgentId;
use crate::lease::Lease;
use crate::limits::{LEASES_PER_AGENT_MAX, LEASES_PER_SCOPE_MAX, ROOT_PATTERNS_PER_SCOPE_MAX};
use crate::slug::Slug;

/// What is held at one point of a decision. A lease whose time is over counts no longer, recorded or not.
#[derive(Clone, Copy, Debug)]
pub(super) struct Held {
    by_agent: u64,
    in_scope: u64,
    root_patterns: u64,
}

impl Held {
    /// By this agent, and in the scope at all. What is stored beyond the slice is as it was.
    pub(super) fn by(draft: &Draft<'_>, agent: AgentId) -> Self {
        let (scope, own) = (&draft.slice.scope, draft.slice.agent(agent));
        let now = |stored: u64, counts: &dyn Fn(&Lease) -> bool| {
            let seen = draft.slice.leases.iter().filter(|lease| lease.ended.is_none() && counts(lease));
            let live = draft.leases_now().filter(|lease| counts(lease));
            stored.saturating_sub(seen.count() as u64) + live.count() as u64
        };
        Self {
            by_agent: now(own.map_or(0, |view| view.live_leases), &|lease| lease.holder == agent),
            in_scope: now(scope.live_leases, &|_| true),
            root_patterns: now(scope.root_patterns, &|lease| lease.target.is_root_level()),
        }
    }

    /// With so many more leases, of which so many are root patterns.
    pub(super) fn with(self, leases: u64, root_patterns: u64) -> Self {
        Self {
            by_agent: self.by_agent + leases,
            in_scope: self.in_scope + leases,
            root_patterns: self.root_patterns + root_patterns,
        }
    }

    /// Whether it may become `after`: whatever grows stays within its limit.
    pub(super) fn may_become(self, after: Self) -> Result<(), Failure> {
        within("leases of one agent", self.by_agent, after.by_agent, LEASES_PER_AGENT_MAX)?;
        within("leases in one scope", self.in_scope, after.in_scope, LEASES_PER_SCOPE_MAX)?;
        let what = "patterns without a leading directory";
        within(what, self.root_patterns, after.root_patterns, ROOT_PATTERNS_PER_SCOPE_MAX)
    }
}

fn within(what: &'static str, before: u64, after: u64, limit: u64) -> Result<(), Failure> {
    if after <= before || after <= limit {
        return Ok(());
    }
    let message = format!("{what}: at most {limit}, and this request would make {after}");
    Err(Failure::new(Slug::QuotaExceeded, message))
}
