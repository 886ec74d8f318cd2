//! Whether a refusal was just: what it names was so at some revision while it was asked. Refusals carry no revision of
//! their own, so any moment between start and end may be theirs, but one moment for everything they name.

use super::breach::{Breach, Rule};
use super::ledger::Ledger;
use super::operation::{Ask, Ended, Which};
use super::witness::Judged;
use clearway_core::lease::Lease;
use serde_json::Value;

pub(super) fn judge(one: &Judged<'_>, ledger: &Ledger) -> Result<(), Breach> {
    let operation = one.operation;
    let unjust = |rule: Rule, text: String| {
        Err(Breach::new(rule, format!("{} of {}: {text}", operation.mark(), operation.agent)))
    };
    let Some(error) = operation.failure() else { return Ok(()) };
    let slug = error["slug"].as_str().unwrap_or_default();
    let is_just = match slug {
        "reservation-held" => is_held(one, ledger, &error["details"]),
        "would-deadlock" => is_circle(one, ledger, &error["details"]),
        "lease-expired" => sometime(one, ledger, |lease| lease.is_none()),
        "stale-fence" => {
            let fence = presented(&operation.ask);
            sometime(one, ledger, |lease| lease.is_none_or(|lease| Some(lease.fence.to_integer()) != fence))
        }
        "not-holder" => {
            sometime(one, ledger, |lease| lease.is_some_and(|lease| Some(lease.holder) != one.me))
        }
        "not-found" => recipient_is_unknown(one, ledger),
        "store-busy" => true,
        _ => {
            let code = match operation.ended {
                Ended::Answered { code, .. } => code,
                Ended::Killed => -1,
            };
            return unjust(Rule::OnlyFairFailures, format!("exit {code} {slug}: {}", error["message"]));
        }
    };
    let changed = one.events.iter().find(|event| event.body.lease().is_some());
    match (is_just, changed) {
        (true, None) => Ok(()),
        (false, _) => {
            unjust(Rule::RefusalsAreJust, format!("{slug} within {:?}: {}", one.window, error["details"]))
        }
        (true, Some(event)) => unjust(
            Rule::RefusalsAreJust,
            format!("{slug}, and yet event {} ({})", event.seq, event.body.kind()),
        ),
    }
}

fn presented(ask: &Ask) -> Option<u64> {
    named(ask).map(|(_, fence)| fence)
}

fn named(ask: &Ask) -> Option<(&str, u64)> {
    match ask {
        Ask::Release(Which::One { id, fence })
        | Ask::Renew(Which::One { id, fence })
        | Ask::Transfer { which: Which::One { id, fence }, .. } => Some((id, *fence)),
        _ => None,
    }
}

/// Whether the named lease was like this at some revision of the window.
fn sometime(one: &Judged<'_>, ledger: &Ledger, wished: impl Fn(Option<&Lease>) -> bool) -> bool {
    let Some((id, _)) = named(&one.operation.ask) else { return false };
    let Some(line) = ledger.lease(id) else { return false };
    let (floor, ceiling) = (one.window.floor, one.window.ceiling.min(ledger.rev()));
    let changes = line.spans.iter().flat_map(|span| [span.from, span.to]);
    let revs = changes.filter(|rev| floor < *rev && *rev <= ceiling);
    [floor, ceiling].into_iter().chain(revs).any(|rev| wished(line.at(rev)))
}

/// Whether all that is named stood in the way at one revision.
fn is_held(one: &Judged<'_>, ledger: &Ledger, details: &Value) -> bool {
    let list = |name: &str| details[name].as_array().cloned().unwrap_or_default();
    // What is handed over may be held up by what its own holder keeps within it.
    let may_be_own = matches!(one.operation.ask, Ask::Transfer { .. });
    let lease = |blocker: &Value| {
        let line = ledger.lease(blocker["id"].as_str()?)?;
        let same = |lease: &Lease| {
            Some(lease.fence.to_integer()) == blocker["fence"].as_u64()
                && (may_be_own || Some(lease.holder) != one.me)
                && blocker["agent_id"] == lease.holder.as_str()
        };
        let spans: Vec<(u64, u64)> =
            line.spans.iter().filter(|span| same(&span.lease)).map(|span| (span.from, span.to)).collect();
        Some((spans.first()?.0, spans.last()?.1))
    };
    let wait = |ahead: &Value| {
        let line = ledger.wait(ahead["wait"].as_str()?)?;
        (Some(line.wait.agent) != one.me).then_some((line.from, line.to))
    };
    let spans: Option<Vec<(u64, u64)>> =
        list("blockers").iter().map(lease).chain(list("ahead").iter().map(wait)).collect();
    spans.is_some_and(|spans| !spans.is_empty() && meet(one, &spans))
}

/// Whether the stretches and the window have a revision in common.
fn meet(one: &Judged<'_>, spans: &[(u64, u64)]) -> bool {
    let from = spans.iter().map(|span| span.0).max().unwrap_or(0).max(one.window.floor);
    let to = spans.iter().map(|span| span.1).min().unwrap_or(u64::MAX);
    from < to && from <= one.window.ceiling
}

/// Whether the leases that make up a circle lived while it was asked. One of the caller's own that the log does not
/// know is the one it would have got: taking it would have closed the circle.
fn is_circle(one: &Judged<'_>, ledger: &Ledger, details: &Value) -> bool {
    let steps = details["cycle"].as_array().cloned().unwrap_or_default();
    let span = |step: &Value| {
        let line = ledger.lease(step["lease"].as_str()?)?;
        Some((line.spans.first()?.from, line.spans.last()?.to))
    };
    let is_wanted = |step: &&Value| {
        let (lease, of) = (step["lease"].as_str(), step["of"].as_str());
        of == Some(&*one.operation.agent) && lease.is_some_and(|lease| ledger.lease(lease).is_none())
    };
    let named: Vec<&Value> =
        steps.iter().filter(|step| step["lease"].is_string() && !is_wanted(step)).collect();
    let spans: Option<Vec<(u64, u64)>> = named.into_iter().map(span).collect();
    !steps.is_empty() && spans.is_some_and(|spans| meet(one, &spans))
}

/// Nothing is handed to somebody who was not there when it was asked.
fn recipient_is_unknown(one: &Judged<'_>, ledger: &Ledger) -> bool {
    let Ask::Transfer { to, .. } = &one.operation.ask else { return false };
    let came = ledger.agents.get(to).and_then(|id| {
        use clearway_core::event::Body;
        ledger
            .events
            .iter()
            .find(|event| matches!(&event.body, Body::AgentRegistered(agent) if agent.id == *id))
    });
    came.is_none_or(|event| event.seq.0 > one.window.floor)
}
