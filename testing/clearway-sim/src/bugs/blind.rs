//! Decisions that do not see something of the state, or see it wrongly.

use super::{Named, caller, seen};
use clearway_core::command::{Command, Request};
use clearway_core::decide::{Decision, decide};
use clearway_core::facts::{Facts, Process, ProcessLife};
use clearway_core::ids::Entropy;
use clearway_core::lease::{Grade, Lease, Mode};
use clearway_core::slice::Slice;
use clearway_core::target::{Target, Worktree};
use clearway_core::time::{Mono, Now};
use clearway_core::wait::WaitView;
use std::collections::BTreeSet;

pub(super) const BUGS: &[Named] = &[
    ("does not see who waits", no_waiters),
    ("lets readers overtake waiting writers", readers_barge),
    ("grants during another's offer", offers_ignored),
    ("does not see shared leases", no_shared),
    ("lets an upgrade through while others share", upgrade_beside_others),
    ("confuses checkouts", one_worktree),
    ("keeps a lease at its last instant", late_by_one),
    ("ends a lease one millisecond early", early_by_one),
    ("ignores signs of life", no_signs),
    ("ignores absolute ends", no_maximum),
    ("takes a process it cannot ask about for dead", unknown_is_dead),
    ("takes a dead process for alive", dead_is_alive),
    ("takes over from whoever was silent for a minute", silent_is_gone),
    ("lets changed files yield", dirty_is_clean),
    ("lets claimed leases yield", claimed_is_auto),
    ("lets an ancestor block its descendants", no_families),
    ("lets siblings hold the same", siblings_meet),
    ("lets two commands of one agent hold the same", no_bounds),
    ("does not notice the command around it", nothing_above),
    ("does not notice a new boot", same_boot),
    ("does not notice a freeze", no_freeze),
    ("keeps waiters that fell silent", never_silent),
    ("ends waiters that were heard of", always_silent),
    ("keeps waiters beyond their time", no_timeout),
    ("keeps an offer for ever", endless_offer),
    ("does not see own leases when looking for circles", no_own_in_circles),
    ("does not see the queue when looking for circles", no_queue_in_circles),
    ("looks only at the first lease in the way", first_lease_only),
];

fn nothing_above(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let mut alone = f.clone();
    if f.above().is_some() {
        alone.learn_above(BTreeSet::new());
    }
    decide(s, r, &alone, n, e)
}

fn asks_for_leases(request: &Request) -> bool {
    request.wanted().is_some()
}

/// The slice without some leases. What is due is left in, so that only the conflict is not seen.
fn without_leases(s: &Slice, n: &Now, hidden: impl Fn(&Lease) -> bool) -> Slice {
    let is_due = |lease: &Lease| {
        let last_seen = s.agent(lease.holder).and_then(|view| view.last_seen());
        s.scope.boot.as_ref() != Some(&n.boot) || lease.is_expired(last_seen, n.mono)
    };
    seen(s, |slice| slice.leases.retain(|lease| lease.ended.is_some() || is_due(lease) || !hidden(lease)))
}

/// The slice without some waits of others. What is over is left in, so that only the conflict is not seen.
fn without_waits(s: &Slice, r: &Request, f: &Facts, n: &Now, hidden: impl Fn(&WaitView) -> bool) -> Slice {
    let me = caller(s, r);
    let is_over = |view: &WaitView| {
        let agent = s.agent(view.wait.agent).map(|known| &known.agent);
        s.scope.boot.as_ref() != Some(&n.boot)
            || view.over(agent, f, n.mono).is_some()
            || view.offer_lapsed(n.mono)
    };
    seen(s, |slice| {
        slice.waits.retain(|view| Some(view.wait.agent) == me || is_over(view) || !hidden(view));
    })
}

fn no_waiters(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let plain = matches!(r.command, Command::Reserve(_));
    decide(&without_waits(s, r, f, n, |_| plain), r, f, n, e)
}

