//! kill -9 at the calls by which a mutating verb can change something, all of them where `NEMESIS_POINTS=all` says so.
//!
//! Afterwards the next command works without manual steps, the verb happened entirely or not at all, what was
//! acknowledged is there, repeating it with the same key has one effect, and nothing is left that a doctor would
//! complain about.

use crate::arena::{Arena, Facts, Reply, home};
use crate::cases::{CASES, Judged};
use crate::matrix::{Prepared, Strike, recover, step_by_step, strike_all};
use clearway_testkit::faults::Fault;

#[test]
fn killed_at_any_write_every_verb_happened_entirely_or_not_at_all() {
    strike_all(&home(), &CASES, |_| vec![Fault::Kill], judge);
}

fn judge(strike: &Strike<'_, '_>, arena: &Arena<'_>, reply: &Reply) -> Result<(), String> {
    let prepared = strike.prepared;
    if reply.code != -1 {
        return Err("the point was not reached".to_owned());
    }
    let found = arena.facts()?;
    let happened = match prepared.case.judged {
        Judged::Anchor => found == prepared.before && anchors(arena) > anchors(&prepared.arena),
        Judged::Stepwise => step_by_step(&found, prepared)?,
        _ => entirely_or_not(&found, prepared)?,
    };
    if reply.acknowledged() && !happened {
        return Err("acknowledged and lost".to_owned());
    }
    if strike.point.is_reply() && !happened {
        return Err("the answer was on its way before the act was done".to_owned());
    }
    let may_be_broken = match prepared.case.judged {
        Judged::Repair => !happened,
        judged => judged == Judged::Recovery,
    };
    if !may_be_broken {
        arena.audited()?;
    }
    recover(prepared, arena, happened)
}

fn entirely_or_not(found: &Facts, prepared: &Prepared<'_>) -> Result<bool, String> {
    match (*found == prepared.before, *found == prepared.after) {
        (true, _) => Ok(false),
        (_, true) => Ok(true),
        _ => {
            Err(format!("half done: {found:#?}, before {:#?}, after {:#?}", prepared.before, prepared.after))
        }
    }
}

fn anchors(arena: &Arena<'_>) -> usize {
    std::fs::read_to_string(arena.store("-anchors")).map_or(0, |text| text.lines().count())
}
