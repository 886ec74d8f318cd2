//! Which leases a selection means: those that are named, and those of the caller that lie inside named targets.

use super::Notice;
use super::authority::{may_act, of_family};
use super::draft::Draft;
use super::kept;
use super::over::{find, is_current, is_live, refuse_ended};
use crate::agent::AgentName;
use crate::command::{LeaseRef, Selection, Verb};
use crate::event::Actor;
use crate::failure::Failure;
use crate::hint::Hint;
use crate::ids::{AgentId, LeaseId};
use crate::lease::Lease;
use crate::nearest::nearest;
use crate::slug::Slug;
use crate::target::{Target, Worktree};

/// What a selection comes to.
#[derive(Debug, Default)]
pub(super) struct Chosen {
    pub(super) live: Vec<Lease>,
    pub(super) already: Vec<LeaseId>,
    /// What overlaps the targets and reaches further.
    pub(super) remaining: Vec<Lease>,
    /// Targets on which the caller holds nothing.
    pub(super) unheld: Vec<Unheld>,
}

/// A target on which the caller holds nothing.
#[derive(Debug)]
pub(super) struct Unheld {
    /// As it was named.
    target: String,
    /// What it may have meant.
    meant: Option<Target>,
    /// What an operator was about to do to it, who may mean leases of others.
    operator: Option<Verb>,
    /// Who holds something of it.
    others: Vec<AgentName>,
}

impl Unheld {
    fn notice(&self) -> Notice {
        let Self { target, meant, operator, others } = self;
        let target = target.clone();
        match *operator {
            Some(verb) => Notice::OthersById { target, verb },
            None => Notice::NothingHeld { target, meant: meant.clone(), others: others.clone() },
        }
    }
}

pub(super) fn choose(draft: &mut Draft<'_>, selection: &Selection, actor: Actor) -> Result<Chosen, Failure> {
    match selection {
        Selection::All => {
            refuse_unreadable(draft)?;
            kept::leave(draft, actor, |_| true);
            Ok(Chosen { live: own(draft, actor), ..Chosen::default() })
        }
        Selection::These { leases, targets, worktree } => {
            let mut chosen = by_id(draft, leases, actor)?;
            let mut mine = of_family(draft, actor);
            mine.retain(|lease| lease.bound.is_none());
            kept::refuse_named(draft, (targets, worktree), actor, &mine)?;
            by_target(draft, targets, worktree, mine, &mut chosen);
            Ok(chosen)
        }
    }
}

/// Every live lease of an agent, as this decision leaves it.
pub(super) fn held_by(draft: &Draft<'_>, agent: Option<AgentId>) -> Vec<Lease> {
    draft.leases_now().filter(|lease| Some(lease.holder) == agent).cloned().collect()
}

/// What an agent holds itself. What one of its commands runs under ends with that command.
fn own(draft: &Draft<'_>, actor: Actor) -> Vec<Lease> {
    held_by(draft, actor.agent).into_iter().filter(|lease| lease.bound.is_none()).collect()
}

/// An operation over everything cannot leave out what it cannot read.
fn refuse_unreadable(draft: &Draft<'_>) -> Result<(), Failure> {
    let first = draft.slice.unreadable.first().and_then(|row| LeaseId::parse(row));
    first.map_or(Ok(()), |id| find(draft, id).map(|_| ()))
}

fn by_id(draft: &mut Draft<'_>, refs: &[LeaseRef], actor: Actor) -> Result<Chosen, Failure> {
    let mut chosen = Chosen::default();
    for wanted in refs {
        let lease = find(draft, wanted.id)?;
        is_current(draft, wanted, &lease)?;
        let over = !is_live(draft, &lease);
        if !over {
            may_act(draft, actor, &lease)?;
            kept::refuse(draft, actor, &lease)?;
        }
        let twice =
            chosen.live.iter().any(|other| other.id == lease.id) || chosen.already.contains(&lease.id);
        match (twice, over) {
            (true, _) => {}
            (false, true) => chosen.already.push(lease.id),
            (false, false) => chosen.live.push(lease),
        }
    }
    Ok(chosen)
}

/// The live leases with these ids, each once. What is over cannot be gone on with.
pub(super) fn live_by_id(
    draft: &mut Draft<'_>,
    refs: &[LeaseRef],
    actor: Actor,
) -> Result<Vec<Lease>, Failure> {
    let mut leases: Vec<Lease> = Vec::new();
    for wanted in refs {
        let lease = find(draft, wanted.id)?;
        is_current(draft, wanted, &lease)?;
        refuse_ended(draft, &lease)?;
        may_act(draft, actor, &lease)?;
        if !leases.iter().any(|earlier| earlier.id == lease.id) {
            leases.push(lease);
        }
    }
    Ok(leases)
}