fn readers_barge(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let reads = matches!(&r.command, Command::Reserve(reserve) if reserve.mode == Mode::Shared);
    decide(&without_waits(s, r, f, n, |_| reads), r, f, n, e)
}

fn offers_ignored(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let plain = matches!(r.command, Command::Reserve(_));
    decide(&without_waits(s, r, f, n, |view| plain && view.wait.offered_until.is_some()), r, f, n, e)
}

fn no_shared(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let me = caller(s, r);
    let hidden = |lease: &Lease| lease.mode == Mode::Shared && Some(lease.holder) != me && asks_for_leases(r);
    decide(&without_leases(s, n, hidden), r, f, n, e)
}

fn upgrade_beside_others(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let me = caller(s, r);
    let held = |target: &Target| {
        let mine = |lease: &&Lease| Some(lease.holder) == me && lease.ended.is_none();
        s.leases.iter().filter(mine).any(|lease| lease.target == *target && lease.mode == Mode::Shared)
    };
    let upgrades = r.wanted().is_some_and(|wanted| {
        wanted.mode == Mode::Exclusive && wanted.wants.iter().any(|want| held(&want.target))
    });
    decide(&without_leases(s, n, |lease| upgrades && Some(lease.holder) != me), r, f, n, e)
}

fn one_worktree(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let slice = seen(s, |slice| {
        for lease in slice.leases.iter_mut().filter(|lease| matches!(lease.target, Target::Path(_))) {
            lease.worktree = Worktree("/w".to_owned());
        }
    });
    decide(&slice, r, f, n, e)
}

/// Moves the end of leases that are due within a millisecond.
fn shifted(s: &Slice, n: &Now, when: impl Fn(u64) -> bool, to: u64) -> Slice {
    seen(s, |slice| {
        for lease in &mut slice.leases {
            let last_seen = s.agent(lease.holder).and_then(|view| view.last_seen());
            if lease.ended.is_none() && when(lease.deadline_given(last_seen).0) {
                (lease.deadline, lease.end_max, lease.ttl_ms) = (Mono(n.mono.0 + to), None, 0);
            }
        }
    })
}

fn late_by_one(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    decide(&shifted(s, n, |end| end == n.mono.0, 1), r, f, n, e)
}

fn early_by_one(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    decide(&shifted(s, n, |end| end == n.mono.0 + 1, 0), r, f, n, e)
}

fn no_signs(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let slice = seen(s, |slice| slice.agents.iter_mut().for_each(|view| view.sign = None));
    decide(&slice, r, f, n, e)
}

fn no_maximum(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let slice = seen(s, |slice| slice.leases.iter_mut().for_each(|lease| lease.end_max = None));
    decide(&slice, r, f, n, e)
}

/// Every process the slice speaks of.
fn processes(s: &Slice) -> Vec<Process> {
    let agents = s.agents.iter().filter_map(|view| view.agent.process.clone());
    let leases = s.leases.iter().filter_map(|lease| lease.bound.clone());
    let waits = s.waits.iter().filter_map(|view| view.wait.attached.clone());
    agents.chain(leases).chain(waits).collect()
}

fn retold(s: &Slice, f: &Facts, from: ProcessLife, to: ProcessLife) -> Facts {
    let mut facts = f.clone();
    for process in processes(s) {
        if f.process(&process) == Some(from) {
            facts.learn_process(process, to);
        }
    }
    facts
}

fn unknown_is_dead(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    decide(s, r, &retold(s, f, ProcessLife::Unknown, ProcessLife::Dead), n, e)
}

fn dead_is_alive(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    decide(s, r, &retold(s, f, ProcessLife::Dead, ProcessLife::Alive), n, e)
}

fn silent_is_gone(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let slice = seen(s, |slice| {
        for view in &mut slice.agents {
            if view.last_seen().is_none_or(|seen| n.mono.since(seen) > 60_000) {
                view.agent.ended_at = Some(n.wall);
            }
        }
    });
    decide(&slice, r, f, n, e)
}

