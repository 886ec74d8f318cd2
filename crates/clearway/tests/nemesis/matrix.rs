//! The points where a mutating verb can be struck, the strikes, and what must hold after each.

use crate::arena::{Arena, Facts, Reply};
use crate::cases::{Case, Judged};
use clearway_testkit::Home;
use clearway_testkit::faults::{Fault, Point, points, struck};
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

/// Threads that strike; the machine these tests are meant for has two cores.
const STRIKERS: usize = 2;

/// Complaints shown in full.
const SHOWN_MAX: usize = 12;

/// A case with what was there before, what is there after, and where it can be struck in between.
pub(crate) struct Prepared<'h> {
    pub(crate) case: Case,
    pub(crate) arena: Arena<'h>,
    pub(crate) before: Facts,
    pub(crate) after: Facts,
    pub(crate) points: Vec<Point>,
}

impl<'h> Prepared<'h> {
    pub(crate) fn new(home: &'h Home, case: Case) -> Self {
        let arena = Arena::new(home, case.name);
        (case.prepare)(&arena);
        let before = arena.facts().expect("the state before");
        // What copies share, such as the directory of doorbells, is made by the first of them and is no point of
        // others.
        Reply::of(case.command(&arena.copy(&format!("{}-first", case.name)))).expect(0);
        let done = arena.copy(&format!("{}-done", case.name));
        let (points, output) = points(case.command(&done), &home.path().join(format!("{}.trace", case.name)));
        Reply::from(output).expect(0);
        let after = done.facts().expect("the state after");
        let changes = case.judged != Judged::Anchor;
        assert_eq!(before != after, changes, "{}: {after:?}", case.name);
        assert!(points.len() > 3, "{}: {points:?}", case.name);
        Self { case, arena, before, after, points }
    }
}

/// One strike: its case, its point and its fault.
pub(crate) struct Strike<'p, 'h> {
    pub(crate) prepared: &'p Prepared<'h>,
    pub(crate) point: &'p Point,
    pub(crate) fault: Fault,
}

/// One of so many points is struck in the short tier, others in each case. `NEMESIS_POINTS=all` strikes all of them.
const SHARE: usize = 9;

fn share() -> usize {
    match std::env::var("NEMESIS_POINTS").as_deref() {
        Ok("all") => 1,
        _ => SHARE,
    }
}

/// Strikes every case at its share of the points that have faults, each on its own copy of the state. A case is
/// prepared right before it is struck: a turn that is offered lasts for minutes only.
///
/// # Panics
/// If anything was wrong, with all of it.
pub(crate) fn strike_all(
    home: &Home,
    cases: &[Case],
    faults: impl Fn(&Point) -> Vec<Fault>,
    judge: impl Fn(&Strike<'_, '_>, &Arena<'_>, &Reply) -> Result<(), String> + Sync,
) {
    let (mut wrong, mut all, mut struck) = (Vec::new(), 0, 0);
    for (number, case) in cases.iter().enumerate() {
        let prepared = Prepared::new(home, *case);
        let points: Vec<&Point> = prepared.points.iter().filter(|point| !faults(point).is_empty()).collect();
        let chosen = points.iter().enumerate().filter(|(index, _)| (index + number).is_multiple_of(share()));
        let strikes: Vec<Strike<'_, '_>> = chosen
            // Neighbouring points differ little: of several faults each gets every other one, in turn.
            .flat_map(|(index, point)| {
                let faults = faults(point);
                let skipped = if faults.len() > 1 { index / share() % 2 } else { 0 };
                let own: Vec<Fault> = faults.into_iter().skip(skipped).step_by(2).collect();
                own.into_iter().map(|fault| Strike { prepared: &prepared, point, fault }).collect::<Vec<_>>()
            })
            .collect();
        println!("{}: {} strikes at {} points", case.name, strikes.len(), points.len());
        assert!(!strikes.is_empty(), "{} is not struck", case.name);
        (all, struck) = (all + points.len(), struck + strikes.len());
        wrong.extend(struck_at_once(&strikes, &judge));
    }
    println!("{struck} strikes, {all} points of {} cases there are", cases.len());
    let first = wrong.iter().take(SHOWN_MAX).cloned().collect::<Vec<_>>().join("\n");
    assert!(wrong.is_empty(), "{} of {struck} strikes went wrong, the first:\n{first}", wrong.len());
}

/// Carries out strikes, a few at a time; what was wrong.
fn struck_at_once(
    strikes: &[Strike<'_, '_>],
    judge: &(impl Fn(&Strike<'_, '_>, &Arena<'_>, &Reply) -> Result<(), String> + Sync),
) -> Vec<String> {
    let (next, wrong) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..STRIKERS {
            scope.spawn(|| {
                while let Some(strike) = strikes.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(complaint) = carry_out(strike, judge) {
                        wrong.lock().expect("no striker panics").push(complaint);
                    }
                }
            });
        }
    });
    wrong.into_inner().expect("no striker panics")
}

