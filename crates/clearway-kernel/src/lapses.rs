//! What the caller may believe to hold still, though its time ran out: a renewal of it is refused, and one of everything
//! says so.

use crate::own::ENDED_ROWS;
use crate::session::Session;
use clearway_core::command::Selection;
use clearway_core::decide::{Notice, lease_ran_out, ran_out, told_of_lapse};
use clearway_core::failure::{Failure, LeaseView};
use clearway_core::ids::{LeaseId, ScopeKey};
use clearway_core::limits::LAPSES_TOLD_MAX;
use clearway_core::slug::Slug;
use clearway_store::Reply;
use clearway_store::contract::LeaseListing;

impl Session<'_> {
    /// The answer to a renewal of what was named: of what ran out it is not that it was never held.
    pub(crate) fn unless_ran_out(
        &mut self,
        scope: &ScopeKey,
        selection: &Selection,
        mut reply: Reply,
    ) -> Result<Reply, Failure> {
        let Selection::These { targets, worktree, .. } = selection else { return Ok(reply) };
        if !matches!(&reply.outcome, Err(failure) if failure.slug == Slug::NotFound) {
            return Ok(reply);
        }
        let survey = self.survey_in(scope, LeaseListing::WithEnded(ENDED_ROWS))?;
        let leases = survey.leases();
        let old = ran_out(&leases, &survey.family_of(&self.caller));
        let mut named = old.into_iter().filter(|view| view.lease.is_on_any(targets, worktree));
        if let Some(old) = named.next() {
            reply.outcome = Err(lease_ran_out(old, &leases));
        }
        Ok(reply)
    }

    /// What ran out since the caller was last heard of, whoever recorded that: to be said beside a renewal of everything.
    pub(crate) fn lapses(&mut self) -> Result<Vec<Notice>, Failure> {
        let key = self.site.key.clone();
        let survey = self.survey_in(&key, LeaseListing::WithEnded(ENDED_ROWS))?;
        let me = survey.caller(&self.caller).map(|seen| seen.view);
        let Some((heard, now)) = me.and_then(|view| view.last_seen()).map(|heard| (heard, &survey.now))
        else {
            return Ok(Vec::new());
        };
        let leases = survey.leases();
        let is_news = |view: &&&LeaseView| {
            let recorded = view.lease.ended.map_or(now.wall, |ended| ended.at);
            let ago_ms = u64::try_from(now.wall.0.saturating_sub(recorded.0)).unwrap_or(0);
            // What ran out did so after a silence, so there is time enough between the two to tell them apart.
            ago_ms + view.lease.ttl_ms / 2 <= now.mono.since(heard)
        };
        let old = ran_out(&leases, &survey.family_of(&self.caller));
        let news = old.iter().filter(is_news).take(LAPSES_TOLD_MAX);
        Ok(news.filter_map(|view| told_of_lapse(view, &leases)).collect())
    }
}

/// An answer with those of these notices that are of leases which it does not speak of itself.
pub(crate) fn told_with(mut reply: Reply, lapses: Vec<Notice>) -> Reply {
    let lease = |notice: &Notice| match notice {
        Notice::Lapsed { lease, .. } => Some(*lease),
        _ => None,
    };
    let said: Vec<LeaseId> = reply.notices.iter().filter_map(lease).collect();
    let is_new = |notice: &Notice| lease(notice).is_some_and(|id| !said.contains(&id));
    reply.notices.extend(lapses.into_iter().filter(is_new));
    reply
}
