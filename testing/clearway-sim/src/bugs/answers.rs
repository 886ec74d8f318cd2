//! Decisions that decide rightly and then write or say something else.

use super::{Named, said, shown, without_last};
use clearway_core::command::Request;
use clearway_core::decide::{Decision, Success, decide};
use clearway_core::event::Body;
use clearway_core::facts::Facts;
use clearway_core::ids::{Entropy, Epoch, Seq};
use clearway_core::slice::{Slice, Soft};
use clearway_core::time::Now;
use clearway_core::wait::WaitEnd;

pub(super) const BUGS: &[Named] = &[
    ("forgets to record an expiry", forgets_expiry),
    ("records an expiry twice", expires_twice),
    ("hands out the fence before", old_fence),
    ("leaves a hole in the sequence", hole),
    ("answers a hand-over with the old fence", old_fence_after_transfer),
    ("shortens a lease when renewing it", shortens),
    ("does not move the epoch", same_epoch),
    ("offers the turn to another waiter", wrong_offer),
    ("takes a turn away before its time", passes_early),
    ("keeps a place after its grant", keeps_granted),
    ("says granted and writes nothing", writes_nothing),
    ("forgets who asked, and with it the key", forgets_key),
    ("notes no signs of life", notes_nothing),
    ("notes no pulses of waiting processes", hears_nothing),
    ("refuses and grants all the same", refuses_and_grants),
    ("sweeps without saying so", sweeps_in_silence),
];

fn forgets_expiry(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    said(decide(s, r, f, n, e), |verdict| {
        without_last(verdict, |body| matches!(body, Body::LeaseExpired { .. }));
    })
}

fn expires_twice(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    said(decide(s, r, f, n, e), |verdict| {
        let last = verdict.events.last().cloned();
        if let Some(mut event) = last.filter(|event| matches!(event.body, Body::LeaseExpired { .. })) {
            event.seq = event.seq.next();
            verdict.events.push(event);
        }
    })
}

fn old_fence(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    said(decide(s, r, f, n, e), |verdict| {
        for event in &mut verdict.events {
            if let Body::LeaseGranted(lease) = &mut event.body {
                lease.fence.seq = Seq(lease.fence.seq.0 - 1);
            }
        }
    })
}

fn hole(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    said(decide(s, r, f, n, e), |verdict| {
        if verdict.events.len() > 2 {
            verdict.events.remove(1);
        }
    })
}

fn old_fence_after_transfer(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    said(decide(s, r, f, n, e), |verdict| {
        if let Ok(Success::Transferred(_)) = &verdict.outcome {
            for view in shown(verdict) {
                if let Some(before) = s.lease(view.lease.id) {
                    view.lease.fence = before.fence;
                }
            }
        }
    })
}

fn shortens(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    said(decide(s, r, f, n, e), |verdict| {
        for event in &mut verdict.events {
            if let Body::LeaseRenewed { terms, .. } = &mut event.body {
                terms.deadline = n.mono.plus_ms(terms.ttl_ms);
            }
        }
        for view in shown(verdict) {
            view.lease.deadline = n.mono.plus_ms(view.lease.ttl_ms);
        }
    })
}

fn same_epoch(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    said(decide(s, r, f, n, e), |verdict| {
        for event in &mut verdict.events {
            if let Body::EpochBegan { epoch, .. } = &mut event.body {
                *epoch = Epoch(s.scope.epoch.0.max(1));
            }
        }
    })
}

fn wrong_offer(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    said(decide(s, r, f, n, e), |verdict| {
        for event in &mut verdict.events {
            if let Body::WaitOffered { wait, .. } = &mut event.body {
                *wait = s.waits.last().map_or(*wait, |view| view.wait.id);
            }
        }
    })
}

fn passes_early(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let late = Now { mono: n.mono.plus_ms(1), ..n.clone() };
    let offered = s.waits.iter().any(|view| view.offer_lapsed(late.mono) && !view.offer_lapsed(n.mono));
    decide(s, r, f, if offered { &late } else { n }, e)
}

fn keeps_granted(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    said(decide(s, r, f, n, e), |verdict| {
        without_last(verdict, |body| matches!(body, Body::WaitEnded { cause: WaitEnd::Granted, .. }));
    })
}

fn writes_nothing(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    said(decide(s, r, f, n, e), |verdict| {
        without_last(verdict, |body| matches!(body, Body::LeaseGranted(_)));
    })
}

fn forgets_key(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    said(decide(s, r, f, n, e), |verdict| verdict.agent = None)
}

fn notes_nothing(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    said(decide(s, r, f, n, e), |verdict| {
        verdict.soft.retain(|soft| !matches!(soft, Soft::Seen { .. }));
    })
}

fn hears_nothing(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    said(decide(s, r, f, n, e), |verdict| {
        verdict.soft.retain(|soft| !matches!(soft, Soft::Heard { .. }));
    })
}

fn refuses_and_grants(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    let mut free = s.clone();
    free.leases.retain(|lease| lease.ended.is_some());
    match (decide(s, r, f, n, e), r.wanted().is_some()) {
        (Decision::Ready(refused), true) if refused.outcome.is_err() => {
            said(decide(&free, r, f, n, e), |verdict| verdict.outcome = refused.outcome)
        }
        (decision, _) => decision,
    }
}

fn sweeps_in_silence(s: &Slice, r: &Request, f: &Facts, n: &Now, e: &mut Entropy<'_>) -> Decision {
    said(decide(s, r, f, n, e), |verdict| {
        if let Ok(Success::Swept { expired }) = &mut verdict.outcome {
            expired.clear();
        }
    })
}