fn carry_out(
    strike: &Strike<'_, '_>,
    judge: &(impl Fn(&Strike<'_, '_>, &Arena<'_>, &Reply) -> Result<(), String> + Sync),
) -> Result<(), String> {
    let Strike { prepared, point, fault } = strike;
    let case = prepared.case;
    let name = format!("{}-{}-{}-{fault:?}", case.name, point.call, point.nth);
    let arena = prepared.arena.copy(&name.replace(['(', ')', '"'], "-"));
    let reply = Reply::of(struck(case.command(&arena), point, *fault));
    let judged = judge(strike, &arena, &reply);
    if judged.is_ok() {
        std::fs::remove_dir_all(arena.state()).map_err(|error| error.to_string())?;
    }
    let shown = point.shown.replace(&arena.state().display().to_string(), "");
    judged.map_err(|complaint| format!("- {name} at {shown}: {complaint}\n  answer: {reply:?}"))
}

/// Whether all of its steps happened; none of them may have happened in part or out of turn.
pub(crate) fn step_by_step(found: &Facts, prepared: &Prepared<'_>) -> Result<bool, String> {
    let (before, after) = (&prepared.before.events, &prepared.after.events);
    match found.events.starts_with(before) && after.starts_with(&found.events) {
        true => Ok(found.events == *after),
        false => Err(format!("not the steps of the verb: {found:#?}, but {:#?}", prepared.after)),
    }
}

/// The verb done once more without a fault, and everything that must hold after that.
pub(crate) fn recover(prepared: &Prepared<'_>, arena: &Arena<'_>, happened: bool) -> Result<(), String> {
    let case = prepared.case;
    let again = Reply::of(case.command(arena));
    let expected = if happened && case.judged == Judged::Once { 5 } else { 0 };
    if again.code != expected {
        return Err(format!("doing it again: {again:?}"));
    }
    let (found, after) = (arena.facts()?, &prepared.after);
    match case.judged {
        Judged::Keyed if found != *after => {
            Err(format!("twice is not once: {found:#?} instead of {after:#?}"))
        }
        Judged::Keyed if happened && again.value["replayed"] != true => {
            Err(format!("it happened, but was done again: {again:?}"))
        }
        Judged::Unkeyed | Judged::Recovery | Judged::Stepwise
            if (found.live(), &found.waits) != (after.live(), &after.waits) =>
        {
            Err(format!("again: {found:#?}, not {after:#?}"))
        }
        Judged::Once if found != *after => Err(format!("not taken once: {found:#?} instead of {after:#?}")),
        Judged::Repair if found != *after => Err(format!("not repaired: {found:#?} instead of {after:#?}")),
        Judged::Anchor => whole_anchors(arena),
        _ => Ok(()),
    }?;
    arena.audited().map(|_| ())
}

/// The public key lies beside the secret one: without it anybody's anchors would be believed.
fn whole_anchors(arena: &Arena<'_>) -> Result<(), String> {
    let (key, public) = (arena.operator_key(), arena.state().join("clearway/operator.pub"));
    match (key.exists(), public.exists()) {
        (true, true) => Ok(()),
        (key, public) => Err(format!("operator.key is there: {key}, operator.pub: {public}")),
    }
}
