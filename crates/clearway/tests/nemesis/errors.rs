//! A disk that answers with errors: at every call by which a verb can change something, once and from there on.
//!
//! Success is never reported falsely, a failure has its documented name and exit code and changed nothing, and
//! once the disk works again so does everything else.

use crate::arena::{Arena, Reply, home};
use crate::cases::{CASES, Case, Judged};
use crate::matrix::{Strike, recover, step_by_step, strike_all};
use clearway_testkit::faults::{Fault, Point};

const FAULTS: [Fault; 4] = [
    Fault::Error("ENOSPC"),
    Fault::ErrorFromHereOn("ENOSPC"),
    Fault::Error("EIO"),
    Fault::ErrorFromHereOn("EIO"),
];

/// SQLite tells a full disk apart only where it writes pages, and takes a file that it cannot open to write for one
/// that it may not write.
const SLUGS: [&str; 3] = ["store-full", "store-unavailable", "store-read-only"];

/// Said when a change was made and the disk would not promise to keep it through a power cut.
const UNPROMISED: &str = "the change was made, but may not survive a power cut";

/// The verbs whose points differ; every write of the others is one of these.
const STRUCK: [&str; 16] = [
    "first-reserve",
    "later-reserve",
    "long-log",
    "release",
    "sweep",
    "first-anchor",
    "repair",
    "enqueue",
    "offer",
    "take-turn",
    "cancel",
    "transfer",
    "freeze",
    "attached",
    "take-over",
    "exported-anchor",
];

#[test]
fn a_disk_that_fails_at_any_write_is_named_and_nothing_is_half_done() {
    let cases: Vec<Case> = CASES.into_iter().filter(|case| STRUCK.contains(&case.name)).collect();
    assert_eq!(cases.len(), STRUCK.len(), "every name is that of a case");
    let faults = |point: &Point| match can_fail(point) {
        true => FAULTS.into_iter().filter(|fault| can_answer(point, *fault)).collect(),
        false => Vec::new(),
    };
    strike_all(&home(), &cases, faults, judge);
}

/// An answer that cannot be written is nobody's state, and an exit cannot fail.
fn can_fail(point: &Point) -> bool {
    !point.is_reply() && point.call != "exit_group" && !point.shown.contains("= -1")
}

/// A `write` that fails from here on takes the answer with it.
fn can_answer(point: &Point, fault: Fault) -> bool {
    point.call != "write" || !matches!(fault, Fault::ErrorFromHereOn(_))
}

fn judge(strike: &Strike<'_, '_>, arena: &Arena<'_>, reply: &Reply) -> Result<(), String> {
    let prepared = strike.prepared;
    let found = arena.facts()?;
    let happened = match reply.code {
        0 if !reply.acknowledged() => return Err("success without an answer".to_owned()),
        0 if found != prepared.after => return Err(format!("reported, but not there: {found:#?}")),
        0 => true,
        69 if reply.stdout.contains(UNPROMISED) && found == prepared.after => true,
        69 if prepared.case.judged == Judged::Stepwise => {
            let is_done = step_by_step(&found, prepared)?;
            refused(reply, true)? || is_done
        }
        69 => refused(reply, found == prepared.before)?,
        // A doctor that cannot look answers like one that found something wrong.
        1 if prepared.case.judged == Judged::Repair && reply.slug() == "unhealthy" => found == prepared.after,
        _ => return Err("neither done nor refused for the store's sake".to_owned()),
    };
    if prepared.case.judged != Judged::Repair || happened {
        arena.audited()?;
    }
    recover(prepared, arena, happened)
}

fn refused(reply: &Reply, unchanged: bool) -> Result<bool, String> {
    match (SLUGS.contains(&reply.slug()), unchanged) {
        (false, _) => Err(format!("called {:?}", reply.slug())),
        (_, false) => Err("refused, but something changed".to_owned()),
        _ => Ok(false),
    }
}