/// Adds those of the caller's leases that are inside the targets.
pub(super) fn by_target(
    draft: &mut Draft<'_>,
    targets: &[Target],
    worktree: &Worktree,
    mut mine: Vec<Lease>,
    chosen: &mut Chosen,
) {
    mine.retain(|lease| lease.is_in(worktree));
    let missed = targets.iter().filter(|target| !mine.iter().any(|lease| lease.is_on(target)));
    let operator = draft.operator_reason.is_some().then_some(draft.verb);
    let mut held = held_by(draft, draft.me());
    held.retain(|lease| lease.is_in(worktree));
    let unheld = |target| nothing_held(target, &held, operator, others_on(draft, target, worktree));
    chosen.unheld.extend(missed.map(unheld));
    draft.notices.extend(chosen.unheld.iter().map(Unheld::notice));
    for lease in mine {
        let inside = targets.iter().any(|target| target.contains(&lease.target));
        let touched = targets.iter().any(|target| lease.is_on(target));
        let known = chosen.live.iter().any(|other| other.id == lease.id);
        match (!known, inside, touched) {
            (true, true, _) => chosen.live.push(lease),
            (true, false, true) => chosen.remaining.push(lease),
            _ => {}
        }
    }
}

/// Who else holds something of a target, in the order of their leases.
fn others_on(draft: &Draft<'_>, target: &Target, worktree: &Worktree) -> Vec<AgentName> {
    let is_there =
        |lease: &&Lease| Some(lease.holder) != draft.me() && lease.is_in(worktree) && lease.is_on(target);
    let mut there: Vec<&Lease> = draft.leases_now().filter(is_there).collect();
    there.sort_by_key(|lease| lease.fence);
    let mut others: Vec<AgentName> = Vec::new();
    for name in there.into_iter().map(|lease| draft.name_of(lease.holder)) {
        if !others.contains(&name) {
            others.push(name);
        }
    }
    others
}

/// A target on which nothing is held may be a slip.
fn nothing_held(target: &Target, held: &[Lease], operator: Option<Verb>, others: Vec<AgentName>) -> Unheld {
    let text = target.display();
    let is_path = |target: &Target| matches!(target, Target::Path(_));
    let alike = held.iter().filter(|lease| is_path(&lease.target) == is_path(target));
    let texts: Vec<(String, &Lease)> = alike.map(|lease| (lease.target.display(), lease)).collect();
    let near = nearest(&text, texts.iter().map(|(text, _)| text.as_str()));
    let near = texts.iter().find(|(text, _)| Some(text.as_str()) == near);
    Unheld { meant: near.map(|(_, lease)| lease.target.clone()), target: text, operator, others }
}

/// Holders that are named in a sentence.
const OTHERS_NAMED: usize = 3;

/// That somebody else holds what the caller does not.
pub fn but_held_by(others: &[AgentName]) -> String {
    let named: Vec<&str> = others.iter().take(OTHERS_NAMED).map(AgentName::as_str).collect();
    match (others.len(), others.len().saturating_sub(OTHERS_NAMED)) {
        (0, _) => String::new(),
        (1, _) => format!(", but {} does", named.join("")),
        (_, 0) => format!(", but {} do", named.join(", ")),
        (_, more) => format!(", but {} and {more} more do", named.join(", ")),
    }
}

/// Giving back what one does not hold changes nothing, and that is what was asked for. Whoever would go on holding it, or
/// hand it over, is mistaken: it may be somebody else's by now.
pub(super) fn refuse_unheld(chosen: &Chosen) -> Result<(), Failure> {
    let Some(Unheld { target, meant, operator, others }) = chosen.unheld.first() else { return Ok(()) };
    let but = but_held_by(others);
    let message = format!("you hold nothing on {target}{but}; nothing was changed");
    let failure = Failure::new(Slug::NotFound, message);
    let meant = meant
        .iter()
        .fold(failure, |failure, meant| failure.hint(format!("did you mean {}?", meant.canonical())));
    let by_id = operator.map(|verb| {
        let how = format!("a lease of somebody else is named by its id: clearway {}", others_by_id(verb));
        Hint::for_operator(&how)
    });
    let hinted = by_id.into_iter().fold(meant, Failure::hint);
    Err(hinted.hint("see what you hold, and what others do: clearway leases"))
}

/// How an operator does something to the lease of somebody else.
pub fn others_by_id(verb: Verb) -> String {
    let to = if verb == Verb::Transfer { " --to NAME" } else { "" };
    format!("{verb} ID{to} --reason TEXT")
}

/// A lease is renewed or handed over as a whole: whoever names a part of it is told which lease that is part of. `how` is
/// the verb with the flags it needs.
pub(super) fn refuse_part(selection: &Selection, chosen: &Chosen, how: &str) -> Result<(), Failure> {
    let Selection::These { targets, .. } = selection else { return Ok(()) };
    let is_met = |target: &Target| chosen.live.iter().any(|lease| target.contains(&lease.target));
    let around = |target| chosen.remaining.iter().find(|lease| lease.is_on(target));
    let part = targets.iter().filter(|target| !is_met(target)).find_map(|part| Some((part, around(part)?)));
    let Some((part, whole)) = part else { return Ok(()) };
    let (part, target, id) = (part.display(), &whole.target, whole.id);
    let whole = target.display();
    let message = format!(
        "you hold no lease on {part} alone: it is a part of lease {id} on {whole}; nothing was changed"
    );
    Err(Failure::new(Slug::NotFound, message)
        .hint(Hint::command("name the whole of it", how, &[target.canonical()]))
        .hint(format!("or its lease: clearway {how} {id}")))
}