fn dirty_is_clean(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let mut facts = f.clone();
    for lease in &s.leases {
        if let Target::Path(path) = &lease.target {
            facts.learn_dirty(
                lease.worktree.clone(),
                path.as_literal().unwrap_or_default().to_owned(),
                false,
            );
        }
    }
    decide(s, r, &facts, n, e)
}

fn claimed_is_auto(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let slice = seen(s, |slice| slice.leases.iter_mut().for_each(|lease| lease.grade = Grade::Auto));
    decide(&slice, r, f, n, e)
}

fn no_families(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let slice = seen(s, |slice| {
        for view in &mut slice.agents {
            (view.agent.parent, view.agent.root) = (None, view.agent.id);
        }
    });
    decide(&slice, r, f, n, e)
}

fn siblings_meet(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let parent = |id| s.agent(id).and_then(|view| view.agent.parent);
    let me = caller(s, r).filter(|_| asks_for_leases(r));
    let sibling = |lease: &Lease| {
        me.is_some_and(|me| lease.holder != me && parent(me).is_some() && parent(me) == parent(lease.holder))
    };
    decide(&without_leases(s, n, sibling), r, f, n, e)
}

fn no_bounds(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let me = caller(s, r).filter(|_| asks_for_leases(r));
    let hidden = |lease: &Lease| lease.bound.is_some() && Some(lease.holder) == me;
    decide(&without_leases(s, n, hidden), r, f, n, e)
}

fn same_boot(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let slice = seen(s, |slice| {
        if slice.scope.boot.is_some() {
            slice.scope.boot = Some(n.boot.clone());
        }
    });
    decide(&slice, r, f, n, e)
}

fn no_freeze(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let slice = seen(s, |slice| {
        if asks_for_leases(r) {
            slice.scope.frozen = None;
        }
    });
    decide(&slice, r, f, n, e)
}

fn never_silent(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let slice = seen(s, |slice| slice.waits.iter_mut().for_each(|view| view.heard = Some(n.mono)));
    decide(&slice, r, f, n, e)
}

fn always_silent(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let slice = seen(s, |slice| slice.waits.iter_mut().for_each(|view| view.heard = None));
    decide(&slice, r, f, n, e)
}

fn no_timeout(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let slice = seen(s, |slice| slice.waits.iter_mut().for_each(|view| view.wait.until = Mono(u64::MAX)));
    decide(&slice, r, f, n, e)
}

fn endless_offer(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let slice = seen(s, |slice| {
        for view in slice.waits.iter_mut().filter(|view| view.wait.offered_until.is_some()) {
            view.wait.offered_until = Some(Mono(u64::MAX));
        }
    });
    decide(&slice, r, f, n, e)
}

fn no_own_in_circles(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let me = caller(s, r).filter(|_| matches!(r.command, Command::Await(_)));
    let apart = |lease: &Lease| r.wanted().is_some_and(|own| !own.touches(&lease.target, &lease.worktree));
    decide(&without_leases(s, n, |lease| Some(lease.holder) == me && apart(lease)), r, f, n, e)
}

fn no_queue_in_circles(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let joins = matches!(r.command, Command::Await(_));
    let apart = |view: &WaitView| r.wanted().is_some_and(|own| !own.conflicts_with(&view.wait.wanted));
    decide(&without_waits(s, r, f, n, |view| joins && apart(view)), r, f, n, e)
}

fn first_lease_only(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let me = caller(s, r);
    let in_the_way = |lease: &Lease| {
        Some(lease.holder) != me && r.wanted().is_some_and(|own| own.conflicts_with_lease(lease))
    };
    let first =
        s.leases.iter().find(|lease| lease.ended.is_none() && in_the_way(lease)).map(|lease| lease.id);
    decide(&without_leases(s, n, |lease| in_the_way(lease) && Some(lease.id) != first), r, f, n, e)
}
